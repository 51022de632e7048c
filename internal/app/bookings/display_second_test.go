package bookings_test

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Who reads the display again first keeps the screen. If a second reader was there, the list says so, once.
func TestDisplay_TellsOfASecondScreen(t *testing.T) {
	t.Parallel()
	s := testkit.New(t)
	session := s.AddSession(testkit.Session{Starts: testkit.Noon, Coach: s.Coach})
	link := expect.Value(s.App.Bookings.CreateDisplayLink(t.Context(), s.Coach, session))(t)
	read := func(token string) string {
		return expect.Value(s.App.Bookings.GetCheckInDisplay(t.Context(), token))(t).Next
	}
	second := func() bool {
		links := expect.Value(s.App.Bookings.ListDisplayLinks(t.Context(), s.Coach, session))(t)
		return !links[0].SecondAt.IsZero()
	}
	first, other := read(link.Token), read(link.Token)
	first = read(read(first))
	test.False(t, second(), test.Sprint("one screen, and one that opened the link"))
	other = read(other)
	test.True(t, second())
	read(other)
	read(first)
	test.EqOp(t, 1, s.Count(`select count(*) from audit_entries where action = 'display_link.second_screen'`))
}
