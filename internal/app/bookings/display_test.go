package bookings_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// show reads the display with a token.
func show(studio *testkit.Studio, token string) bookings.Display {
	studio.T.Helper()
	return expect.Value(studio.App.Bookings.GetCheckInDisplay(context.Background(), token))(studio.T)
}

// display opens a session's display.
func display(studio *testkit.Studio, session tenant.SessionID) bookings.Display {
	studio.T.Helper()
	return show(studio, expect.Value(
		studio.App.Bookings.CreateDisplayLink(context.Background(), studio.Coach, session),
	)(studio.T).Token)
}

func TestCreateDisplayLink_SignsForTenMinutes(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	link := expect.Value(studio.App.Bookings.CreateDisplayLink(context.Background(), studio.Coach, s))(t)
	test.EqOp(t, "https://berth.example/display/"+link.Token, link.URL)
	test.EqOp(t, testkit.Noon.Add(10*time.Minute), link.Link.Expires())
	show := func(token string, after time.Duration) fault.Reason {
		studio.Clock.Set(testkit.Noon.Add(after))
		_, err := studio.App.Bookings.GetCheckInDisplay(context.Background(), token)
		return fault.ReasonOf(err)
	}
	test.EqOp(t, "", show(link.Token, 10*time.Minute-time.Second), test.Sprint("in the last second:"))
	test.EqOp(t, fault.LinkInvalid, show(link.Token, 10*time.Minute), test.Sprint("after ten minutes"))
	for name, token := range map[string]string{
		"nothing": "", "garbage": strings.Repeat("A", 87), "changed": link.Token[:80] + flip(link.Token[80:]),
		"huge":      strings.Repeat(link.Token, 1000),
		"a QR code": studio.ScanQR(s).QR,
	} {
		test.EqOp(t, fault.LinkInvalid, show(token, 0), test.Sprint(name))
	}
}

func TestDisplay_ShowsArrivalsWithShortNames(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays, Coach: studio.Coach})
	mia, noa := studio.AddMember("Mia Meyer"), studio.AddMember("Noa")
	leo, zoe := studio.AddMember("Leo Löwe"), studio.AddMember("Zoe Zahn")
	studio.MustBook(mia, s)
	studio.MustBook(leo, s)
	group := expect.Value(
		studio.App.Bookings.Book(t.Context(), noa, bookings.BookRequest{Session: s, Party: 3, Channel: catalog.Online}),
	)(t)
	studio.MustBook(zoe, s)
	studio.AddBooking(s, testkit.Booking{Who: studio.AddMember("Ann Away"), Status: booking.NoShow})

	studio.Clock.Set(testkit.InTwoDays.Add(-20 * time.Minute))
	expect.OK(t)(studio.SelfCheckIn(mia, s, studio.ScanQR(s)))
	studio.Clock.Set(testkit.InTwoDays.Add(-10 * time.Minute))
	expect.OK(t)(studio.CheckIn(studio.Coach, group.Booking.ID))
	got := display(studio, s)
	test.NotEqOp(t, "", got.QR, test.Sprintf("code %q, next link %q", got.QR, got.Next))
	test.NotEqOp(t, "", got.Next, test.Sprintf("code %q, next link %q", got.QR, got.Next))
	got.QR, got.Next, got.Expires = "", "", time.Time{}
	now := testkit.InTwoDays.Add(-10 * time.Minute)
	want := bookings.Display{
		Tenant: "Harbour Yoga",
		Title:  "Vinyasa", Location: "Pier 1", Coach: "Carla Coach", Starts: testkit.InTwoDays,
		Ends: testkit.InTwoDays.Add(time.Hour), TimeZone: "Europe/Berlin",
		Opens: testkit.InTwoDays.Add(-time.Hour), Closes: testkit.InTwoDays.Add(90 * time.Minute), Expected: 6, Arrived: 4,
		Arrivals: []bookings.Arrival{
			{Name: "Noa", Party: 3, At: now}, {Name: "Mia M.", Party: 1, At: testkit.InTwoDays.Add(-20 * time.Minute)},
		},
		Upcoming: []bookings.Upcoming{},
		Now:      now, Refresh: now.Add(30 * time.Second),
	}
	test.Eq(t, want, got)
}

func TestDisplay_ShowsTheNextSessions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	later := func(after time.Duration, session testkit.Session) {
		session.Starts, session.Title = testkit.InTwoDays.Add(after), "After "+after.String()
		studio.AddSession(session)
	}
	later(-time.Hour, testkit.Session{})
	later(time.Hour, testkit.Session{Blocked: true})
	later(2*time.Hour, testkit.Session{State: catalog.Draft})
	later(12*time.Hour, testkit.Session{})
	later(3*time.Hour, testkit.Session{Coach: studio.Coach})
	for _, after := range []time.Duration{0, 4 * time.Hour, 5 * time.Hour} {
		later(after, testkit.Session{})
	}
	studio.Clock.Set(testkit.InTwoDays.Add(-time.Minute))
	up := func(after time.Duration, coach string) bookings.Upcoming {
		return bookings.Upcoming{Title: "After " + after.String(), Coach: coach, StartsAt: testkit.InTwoDays.Add(after)}
	}
	want := []bookings.Upcoming{up(0, ""), up(3*time.Hour, "Carla Coach"), up(4*time.Hour, "")}
	test.Eq(t, want, display(studio, s).Upcoming, test.Sprint("before it starts:"))
	studio.Clock.Set(testkit.InTwoDays.Add(time.Minute))
	want = append(want[1:], up(5*time.Hour, ""))
	test.Eq(t, want, display(studio, s).Upcoming, test.Sprint("while it runs:"))
}

func TestDisplay_HasACodeWhileCheckInIsOpen(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	opens, closes := testkit.InTwoDays.Add(-time.Hour), testkit.InTwoDays.Add(90*time.Minute)
	for name, tt := range map[string]struct {
		at         time.Time
		code, next bool
		refresh    time.Duration // 0: never again
	}{
		"days before":         {testkit.Noon, false, true, 30 * time.Second},
		"just before":         {opens.Add(-7 * time.Second), false, true, 7 * time.Second},
		"as check-in opens":   {opens, true, true, 30 * time.Second},
		"before it closes":    {closes.Add(-5 * time.Second), true, true, 5 * time.Second},
		"as check-in closes":  {closes, false, false, 0},
		"on the next morning": {closes.Add(12 * time.Hour), false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			studio.Clock.Set(tt.at)
			d := display(studio, s)
			refresh := time.Duration(0)
			if !d.Refresh.IsZero() {
				refresh = d.Refresh.Sub(tt.at)
			}
			test.EqOp(t, tt.code, (d.QR != ""),
				test.Sprintf("code %q, next %q, refresh after %s", d.QR, d.Next, refresh))
			test.EqOp(t, tt.next, (d.Next != ""),
				test.Sprintf("code %q, next %q, refresh after %s", d.QR, d.Next, refresh))
			test.EqOp(t, tt.refresh, refresh, test.Sprintf("code %q, next %q, refresh after %s", d.QR, d.Next, refresh))
		})
	}
}

func TestDisplay_StaysOpenWhileRefreshed(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	studio.Clock.Set(testkit.InTwoDays.Add(-time.Hour))
	d := display(studio, s)
	seen := map[string]bool{}
	for i := range 100 {
		studio.Clock.Set(d.Refresh)
		next := expect.Value(studio.App.Bookings.GetCheckInDisplay(context.Background(), d.Next))(t)
		must.False(t, seen[next.QR], must.Sprint("the code came twice"))
		seen[next.QR] = true
		if i%20 == 0 {
			mia := studio.AddMember(fmt.Sprintf("Mia %d", i))
			studio.AddBooking(s, testkit.Booking{Who: mia, Made: testkit.Noon})
			expect.OK(t)(studio.SelfCheckIn(mia, s, bookings.CheckInProof{QR: next.QR}))
		}
		d = next
	}
}

// The first screen that reads the display again goes on until check-in closes. Others see it for ten minutes.
func TestDisplay_IsRenewedByOneScreen(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	studio.Clock.Set(testkit.InTwoDays)
	link := expect.Value(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s))(t)
	scanner, wall, copied := show(studio, link.Token), show(studio, link.Token), show(studio, link.Token)
	test.NotEqOp(t, "", scanner.QR)
	test.NotEqOp(t, "", wall.QR)
	test.NotEqOp(t, "", copied.QR)
	opened := testkit.InTwoDays.Add(30 * time.Second)
	studio.Clock.Set(opened)
	wall = show(studio, wall.Next)
	copied = show(studio, copied.Next)
	test.EqOp(t, opened.Add(10*time.Minute), wall.Expires, test.Sprint("the first to come back:"))
	test.EqOp(t, link.Link.Expires(), copied.Expires, test.Sprint("the second:"))
	late := show(studio, link.Token)
	test.EqOp(t, link.Link.Expires(), late.Expires, test.Sprint("the link, after it was opened:"))

	studio.Clock.Set(link.Link.Expires())
	for _, token := range []string{link.Token, scanner.Next, copied.Next, late.Next} {
		expect.Reason(t, fault.LinkInvalid)(studio.App.Bookings.GetCheckInDisplay(t.Context(), token))
	}
	wall = show(studio, wall.Next)
	test.EqOp(t, link.Link.Expires().Add(10*time.Minute), wall.Expires)
	links := expect.Value(studio.App.Bookings.ListDisplayLinks(t.Context(), studio.Coach, s))(t)
	must.SliceLen(t, 1, links)
	test.EqOp(t, opened, links[0].OpenedAt)
}

// Of screens that come back at the same moment, one goes on.
func TestDisplay_ConcurrentScreensOpenItOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	studio.Clock.Set(testkit.InTwoDays)
	link := expect.Value(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s))(t)
	tokens := make([]string, 8)
	for i := range tokens {
		tokens[i] = show(studio, link.Token).Next
	}
	studio.Clock.Set(testkit.InTwoDays.Add(30 * time.Second))
	var renewed atomic.Int32
	testkit.Parallel(len(tokens), func(i int) {
		if show(studio, tokens[i]).Expires.After(link.Link.Expires()) {
			renewed.Add(1)
		}
	})
	test.EqOp(t, 1, renewed.Load())
}

func TestRevokeDisplayLink_EndsTheDisplay(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	studio.Clock.Set(testkit.InTwoDays)
	first := expect.Value(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s))(t)
	second := expect.Value(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s))(t)
	wall := show(studio, show(studio, first.Token).Next)
	for range 2 { // the second call changes nothing
		test.EqOp(t, testkit.InTwoDays, expect.Value(
			studio.App.Bookings.RevokeDisplayLink(t.Context(), studio.Coach, first.Link.ID))(t).RevokedAt)
		studio.Clock.Set(testkit.InTwoDays.Add(time.Minute))
	}
	for _, token := range []string{first.Token, wall.Next} {
		expect.Reason(t, fault.LinkInvalid)(studio.App.Bookings.GetCheckInDisplay(t.Context(), token))
	}
	test.True(t, show(studio, second.Token).QR != "", test.Sprint("the other link ended, too"))
	expect.Reason(t, fault.DisplayLinkNotFound)(
		studio.App.Bookings.RevokeDisplayLink(t.Context(), studio.Coach, testkit.NewID[tenant.DisplayLinkID]()),
	)
	audited := slices.DeleteFunc(studio.Audited(), func(a string) bool { return !strings.HasPrefix(a, "display_link.") })
	slices.Sort(audited)
	test.Eq(t, []string{"display_link.created", "display_link.created", "display_link.revoked"}, audited)
}

func TestCreateDisplayLink_HasALimitUntilLinksAreSwept(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	for range 100 {
		expect.OK(t)(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s))
	}
	expect.Reason(t, fault.QuotaExceeded)(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s))
	count := func() int {
		return len(expect.Value(studio.App.Bookings.ListDisplayLinks(t.Context(), studio.Coach, s))(t))
	}
	test.EqOp(t, 100, count())
	week := testkit.InTwoDays.Add(time.Hour + 7*24*time.Hour)
	studio.Clock.Set(week)
	studio.Sweep()
	test.EqOp(t, 100, count(), test.Sprint("within a week:"))
	studio.Clock.Set(week.Add(time.Second))
	studio.Sweep()
	test.EqOp(t, 0, count(), test.Sprint("a week after the session:"))
}

func TestDisplay_ShowsTheLatestArrivals(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays, Capacity: -1})
	for i := range 51 {
		studio.Clock.Set(testkit.Noon)
		id := studio.AddBooking(s, testkit.Booking{Who: studio.AddMember(fmt.Sprintf("Guest%d X", i)), Party: 2})
		studio.Clock.Set(testkit.InTwoDays.Add(time.Duration(i) * time.Second))
		expect.OK(t)(studio.CheckIn(studio.Coach, id))
	}
	studio.Clock.Set(testkit.InTwoDays.Add(time.Hour))
	d := display(studio, s)
	must.SliceLen(t, 50, d.Arrivals,
		must.Sprintf("%d arrivals from %v, %d of %d", len(d.Arrivals), d.Arrivals[:1], d.Arrived, d.Expected))
	test.EqOp(t, "Guest50 X.", d.Arrivals[0].Name,
		test.Sprintf("%d arrivals from %v, %d of %d", len(d.Arrivals), d.Arrivals[:1], d.Arrived, d.Expected))
	test.EqOp(t, "Guest1 X.", d.Arrivals[49].Name,
		test.Sprintf("%d arrivals from %v, %d of %d", len(d.Arrivals), d.Arrivals[:1], d.Arrived, d.Expected))
	test.EqOp(t, 102, d.Arrived,
		test.Sprintf("%d arrivals from %v, %d of %d", len(d.Arrivals), d.Arrivals[:1], d.Arrived, d.Expected))
	test.EqOp(t, 102, d.Expected,
		test.Sprintf("%d arrivals from %v, %d of %d", len(d.Arrivals), d.Arrivals[:1], d.Arrived, d.Expected))
}

// flip gives a text with another first letter.
func flip(text string) string {
	if text[0] == 'A' {
		return "B" + text[1:]
	}
	return "A" + text[1:]
}
