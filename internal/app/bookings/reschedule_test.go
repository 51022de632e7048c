package bookings_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestRescheduleBooking_MovesSeatsAndCredits(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	pack := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	from := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	// the same day: the limit is not in the way
	to := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(49 * time.Hour), Capacity: 1})
	id := h.MustBook(mia, from)
	h.MustWaitlist(noa, from)

	moved, err := h.Reschedule(testkit.SelfOnly(mia), id, to)
	if err != nil || moved.Booking.ID != id || moved.Booking.Session != to || moved.Promoted != 1 ||
		!moved.Booking.StartsAt.Equal(testkit.Noon.Add(49*time.Hour)) {
		t.Fatalf("%+v, %v", moved, err)
	}
	if h.Balance(pack) != 4 {
		t.Errorf("balance %d: the credit goes along", h.Balance(pack))
	}
	if again, err := h.Reschedule(testkit.SelfOnly(mia), id, to); err != nil || !again.Repeated {
		t.Errorf("%+v, %v", again, err)
	}
	// A day on which she has reached her limit.
	day := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(96 * time.Hour)})
	h.MustBook(mia, day)
	_, err = h.Reschedule(
		testkit.SelfOnly(mia), id, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(98 * time.Hour)}),
	)
	testkit.WantReason(t, err, fault.DailyLimit)
	h.WantSound()
}

func TestRescheduleBooking_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	elsewhere := h.AddLocation(catalog.Location{Name: "Pier 2"})
	mia := h.AddMember("Mia")
	id := h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(30 * time.Hour)}))
	full := h.AddSession(testkit.Session{Capacity: 1})
	h.MustBook(h.AddMember("Noa"), full)
	taken := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(99 * time.Hour)})
	h.MustBook(mia, taken)
	for name, tt := range map[string]struct {
		to     tenant.SessionID
		reason fault.Reason
	}{
		"another location": {h.AddSession(testkit.Session{Location: elsewhere}), fault.RescheduleTarget},
		"no seat there":    {full, fault.RescheduleTarget},
		"a draft":          {h.AddSession(testkit.Session{State: catalog.Draft}), fault.RescheduleTarget},
		"no such session":  {testkit.NewID[tenant.SessionID](), fault.SessionNotFound},
		"another tenant's": {h.OtherTenant().AddSession(testkit.Session{}), fault.SessionNotFound},
		"booked there too": {taken, fault.AlreadyBooked},
		"beyond the window": {
			h.AddSession(testkit.Session{Starts: testkit.Noon.Add(40 * 24 * time.Hour)}), fault.AdvanceWindow,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.Reschedule(testkit.SelfOnly(mia), id, tt.to)
			testkit.WantReason(t, err, tt.reason)
		})
	}
	_, err := h.Reschedule(testkit.SelfOnly(h.AddMember("Zoe")), id, h.AddSession(testkit.Session{}))
	testkit.WantReason(t, err, fault.BookingNotFound)
	t.Cleanup(h.WantSound)
}

func TestRescheduleBooking_AfterTheCancellationWindow(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetPolicy(func(p *catalog.Policy) {
		p.Tiers = &map[string]catalog.TierPolicy{"gold": {AllowReschedule: new(true)}}
	})
	soon := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(3 * time.Hour)})
	to := h.AddSession(testkit.Session{})
	mia, gil := h.AddMember("Mia"), h.AddMember("Gil")
	h.SetTier(gil, "gold")
	mias, gils := h.MustBook(mia, soon), h.MustBook(gil, soon)
	_, err := h.Reschedule(testkit.SelfOnly(mia), mias, to)
	testkit.WantReason(t, err, fault.CancellationWindow)
	if _, err := h.Reschedule(testkit.SelfOnly(gil), gils, to); err != nil {
		t.Error(err)
	}
	if _, err := h.Reschedule(h.Owner, mias, to); err != nil {
		t.Errorf("by an admin: %v", err)
	}
	h.WantSound()
}

// That a booking is in the session already is no success once it is none any more.
func TestRescheduleBooking_NeedsAConfirmedBooking(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	here, there := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{Starts: testkit.Noon.Add(50 * time.Hour)})
	id := h.MustBook(mia, here)
	if stays, err := h.Reschedule(testkit.SelfOnly(mia), id, here); err != nil || !stays.Repeated ||
		stays.Booking.Session != here {
		t.Fatalf("%+v, %v", stays, err)
	}
	if _, err := h.Cancel(mia, id); err != nil {
		t.Fatal(err)
	}
	for _, by := range []tenant.Caller{testkit.SelfOnly(mia), h.Owner} {
		for _, to := range []tenant.SessionID{here, there} {
			_, err := h.Reschedule(by, id, to)
			testkit.WantReason(t, err, fault.BookingState)
		}
	}
	if n := h.Count(`select count(*) from events where booking_id = $1 and type = 'booking.rescheduled'`, id); n != 0 {
		t.Errorf("%d moves", n)
	}
	h.WantSound()
}

// Whoever waits for a session cannot move a booking into it as well. What is wrong with the booking, or the session, is
// said first: leaving the waitlist would not help then.
func TestRescheduleBooking_EndsTheEntryForTheSession(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	elsewhere := h.AddLocation(catalog.Location{Name: "Pier 2"})
	here := h.AddSession(testkit.Session{Starts: testkit.Noon.Add(30 * time.Hour)})
	mia := h.AddMember("Mia")
	waitedFor := func(change func(*testkit.Session)) (tenant.SessionID, tenant.EntryID) {
		there, _, _ := h.AddFullSession(1, change)
		return there, h.MustWaitlist(mia, there)
	}
	full, entry := waitedFor(testkit.StartingAt(testkit.Noon.Add(50 * time.Hour)))
	far, _ := waitedFor(func(s *testkit.Session) { s.Starts, s.Location = testkit.Noon.Add(53*time.Hour), elsewhere })
	off, _ := waitedFor(testkit.StartingAt(testkit.Noon.Add(56 * time.Hour)))
	h.Block(off)
	id := h.MustBook(mia, here)
	want := func(by tenant.Caller, to tenant.SessionID, reason fault.Reason, key, value string) {
		t.Helper()
		_, err := h.Reschedule(by, id, to)
		testkit.WantReason(t, err, reason)
		if got := testkit.Meta(t, err, key); got != value {
			t.Errorf("%s is %q, want %q", key, got, value)
		}
	}
	for _, by := range []tenant.Caller{testkit.SelfOnly(mia), h.Owner} {
		want(by, full, fault.AlreadyBooked, "entry_id", entry.String())
		want(by, far, fault.RescheduleTarget, "reason", "LOCATION")
		want(by, off, fault.RescheduleTarget, "reason", "SESSION_NOT_OPEN")
	}
	if _, err := h.Cancel(mia, id); err != nil {
		t.Fatal(err)
	}
	for _, by := range []tenant.Caller{testkit.SelfOnly(mia), h.Owner} {
		for _, to := range []tenant.SessionID{full, far, off} {
			want(by, to, fault.BookingState, "status", "CANCELLED")
		}
	}
	h.WantSound()
}
