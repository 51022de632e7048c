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
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// display opens a session's display.
func display(h *testkit.House, session tenant.SessionID) bookings.Display {
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

func TestDisplayURLIsSignedForTenMinutes(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	s := h.Session(testkit.Slot{Starts: testkit.Class})
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
		"nothing": "", "garbage": strings.Repeat("A", 87), "changed": link.Token[:80] + flip(link.Token[80:]), "huge": strings.Repeat(link.Token, 1000),
		"a QR code": h.Scan(s).QR,
	} {
		if got := show(token, 0); got != fault.LinkInvalid {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDisplayShowsWhoHasArrivedToStrangers(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	ctx := context.Background()
	s := h.Session(testkit.Slot{Starts: testkit.Class})
	h.Exec(`update sessions set coach_id = $2 where id = $1`, s, h.Coach.Member)
	mia, noa, leo, zoe := h.Member("Mia Meyer"), h.Member("Noa"), h.Member("Leo Löwe"), h.Member("Zoe Zahn")
	h.MustBook(mia, s)
	h.MustBook(leo, s)
	group, err := h.App.Bookings.Book(ctx, noa, bookings.BookRequest{Session: s, Party: 3, Channel: catalog.Online})
	if err != nil {
		t.Fatal(err)
	}
	h.MustBook(zoe, s)
	h.Exec(`update bookings set status = 'NO_SHOW' where id = $1`, h.MustBook(h.Member("Ann Away"), s))

	h.Clock.Set(testkit.Class.Add(-20 * time.Minute))
	if _, err := h.SelfCheckIn(mia, s, h.Scan(s)); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.Class.Add(-10 * time.Minute))
	if _, err := h.CheckIn(h.Coach, group.Booking.ID); err != nil {
		t.Fatal(err)
	}
	got := display(h, s)
	if got.QR == "" || got.Next == "" {
		t.Errorf("code %q, next link %q", got.QR, got.Next)
	}
	got.QR, got.Next = "", ""
	now := testkit.Class.Add(-10 * time.Minute)
	want := bookings.Display{
		Tenant: "Harbour Yoga",
		Title:  "Vinyasa", Location: "Pier 1", Coach: "Carla Coach", Starts: testkit.Class, Ends: testkit.Class.Add(time.Hour), TimeZone: "Europe/Berlin",
		Opens: testkit.Class.Add(-time.Hour), Closes: testkit.Class.Add(90 * time.Minute), Expected: 6, Arrived: 4,
		Arrivals: []bookings.Arrival{{Name: "Noa", Party: 3, At: now}, {Name: "Mia M.", Party: 1, At: testkit.Class.Add(-20 * time.Minute)}},
		Upcoming: []bookings.Upcoming{},
		Now:      now, Refresh: now.Add(30 * time.Second),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDisplayTellsWhatFollowsAtTheLocation(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	s := h.Session(testkit.Slot{Starts: testkit.Class})
	later := func(after time.Duration, also string) tenant.SessionID {
		id := h.Session(testkit.Slot{Starts: testkit.Class.Add(after)})
		h.Exec(`update sessions set title = 'After ' || $2 `+also+` where id = $1`, id, after.String())
		return id
	}
	later(-time.Hour, "")
	later(time.Hour, ", blocked = true")
	later(2*time.Hour, ", state = 'DRAFT'")
	later(12*time.Hour, "")
	h.Exec(`update sessions set coach_id = $2 where id = $1`, later(3*time.Hour, ""), h.Coach.Member)
	for _, after := range []time.Duration{0, 4 * time.Hour, 5 * time.Hour} {
		later(after, "")
	}
	h.Clock.Set(testkit.Class.Add(-time.Minute))
	up := func(after time.Duration, coach string) bookings.Upcoming {
		return bookings.Upcoming{Title: "After " + after.String(), Coach: coach, StartsAt: testkit.Class.Add(after)}
	}
	want := []bookings.Upcoming{up(0, ""), up(3*time.Hour, "Carla Coach"), up(4*time.Hour, "")}
	if diff := cmp.Diff(want, display(h, s).Upcoming); diff != "" {
		t.Error("before it starts:", diff)
	}
	h.Clock.Set(testkit.Class.Add(time.Minute))
	want = append(want[1:], up(5*time.Hour, ""))
	if diff := cmp.Diff(want, display(h, s).Upcoming); diff != "" {
		t.Error("while it runs:", diff)
	}
}

func TestDisplayHasACodeWhileCheckInIsOpenAndThenEnds(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	s := h.Session(testkit.Slot{Starts: testkit.Class})
	opens, closes := testkit.Class.Add(-time.Hour), testkit.Class.Add(90*time.Minute)
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

func TestAPageThatAsksInTimeStaysOpenAndItsCodesWork(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	s := h.Session(testkit.Slot{Starts: testkit.Class})
	h.Clock.Set(testkit.Class.Add(-time.Hour))
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
			mia := h.Member(fmt.Sprintf("Mia %d", i))
			h.Exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by, created_at, updated_at)
			        values ($1, $2, $3, $4, 1, 'CONFIRMED', 'ONLINE', $5, $6, 'test', $7, $7)`,
				h.Tenant, testkit.NewID[tenant.BookingID](), s, mia.Member, testkit.Class, testkit.Class.Add(time.Hour), testkit.Noon)
			if _, err := h.SelfCheckIn(mia, s, bookings.CheckInProof{QR: next.QR}); err != nil {
				t.Error(err)
			}
		}
		d = next
	}
}

func TestTheWallShowsTheLatestArrivals(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	s := h.Session(testkit.Slot{Starts: testkit.Class, Capacity: -1})
	for i := range 51 {
		h.Exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by, created_at, updated_at,
		          checked_in_at, check_in_method)
		        values ($1, $2, $3, $4, 2, 'ATTENDED', 'ONLINE', $5, $6, 'test', $5, $5, $7, 'QR')`,
			h.Tenant, testkit.NewID[tenant.BookingID](), s, h.Member(fmt.Sprintf("Guest%d X", i)).Member, testkit.Class, testkit.Class.Add(time.Hour), testkit.Class.Add(time.Duration(i)*time.Second))
	}
	h.Clock.Set(testkit.Class.Add(time.Hour))
	d := display(h, s)
	if len(d.Arrivals) != 50 || d.Arrivals[0].Name != "Guest50 X." || d.Arrivals[49].Name != "Guest1 X." || d.Arrived != 102 || d.Expected != 102 {
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
