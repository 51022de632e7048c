package messages_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

// Owners and admins are told once, each in their language, that a second screen reads a display.
func TestDisplay_TellsStaffOfASecondScreen(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	ada, cai := studio.AddReachable("Ada"), studio.AddReachable("Cai")
	for _, who := range []struct {
		member tenant.MemberID
		role   string
	}{{ada.Member, tenant.RoleAdmin}, {cai.Member, tenant.RoleCoach}} {
		expect.OK(t)(studio.App.Accounts.AssignRole(t.Context(), studio.Owner, who.member, who.role))
	}
	expect.OK(t)(studio.App.Accounts.UpdateMe(t.Context(), ada, nil, func(m *member.Member) error {
		m.Locale = "de"
		return nil
	}))
	link := expect.Value(studio.App.Bookings.CreateDisplayLink(
		t.Context(), studio.Owner, studio.SessionAt(testkit.Noon.Add(time.Hour))))(t)
	read := func(token string) string {
		return expect.Value(studio.App.Bookings.GetCheckInDisplay(t.Context(), token))(t).Next
	}
	studio.Deliver()
	studio.Provider.Take()
	told := func() map[string]string {
		studio.Deliver()
		mails := make(map[string]string)
		for _, m := range studio.Provider.Take() {
			if m.Channel == delivery.Email {
				mails[m.To] = strings.Split(m.Text, "\n")[2]
			}
		}
		return mails
	}
	first, second := read(link.Token), read(link.Token)
	first = read(first)
	test.MapLen(t, 0, told(), test.Sprint("one screen"))
	second = read(second)
	test.Eq(t, map[string]string{
		"olga@example.com": "A second screen is reading the check-in display of this session. The screen that came first " +
			"keeps it. If that is not yours, turn the link off in the console.",
		"ada@example.com": "Ein zweiter Bildschirm liest die Check-in-Anzeige dieses Termins. Der erste behält sie. Ist " +
			"das nicht Ihrer, schalten Sie den Link in der Konsole ab.",
	}, told())
	read(first)
	read(second)
	test.MapLen(t, 0, told(), test.Sprint("the same two screens"))
}
