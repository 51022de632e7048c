package app_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
)

// class is when the sessions of these tests start.
var class = noon.Add(48 * time.Hour)

// door is the location of the house.
var door = &catalog.Point{Latitude: 52.5, Longitude: 13.4}

// scan is what somebody sends who scans a session's code now.
func (h *house) scan(session tenant.SessionID) app.Presence {
	h.t.Helper()
	qr, err := h.app.GetQRToken(context.Background(), h.Coach, session)
	if err != nil {
		h.t.Fatal(err)
	}
	return app.Presence{QR: qr.Text}
}

func (h *house) selfCheckIn(who tenant.Caller, session tenant.SessionID, proof app.Presence) (app.CheckedIn, error) {
	return h.app.SelfCheckIn(context.Background(), who, session, proof)
}

func (h *house) checkIn(by tenant.Caller, id tenant.BookingID) (app.CheckedIn, error) {
	return h.app.CheckIn(context.Background(), by, id)
}

// arrived is what a booking says of its party's arrival.
type arrived struct {
	Status booking.Status
	At     *time.Time
	Method string
}

// arrivedIn reads it from the database, and fails unless a use case says the same.
func (h *house) arrivedIn(id tenant.BookingID, said ...booking.Booking) arrived {
	h.t.Helper()
	b, err := h.app.GetBooking(context.Background(), h.Owner, id)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, s := range said {
		if diff := cmp.Diff(b, s); diff != "" {
			h.t.Errorf("what was said differs from what is kept (-kept +said)\n%s", diff)
		}
	}
	return arrived{b.Status, b.CheckedInAt, b.CheckInMethod}
}

// eventsOf lists the types of a booking's events in order, with who made them happen.
func (h *house) eventsOf(id tenant.BookingID) string {
	h.t.Helper()
	return h.queryText(`select string_agg(type || ' ' || case actor when $3 then 'coach' when 'system' then actor else 'member' end, ', ' order by xid, id)
		from events where tenant_id = $1 and booking_id = $2`, h.Tenant, id, h.Coach.Actor())
}

func TestManualCheckInSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.mustBook(h.member("Mia"), h.session(slot{Starts: class}))
	h.clock.Set(class.Add(-10 * time.Minute))
	in, err := h.checkIn(h.Coach, id)
	if err != nil || in.Already {
		t.Fatalf("%+v, %v", in, err)
	}
	want := arrived{booking.Attended, new(class.Add(-10 * time.Minute)), "MANUAL"}
	if diff := cmp.Diff(want, h.arrivedIn(id, in.Booking)); diff != "" {
		t.Error(diff)
	}
	if got := h.eventsOf(id); got != "booking.confirmed member, booking.attended coach" {
		t.Error(got)
	}
	h.wantSound()
}

func TestCheckInByQRSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	id := h.mustBook(mia, s)
	h.clock.Set(class.Add(-5 * time.Minute))
	in, err := h.selfCheckIn(mia, s, h.scan(s))
	if err != nil || in.Already {
		t.Fatalf("%+v, %v", in, err)
	}
	want := arrived{booking.Attended, new(class.Add(-5 * time.Minute)), "QR"}
	if diff := cmp.Diff(want, h.arrivedIn(id, in.Booking)); diff != "" {
		t.Error(diff)
	}
	if got := h.eventsOf(id); got != "booking.confirmed member, booking.attended member" {
		t.Error(got)
	}
	h.wantSound()
}

func TestCheckInByGPSSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	id := h.mustBook(mia, s)
	h.clock.Set(class)
	in, err := h.selfCheckIn(mia, s, app.Presence{Point: door})
	if err != nil || in.Already {
		t.Fatalf("%+v, %v", in, err)
	}
	want := arrived{booking.Attended, &class, "GPS"}
	if diff := cmp.Diff(want, h.arrivedIn(id, in.Booking)); diff != "" {
		t.Error(diff)
	}
	h.wantSound()
}

func TestUndoneCheckInIsConfirmedAndClearsTimeAndMethod(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	id := h.mustBook(mia, s)
	h.clock.Set(class)
	if _, err := h.selfCheckIn(mia, s, h.scan(s)); err != nil {
		t.Fatal(err)
	}
	// Undoing twice changes nothing; and it may be done long after the class.
	for _, late := range []time.Duration{time.Minute, 30 * 24 * time.Hour} {
		h.clock.Set(class.Add(late))
		undone, err := h.app.UndoCheckIn(context.Background(), h.Coach, id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(arrived{Status: booking.Confirmed}, h.arrivedIn(id, undone)); diff != "" {
			t.Error(diff)
		}
	}
	if got := h.eventsOf(id); got != "booking.confirmed member, booking.attended member, booking.check_in_undone coach" {
		t.Error(got)
	}
	// They did come after all.
	if in, err := h.checkIn(h.Coach, id); err != nil || in.Already || in.Booking.CheckInMethod != "MANUAL" {
		t.Errorf("%+v, %v", in, err)
	}
	h.wantSound()
}

func TestCheckingInTwiceIsHarmlessAndSaysSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	id := h.mustBook(mia, s)
	h.clock.Set(class)
	code := h.scan(s)
	if _, err := h.selfCheckIn(mia, s, code); err != nil {
		t.Fatal(err)
	}
	h.clock.Set(class.Add(20 * time.Minute)) // by now the code has expired
	again := map[string]func() (app.CheckedIn, error){
		"the same code": func() (app.CheckedIn, error) { return h.selfCheckIn(mia, s, code) },
		"by GPS, from home": func() (app.CheckedIn, error) {
			return h.selfCheckIn(mia, s, app.Presence{Point: &catalog.Point{Latitude: 1}})
		},
		"by staff": func() (app.CheckedIn, error) { return h.checkIn(h.Coach, id) },
	}
	for name, do := range again {
		in, err := do()
		if err != nil || !in.Already {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
		if diff := cmp.Diff(arrived{booking.Attended, &class, "QR"}, h.arrivedIn(id, in.Booking)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := h.eventsOf(id); got != "booking.confirmed member, booking.attended member" {
		t.Error(got)
	}
	h.wantSound()
}

func TestTwoPhonesAtTheSameMomentAreOneCheckIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	id := h.mustBook(mia, s)
	h.clock.Set(class)
	proofs := []app.Presence{h.scan(s), {Point: door}}
	var first atomic.Int32
	together(8, func(i int) {
		var in app.CheckedIn
		var err error
		if i < 6 {
			in, err = h.selfCheckIn(mia, s, proofs[i%2])
		} else {
			in, err = h.checkIn(h.Coach, id)
		}
		if err != nil {
			t.Error(err)
		}
		if !in.Already {
			first.Add(1)
		}
	})
	if n := first.Load(); n != 1 {
		t.Errorf("%d were the first", n)
	}
	if n := h.count(`select count(*) from events where tenant_id = $1 and type = 'booking.attended'`, h.Tenant); n != 1 {
		t.Errorf("%d events", n)
	}
	h.wantSound()
}

func TestSelfCheckInRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`insert into policies (tenant_id, level, scope_id, check_in_opens_seconds, check_in_closes_seconds, gps_max_meters, updated_at)
	        values ($1, 'LOCATION', $2, 1800, 600, 100, $3)`, h.Tenant, h.Location, noon)
	feed, elsewhere := newID[tenant.ServiceID](), newID[tenant.LocationID]()
	h.exec(`insert into services (tenant_id, id, name, duration_seconds, delivery, created_at, updated_at) values ($1, $2, 'Live stream', 3600, 'FEED', $3, $3)`, h.Tenant, feed, noon)
	h.exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Pop-up', 'Europe/Berlin', $3, $3)`, h.Tenant, elsewhere, noon)
	mia := h.member("Mia")
	at := h.session(slot{Starts: class})
	online := h.session(slot{Starts: class.Add(4 * time.Hour), Service: feed})
	popUp := h.session(slot{Starts: class.Add(8 * time.Hour), Location: elsewhere})
	unbooked := h.session(slot{Starts: class})
	full := h.session(slot{Starts: class.Add(12 * time.Hour), Capacity: 1, Waitlist: 1})
	for _, s := range []tenant.SessionID{at, online, popUp} {
		h.mustBook(mia, s)
	}
	h.mustBook(h.member("Noa"), full)
	h.mustWait(mia, full)

	north := func(meters float64) app.Presence {
		return app.Presence{Point: &catalog.Point{Latitude: door.Latitude + meters/111_195, Longitude: door.Longitude}}
	}
	here := app.Presence{Point: door}
	for name, tt := range map[string]struct {
		session tenant.SessionID
		now     time.Duration // after the start of the first class
		proof   func(now time.Time) app.Presence
		reason  fault.Reason
		meta    map[string]string
	}{
		"before the check-in window": {at, -30*time.Minute - time.Second, nil, fault.CheckInWindow, map[string]string{
			"opens_at": "2026-03-18T11:30:00Z", "closes_at": "2026-03-18T13:10:00Z",
		}},
		"after the check-in window": {at, 70 * time.Minute, nil, fault.CheckInWindow, map[string]string{
			"opens_at": "2026-03-18T11:30:00Z", "closes_at": "2026-03-18T13:10:00Z",
		}},
		"outside the window GPS counts no more": {at, 70 * time.Minute, func(time.Time) app.Presence { return here }, fault.CheckInWindow, nil},
		"the code of another session":           {at, 0, func(time.Time) app.Presence { return h.scan(unbooked) }, fault.QRInvalid, nil},
		"a code with a letter changed": {at, 0, func(time.Time) app.Presence {
			code := []byte(h.scan(at).QR)
			code[40] ^= 1
			return app.Presence{QR: string(code)}
		}, fault.QRInvalid, nil},
		"a code that has expired": {at, 0, func(now time.Time) app.Presence {
			h.clock.Set(now.Add(-checkin.QRLife))
			defer h.clock.Set(now)
			return h.scan(at)
		}, fault.QRInvalid, nil},
		"a display link is no code": {at, 0, func(time.Time) app.Presence {
			link, err := h.app.CreateDisplayURL(context.Background(), h.Coach, at)
			if err != nil {
				t.Error(err)
			}
			return app.Presence{QR: link.Token}
		}, fault.QRInvalid, nil},
		"GPS_TOO_FAR":                 {at, 0, func(time.Time) app.Presence { return north(101) }, fault.GPSTooFar, map[string]string{"max_meters": "100"}},
		"GPS for a feed":              {online, 4 * time.Hour, func(time.Time) app.Presence { return here }, fault.GPSNotAvailable, nil},
		"GPS where there is no point": {popUp, 8 * time.Hour, func(time.Time) app.Presence { return here }, fault.GPSNotAvailable, nil},
		"no booking":                  {unbooked, 0, nil, fault.NotConfirmed, map[string]string{"status": ""}},
		"a waitlist entry is none":    {full, 12 * time.Hour, nil, fault.NotConfirmed, nil},
		"no such session":             {newID[tenant.SessionID](), 0, func(time.Time) app.Presence { return here }, fault.SessionNotFound, nil},
		"a place that there is not":   {at, 0, func(time.Time) app.Presence { return app.Presence{Point: &catalog.Point{Latitude: 91}} }, fault.InvalidField, nil},
		"nothing to show for it":      {at, 0, func(time.Time) app.Presence { return app.Presence{} }, fault.InvalidField, nil},
	} {
		t.Run(name, func(t *testing.T) {
			// The clock is shared, so these take turns.
			now := class.Add(tt.now)
			h.clock.Set(now)
			proof := tt.proof
			if proof == nil {
				proof = func(time.Time) app.Presence { return h.scan(tt.session) }
			}
			_, err := h.selfCheckIn(mia, tt.session, proof(now))
			wantReason(t, err, tt.reason)
			for key, want := range tt.meta {
				if got := meta(t, err, key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
		})
	}
	if n := h.count(`select count(*) from bookings where tenant_id = $1 and status = 'ATTENDED'`, h.Tenant); n != 0 {
		t.Errorf("%d were checked in", n)
	}
	// The same people, where nothing speaks against it.
	h.clock.Set(class.Add(-30 * time.Minute))
	if _, err := h.selfCheckIn(mia, at, north(99)); err != nil {
		t.Error(err)
	}
	h.clock.Set(class.Add(4 * time.Hour))
	if _, err := h.selfCheckIn(mia, online, h.scan(online)); err != nil {
		t.Error("a feed has codes:", err)
	}
	h.wantSound()
}

func TestOnlyWhoHasAPlaceIsCheckedIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.clock.Set(class.Add(-2 * time.Hour))
	for status, sql := range map[string]string{
		"PENDING":   `update bookings set status = 'PENDING', hold_expires_at = created_at where id = $1`,
		"NO_SHOW":   `update bookings set status = 'NO_SHOW' where id = $1`,
		"CANCELLED": `update bookings set status = 'CANCELLED' where id = $1`,
		"EXPIRED":   `update bookings set status = 'EXPIRED' where id = $1`,
	} {
		mia, s := h.member("Mia"), h.session(slot{Starts: class})
		id := h.mustBook(mia, s)
		h.exec(sql, id)
		_, err := h.checkIn(h.Owner, id)
		wantReason(t, err, fault.NotConfirmed)
		if got := meta(t, err, "status"); got != status {
			t.Errorf("%s, want %s", got, status)
		}
		_, err = h.app.UndoCheckIn(context.Background(), h.Owner, id)
		wantReason(t, err, fault.NotConfirmed)
		_, err = h.selfCheckIn(mia, s, app.Presence{Point: door})
		wantReason(t, err, fault.NotConfirmed)
		if got := h.status(id); got != status {
			t.Errorf("it became %s", got)
		}
	}
}

func TestStaffCheckInFromADayBeforeWithoutEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.session(slot{Starts: class})
	for name, tt := range map[string]struct {
		at     time.Duration // after the start
		reason fault.Reason
	}{
		"more than a day before": {-24*time.Hour - time.Second, fault.CheckInWindow},
		"a day before":           {-24 * time.Hour, ""},
		"weeks after":            {21 * 24 * time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h.clock.Set(noon)
			id := h.mustBook(h.member("Mia"), s)
			h.clock.Set(class.Add(tt.at))
			_, err := h.checkIn(h.Coach, id)
			wantReason(t, err, tt.reason)
		})
	}
	h.wantSound()
}

func TestARoleOfTheTenantsOwnMayCheckIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.mustBook(h.member("Mia"), h.session(slot{Starts: class}))
	h.clock.Set(class)
	desk := h.member("Dana Desk")
	desk.Roles = []string{"front_desk"} // let in by the permission, not by its name
	if in, err := h.checkIn(desk, id); err != nil || in.Booking.Status != booking.Attended {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestCheckInKnowsNoOtherTenant(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other := h.another()
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	id := h.mustBook(mia, s)
	h.clock.Set(class)
	ctx := context.Background()
	_, err := other.checkIn(other.Owner, id)
	wantReason(t, err, fault.BookingNotFound)
	_, err = h.app.UndoCheckIn(ctx, other.Owner, id)
	wantReason(t, err, fault.BookingNotFound)
	_, err = h.selfCheckIn(other.member("Mia"), s, h.scan(s))
	wantReason(t, err, fault.SessionNotFound)
	_, err = h.app.GetQRToken(ctx, other.Owner, s)
	wantReason(t, err, fault.SessionNotFound)
	_, err = h.app.CreateDisplayURL(ctx, other.Owner, s)
	wantReason(t, err, fault.SessionNotFound)
	_, err = h.app.ListAttendance(ctx, other.Owner, app.AttendanceQuery{Member: mia.Member, Limit: 10})
	wantReason(t, err, fault.MemberNotFound)
	_, err = h.checkIn(h.Owner, newID[tenant.BookingID]())
	wantReason(t, err, fault.BookingNotFound)
	// Nor another's booking: Noa has none in this session.
	_, err = h.selfCheckIn(h.member("Noa"), s, h.scan(s))
	wantReason(t, err, fault.NotConfirmed)
	if got := h.status(id); got != "CONFIRMED" {
		t.Error(got)
	}
}

func TestQRTokenRotatesAndLivesShorterThanTenMinutes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	h.mustBook(mia, s)
	h.clock.Set(class)
	ctx := context.Background()
	qr, err := h.app.GetQRToken(ctx, h.Coach, s)
	if err != nil {
		t.Fatal(err)
	}
	if !qr.Expires.Equal(class.Add(90*time.Second)) || !qr.Refresh.Equal(class.Add(30*time.Second)) {
		t.Errorf("%+v", qr)
	}
	h.clock.Set(qr.Refresh)
	next, err := h.app.GetQRToken(ctx, h.Coach, s)
	if err != nil || next.Text == qr.Text {
		t.Errorf("the next is the same; %v", err)
	}
	// Whoever looked at the first one when the wall changed still gets in with it.
	if _, err := h.selfCheckIn(mia, s, app.Presence{QR: qr.Text}); err != nil {
		t.Error(err)
	}
}

func TestNothingIsShownForASessionThatIsOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	s := h.session(slot{Starts: class})
	link, err := h.app.CreateDisplayURL(ctx, h.Coach, s)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() [3]fault.Reason {
		_, qr := h.app.GetQRToken(ctx, h.Coach, s)
		_, url := h.app.CreateDisplayURL(ctx, h.Coach, s)
		_, shown := h.app.GetDisplay(ctx, link.Token)
		return [3]fault.Reason{fault.ReasonOf(qr), fault.ReasonOf(url), fault.ReasonOf(shown)}
	}
	if got := ask(); got != [3]fault.Reason{} {
		t.Error("planned:", got)
	}
	if _, err := h.app.CancelSession(ctx, h.Owner, s, "ill", true); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != [3]fault.Reason{fault.SessionState, fault.SessionState, fault.SessionNotFound} {
		t.Error("cancelled:", got)
	}
	h.exec(`update sessions set deleted_at = $2 where id = $1`, s, noon)
	if got := ask(); got != [3]fault.Reason{fault.SessionNotFound, fault.SessionNotFound, fault.SessionNotFound} {
		t.Error("deleted:", got)
	}
}
