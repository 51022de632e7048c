package messages_test

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
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Who waits for days and times, rather than for a session, is told so, in the words of the wish and on the location's
// clock; and when the wish has ended.
func TestTimeWindowEntries_GetMessages(t *testing.T) {
	t.Parallel()
	today := civil.DateOf(testkit.Noon, testkit.Noon.Location())
	for name, tt := range map[string]struct {
		locale  string
		days    int
		latest  string
		subject string
		has     []string
	}{
		"one day": {
			"en", 1, "09:00", "On the waitlist: Vinyasa, Tue 17 Mar, 08:00–09:00",
			[]string{"number 1 on the waitlist", "When: Tue 17 Mar, 08:00–09:00\n", "Where: Pier 1"},
		},
		"some days": {
			"de", 3, "09:00", "Auf der Warteliste: Vinyasa, Di, 17. März – Do, 19. März, 08:00–09:00",
			[]string{"Wann: Di, 17. März – Do, 19. März, 08:00–09:00\n"},
		},
		"at any time": {
			"fr", 3, "23:59", "Sur liste d'attente : Vinyasa, mar. 17 mars – jeu. 19 mars",
			[]string{"Quand : mar. 17 mars – jeu. 19 mars\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := messagetest.New(t)
			mia := h.AddReachable("Mia")
			_, err := h.App.Accounts.UpdateMember(h.T.Context(), h.Owner, mia.Member, nil, func(m *member.Member) error {
				m.Locale, m.TimeZone = tt.locale, "Atlantic/Reykjavik" // the wish is for the clock of the place
				return nil
			})
			h.NoError(err)
			earliest := "08:00"
			if tt.latest == "23:59" {
				earliest = "00:00"
			}
			joined, err := h.App.Waitlists.JoinWaitlist(h.T.Context(), mia, waitlists.JoinRequest{Party: 1,
				Channel: catalog.Online, Window: &wait.Window{
					Service: h.Service, Location: h.Location, From: today.AddDays(1), Until: today.AddDays(tt.days),
					Earliest: civil.MustParseTimeOfDay(earliest), Latest: civil.MustParseTimeOfDay(tt.latest),
				}})
			h.NoError(err)
			sent := mails(h)
			if len(sent) != 1 || sent[0].Subject != tt.subject {
				t.Fatalf("%+v", sent)
			}
			for _, text := range tt.has {
				if !strings.Contains(sent[0].Text, text) {
					t.Errorf("it does not say %q:\n%s", text, sent[0].Text)
				}
			}
			if diff := cmp.Diff(
				map[string]string{"topic": "WAITLISTED", "entry_id": joined.Entry.ID.String()}, sent[0].Data,
			); diff != "" {
				t.Error(diff)
			}
			_, err = h.App.Waitlists.LeaveWaitlist(h.T.Context(), h.Owner, joined.Entry.ID, "We move.", true)
			h.NoError(err)
			if sent = mails(h); len(sent) != 1 || sent[0].Data["topic"] != "BOOKING_CANCELLED" ||
				!strings.Contains(sent[0].Text, "We move.") || sent[0].Calendar != nil {
				t.Errorf("%+v", sent)
			}
		})
	}
}

// mails are those that are sent now.
func mails(h *messagetest.Studio) []notify.Message {
	h.T.Helper()
	h.Plan()
	h.Send()
	var mails []notify.Message
	for _, m := range h.Provider.Take() {
		if m.Channel == notify.Email {
			mails = append(mails, m)
		}
	}
	return mails
}
