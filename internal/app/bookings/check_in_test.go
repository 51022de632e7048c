package bookings_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// door is the position of the studio's location.
var door = &catalog.Point{Latitude: 52.5, Longitude: 13.4}

// arrived is what a booking says of its party's arrival.
type arrived struct {
	Status booking.Status
	At     *time.Time
	Method string
}

// arrivedIn reads it from the database, and fails unless a use case says the same.
func arrivedIn(h *testkit.Studio, id tenant.BookingID, said ...booking.Booking) arrived {
	h.T.Helper()
	b, err := h.App.Bookings.GetBooking(context.Background(), h.Owner, id)
	if err != nil {
		h.T.Fatal(err)
	}
	for _, s := range said {
		if diff := cmp.Diff(b, s); diff != "" {
			h.T.Errorf("what was said differs from what is kept (-kept +said)\n%s", diff)
		}
	}
	return arrived{b.Status, b.CheckedInAt, b.CheckInMethod}
}

func TestCheckIn_ByStaffSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	id := h.MustBook(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	h.Clock.Set(testkit.InTwoDays.Add(-10 * time.Minute))
	in, err := h.CheckIn(h.Coach, id)
	if err != nil || in.Already {
		t.Fatalf("%+v, %v", in, err)
	}
	want := arrived{booking.Attended, new(testkit.InTwoDays.Add(-10 * time.Minute)), "MANUAL"}
	if diff := cmp.Diff(want, arrivedIn(h, id, in.Booking)); diff != "" {
		t.Error(diff)
	}
	if got := h.BookingEvents(id); got != "booking.confirmed member, booking.attended coach" {
		t.Error(got)
	}
	h.WantSound()
}

func TestCheckIn_ByQRSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := h.MustBook(mia, s)
	h.Clock.Set(testkit.InTwoDays.Add(-5 * time.Minute))
	in, err := h.SelfCheckIn(mia, s, h.ScanQR(s))
	if err != nil || in.Already {
		t.Fatalf("%+v, %v", in, err)
	}
	want := arrived{booking.Attended, new(testkit.InTwoDays.Add(-5 * time.Minute)), "QR"}
	if diff := cmp.Diff(want, arrivedIn(h, id, in.Booking)); diff != "" {
		t.Error(diff)
	}
	if got := h.BookingEvents(id); got != "booking.confirmed member, booking.attended member" {
		t.Error(got)
	}
	h.WantSound()
}

func TestCheckIn_ByGPSSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := h.MustBook(mia, s)
	h.Clock.Set(testkit.InTwoDays)
	in, err := h.SelfCheckIn(mia, s, bookings.CheckInProof{Point: door})
	if err != nil || in.Already {
		t.Fatalf("%+v, %v", in, err)
	}
	want := arrived{booking.Attended, &testkit.InTwoDays, "GPS"}
	if diff := cmp.Diff(want, arrivedIn(h, id, in.Booking)); diff != "" {
		t.Error(diff)
	}
	h.WantSound()
}

func TestUndoCheckIn_ConfirmsAgain(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := h.MustBook(mia, s)
	h.Clock.Set(testkit.InTwoDays)
	if _, err := h.SelfCheckIn(mia, s, h.ScanQR(s)); err != nil {
		t.Fatal(err)
	}
	// Undoing twice changes nothing; and it may be done long after the class.
	for _, late := range []time.Duration{time.Minute, 30 * 24 * time.Hour} {
		h.Clock.Set(testkit.InTwoDays.Add(late))
		undone, err := h.App.Bookings.UndoCheckIn(context.Background(), h.Coach, id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(arrived{Status: booking.Confirmed}, arrivedIn(h, id, undone)); diff != "" {
			t.Error(diff)
		}
	}
	if got := h.BookingEvents(id); got != "booking.confirmed member, booking.attended member, booking.check_in_undone "+
		"coach" {
		t.Error(got)
	}
	// They did come after all.
	if in, err := h.CheckIn(h.Coach, id); err != nil || in.Already || in.Booking.CheckInMethod != "MANUAL" {
		t.Errorf("%+v, %v", in, err)
	}
	h.WantSound()
}

func TestCheckIn_TwiceChangesNothing(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := h.MustBook(mia, s)
	h.Clock.Set(testkit.InTwoDays)
	code := h.ScanQR(s)
	if _, err := h.SelfCheckIn(mia, s, code); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.InTwoDays.Add(20 * time.Minute)) // by now the code has expired
	again := map[string]func() (bookings.CheckInResult, error){
		"the same code": func() (bookings.CheckInResult, error) { return h.SelfCheckIn(mia, s, code) },
		"by GPS, from home": func() (bookings.CheckInResult, error) {
			return h.SelfCheckIn(mia, s, bookings.CheckInProof{Point: &catalog.Point{Latitude: 1}})
		},
		"by staff": func() (bookings.CheckInResult, error) { return h.CheckIn(h.Coach, id) },
	}
	for name, do := range again {
		in, err := do()
		if err != nil || !in.Already {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
		if diff := cmp.Diff(arrived{booking.Attended, &testkit.InTwoDays, "QR"}, arrivedIn(h, id, in.Booking)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := h.BookingEvents(id); got != "booking.confirmed member, booking.attended member" {
		t.Error(got)
	}
	h.WantSound()
}

func TestCheckIn_ConcurrentCallsCheckInOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := h.MustBook(mia, s)
	h.Clock.Set(testkit.InTwoDays)
	proofs := []bookings.CheckInProof{h.ScanQR(s), {Point: door}}
	var first atomic.Int32
	testkit.Parallel(8, func(i int) {
		var in bookings.CheckInResult
		var err error
		if i < 6 {
			in, err = h.SelfCheckIn(mia, s, proofs[i%2])
		} else {
			in, err = h.CheckIn(h.Coach, id)
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
	if n := h.Count(`select count(*) from events where tenant_id = $1 and type = 'booking.attended'`, h.Tenant); n != 1 {
		t.Errorf("%d events", n)
	}
	h.WantSound()
}

func TestSelfCheckIn_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetPolicyOf(settings.PolicyTarget{Location: h.Location}, func(p *catalog.Policy) {
		p.CheckInOpens, p.CheckInCloses, p.GPSMaxMeters = new(30*time.Minute), new(10*time.Minute), new(100.0)
	})
	feed := h.AddService(catalog.Service{Name: "Live stream", Delivery: catalog.Feed})
	elsewhere := h.AddLocation(catalog.Location{Name: "Pop-up"})
	mia := h.AddMember("Mia")
	at := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	online := h.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(4 * time.Hour), Service: feed})
	popUp := h.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(8 * time.Hour), Location: elsewhere})
	unbooked := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	full := h.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(12 * time.Hour), Capacity: 1, Waitlist: 1})
	for _, s := range []tenant.SessionID{at, online, popUp} {
		h.MustBook(mia, s)
	}
	h.MustBook(h.AddMember("Noa"), full)
	h.MustWaitlist(mia, full)

	north := func(meters float64) bookings.CheckInProof {
		return bookings.CheckInProof{
			Point: &catalog.Point{Latitude: door.Latitude + meters/111_195, Longitude: door.Longitude},
		}
	}
	here := bookings.CheckInProof{Point: door}
	for name, tt := range map[string]struct {
		session tenant.SessionID
		now     time.Duration // after the start of the first class
		proof   func(now time.Time) bookings.CheckInProof
		reason  fault.Reason
		meta    map[string]string
	}{
		"before the check-in window": {at, -30*time.Minute - time.Second, nil, fault.CheckInWindow, map[string]string{
			"opens_at": "2026-03-18T11:30:00Z", "closes_at": "2026-03-18T13:10:00Z",
		}},
		"after the check-in window": {at, 70 * time.Minute, nil, fault.CheckInWindow, map[string]string{
			"opens_at": "2026-03-18T11:30:00Z", "closes_at": "2026-03-18T13:10:00Z",
		}},
		"outside the window GPS counts no more": {
			at, 70 * time.Minute, func(time.Time) bookings.CheckInProof { return here }, fault.CheckInWindow, nil,
		},
		"the code of another session": {
			at, 0, func(time.Time) bookings.CheckInProof { return h.ScanQR(unbooked) }, fault.QRInvalid, nil,
		},
		"a code with a letter changed": {at, 0, func(time.Time) bookings.CheckInProof {
			code := []byte(h.ScanQR(at).QR)
			code[40] ^= 1
			return bookings.CheckInProof{QR: string(code)}
		}, fault.QRInvalid, nil},
		"a code that has expired": {at, 0, func(now time.Time) bookings.CheckInProof {
			h.Clock.Set(now.Add(-checkin.QRTTL))
			defer h.Clock.Set(now)
			return h.ScanQR(at)
		}, fault.QRInvalid, nil},
		"a display link is no code": {at, 0, func(time.Time) bookings.CheckInProof {
			link, err := h.App.Bookings.CreateDisplayURL(context.Background(), h.Coach, at)
			if err != nil {
				t.Error(err)
			}
			return bookings.CheckInProof{QR: link.Token}
		}, fault.QRInvalid, nil},
		"GPS_TOO_FAR": {
			at, 0, func(time.Time) bookings.CheckInProof { return north(101) }, fault.GPSTooFar,
			map[string]string{"max_meters": "100"},
		},
		"GPS for a feed": {
			online, 4 * time.Hour, func(time.Time) bookings.CheckInProof { return here }, fault.GPSNotAvailable, nil,
		},
		"GPS where there is no point": {
			popUp, 8 * time.Hour, func(time.Time) bookings.CheckInProof { return here }, fault.GPSNotAvailable, nil,
		},
		"no booking":               {unbooked, 0, nil, fault.NotConfirmed, map[string]string{"status": ""}},
		"a waitlist entry is none": {full, 12 * time.Hour, nil, fault.NotConfirmed, nil},
		"no such session": {
			testkit.NewID[tenant.SessionID](), 0, func(time.Time) bookings.CheckInProof { return here }, fault.SessionNotFound,
			nil,
		},
		"a place that there is not": {at, 0, func(time.Time) bookings.CheckInProof {
			return bookings.CheckInProof{Point: &catalog.Point{Latitude: 91}}
		}, fault.InvalidField, nil},
		"nothing to show for it": {
			at, 0, func(time.Time) bookings.CheckInProof { return bookings.CheckInProof{} }, fault.InvalidField, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			// The clock is shared, so these take turns.
			now := testkit.InTwoDays.Add(tt.now)
			h.Clock.Set(now)
			proof := tt.proof
			if proof == nil {
				proof = func(time.Time) bookings.CheckInProof { return h.ScanQR(tt.session) }
			}
			_, err := h.SelfCheckIn(mia, tt.session, proof(now))
			testkit.WantReason(t, err, tt.reason)
			for key, want := range tt.meta {
				if got := testkit.Meta(t, err, key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
		})
	}
	if n := h.Count(`select count(*) from bookings where tenant_id = $1 and status = 'ATTENDED'`, h.Tenant); n != 0 {
		t.Errorf("%d were checked in", n)
	}
	// The same people, where nothing speaks against it.
	h.Clock.Set(testkit.InTwoDays.Add(-30 * time.Minute))
	if _, err := h.SelfCheckIn(mia, at, north(99)); err != nil {
		t.Error(err)
	}
	h.Clock.Set(testkit.InTwoDays.Add(4 * time.Hour))
	if _, err := h.SelfCheckIn(mia, online, h.ScanQR(online)); err != nil {
		t.Error("a feed has codes:", err)
	}
	h.WantSound()
}

func TestSelfCheckIn_NeedsABooking(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.Clock.Set(testkit.InTwoDays.Add(-2 * time.Hour))
	for _, status := range []booking.Status{booking.Pending, booking.NoShow, booking.Cancelled, booking.Expired} {
		mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
		id := h.AddBooking(s, testkit.Booking{Who: mia, Status: status})
		_, err := h.CheckIn(h.Owner, id)
		testkit.WantReason(t, err, fault.NotConfirmed)
		if got := testkit.Meta(t, err, "status"); got != string(status) {
			t.Errorf("%s, want %s", got, status)
		}
		_, err = h.App.Bookings.UndoCheckIn(context.Background(), h.Owner, id)
		testkit.WantReason(t, err, fault.NotConfirmed)
		_, err = h.SelfCheckIn(mia, s, bookings.CheckInProof{Point: door})
		testkit.WantReason(t, err, fault.NotConfirmed)
		if got := h.BookingStatus(id); got != string(status) {
			t.Errorf("it became %s", got)
		}
	}
}

func TestCheckIn_StaffFromADayBefore(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	for name, tt := range map[string]struct {
		at     time.Duration // after the start
		reason fault.Reason
	}{
		"more than a day before": {-24*time.Hour - time.Second, fault.CheckInWindow},
		"a day before":           {-24 * time.Hour, ""},
		"weeks after":            {21 * 24 * time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h.Clock.Set(testkit.Noon)
			id := h.MustBook(h.AddMember("Mia"), s)
			h.Clock.Set(testkit.InTwoDays.Add(tt.at))
			_, err := h.CheckIn(h.Coach, id)
			testkit.WantReason(t, err, tt.reason)
		})
	}
	h.WantSound()
}

func TestCheckIn_ByCustomRole(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	id := h.MustBook(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	h.Clock.Set(testkit.InTwoDays)
	desk := h.AddMember("Dana Desk")
	desk.Roles = []string{"front_desk"} // let in by the permission, not by its name
	if in, err := h.CheckIn(desk, id); err != nil || in.Booking.Status != booking.Attended {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestCheckIn_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	other := h.OtherTenant()
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := h.MustBook(mia, s)
	h.Clock.Set(testkit.InTwoDays)
	ctx := context.Background()
	_, err := other.CheckIn(other.Owner, id)
	testkit.WantReason(t, err, fault.BookingNotFound)
	_, err = h.App.Bookings.UndoCheckIn(ctx, other.Owner, id)
	testkit.WantReason(t, err, fault.BookingNotFound)
	_, err = h.SelfCheckIn(other.AddMember("Mia"), s, h.ScanQR(s))
	testkit.WantReason(t, err, fault.SessionNotFound)
	_, err = h.App.Bookings.GetQRToken(ctx, other.Owner, s)
	testkit.WantReason(t, err, fault.SessionNotFound)
	_, err = h.App.Bookings.CreateDisplayURL(ctx, other.Owner, s)
	testkit.WantReason(t, err, fault.SessionNotFound)
	_, err = h.App.Bookings.ListAttendance(ctx, other.Owner, bookings.AttendanceQuery{Member: mia.Member, Limit: 10})
	testkit.WantReason(t, err, fault.MemberNotFound)
	_, err = h.CheckIn(h.Owner, testkit.NewID[tenant.BookingID]())
	testkit.WantReason(t, err, fault.BookingNotFound)
	// Nor another's booking: Noa has none in this session.
	_, err = h.SelfCheckIn(h.AddMember("Noa"), s, h.ScanQR(s))
	testkit.WantReason(t, err, fault.NotConfirmed)
	if got := h.BookingStatus(id); got != "CONFIRMED" {
		t.Error(got)
	}
}

func TestQRToken_RotatesAndExpires(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	h.MustBook(mia, s)
	h.Clock.Set(testkit.InTwoDays)
	ctx := context.Background()
	qr, err := h.App.Bookings.GetQRToken(ctx, h.Coach, s)
	if err != nil {
		t.Fatal(err)
	}
	if !qr.Expires.Equal(testkit.InTwoDays.Add(90*time.Second)) ||
		!qr.Refresh.Equal(testkit.InTwoDays.Add(30*time.Second)) {
		t.Errorf("%+v", qr)
	}
	h.Clock.Set(qr.Refresh)
	next, err := h.App.Bookings.GetQRToken(ctx, h.Coach, s)
	if err != nil || next.Text == qr.Text {
		t.Errorf("the next is the same; %v", err)
	}
	// Whoever looked at the first one when the wall changed still gets in with it.
	if _, err := h.SelfCheckIn(mia, s, bookings.CheckInProof{QR: qr.Text}); err != nil {
		t.Error(err)
	}
}

func TestQRToken_RejectsCancelledSessions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	link, err := h.App.Bookings.CreateDisplayURL(ctx, h.Coach, s)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() [3]fault.Reason {
		_, qr := h.App.Bookings.GetQRToken(ctx, h.Coach, s)
		_, url := h.App.Bookings.CreateDisplayURL(ctx, h.Coach, s)
		_, shown := h.App.Bookings.GetDisplay(ctx, link.Token)
		return [3]fault.Reason{fault.ReasonOf(qr), fault.ReasonOf(url), fault.ReasonOf(shown)}
	}
	if got := ask(); got != [3]fault.Reason{} {
		t.Error("planned:", got)
	}
	if _, err := h.App.Schedules.CancelSession(ctx, h.Owner, s, "ill", true); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != [3]fault.Reason{fault.SessionState, fault.SessionState, fault.SessionNotFound} {
		t.Error("cancelled:", got)
	}
	h.DeleteSession(s)
	if got := ask(); got != [3]fault.Reason{fault.SessionNotFound, fault.SessionNotFound, fault.SessionNotFound} {
		t.Error("deleted:", got)
	}
}
