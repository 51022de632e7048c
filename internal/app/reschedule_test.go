package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func (h *house) move(by tenant.Caller, id tenant.BookingID, to tenant.SessionID) (app.Rescheduled, error) {
	return h.app.RescheduleBooking(context.Background(), by, app.RescheduleRequest{ID: id, To: to, MoveItems: true, Notify: true})
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia, noa := h.member("Mia"), h.member("Noa")
	pack := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 5, DailyLimit: new(1)}))
	from := h.session(slot{Capacity: 1, Waitlist: 1})
	to := h.session(slot{Starts: noon.Add(49 * time.Hour), Capacity: 1}) // the same day: the limit is not in the way
	id := h.mustBook(mia, from)
	h.mustWait(noa, from)

	moved, err := h.move(own(mia), id, to)
	if err != nil || moved.Booking.ID != id || moved.Booking.Session != to || moved.Promoted != 1 || !moved.Booking.StartsAt.Equal(noon.Add(49*time.Hour)) {
		t.Fatalf("%+v, %v", moved, err)
	}
	if h.balance(pack) != 4 {
		t.Errorf("balance %d: the credit goes along", h.balance(pack))
	}
	if again, err := h.move(own(mia), id, to); err != nil || !again.Repeated {
		t.Errorf("%+v, %v", again, err)
	}
	// A day on which she has reached her limit.
	day := h.session(slot{Starts: noon.Add(96 * time.Hour)})
	h.mustBook(mia, day)
	_, err = h.move(own(mia), id, h.session(slot{Starts: noon.Add(98 * time.Hour)}))
	wantReason(t, err, fault.DailyLimit)
	h.wantSound()
}

func TestRescheduleRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	elsewhere := newID[tenant.LocationID]()
	h.exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Pier 2', 'Europe/Berlin', $3, $3)`, h.Tenant, elsewhere, noon)
	mia := h.member("Mia")
	id := h.mustBook(mia, h.session(slot{Starts: noon.Add(30 * time.Hour)}))
	full := h.session(slot{Capacity: 1})
	h.mustBook(h.member("Noa"), full)
	taken := h.session(slot{Starts: noon.Add(99 * time.Hour)})
	h.mustBook(mia, taken)
	for name, tt := range map[string]struct {
		to     tenant.SessionID
		reason fault.Reason
	}{
		"another location":  {h.session(slot{Location: elsewhere}), fault.RescheduleTarget},
		"no seat there":     {full, fault.RescheduleTarget},
		"a draft":           {h.session(slot{State: catalog.Draft}), fault.RescheduleTarget},
		"no such session":   {newID[tenant.SessionID](), fault.SessionNotFound},
		"another tenant's":  {h.another().session(slot{}), fault.SessionNotFound},
		"booked there too":  {taken, fault.AlreadyBooked},
		"beyond the window": {h.session(slot{Starts: noon.Add(40 * 24 * time.Hour)}), fault.AdvanceWindow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.move(own(mia), id, tt.to)
			wantReason(t, err, tt.reason)
		})
	}
	_, err := h.move(own(h.member("Zoe")), id, h.session(slot{}))
	wantReason(t, err, fault.BookingNotFound)
	t.Cleanup(h.wantSound)
}

func TestReschedulingPastTheCancellationWindow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`insert into policies (tenant_id, level, scope_id, tiers, updated_at) values ($1, 'TENANT', $1, '{"gold": {"allow_reschedule": true}}', $2)`, h.Tenant, noon)
	soon := h.session(slot{Starts: noon.Add(3 * time.Hour)})
	to := h.session(slot{})
	mia, gil := h.member("Mia"), h.member("Gil")
	h.exec(`update members set tier = 'gold' where id = $1`, gil.Member)
	mias, gils := h.mustBook(mia, soon), h.mustBook(gil, soon)
	_, err := h.move(own(mia), mias, to)
	wantReason(t, err, fault.CancellationWindow)
	if _, err := h.move(own(gil), gils, to); err != nil {
		t.Error(err)
	}
	if _, err := h.move(h.Owner, mias, to); err != nil {
		t.Errorf("by an admin: %v", err)
	}
	h.wantSound()
}

// That a booking is in the session already is no success once it is none any more.
func TestOnlyAConfirmedBookingMovesEvenToWhereItIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mia := h.member("Mia")
	here, there := h.session(slot{}), h.session(slot{Starts: noon.Add(50 * time.Hour)})
	id := h.mustBook(mia, here)
	if stays, err := h.move(own(mia), id, here); err != nil || !stays.Repeated || stays.Booking.Session != here {
		t.Fatalf("%+v, %v", stays, err)
	}
	if _, err := h.cancel(mia, id); err != nil {
		t.Fatal(err)
	}
	for _, by := range []tenant.Caller{own(mia), h.Owner} {
		for _, to := range []tenant.SessionID{here, there} {
			_, err := h.move(by, id, to)
			wantReason(t, err, fault.BookingState)
		}
	}
	if n := h.count(`select count(*) from events where booking_id = $1 and type = 'booking.rescheduled'`, id); n != 0 {
		t.Errorf("%d moves", n)
	}
	h.wantSound()
}

// Whoever waits for a session cannot move a booking into it as well. What is wrong with the booking, or the session, is said first:
// leaving the waitlist would not help then.
func TestMovingToASessionThatOneWaitsFor(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	elsewhere := newID[tenant.LocationID]()
	h.exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Pier 2', 'Europe/Berlin', $3, $3)`, h.Tenant, elsewhere, noon)
	here := h.session(slot{Starts: noon.Add(30 * time.Hour)})
	mia := h.member("Mia")
	waitedFor := func(change func(*slot)) (tenant.SessionID, tenant.EntryID) {
		there, _, _ := h.full(1, change)
		return there, h.mustWait(mia, there)
	}
	full, entry := waitedFor(starting(noon.Add(50 * time.Hour)))
	far, _ := waitedFor(func(s *slot) { s.Starts, s.Location = noon.Add(53*time.Hour), elsewhere })
	off, _ := waitedFor(starting(noon.Add(56 * time.Hour)))
	h.exec(`update sessions set blocked = true where id = $1`, off)
	id := h.mustBook(mia, here)
	want := func(by tenant.Caller, to tenant.SessionID, reason fault.Reason, key, value string) {
		t.Helper()
		_, err := h.move(by, id, to)
		wantReason(t, err, reason)
		if got := meta(t, err, key); got != value {
			t.Errorf("%s is %q, want %q", key, got, value)
		}
	}
	for _, by := range []tenant.Caller{own(mia), h.Owner} {
		want(by, full, fault.AlreadyBooked, "entry_id", entry.String())
		want(by, far, fault.RescheduleTarget, "reason", "LOCATION")
		want(by, off, fault.RescheduleTarget, "reason", "SESSION_NOT_OPEN")
	}
	if _, err := h.cancel(mia, id); err != nil {
		t.Fatal(err)
	}
	for _, by := range []tenant.Caller{own(mia), h.Owner} {
		for _, to := range []tenant.SessionID{full, far, off} {
			want(by, to, fault.BookingState, "status", "CANCELLED")
		}
	}
	h.wantSound()
}
