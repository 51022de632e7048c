package messages_test

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	wait "github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Who waits for days and times, rather than for a session, is told so, in the words of the target and on the location's
// clock; and when the target has ended.
func TestTimeWindowEntries_GetMessages(t *testing.T) {
	t.Parallel()
	today := civil.DateOf(testkit.Noon, testkit.Noon.Location())
	type row struct {
		locale  string
		days    int
		latest  string
		subject string
		has     []string
	}
	messagetest.Each(t, map[string]row{
		"one day": {
			"en", 1, "09:00", "On the waitlist: Vinyasa, Tue 17 Mar, 08:00–09:00",
			[]string{"number 1 on the waitlist", "When: Tue 17 Mar, 08:00–09:00\n", "Where: Pier 1, Room 1\nWith: Carla Coach"},
		},
		"some days": {
			"de", 3, "09:00", "Auf der Warteliste: Vinyasa, Di, 17. März – Do, 19. März, 08:00–09:00",
			[]string{"Wann: Di, 17. März – Do, 19. März, 08:00–09:00\n"},
		},
		"at any time": {
			"fr", 3, "23:59", "Sur liste d'attente : Vinyasa, mar. 17 mars – jeu. 19 mars",
			[]string{"Quand : mar. 17 mars – jeu. 19 mars\n"},
		},
	}, func(studio *messagetest.Studio, tt row) {
		mia := studio.AddReachable("Mia")
		expect.OK(studio.T)(studio.App.Accounts.UpdateMember(studio.T.Context(), studio.Owner, mia.Member, nil,
			func(m *member.Member) error {
				m.Locale, m.TimeZone = tt.locale, "Atlantic/Reykjavik" // the target is for the clock of the place
				return nil
			}))
		earliest := "08:00"
		if tt.latest == "23:59" {
			earliest = "00:00"
		}
		room := studio.AddResource(catalog.Resource{Name: "Room 1"})
		studio.AddResource(catalog.Resource{Name: "Room 2", Location: studio.AddLocation(catalog.Location{Name: "Pier 2"})})
		studio.AddService(catalog.Service{Name: "Yin"})
		joined := expect.Value(studio.App.Waitlists.JoinWaitlist(studio.T.Context(), mia, waitlists.JoinRequest{Party: 1,
			Channel: catalog.Online, Coach: studio.Coach.Member, Window: &wait.Window{
				Service: studio.Service, Location: studio.Location, Resource: room,
				From: today.AddDays(1), Until: today.AddDays(tt.days),
				Earliest: civiltest.TimeOfDay(earliest), Latest: civiltest.TimeOfDay(tt.latest),
			}}))(studio.T)
		sent := mails(studio)
		must.SliceLen(studio.T, 1, sent)
		must.EqOp(studio.T, tt.subject, sent[0].Subject)
		for _, text := range tt.has {
			test.StrContains(studio.T, sent[0].Text, text, test.Sprintf("it does not say %q:\n%s", text, sent[0].Text))
		}
		test.Eq(studio.T, map[string]string{"topic": "WAITLISTED", "entry_id": joined.Entry.ID.String()}, sent[0].Data)
		expect.OK(studio.T)(
			studio.App.Waitlists.LeaveWaitlist(studio.T.Context(), studio.Owner, joined.Entry.ID, "We move.", true),
		)
		if sent = mails(studio); len(sent) != 1 || sent[0].Data["topic"] != "BOOKING_CANCELLED" ||
			!strings.Contains(sent[0].Text, "We move.") || sent[0].Calendar != nil {
			studio.T.Errorf("%+v", sent)
		}
	})
}

// mails are those that are sent now.
func mails(studio *messagetest.Studio) []delivery.Message {
	studio.T.Helper()
	studio.Plan()
	studio.Send()
	var mails []delivery.Message
	for _, m := range studio.Provider.Take() {
		if m.Channel == delivery.Email {
			mails = append(mails, m)
		}
	}
	return mails
}
