package bookings_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// Two hold the last seat. Serializable transactions and the check on the counter guard it; each of them is enough.
func TestHold_ConcurrentCallsTakeTheLastSeatOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		careless, unchecked bool
		holds               int
	}{
		"guarded":               {holds: 1},
		"by the isolation only": {unchecked: true, holds: 1},
		"by the check only":     {careless: true, holds: 1},
		"unguarded":             {careless: true, unchecked: true, holds: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h := testkit.NewRace(t)
			a.ReadCommitted = tt.careless
			if tt.unchecked {
				h.Exec(`alter table sessions drop constraint sessions_capacity`)
			}
			mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
			last := h.AddSession(testkit.Session{Capacity: 1})
			hold := func(who tenant.Caller) func() {
				return func() {
					if _, err := h.OtherNode().Hold(who, last); err != nil && fault.ReasonOf(err) != fault.SessionFull {
						t.Error(err)
					}
				}
			}
			a.Run(hold(mia), hold(noa))
			if n := h.Count(`select count(*) from bookings where session_id = $1 and status = 'PENDING'`, last); n != tt.holds {
				t.Errorf("%d hold one seat", n)
			}
			if sound := len(h.Violations()) == 0; sound != (tt.holds == 1) {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// At the instant at which a hold runs out, confirming it and ending it have one winner. Two nodes, between whose clocks
// the hold runs out, do both. Serializable transactions guard it.
func TestConfirmBooking_RacesWithExpiry(t *testing.T) {
	t.Parallel()
	contest := func(h *testkit.Studio, a *testkit.Barrier) (status string, told error) {
		mia := h.AddMember("Mia")
		held := h.MustHold(mia, h.AddSession(testkit.Session{Capacity: 1}))
		in := app.New(app.Config{DB: h.DB.DB, Now: func() time.Time { return held.HoldUntil.Add(-time.Microsecond) }})
		out := app.New(app.Config{DB: h.DB.DB, Now: func() time.Time { return *held.HoldUntil }})
		a.Run(
			func() {
				_, told = in.Bookings.ConfirmBooking(
					context.Background(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: held.ID},
				)
			},
			func() {
				if _, err := out.Waitlists.ExpireHolds(context.Background(), h.Tenant); err != nil {
					h.T.Error(err)
				}
			})
		return h.BookingStatus(held.ID), told
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		a, h := testkit.NewRace(t)
		for range 5 {
			switch status, told := contest(h, a); {
			case told == nil && status != "CONFIRMED", told != nil && status != "EXPIRED":
				t.Errorf("confirm said %v, the booking is %s", told, status)
			case told != nil:
				testkit.WantReason(t, told, fault.HoldExpired)
			}
		}
		h.WantSound()
	})
	t.Run("unguarded", func(t *testing.T) {
		t.Parallel()
		a, h := testkit.NewRace(t)
		a.ReadCommitted = true
		h.Exec(`alter table sessions drop constraint sessions_holds_check`)
		_, _ = contest(h, a) // whatever they were told
		wantUnsound(t, h, "holds counts the pending bookings")
	})
}

// Of moving a booking and cancelling it at the same moment, either the one or the other comes first, and the seat and
// the credit are back in the end. Serializable transactions guard it.
func TestRescheduleBooking_RacesWithCancel(t *testing.T) {
	t.Parallel()
	contest := func(h *testkit.Studio, a *testkit.Barrier) (tenant.BookingID, credit.Subscription) {
		mia := h.AddMember("Mia")
		s := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 2}))
		from, to := h.AddSession(testkit.Session{Capacity: 2}), h.AddSession(testkit.Session{
			Capacity: 1, Starts: testkit.Noon.Add(90 * time.Hour),
		})
		id := h.MustBook(mia, from)
		h.MustBook(h.AddMember("Noa"), from)
		check := func(err error) {
			if err != nil && fault.ReasonOf(err) != fault.BookingState {
				h.T.Error(err)
			}
		}
		a.Run(
			func() { _, err := h.OtherNode().Reschedule(testkit.SelfOnly(mia), id, to); check(err) },
			func() { _, err := h.OtherNode().Cancel(mia, id); check(err) })
		return id, s
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		a, h := testkit.NewRace(t)
		for range 5 {
			if id, s := contest(h, a); h.BookingStatus(id) != "CANCELLED" || h.Balance(s) != 2 {
				t.Errorf("%s, balance %d", h.BookingStatus(id), h.Balance(s))
			}
		}
		h.WantSound()
	})
	t.Run("unguarded", func(t *testing.T) {
		t.Parallel()
		a, h := testkit.NewRace(t)
		a.ReadCommitted = true
		contest(h, a)
		wantUnsound(t, h, "seats taken are those of bookings and offers")
	})
}

// Two people swap seats at the same moment: both get the other's, and where both sessions are full both keep their own.
// Nobody waits in a circle: whoever moves which way changes the two sessions in the same order.
func TestRescheduleBooking_SwapsWithoutDeadlock(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		capacity, people int
		swapped          bool
	}{
		"two, with a seat to spare":   {2, 2, true},
		"two, in full sessions":       {1, 2, false},
		"eight, with seats to spare":  {8, 8, true},
		"eight, with one seat in all": {5, 8, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, registry := new(testkit.Barrier), prometheus.NewRegistry()
			h := testkit.New(t, func(c *pg.Config) { c.Tracer, c.Registerer = a, registry })
			homes := []tenant.SessionID{
				h.AddSession(testkit.Session{Capacity: tt.capacity}),
				h.AddSession(testkit.Session{Capacity: tt.capacity, Starts: testkit.Noon.Add(60 * time.Hour)}),
			}
			ids, moves := make([]tenant.BookingID, tt.people), make([]func(), tt.people)
			for i := range ids {
				who := h.AddMember(fmt.Sprint("Member ", i))
				ids[i] = h.MustBook(who, homes[i%2])
				moves[i] = func() {
					if _, err := h.OtherNode().Reschedule(testkit.SelfOnly(who), ids[i], homes[1-i%2]); err != nil &&
						(tt.swapped || fault.ReasonOf(err) != fault.RescheduleTarget) {
						t.Errorf("%d: %v", i, err)
					}
				}
			}
			a.Run(moves...)
			for i, id := range ids {
				if h.BookingStatus(id) != "CONFIRMED" {
					t.Errorf("%s is %s", id, h.BookingStatus(id))
				}
				if n := h.Count(`select count(*) from bookings where id = $1 and session_id = $2`, id, homes[1-i%2]); tt.swapped &&
					n != 1 {
					t.Errorf("%d is where it was", i)
				}
			}
			if n := testkit.RetriesFor(t, registry, "40P01"); n != 0 {
				t.Errorf("%v deadlocks", n)
			}
			first := make(map[string]bool)
			for _, queries := range a.Commits {
				for _, q := range queries {
					if strings.Contains(q.SQL, "update sessions s set seats_taken") {
						first[fmt.Sprint(q.Arguments[1])] = true // both, in their order
						break
					}
				}
			}
			if tt.swapped && len(first) != 1 {
				t.Errorf("moves change first: %v", first)
			}
			h.WantSound()
		})
	}
}

// The control of the test above: who changes the sessions in the order of leaving and entering waits in a circle.
func TestRescheduleBooking_SwapsInAnyOrderDeadlock(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	homes := []tenant.SessionID{h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{})}
	const change = `update sessions set seats_taken = seats_taken + $3 where tenant_id = $1 and id = $2`
	errs := make([]error, 2)
	var left sync.WaitGroup
	left.Add(2)
	testkit.Parallel(2, func(i int) {
		tx, err := h.DB.Owner.Begin(ctx)
		if err != nil {
			panic(err) // the other one would wait forever
		}
		defer tx.Rollback(ctx)
		if _, err = tx.Exec(ctx, `set local deadlock_timeout = '20ms'`); err == nil {
			_, err = tx.Exec(ctx, change, h.Tenant, homes[i], 1)
		}
		left.Done()
		left.Wait()
		if err == nil {
			_, err = tx.Exec(ctx, change, h.Tenant, homes[1-i], 1)
		}
		if err == nil {
			err = tx.Commit(ctx)
		}
		errs[i] = err
	})
	if (pg.Code(errs[0]) == "40P01") == (pg.Code(errs[1]) == "40P01") {
		t.Errorf("%v and %v, want one deadlock", errs[0], errs[1])
	}
}

// wantUnsound fails unless an invariant is broken.
func wantUnsound(t *testing.T, h *testkit.Studio, check string) {
	t.Helper()
	var found []string
	for _, v := range h.Violations() {
		if v.Check == check {
			return
		}
		found = append(found, v.Check)
	}
	t.Errorf("without its guards the race breaks %q, and not that %s", found, check)
}
