package bookings_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// door is the position of the studio's location.
var door = &checkin.Position{Point: checkin.Point{Latitude: 52.5, Longitude: 13.4}}

// arrived is what a booking says of its party's arrival.
type arrived struct {
	Status booking.Status
	At     *time.Time
	Method string
}

// arrivedIn reads it from the database, and fails unless a use case says the same.
func arrivedIn(studio *testkit.Studio, id tenant.BookingID, said ...booking.Booking) arrived {
	studio.T.Helper()
	b := expect.Value(studio.App.Bookings.GetBooking(context.Background(), studio.Owner, id))(studio.T)
	for _, s := range said {
		test.EqOp(studio.T, "", cmp.Diff(b, s), test.Sprint("what was said differs from what is kept (-kept +said)\n"))
	}
	return arrived{b.Status, b.CheckedInAt, b.CheckInMethod}
}

func TestCheckIn_ByStaffSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	id := studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	studio.Clock.Set(testkit.InTwoDays.Add(-10 * time.Minute))
	in := expect.Value(studio.CheckIn(studio.Coach, id))(t)
	must.False(t, in.Already, must.Sprintf("%+v", in))
	test.Eq(t, arrived{booking.Attended, new(testkit.InTwoDays.Add(-10 * time.Minute)), "MANUAL"},
		arrivedIn(studio, id, in.Booking))
	test.EqOp(t, "booking.confirmed member, booking.attended coach", studio.BookingEvents(id))
}

func TestCheckIn_ByQRSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := studio.MustBook(mia, s)
	studio.Clock.Set(testkit.InTwoDays.Add(-5 * time.Minute))
	in := expect.Value(studio.SelfCheckIn(mia, s, studio.ScanQR(s)))(t)
	must.False(t, in.Already, must.Sprintf("%+v", in))
	test.Eq(
		t, arrived{booking.Attended, new(testkit.InTwoDays.Add(-5 * time.Minute)), "QR"}, arrivedIn(studio, id, in.Booking),
	)
	test.EqOp(t, "booking.confirmed member, booking.attended member", studio.BookingEvents(id))
}

func TestCheckIn_ByGPSSetsStatusTimeAndMethod(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := studio.MustBook(mia, s)
	studio.Clock.Set(testkit.InTwoDays)
	in := expect.Value(studio.SelfCheckIn(mia, s, bookings.CheckInProof{Position: door}))(t)
	must.False(t, in.Already, must.Sprintf("%+v", in))
	test.Eq(t, arrived{booking.Attended, &testkit.InTwoDays, "GPS"}, arrivedIn(studio, id, in.Booking))
}

func TestUndoCheckIn_ConfirmsAgain(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := studio.MustBook(mia, s)
	studio.Clock.Set(testkit.InTwoDays)
	expect.OK(t)(studio.SelfCheckIn(mia, s, studio.ScanQR(s)))
	// Undoing twice changes nothing; and it may be done long after the class.
	for _, late := range []time.Duration{time.Minute, 30 * 24 * time.Hour} {
		studio.Clock.Set(testkit.InTwoDays.Add(late))
		undone := expect.Value(studio.App.Bookings.UndoCheckIn(context.Background(), studio.Coach, id))(t)
		test.Eq(t, arrived{Status: booking.Confirmed}, arrivedIn(studio, id, undone))
	}
	test.EqOp(t, "booking.confirmed member, booking.attended member, "+
		"booking.check_in_undone "+
		"coach", studio.BookingEvents(id))
	// They did come after all.
	in := expect.Value(studio.CheckIn(studio.Coach, id))(t)
	test.False(t, in.Already, test.Sprintf("%+v", in))
	test.EqOp(t, "MANUAL", in.Booking.CheckInMethod)
}

func TestCheckIn_TwiceChangesNothing(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := studio.MustBook(mia, s)
	studio.Clock.Set(testkit.InTwoDays)
	code := studio.ScanQR(s)
	expect.OK(t)(studio.SelfCheckIn(mia, s, code))
	studio.Clock.Set(testkit.InTwoDays.Add(20 * time.Minute)) // by now the code has expired
	again := map[string]func() (bookings.CheckInResult, error){
		"the same code": func() (bookings.CheckInResult, error) { return studio.SelfCheckIn(mia, s, code) },
		"by GPS, from home": func() (bookings.CheckInResult, error) {
			return studio.SelfCheckIn(mia, s, bookings.CheckInProof{Position: &checkin.Position{
				Point: checkin.Point{Latitude: 1},
			}})
		},
		"by staff": func() (bookings.CheckInResult, error) { return studio.CheckIn(studio.Coach, id) },
	}
	for name, do := range again {
		in := expect.Value(do())(t)
		test.True(t, in.Already, test.Sprintf("%s: %+v", name, in))
		test.Eq(t, arrived{booking.Attended, &testkit.InTwoDays, "QR"}, arrivedIn(studio, id, in.Booking), test.Sprint(name))
	}
	test.EqOp(t, "booking.confirmed member, booking.attended member", studio.BookingEvents(id))
}

func TestCheckIn_ConcurrentCallsCheckInOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := studio.MustBook(mia, s)
	studio.Clock.Set(testkit.InTwoDays)
	proofs := []bookings.CheckInProof{studio.ScanQR(s), {Position: door}}
	var first atomic.Int32
	testkit.Parallel(8, func(i int) {
		var (
			in  bookings.CheckInResult
			err error
		)
		if i < 6 {
			in, err = studio.SelfCheckIn(mia, s, proofs[i%2])
		} else {
			in, err = studio.CheckIn(studio.Coach, id)
		}
		test.NoError(t, err)
		if !in.Already {
			first.Add(1)
		}
	})
	test.EqOp(t, 1, first.Load(), test.Sprint("were the first"))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from events where tenant_id = $1 and type = 'booking.attended'`, studio.Tenant,
	), test.Sprint("events"))
}

func TestSelfCheckIn_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPolicyOf(settings.PolicyTarget{Location: studio.Location}, func(p *catalog.PolicyLayer) {
		p.CheckInOpensBefore, p.CheckInClosesAfterEnd, p.GPSMaxMeters = new(30*time.Minute), new(10*time.Minute), new(100.0)
	})
	feed := studio.AddService(catalog.Service{Name: "Live stream", Delivery: catalog.Feed})
	popUpLocation, mia := studio.AddLocation(catalog.Location{Name: "Pop-up"}), studio.AddMember("Mia")
	at := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	online := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(4 * time.Hour), Service: feed})
	popUp := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(8 * time.Hour), Location: popUpLocation})
	unbooked := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	full := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(12 * time.Hour), Capacity: 1, Waitlist: 1})
	for _, s := range []tenant.SessionID{at, online, popUp} {
		studio.MustBook(mia, s)
	}
	studio.MustBook(studio.AddMember("Noa"), full)
	studio.MustWaitlist(mia, full)

	north := func(meters float64) bookings.CheckInProof {
		return bookings.CheckInProof{
			Position: &checkin.Position{
				Point: checkin.Point{Latitude: door.Latitude + meters/111_195, Longitude: door.Longitude},
			},
		}
	}
	here := bookings.CheckInProof{Position: door}
	fields := map[string]string{"a place that there is not": "position", "nothing to show for it": "proof"}
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
		"the code of another session": {
			at, 0, func(time.Time) bookings.CheckInProof { return studio.ScanQR(unbooked) }, fault.QRInvalid, nil,
		},
		"a code that has expired": {at, 0, func(now time.Time) bookings.CheckInProof {
			studio.Clock.Set(now.Add(-checkin.QRTTL))
			defer studio.Clock.Set(now)
			return studio.ScanQR(at)
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
		"no booking":               {unbooked, 0, nil, fault.NotBooked, nil},
		"a waitlist entry is none": {full, 12 * time.Hour, nil, fault.NotBooked, nil},
		"no such session": {
			testkit.NewID[tenant.SessionID](), 0, func(time.Time) bookings.CheckInProof { return here }, fault.SessionNotFound,
			nil,
		},
		"a place that there is not": {at, 0, func(time.Time) bookings.CheckInProof {
			return bookings.CheckInProof{Position: &checkin.Position{Point: checkin.Point{Latitude: 91}}}
		}, fault.InvalidField, nil},
		"nothing to show for it": {
			at, 0, func(time.Time) bookings.CheckInProof { return bookings.CheckInProof{} }, fault.InvalidField, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			// The clock is shared, so these take turns.
			now := testkit.InTwoDays.Add(tt.now)
			studio.Clock.Set(now)
			proof := tt.proof
			if proof == nil {
				proof = func(time.Time) bookings.CheckInProof { return studio.ScanQR(tt.session) }
			}
			refused := expect.Reason(t, tt.reason)(studio.SelfCheckIn(mia, tt.session, proof(now)))
			test.EqOp(t, fields[name], refused.Field)
			for key, want := range tt.meta {
				test.EqOp(t, want, refused.Metadata[key], test.Sprint(key))
			}
		})
	}
	test.EqOp(t, 0, studio.Count(
		`select count(*) from bookings where tenant_id = $1 and status = 'ATTENDED'`, studio.Tenant,
	), test.Sprint("were checked in"))
	// The same people, where nothing speaks against it.
	studio.Clock.Set(testkit.InTwoDays.Add(-30 * time.Minute))
	expect.OK(t)(studio.SelfCheckIn(mia, at, north(99)))
	studio.Clock.Set(testkit.InTwoDays.Add(4 * time.Hour))
	expect.OK(t)(studio.SelfCheckIn(mia, online, studio.ScanQR(online)))
}

func TestSelfCheckIn_NeedsABooking(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.Clock.Set(testkit.InTwoDays.Add(-2 * time.Hour))
	for status, reason := range map[booking.Status]fault.Reason{
		booking.Pending: fault.NotConfirmed, booking.NoShow: fault.NotConfirmed,
		booking.Cancelled: fault.BookingGone, booking.Expired: fault.BookingGone,
	} {
		mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
		id := studio.AddBooking(s, testkit.Booking{Who: mia, Status: status})
		test.EqOp(
			t, string(status), expect.Reason(t, reason)(studio.CheckIn(studio.Owner, id)).Metadata["status"],
		)
		expect.Reason(t, reason)(studio.App.Bookings.UndoCheckIn(context.Background(), studio.Owner, id))
		expect.Reason(t, reason)(studio.SelfCheckIn(mia, s, bookings.CheckInProof{Position: door}))
		test.EqOp(t, string(status), studio.BookingStatus(id), test.Sprint("it became"))
	}
}

func TestCheckIn_StaffFromADayBefore(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	for name, tt := range map[string]struct {
		at     time.Duration // after the start
		reason fault.Reason
	}{
		"more than a day before": {-24*time.Hour - time.Second, fault.CheckInWindow},
		"a day before":           {-24 * time.Hour, ""},
		"weeks after":            {21 * 24 * time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			studio.Clock.Set(testkit.Noon)
			id := studio.MustBook(studio.AddMember("Mia"), s)
			studio.Clock.Set(testkit.InTwoDays.Add(tt.at))
			expect.Reason(t, tt.reason)(studio.CheckIn(studio.Coach, id))
		})
	}
}

func TestCheckIn_ByCustomRole(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	id := studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	studio.Clock.Set(testkit.InTwoDays)
	desk := studio.AddMember("Dana Desk")
	desk.Roles = []string{"front_desk"} // let in by the permission, not by its name
	test.EqOp(t, booking.Attended, expect.Value(studio.CheckIn(desk, id))(t).Booking.Status)
}

func TestCheckIn_HidesOtherTenants(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.OtherTenant()
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := studio.MustBook(mia, s)
	studio.Clock.Set(testkit.InTwoDays)
	expect.Reason(t, fault.BookingNotFound)(other.CheckIn(other.Owner, id))
	expect.Reason(t, fault.BookingNotFound)(studio.App.Bookings.UndoCheckIn(t.Context(), other.Owner, id))
	expect.Reason(t, fault.SessionNotFound)(studio.SelfCheckIn(other.AddMember("Mia"), s, studio.ScanQR(s)))
	expect.Reason(t, fault.SessionNotFound)(studio.App.Bookings.GetQRToken(t.Context(), other.Owner, s))
	expect.Reason(t, fault.SessionNotFound)(studio.App.Bookings.CreateDisplayLink(t.Context(), other.Owner, s))
	expect.Reason(t, fault.MemberNotFound)(
		studio.App.Bookings.ListAttendance(t.Context(), other.Owner, bookings.AttendanceQuery{Member: mia.Member, Limit: 10}),
	)
	expect.Reason(t, fault.BookingNotFound)(studio.CheckIn(studio.Owner, testkit.NewID[tenant.BookingID]()))
	// Nor another's booking: Noa has none in this session.
	expect.Reason(t, fault.NotBooked)(studio.SelfCheckIn(studio.AddMember("Noa"), s, studio.ScanQR(s)))
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(id))
}

func TestQRToken_RotatesAndExpires(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	studio.MustBook(mia, s)
	studio.Clock.Set(testkit.InTwoDays)
	qr := expect.Value(studio.App.Bookings.GetQRToken(t.Context(), studio.Coach, s))(t)
	test.True(t, qr.Expires.Equal(testkit.InTwoDays.Add(90*time.Second)), test.Sprintf("%+v", qr))
	test.True(t, qr.Refresh.Equal(testkit.InTwoDays.Add(30*time.Second)), test.Sprintf("%+v", qr))
	studio.Clock.Set(qr.Refresh)
	test.NotEq(t, qr.Text, expect.Value(studio.App.Bookings.GetQRToken(t.Context(), studio.Coach, s))(t).Text)
	// The first code is still valid: a member may have scanned it just before the display changed.
	expect.OK(t)(studio.SelfCheckIn(mia, s, bookings.CheckInProof{QR: qr.Text}))
}

func TestQRToken_RejectsCancelledSessions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	link := expect.Value(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s))(t)
	ask := func() [3]fault.Reason {
		_, qr := studio.App.Bookings.GetQRToken(t.Context(), studio.Coach, s)
		_, url := studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, s)
		_, shown := studio.App.Bookings.GetCheckInDisplay(t.Context(), link.Token)
		return [3]fault.Reason{fault.ReasonOf(qr), fault.ReasonOf(url), fault.ReasonOf(shown)}
	}
	test.EqOp(t, [3]fault.Reason{}, ask(), test.Sprint("planned:"))
	expect.OK(t)(studio.App.Schedules.CancelSession(t.Context(), studio.Owner, s, schedules.Removal{
		Reason: "ill", Notify: true,
	}))
	test.EqOp(t, [3]fault.Reason{fault.SessionState, fault.SessionState, fault.SessionNotFound}, ask(),
		test.Sprint("cancelled:"))
	studio.DeleteSession(s)
	test.EqOp(t, [3]fault.Reason{fault.SessionNotFound, fault.SessionNotFound, fault.SessionNotFound}, ask(),
		test.Sprint("deleted:"))
}
