package bookings_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestRescheduleBooking_MovesSeatsAndCredits(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
	pack := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	from := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	// the same day: the limit is not in the way
	to := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(49 * time.Hour), Capacity: 1})
	id := studio.MustBook(mia, from)
	studio.MustWaitlist(noa, from)

	moved := expect.Value(studio.Reschedule(testkit.SelfOnly(mia), id, to))(t)
	must.EqOp(t, id, moved.Booking.ID)
	must.EqOp(t, to, moved.Booking.Session)
	must.EqOp(t, 1, moved.Promoted)
	must.True(t, moved.Booking.StartsAt.Equal(testkit.Noon.Add(49*time.Hour)), must.Sprintf("%+v", moved))
	test.EqOp(t, 4, studio.Balance(pack), test.Sprintf("balance %d: the credit goes along", studio.Balance(pack)))
	again := expect.Value(studio.Reschedule(testkit.SelfOnly(mia), id, to))(t)
	test.True(t, again.Repeated, test.Sprintf("%+v", again))
	// A day on which she has reached her limit.
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(96 * time.Hour)}))
	expect.Reason(t, fault.DailyLimit)(studio.Reschedule(
		testkit.SelfOnly(mia), id, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(98 * time.Hour)}),
	))
}

func TestRescheduleBooking_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other, mia := studio.AddLocation(catalog.Location{Name: "Pier 2"}), studio.AddMember("Mia")
	id := studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(30 * time.Hour)}))
	full := studio.AddSession(testkit.Session{Capacity: 1})
	studio.MustBook(studio.AddMember("Noa"), full)
	taken := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(99 * time.Hour)})
	studio.MustBook(mia, taken)
	for name, tt := range map[string]struct {
		to     tenant.SessionID
		reason fault.Reason
	}{
		"another location": {studio.AddSession(testkit.Session{Location: other}), fault.RescheduleTarget},
		"no seat there":    {full, fault.RescheduleTarget},
		"a draft":          {studio.AddSession(testkit.Session{State: catalog.Draft}), fault.RescheduleTarget},
		"no such session":  {testkit.NewID[tenant.SessionID](), fault.SessionNotFound},
		"another tenant's": {studio.OtherTenant().AddSession(testkit.Session{}), fault.SessionNotFound},
		"booked there too": {taken, fault.AlreadyBooked},
		"beyond the window": {
			studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(40 * 24 * time.Hour)}), fault.AdvanceWindow,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect.Reason(t, tt.reason)(studio.Reschedule(testkit.SelfOnly(mia), id, tt.to))
		})
	}
	expect.Reason(t, fault.BookingNotFound)(
		studio.Reschedule(testkit.SelfOnly(studio.AddMember("Zoe")), id, studio.AddSession(testkit.Session{})),
	)
}

func TestRescheduleBooking_AfterTheCancellationWindow(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPolicy(func(p *catalog.PolicyLayer) {
		p.TierCancellations = &map[string]catalog.TierPolicy{"gold": {AllowReschedule: new(true)}}
	})
	soon := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(3 * time.Hour)})
	to, mia, gil := studio.AddSession(testkit.Session{}), studio.AddMember("Mia"), studio.AddMember("Gil")
	studio.SetTier(gil, "gold")
	mias, gils := studio.MustBook(mia, soon), studio.MustBook(gil, soon)
	expect.Reason(t, fault.CancellationWindow)(studio.Reschedule(testkit.SelfOnly(mia), mias, to))
	expect.OK(t)(studio.Reschedule(testkit.SelfOnly(gil), gils, to))
	expect.OK(t)(studio.Reschedule(studio.Owner, mias, to))
	test.Eq(t, map[string]any{"from_session_id": soon.String(), "to_session_id": to.String()},
		studio.LastAudit("booking.rescheduled"))
}

// That a booking is in the session already is no success once it is none any more.
func TestRescheduleBooking_NeedsAConfirmedBooking(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	here, there := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{
		Starts: testkit.Noon.Add(50 * time.Hour),
	})
	id := studio.MustBook(mia, here)
	stays := expect.Value(studio.Reschedule(testkit.SelfOnly(mia), id, here))(t)
	must.True(t, stays.Repeated, must.Sprintf("%+v", stays))
	must.EqOp(t, here, stays.Booking.Session)
	expect.OK(t)(studio.Cancel(mia, id))
	for _, by := range []tenant.Caller{testkit.SelfOnly(mia), studio.Owner} {
		for _, to := range []tenant.SessionID{here, there} {
			expect.Reason(t, fault.BookingState)(studio.Reschedule(by, id, to))
		}
	}
	test.EqOp(t, 0, studio.Count(
		`select count(*) from events where booking_id = $1 and type = 'booking.rescheduled'`, id,
	), test.Sprint("moves"))
}

// A member who waits for a session cannot move a booking into it. Errors of the booking or the session come first,
// because leaving the waitlist would not help then.
func TestRescheduleBooking_EndsTheEntryForTheSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.AddLocation(catalog.Location{Name: "Pier 2"})
	here := studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(30 * time.Hour)})
	mia := studio.AddMember("Mia")
	waitedFor := func(change func(*testkit.Session)) (tenant.SessionID, tenant.EntryID) {
		there, _, _ := studio.AddFullSession(1, change)
		return there, studio.MustWaitlist(mia, there)
	}
	full, entry := waitedFor(testkit.StartingAt(testkit.Noon.Add(50 * time.Hour)))
	far, _ := waitedFor(func(s *testkit.Session) { s.Starts, s.Location = testkit.Noon.Add(53*time.Hour), other })
	off, _ := waitedFor(testkit.StartingAt(testkit.Noon.Add(56 * time.Hour)))
	studio.Block(off)
	id := studio.MustBook(mia, here)
	want := func(by tenant.Caller, to tenant.SessionID, reason fault.Reason, key, value string) {
		t.Helper()
		test.EqOp(t, value, expect.Reason(t, reason)(studio.Reschedule(by, id, to)).Metadata[key], test.Sprint(key))
	}
	for _, by := range []tenant.Caller{testkit.SelfOnly(mia), studio.Owner} {
		want(by, full, fault.AlreadyBooked, "entry_id", entry.String())
		want(by, far, fault.RescheduleTarget, "reason", "LOCATION")
		want(by, off, fault.RescheduleTarget, "reason", "SESSION_NOT_OPEN")
	}
	expect.OK(t)(studio.Cancel(mia, id))
	for _, by := range []tenant.Caller{testkit.SelfOnly(mia), studio.Owner} {
		for _, to := range []tenant.SessionID{full, far, off} {
			want(by, to, fault.BookingState, "status", "CANCELLED")
		}
	}
}

// Making, moving and reading a booking all tell the same of its session.
func TestBooking_SaysWhereItsSessionIs(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	yoga := testkit.Session{Coach: studio.Coach, Title: "Yoga"}
	from, to := studio.AddSession(testkit.Session{}), studio.AddSession(yoga)
	made := expect.Value(studio.Book(mia, from))(t).Booking
	read := expect.Value(studio.App.Bookings.GetBooking(t.Context(), mia, made.ID))(t)
	test.Eq(t, read.Summary(), made.Summary())
	test.EqOp(t, "", made.CoachName, test.Sprint("nobody leads it"))
	moved := expect.Value(studio.Reschedule(mia, made.ID, to))(t).Booking
	read = expect.Value(studio.App.Bookings.GetBooking(t.Context(), mia, made.ID))(t)
	test.Eq(t, read.Summary(), moved.Summary())
	test.EqOp(t, "Carla Coach", read.CoachName)
	test.EqOp(t, "Yoga", read.SessionTitle)
	test.NotEq(t, "", read.LocationName)
	test.EqOp(t, studio.Service, read.Service)
}
