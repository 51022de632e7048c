package bookings_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	appbookings "github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func days(from, to string) appbookings.Period {
	return appbookings.Period{From: civil.MustParseDate(from), To: civil.MustParseDate(to)}
}

// at makes a location in a zone.
func at(h *testkit.House, name, zone string) tenant.LocationID {
	h.T.Helper()
	l, err := h.App.Catalog.CreateLocation(h.T.Context(), h.Owner, catalog.Location{Name: name, TimeZone: zone})
	if err != nil {
		h.T.Fatal(err)
	}
	return l.ID
}

// past is a booking as history left it.
type past struct {
	Status  booking.Status
	Party   int
	Late    bool
	Channel catalog.Channel // empty: online
	Made    time.Time       // zero: noon
}

// remember puts bookings of as many people into a session.
func remember(h *testkit.House, session tenant.SessionID, bookings ...past) {
	h.T.Helper()
	for _, b := range bookings {
		if b.Channel == "" {
			b.Channel = catalog.Online
		}
		if b.Made.IsZero() {
			b.Made = testkit.Noon
		}
		var checkedIn *time.Time
		var method *string
		if b.Status == booking.Attended {
			checkedIn, method = &testkit.Noon, new("MANUAL")
		}
		h.Exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, late_cancelled, starts_at, ends_at,
	          created_by, created_at, updated_at, checked_in_at, check_in_method, hold_expires_at)
	        select $1, $2, $3, $4, $5, $6, $7, $8, starts_at, ends_at, 'test', $9, $9, $10, $11,
	          case when $6 in ('PENDING', 'EXPIRED') then $9::timestamptz + interval '10 minutes' end from sessions where tenant_id = $1 and id = $3`,
			h.Tenant, tenant.New[tenant.BookingID](b.Made), session, h.Member("Somebody").Member, b.Party, b.Status, b.Channel, b.Late,
			b.Made, checkedIn, method)
	}
}

// queue puts entries of as many people on a session's waitlist.
func queue(h *testkit.House, session tenant.SessionID, statuses ...string) {
	h.T.Helper()
	h.Exec(`alter table waitlist_entries drop constraint if exists waitlist_entries_tenant_id_booking_id_fkey`) // nobody counts those bookings
	for i, status := range statuses {
		var got *tenant.BookingID
		if status == "BOOKED" {
			got = new(testkit.NewID[tenant.BookingID]())
		}
		h.Exec(`insert into waitlist_entries (tenant_id, id, session_id, member_id, party_size, status, join_key, channel, booking_id, created_by, created_at, updated_at, closed_at)
	        values ($1, $2, $3, $4, 2, $5, $6, 'ONLINE', $7, 'test', $8, $8, case when $5 in ('WAITING', 'OFFERED') then null::timestamptz else $8 end)`,
			h.Tenant, testkit.NewID[tenant.EntryID](), session, h.Member("Somebody").Member, status, i+1, got, testkit.Noon)
	}
}

// A weekend in three zones. Berlin's clocks go forward on Sunday, 29 March, from 02:00 to 03:00; St. John's is 2½ hours
// behind UTC, Auckland 13 ahead.
type weekend struct {
	*testkit.House
	stJohns, auckland tenant.LocationID
	meditation        tenant.ServiceID
	court             tenant.ResourceID
}

func newWeekend(t *testing.T) weekend {
	t.Helper()
	h := testkit.NewHouse(t)
	w := weekend{House: h, stJohns: at(h, "St. John's", "America/St_Johns"), auckland: at(h, "auckland", "Pacific/Auckland")}
	s, err := h.App.Catalog.CreateService(t.Context(), h.Owner, catalog.Service{Name: "meditation", Duration: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.meditation = s.ID
	r, err := h.App.Catalog.CreateResource(t.Context(), h.Owner, catalog.Resource{Location: h.Location, Name: "Court"})
	if err != nil {
		t.Fatal(err)
	}
	w.court = r.ID
	on := func(starts, date string, s testkit.Slot) tenant.SessionID {
		t.Helper()
		s.Starts, s.LocalDate = testkit.Utc(starts), civil.MustParseDate(date)
		return h.Session(s)
	}

	// Saturday, 28 March
	lastOfSaturday := on("2026-03-28T22:30:00Z", "2026-03-28", testkit.Slot{Capacity: 10, Waitlist: 9}) // 23:30 until past midnight
	remember(h, lastOfSaturday,
		past{Status: booking.Confirmed, Party: 2}, past{Status: booking.Attended, Party: 3}, past{Status: booking.NoShow, Party: 1},
		past{Status: booking.Cancelled, Party: 1}, past{Status: booking.Cancelled, Party: 2, Late: true},
		past{Status: booking.Pending, Party: 4}, past{Status: booking.Expired, Party: 1})
	queue(h, lastOfSaturday, "WAITING", "BOOKED", "CANCELLED")
	h.Exec(`update sessions set resource_id = $3 where tenant_id = $1 and id = $2`, h.Tenant, lastOfSaturday, w.court)
	calledOff := on("2026-03-28T09:00:00Z", "2026-03-28", testkit.Slot{Capacity: 8, State: catalog.Cancelled})
	remember(h, calledOff, past{Status: booking.Cancelled, Party: 2, Late: true}, past{Status: booking.Cancelled, Party: 1})
	queue(h, calledOff, "EXPIRED")
	remember(h, on("2026-03-28T09:00:00Z", "2026-03-28", testkit.Slot{State: catalog.Draft}), past{Status: booking.Cancelled, Party: 7})
	deleted := on("2026-03-28T09:00:00Z", "2026-03-28", testkit.Slot{})
	remember(h, deleted, past{Status: booking.Confirmed, Party: 7})
	queue(h, deleted, "WAITING")
	h.Exec(`update sessions set deleted_at = $3 where tenant_id = $1 and id = $2`, h.Tenant, deleted, testkit.Noon)
	remember(h, on("2026-03-29T02:29:00Z", "2026-03-28", testkit.Slot{Location: w.stJohns, Capacity: 4}), // 23:59
		past{Status: booking.NoShow, Party: 1})
	remember(h, on("2026-03-27T11:00:00Z", "2026-03-28", testkit.Slot{Location: w.auckland, Capacity: 6}), // 00:00
		past{Status: booking.Attended, Party: 6})
	remember(h, on("2026-03-28T10:59:00Z", "2026-03-28", testkit.Slot{Location: w.auckland, Capacity: 3, Blocked: true}), // 23:59
		past{Status: booking.Confirmed, Party: 1})

	// Sunday, 29 March
	remember(h, on("2026-03-28T23:00:00Z", "2026-03-29", testkit.Slot{Capacity: -1}), // 00:00
		past{Status: booking.Attended, Party: 4}, past{Status: booking.Confirmed, Party: 1})
	remember(h, on("2026-03-29T21:30:00Z", "2026-03-29", testkit.Slot{Service: w.meditation, Capacity: 5}), // 23:30, summer time
		past{Status: booking.Confirmed, Party: 5})
	on("2026-03-29T02:30:00Z", "2026-03-29", testkit.Slot{Location: w.stJohns, Capacity: 4})  // 00:00
	on("2026-03-28T11:00:00Z", "2026-03-29", testkit.Slot{Location: w.auckland, Capacity: 3}) // 00:00

	// Monday, 30 March
	on("2026-03-29T22:00:00Z", "2026-03-30", testkit.Slot{Capacity: 20}) // 00:00, summer time

	other := h.Another()
	remember(other, other.Session(testkit.Slot{Starts: testkit.Utc("2026-03-28T09:00:00Z")}), past{Status: booking.Attended, Party: 4})
	return w
}

var (
	saturday = appbookings.AttendanceDay{
		Date: civil.MustParseDate("2026-03-28"), Sessions: 4, SessionsCancelled: 1, Capacity: 10 + 4 + 6 + 3,
		Booked: 6 + 1 + 6 + 1, BookedLimited: 6 + 1 + 6 + 1, Attended: 3 + 6, NoShows: 1 + 1,
		Cancelled: 3 + 3, LateCancelled: 2, Waitlisted: 3 + 1, Promoted: 1,
	}
	sunday = appbookings.AttendanceDay{
		Date: civil.MustParseDate("2026-03-29"), Sessions: 4, Capacity: 5 + 4 + 3, Booked: 5 + 5, BookedLimited: 5, Attended: 4,
	}
	monday = appbookings.AttendanceDay{Date: civil.MustParseDate("2026-03-30"), Sessions: 1, Capacity: 20}
)

func TestAttendance(t *testing.T) {
	t.Parallel()
	w := newWeekend(t)
	friday := appbookings.AttendanceDay{Date: civil.MustParseDate("2026-03-27")}
	week := days("2026-03-27", "2026-03-30")

	got, err := w.App.Bookings.AttendanceDaily(t.Context(), w.Owner, week, civil.Date{}, 100)
	if diff := cmp.Diff([]appbookings.AttendanceDay{friday, saturday, sunday, monday}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	got, err = w.App.Bookings.AttendanceDaily(t.Context(), w.Owner, week, civil.MustParseDate("2026-03-27"), 2)
	if diff := cmp.Diff([]appbookings.AttendanceDay{saturday, sunday}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	got, err = w.App.Bookings.AttendanceDaily(t.Context(), w.Owner, week, civil.MustParseDate("2026-03-30"), 2)
	if diff := cmp.Diff([]appbookings.AttendanceDay(nil), got); diff != "" || err != nil {
		t.Error(err, diff)
	}

	for name, c := range map[string]struct {
		period func(*appbookings.Period)
		want   appbookings.AttendanceDay
	}{
		"all": {func(*appbookings.Period) {}, appbookings.AttendanceDay{
			Sessions: 9, SessionsCancelled: 1, Capacity: 55, Booked: 24, BookedLimited: 19, Attended: 13, NoShows: 2,
			Cancelled: 6, LateCancelled: 2, Waitlisted: 4, Promoted: 1,
		}},
		"a location": {func(p *appbookings.Period) { p.Locations = []tenant.LocationID{w.auckland} }, appbookings.AttendanceDay{
			Sessions: 3, Capacity: 12, Booked: 7, BookedLimited: 7, Attended: 6,
		}},
		"two locations": {func(p *appbookings.Period) { p.Locations = []tenant.LocationID{w.auckland, w.stJohns} }, appbookings.AttendanceDay{
			Sessions: 5, Capacity: 20, Booked: 8, BookedLimited: 8, Attended: 6, NoShows: 1,
		}},
		"a service": {func(p *appbookings.Period) { p.Services = []tenant.ServiceID{w.meditation} }, appbookings.AttendanceDay{
			Sessions: 1, Capacity: 5, Booked: 5, BookedLimited: 5,
		}},
		"nowhere": {func(p *appbookings.Period) {
			p.Services, p.Locations = []tenant.ServiceID{w.meditation}, []tenant.LocationID{w.auckland}
		}, appbookings.AttendanceDay{}},
		"what nobody has": {func(p *appbookings.Period) { p.Locations = []tenant.LocationID{testkit.NewID[tenant.LocationID]()} }, appbookings.AttendanceDay{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := week
			c.period(&p)
			got, err := w.App.Bookings.AttendanceSummary(t.Context(), w.Owner, p)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestUtilization(t *testing.T) {
	t.Parallel()
	w := newWeekend(t)
	week := days("2026-03-27", "2026-03-30")
	total := appbookings.Utilization{Sessions: 8, Unlimited: 1, Offered: 55, Taken: 19}
	for group, want := range map[appbookings.UtilizationGroup][]appbookings.Utilization{
		appbookings.UseByService: {
			{ID: w.meditation.UUID, Name: "meditation", Sessions: 1, Offered: 5, Taken: 5},
			{ID: w.Service.UUID, Name: "Vinyasa", Sessions: 7, Unlimited: 1, Offered: 50, Taken: 14},
		},
		appbookings.UseByLocation: {
			{ID: w.auckland.UUID, Name: "auckland", Sessions: 3, Offered: 12, Taken: 7},
			{ID: w.Location.UUID, Name: "Pier 1", Sessions: 3, Unlimited: 1, Offered: 35, Taken: 11},
			{ID: w.stJohns.UUID, Name: "St. John's", Sessions: 2, Offered: 8, Taken: 1},
		},
		appbookings.UseByResource: {
			{Sessions: 7, Unlimited: 1, Offered: 45, Taken: 13},
			{ID: w.court.UUID, Name: "Court", Sessions: 1, Offered: 10, Taken: 6},
		},
		appbookings.UseByWeekdayHour: {
			{Weekday: 1, Hour: 0, Sessions: 1, Offered: 20},
			{Weekday: 6, Hour: 0, Sessions: 1, Offered: 6, Taken: 6},
			{Weekday: 6, Hour: 23, Sessions: 3, Offered: 17, Taken: 8},
			{Weekday: 7, Hour: 0, Sessions: 2, Unlimited: 1, Offered: 7},
			{Weekday: 7, Hour: 23, Sessions: 1, Offered: 5, Taken: 5},
		},
	} {
		t.Run(string(group), func(t *testing.T) {
			t.Parallel()
			got, sum, err := w.App.Bookings.Utilization(t.Context(), w.Owner, week, group)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
			if diff := cmp.Diff(total, sum); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("narrowed", func(t *testing.T) {
		t.Parallel()
		p := days("2026-03-28", "2026-03-28")
		p.Locations, p.Services = []tenant.LocationID{w.auckland, w.Location}, []tenant.ServiceID{w.Service}
		got, _, err := w.App.Bookings.Utilization(t.Context(), w.Owner, p, appbookings.UseByWeekdayHour)
		want := []appbookings.Utilization{
			{Weekday: 6, Hour: 0, Sessions: 1, Offered: 6, Taken: 6}, {Weekday: 6, Hour: 23, Sessions: 2, Offered: 13, Taken: 7},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
	})
}

// Bookings made around midnights on the days on which clocks change.
func TestTrend(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	later := testkit.Utc("2026-06-01T09:00:00Z")
	berlin := h.Session(testkit.Slot{Starts: later, Capacity: -1})
	stJohns := h.Session(testkit.Slot{Starts: later, Capacity: -1, Location: at(h, "St. John's", "America/St_Johns")})
	auckland := h.Session(testkit.Slot{Starts: later, Capacity: -1, Location: at(h, "Auckland", "Pacific/Auckland")})
	made := func(at string, party int) past {
		return past{Status: booking.Confirmed, Party: party, Made: testkit.Utc(at)}
	}
	// From UTC-3:30 to UTC-2:30 at 02:00 on 8 March.
	remember(h, stJohns, made("2026-03-08T03:29:59.999999Z", 1), made("2026-03-08T03:30:00Z", 2), made("2026-03-09T02:29:59.999999Z", 3), made("2026-03-09T02:30:00Z", 4))
	// From UTC+1 to UTC+2 at 02:00 on 29 March.
	remember(h, berlin, made("2026-03-28T22:59:59.999999Z", 1), made("2026-03-28T23:00:00Z", 2), made("2026-03-29T21:59:59.999999Z", 3), made("2026-03-29T22:00:00Z", 4))
	// From UTC+13 back to UTC+12 at 03:00 on 5 April.
	remember(h, auckland, made("2026-04-04T10:59:59.999999Z", 1), made("2026-04-04T11:00:00Z", 2), made("2026-04-05T11:59:59.999999Z", 3), made("2026-04-05T12:00:00Z", 4))
	// Of every kind, on 30 March.
	kinds := testkit.Utc("2026-03-30T10:00:00Z")
	remember(h, berlin,
		past{Status: booking.Attended, Party: 1, Made: kinds, Channel: catalog.WalkIn}, past{Status: booking.NoShow, Party: 2, Made: kinds, Channel: catalog.Phone},
		past{Status: booking.Cancelled, Party: 3, Made: kinds}, past{Status: booking.Pending, Party: 50, Made: kinds}, past{Status: booking.Expired, Party: 60, Made: kinds})
	calledOff := h.Session(testkit.Slot{Starts: later, State: catalog.Cancelled})
	remember(h, calledOff, past{Status: booking.Cancelled, Party: 5, Made: kinds, Channel: catalog.WalkIn})
	remember(h, h.Session(testkit.Slot{Starts: later, State: catalog.Draft}), past{Status: booking.Cancelled, Party: 70, Made: kinds})
	deleted := h.Session(testkit.Slot{Starts: later})
	remember(h, deleted, past{Status: booking.Confirmed, Party: 80, Made: kinds})
	h.Exec(`update sessions set deleted_at = $3 where tenant_id = $1 and id = $2`, h.Tenant, deleted, testkit.Noon)
	other := h.Another()
	remember(other, other.Session(testkit.Slot{Starts: later}), past{Status: booking.Confirmed, Party: 4, Made: kinds})

	point := func(date string, bookings, seats int) appbookings.TrendPoint {
		return appbookings.TrendPoint{
			Date: civil.MustParseDate(date), Bookings: bookings, Seats: seats,
			Channels: []appbookings.ChannelCount{{Channel: catalog.Online, Bookings: bookings, Seats: seats}},
		}
	}
	thirtieth := appbookings.TrendPoint{
		Date: civil.MustParseDate("2026-03-30"), Bookings: 5, Seats: 4 + 1 + 2 + 3 + 5,
		Channels: []appbookings.ChannelCount{
			{Channel: catalog.Online, Bookings: 2, Seats: 4 + 3}, {Channel: catalog.Phone, Bookings: 1, Seats: 2},
			{Channel: catalog.WalkIn, Bookings: 2, Seats: 1 + 5},
		},
	}
	all := map[string]appbookings.TrendPoint{}
	for _, p := range []appbookings.TrendPoint{
		point("2026-03-07", 1, 1), point("2026-03-08", 2, 5), point("2026-03-09", 1, 4),
		point("2026-03-28", 1, 1), point("2026-03-29", 2, 5), thirtieth,
		point("2026-04-04", 1, 1), point("2026-04-05", 2, 5), point("2026-04-06", 1, 4),
	} {
		all[p.Date.String()] = p
	}
	period := days("2026-03-05", "2026-04-07")
	var want []appbookings.TrendPoint
	for d := period.From; !d.After(period.To); d = d.AddDays(1) {
		p := all[d.String()]
		p.Date = d
		want = append(want, p)
	}
	got, err := h.App.Bookings.BookingTrend(t.Context(), h.Owner, period, false)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}

	// Weeks begin on Mondays; the first and the last are cut.
	lastWeek := appbookings.TrendPoint{
		Date: thirtieth.Date, Bookings: 5 + 1 + 2, Seats: thirtieth.Seats + 1 + 5,
		Channels: []appbookings.ChannelCount{{Channel: catalog.Online, Bookings: 2 + 1 + 2, Seats: 7 + 1 + 5}, thirtieth.Channels[1], thirtieth.Channels[2]},
	}
	want = []appbookings.TrendPoint{
		point("2026-03-02", 2, 5), point("2026-03-09", 1, 4), {Date: civil.MustParseDate("2026-03-16")}, point("2026-03-23", 3, 6), lastWeek,
	}
	got, err = h.App.Bookings.BookingTrend(t.Context(), h.Owner, days("2026-03-08", "2026-04-05"), true)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}

	narrow := days("2026-03-29", "2026-03-30")
	narrow.Locations, narrow.Services = []tenant.LocationID{h.Location}, []tenant.ServiceID{h.Service}
	got, err = h.App.Bookings.BookingTrend(t.Context(), h.Owner, narrow, false)
	if diff := cmp.Diff([]appbookings.TrendPoint{point("2026-03-29", 2, 5), thirtieth}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	narrow.Services = []tenant.ServiceID{testkit.NewID[tenant.ServiceID]()}
	got, err = h.App.Bookings.BookingTrend(t.Context(), h.Owner, narrow, true)
	if diff := cmp.Diff([]appbookings.TrendPoint{{Date: civil.MustParseDate("2026-03-23")}, {Date: civil.MustParseDate("2026-03-30")}}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// The database puts bookings and sessions on the same days and hours as the calendar does, in zones that change their
// clocks at midnight, by half an hour, for Ramadan, by two hours, or live almost a day ahead.
func TestDaysAreTheCalendars(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	random := rand.New(rand.NewPCG(1, 2))
	year := days("2026-01-10", "2026-12-20")
	made, starts := make(map[civil.Date]int), make(map[[2]int]int)
	sessions := 0
	for _, name := range []string{
		"America/Havana", "Australia/Lord_Howe", "Africa/Casablanca", "Antarctica/Troll", "Pacific/Kiritimati", "Pacific/Pago_Pago",
		"Asia/Kathmandu", "America/St_Johns", "Pacific/Chatham",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		at := at(h, name, name)
		for range 8 {
			instant := func() time.Time {
				t := testkit.Utc("2026-01-01T00:00:00Z").Add(time.Duration(random.Int64N(int64(365 * 24 * time.Hour)))).Truncate(time.Microsecond)
				if start, _ := t.In(zone).ZoneBounds(); !start.IsZero() && random.IntN(2) == 0 {
					return start.Add(time.Duration(random.Int64N(int64(48*time.Hour)) - int64(24*time.Hour))).Truncate(time.Microsecond) // near a change
				}
				return t
			}
			start := instant()
			on := civil.DateOf(start, zone)
			id := h.Session(testkit.Slot{Starts: start, Location: at, LocalDate: on, Capacity: -1})
			within := func(d civil.Date) bool { return !d.Before(year.From) && !d.After(year.To) }
			if within(on) {
				sessions++
				starts[[2]int{(int(on.Weekday())+6)%7 + 1, start.In(zone).Hour()}]++
			}
			for range 3 {
				b := past{Status: booking.Confirmed, Party: 1, Made: instant()}
				remember(h, id, b)
				if d := civil.DateOf(b.Made, zone); within(d) {
					made[d]++
				}
			}
		}
	}
	points, err := h.App.Bookings.BookingTrend(t.Context(), h.Owner, year, false)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[civil.Date]int)
	for _, p := range points {
		if p.Bookings > 0 {
			got[p.Date] = p.Bookings
		}
	}
	if diff := cmp.Diff(made, got); diff != "" {
		t.Error("days of making:", diff)
	}
	groups, total, err := h.App.Bookings.Utilization(t.Context(), h.Owner, year, appbookings.UseByWeekdayHour)
	if err != nil || total.Unlimited != sessions {
		t.Fatalf("%d sessions, want %d (%v)", total.Unlimited, sessions, err)
	}
	hours := make(map[[2]int]int)
	for _, g := range groups {
		hours[[2]int{g.Weekday, g.Hour}] = g.Unlimited
	}
	if diff := cmp.Diff(starts, hours); diff != "" {
		t.Error("weekdays and hours:", diff)
	}
}

func TestPeriodsRefused(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	day := civil.MustParseDate
	for name, c := range map[string]struct {
		from, to civil.Date
		want     fault.Reason
	}{
		"a day":           {day("2026-02-28"), day("2026-02-28"), ""},
		"a leap year":     {day("2024-01-01"), day("2024-12-31"), ""},
		"a day more":      {day("2024-01-01"), day("2025-01-01"), fault.InvalidField},
		"no such day":     {civil.Date{Year: 2026, Month: 2, Day: 29}, day("2026-03-01"), fault.InvalidField},
		"no such end":     {day("2026-04-01"), civil.Date{Year: 2026, Month: 4, Day: 31}, fault.InvalidField},
		"backwards":       {day("2026-03-02"), day("2026-03-01"), fault.InvalidField},
		"first days ever": {day("0001-01-01"), day("0001-01-02"), ""},
		"last days ever":  {day("9999-12-30"), day("9999-12-31"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := appbookings.Period{From: c.from, To: c.to}
			_, err := h.App.Bookings.AttendanceSummary(t.Context(), h.Owner, p)
			testkit.WantReason(t, err, c.want)
			_, err = h.App.Bookings.AttendanceDaily(t.Context(), h.Owner, p, civil.Date{}, 500)
			testkit.WantReason(t, err, c.want)
			_, err = h.App.Bookings.BookingTrend(t.Context(), h.Owner, p, true)
			testkit.WantReason(t, err, c.want)
			_, _, err = h.App.Bookings.Utilization(t.Context(), h.Owner, p, appbookings.UseByWeekdayHour)
			testkit.WantReason(t, err, c.want)
		})
	}
}
