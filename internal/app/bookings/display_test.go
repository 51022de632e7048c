package bookings_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// display opens a session's display.
func display(h *testkit.Studio, session tenant.SessionID) bookings.Display {
	h.T.Helper()
	link, err := h.App.Bookings.CreateDisplayURL(context.Background(), h.Coach, session)
	if err != nil {
		h.T.Fatal(err)
	}
	d, err := h.App.Bookings.GetDisplay(context.Background(), link.Token)
	if err != nil {
		h.T.Fatal(err)
	}
	return d
}

func TestCreateDisplayURL_SignsForTenMinutes(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	link, err := h.App.Bookings.CreateDisplayURL(context.Background(), h.Coach, s)
	if err != nil {
		t.Fatal(err)
	}
	if link.URL != "https://berth.example/display/"+link.Token || !link.Expires.Equal(testkit.Noon.Add(10*time.Minute)) {
		t.Errorf("%+v", link)
	}
	show := func(token string, after time.Duration) fault.Reason {
		h.Clock.Set(testkit.Noon.Add(after))
		_, err := h.App.Bookings.GetDisplay(context.Background(), token)
		return fault.ReasonOf(err)
	}
	if got := show(link.Token, 10*time.Minute-time.Second); got != "" {
		t.Error("in the last second:", got)
	}
	if got := show(link.Token, 10*time.Minute); got != fault.LinkInvalid {
		t.Errorf("after ten minutes: %q", got)
	}
	for name, token := range map[string]string{
		"nothing": "", "garbage": strings.Repeat("A", 87), "changed": link.Token[:80] + flip(link.Token[80:]),
		"huge":      strings.Repeat(link.Token, 1000),
		"a QR code": h.ScanQR(s).QR,
	} {
		if got := show(token, 0); got != fault.LinkInvalid {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDisplay_ShowsArrivalsWithShortNames(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays, Coach: h.Coach})
	mia, noa, leo, zoe := h.AddMember("Mia Meyer"), h.AddMember("Noa"), h.AddMember("Leo Löwe"), h.AddMember("Zoe Zahn")
	h.MustBook(mia, s)
	h.MustBook(leo, s)
	group, err := h.App.Bookings.Book(ctx, noa, bookings.BookRequest{Session: s, Party: 3, Channel: catalog.Online})
	if err != nil {
		t.Fatal(err)
	}
	h.MustBook(zoe, s)
	h.AddBooking(s, testkit.Booking{Who: h.AddMember("Ann Away"), Status: booking.NoShow})

	h.Clock.Set(testkit.InTwoDays.Add(-20 * time.Minute))
	if _, err := h.SelfCheckIn(mia, s, h.ScanQR(s)); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.InTwoDays.Add(-10 * time.Minute))
	if _, err := h.CheckIn(h.Coach, group.Booking.ID); err != nil {
		t.Fatal(err)
	}
	got := display(h, s)
	if got.QR == "" || got.Next == "" {
		t.Errorf("code %q, next link %q", got.QR, got.Next)
	}
	got.QR, got.Next = "", ""
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDisplay_ShowsTheNextSessions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	later := func(after time.Duration, session testkit.Session) {
		session.Starts, session.Title = testkit.InTwoDays.Add(after), "After "+after.String()
		h.AddSession(session)
	}
	later(-time.Hour, testkit.Session{})
	later(time.Hour, testkit.Session{Blocked: true})
	later(2*time.Hour, testkit.Session{State: catalog.Draft})
	later(12*time.Hour, testkit.Session{})
	later(3*time.Hour, testkit.Session{Coach: h.Coach})
	for _, after := range []time.Duration{0, 4 * time.Hour, 5 * time.Hour} {
		later(after, testkit.Session{})
	}
	h.Clock.Set(testkit.InTwoDays.Add(-time.Minute))
	up := func(after time.Duration, coach string) bookings.Upcoming {
		return bookings.Upcoming{Title: "After " + after.String(), Coach: coach, StartsAt: testkit.InTwoDays.Add(after)}
	}
	want := []bookings.Upcoming{up(0, ""), up(3*time.Hour, "Carla Coach"), up(4*time.Hour, "")}
	if diff := cmp.Diff(want, display(h, s).Upcoming); diff != "" {
		t.Error("before it starts:", diff)
	}
	h.Clock.Set(testkit.InTwoDays.Add(time.Minute))
	want = append(want[1:], up(5*time.Hour, ""))
	if diff := cmp.Diff(want, display(h, s).Upcoming); diff != "" {
		t.Error("while it runs:", diff)
	}
}

func TestDisplay_HasACodeWhileCheckInIsOpen(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
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
			h.Clock.Set(tt.at)
			d := display(h, s)
			refresh := time.Duration(0)
			if !d.Refresh.IsZero() {
				refresh = d.Refresh.Sub(tt.at)
			}
			if (d.QR != "") != tt.code || (d.Next != "") != tt.next || refresh != tt.refresh {
				t.Errorf("code %q, next %q, refresh after %s", d.QR, d.Next, refresh)
			}
		})
	}
}

func TestDisplay_StaysOpenWhileRefreshed(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	h.Clock.Set(testkit.InTwoDays.Add(-time.Hour))
	d := display(h, s)
	seen := map[string]bool{}
	for i := range 100 {
		h.Clock.Set(d.Refresh)
		next, err := h.App.Bookings.GetDisplay(context.Background(), d.Next)
		if err != nil {
			t.Fatal(err)
		}
		if seen[next.QR] {
			t.Fatal("the code came twice")
		}
		seen[next.QR] = true
		if i%20 == 0 {
			mia := h.AddMember(fmt.Sprintf("Mia %d", i))
			h.AddBooking(s, testkit.Booking{Who: mia, Made: testkit.Noon})
			if _, err := h.SelfCheckIn(mia, s, bookings.CheckInProof{QR: next.QR}); err != nil {
				t.Error(err)
			}
		}
		d = next
	}
}

func TestDisplay_ShowsTheLatestArrivals(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays, Capacity: -1})
	for i := range 51 {
		h.Clock.Set(testkit.Noon)
		id := h.AddBooking(s, testkit.Booking{Who: h.AddMember(fmt.Sprintf("Guest%d X", i)), Party: 2})
		h.Clock.Set(testkit.InTwoDays.Add(time.Duration(i) * time.Second))
		if _, err := h.CheckIn(h.Coach, id); err != nil {
			t.Fatal(err)
		}
	}
	h.Clock.Set(testkit.InTwoDays.Add(time.Hour))
	d := display(h, s)
	if len(d.Arrivals) != 50 || d.Arrivals[0].Name != "Guest50 X." || d.Arrivals[49].Name != "Guest1 X." ||
		d.Arrived != 102 || d.Expected != 102 {
		t.Errorf("%d arrivals from %v, %d of %d", len(d.Arrivals), d.Arrivals[:1], d.Arrived, d.Expected)
	}
}

// flip gives a text with another first letter.
func flip(text string) string {
	if text[0] == 'A' {
		return "B" + text[1:]
	}
	return "A" + text[1:]
}
