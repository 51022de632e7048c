package worker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	wait "github.com/berthhq/berth/internal/rules/waitlist"
)

// Who waits for days and times, rather than for a session, is told so, in the words of the wish and on the location's clock; and when the
// wish has ended.
func TestAWishForAWindowIsTold(t *testing.T) {
	t.Parallel()
	today := civil.DateOf(noon, noon.Location())
	for name, tt := range map[string]struct {
		locale  string
		days    int
		latest  string
		subject string
		has     []string
	}{
		"one day":     {"en", 1, "09:00", "On the waitlist: Vinyasa, Tue 17 Mar, 08:00–09:00", []string{"number 1 on the waitlist", "When: Tue 17 Mar, 08:00–09:00\n", "Where: Pier 1"}},
		"some days":   {"de", 3, "09:00", "Auf der Warteliste: Vinyasa, Di, 17. März – Do, 19. März, 08:00–09:00", []string{"Wann: Di, 17. März – Do, 19. März, 08:00–09:00\n"}},
		"at any time": {"fr", 3, "23:59", "Sur liste d'attente : Vinyasa, mar. 17 mars – jeu. 19 mars", []string{"Quand : mar. 17 mars – jeu. 19 mars\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			mia := h.member("Mia")
			_, err := h.app.Accounts.UpdateMember(h.ctx(), h.Owner, mia.Member, nil, func(m *member.Member) error {
				m.Locale, m.TimeZone = tt.locale, "Atlantic/Reykjavik" // the wish is for the clock of the place
				return nil
			})
			h.ok(err)
			earliest := "08:00"
			if tt.latest == "23:59" {
				earliest = "00:00"
			}
			joined, err := h.app.Waitlists.JoinWaitlist(h.ctx(), mia, waitlists.JoinRequest{Party: 1, Channel: catalog.Online, Window: &wait.Window{
				Service: h.Service, Location: h.Location, From: today.AddDays(1), Until: today.AddDays(tt.days),
				Earliest: civil.MustParseTimeOfDay(earliest), Latest: civil.MustParseTimeOfDay(tt.latest),
			}})
			h.ok(err)
			sent := h.mails()
			if len(sent) != 1 || sent[0].Subject != tt.subject {
				t.Fatalf("%+v", sent)
			}
			for _, text := range tt.has {
				if !strings.Contains(sent[0].Text, text) {
					t.Errorf("it does not say %q:\n%s", text, sent[0].Text)
				}
			}
			if diff := cmp.Diff(map[string]string{"topic": "WAITLISTED", "entry_id": joined.Entry.ID.String()}, sent[0].Data); diff != "" {
				t.Error(diff)
			}
			_, err = h.app.Waitlists.LeaveWaitlist(h.ctx(), h.Owner, joined.Entry.ID, "We move.", true)
			h.ok(err)
			if sent = h.mails(); len(sent) != 1 || sent[0].Data["topic"] != "BOOKING_CANCELLED" || !strings.Contains(sent[0].Text, "We move.") || sent[0].Calendar != nil {
				t.Errorf("%+v", sent)
			}
		})
	}
}

// mails are those that are sent now.
func (h *house) mails() []notify.Message {
	h.t.Helper()
	h.consume()
	h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
	var mails []notify.Message
	for _, m := range h.post.take() {
		if m.Channel == notify.Email {
			mails = append(mails, m)
		}
	}
	return mails
}
