package app_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Each race here is run with its guards, which it has to pass, and without them, which it has to fail: it would
// prove nothing otherwise.

// elsewhere is the house as another node has it: on one of its own, who wants the same session takes turns.
func (h *house) elsewhere() *house {
	other := *h
	other.app = app.New(app.Config{DB: h.db.DB, Now: h.clock.Now})
	return &other
}

// Two hold the last seat. Serializable transactions and the check on the counter guard it; each of them is enough.
func TestTwoHoldsForTheLastSeat(t *testing.T) {
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
			a, h := arenaHouse(t)
			a.careless = tt.careless
			if tt.unchecked {
				h.exec(`alter table sessions drop constraint sessions_capacity`)
			}
			mia, noa := h.member("Mia"), h.member("Noa")
			last := h.session(slot{Capacity: 1})
			hold := func(who tenant.Caller) func() {
				return func() {
					if _, err := h.elsewhere().hold(who, last); err != nil && fault.ReasonOf(err) != fault.SessionFull {
						t.Error(err)
					}
				}
			}
			a.race(hold(mia), hold(noa))
			if n := h.count(`select count(*) from bookings where session_id = $1 and status = 'PENDING'`, last); n != tt.holds {
				t.Errorf("%d hold one seat", n)
			}
			if sound := len(h.violations()) == 0; sound != (tt.holds == 1) {
				t.Errorf("sound: %v", sound)
			}
		})
	}
}

// At the instant at which a hold runs out, confirming it and ending it have one winner. Two nodes, between whose clocks
// the hold runs out, do both. Serializable transactions guard it.
func TestConfirmAgainstExpiry(t *testing.T) {
	t.Parallel()
	contest := func(h *house, a *arena) (status string, told error) {
		mia := h.member("Mia")
		held := h.mustHold(mia, h.session(slot{Capacity: 1}))
		in := app.New(app.Config{DB: h.db.DB, Now: func() time.Time { return held.HoldUntil.Add(-time.Microsecond) }})
		out := app.New(app.Config{DB: h.db.DB, Now: func() time.Time { return *held.HoldUntil }})
		a.race(
			func() { _, told = in.ConfirmBooking(context.Background(), own(mia), app.ConfirmRequest{ID: held.ID}) },
			func() {
				if _, err := out.ExpireHolds(context.Background(), h.Tenant); err != nil {
					h.t.Error(err)
				}
			})
		return h.status(held.ID), told
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		a, h := arenaHouse(t)
		for range 5 {
			switch status, told := contest(h, a); {
			case told == nil && status != "CONFIRMED", told != nil && status != "EXPIRED":
				t.Errorf("confirm said %v, the booking is %s", told, status)
			case told != nil:
				wantReason(t, told, fault.HoldExpired)
			}
		}
		h.wantSound()
	})
	t.Run("unguarded", func(t *testing.T) {
		t.Parallel()
		a, h := arenaHouse(t)
		a.careless = true
		h.exec(`alter table sessions drop constraint sessions_holds_check`)
		_, _ = contest(h, a) // whatever they were told
		wantUnsound(t, h, "holds are the bookings that are pending")
	})
}

// Of moving a booking and cancelling it at the same moment, either the one or the other comes first, and the seat and the
// credit are back in the end. Serializable transactions guard it.
func TestRescheduleAgainstCancel(t *testing.T) {
	t.Parallel()
	contest := func(h *house, a *arena) (tenant.BookingID, credit.Subscription) {
		mia := h.member("Mia")
		s := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 2}))
		from, to := h.session(slot{Capacity: 2}), h.session(slot{Capacity: 1, Starts: noon.Add(90 * time.Hour)})
		id := h.mustBook(mia, from)
		h.mustBook(h.member("Noa"), from)
		check := func(err error) {
			if err != nil && fault.ReasonOf(err) != fault.BookingState {
				h.t.Error(err)
			}
		}
		a.race(
			func() { _, err := h.elsewhere().move(own(mia), id, to); check(err) },
			func() { _, err := h.elsewhere().cancel(mia, id); check(err) })
		return id, s
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		a, h := arenaHouse(t)
		for range 5 {
			if id, s := contest(h, a); h.status(id) != "CANCELLED" || h.balance(s) != 2 {
				t.Errorf("%s, balance %d", h.status(id), h.balance(s))
			}
		}
		h.wantSound()
	})
	t.Run("unguarded", func(t *testing.T) {
		t.Parallel()
		a, h := arenaHouse(t)
		a.careless = true
		contest(h, a)
		wantUnsound(t, h, "seats taken are those of bookings and offers")
	})
}

// Two people swap seats at the same moment: both get the other's, and where both sessions are full both keep their own. Nobody
// waits in a circle: whoever moves which way changes the two sessions in the same order.
func TestSwappingSeatsNeitherDeadlocksNorLosesAPlace(t *testing.T) {
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
			a, registry := new(arena), prometheus.NewRegistry()
			h := newHouse(t, func(c *pg.Config) { c.Tracer, c.Registerer = a, registry })
			homes := []tenant.SessionID{h.session(slot{Capacity: tt.capacity}), h.session(slot{Capacity: tt.capacity, Starts: noon.Add(60 * time.Hour)})}
			ids, moves := make([]tenant.BookingID, tt.people), make([]func(), tt.people)
			for i := range ids {
				who := h.member(fmt.Sprint("Member ", i))
				ids[i] = h.mustBook(who, homes[i%2])
				moves[i] = func() {
					if _, err := h.elsewhere().move(own(who), ids[i], homes[1-i%2]); err != nil && (tt.swapped || fault.ReasonOf(err) != fault.RescheduleTarget) {
						t.Errorf("%d: %v", i, err)
					}
				}
			}
			a.race(moves...)
			for i, id := range ids {
				if h.status(id) != "CONFIRMED" {
					t.Errorf("%s is %s", id, h.status(id))
				}
				if n := h.count(`select count(*) from bookings where id = $1 and session_id = $2`, id, homes[1-i%2]); tt.swapped && n != 1 {
					t.Errorf("%d is where it was", i)
				}
			}
			if n := retriesFor(t, registry, "40P01"); n != 0 {
				t.Errorf("%v deadlocks", n)
			}
			first := make(map[string]bool)
			for _, queries := range a.commits {
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
			h.wantSound()
		})
	}
}

// The control of the test above: who changes the sessions in the order of leaving and entering waits in a circle.
func TestSwappingSeatsInAnyOrderDeadlocks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	homes := []tenant.SessionID{h.session(slot{}), h.session(slot{})}
	const change = `update sessions set seats_taken = seats_taken + $3 where tenant_id = $1 and id = $2`
	errs := make([]error, 2)
	var left sync.WaitGroup
	left.Add(2)
	together(2, func(i int) {
		tx, err := h.db.Owner.Begin(ctx)
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

// retriesFor counts the transactions that were run again because of an SQLSTATE.
func retriesFor(t *testing.T, registry *prometheus.Registry, code string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for _, family := range families {
		if family.GetName() != "berth_transaction_retries_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetValue() == code {
					n += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}

// wantUnsound fails unless an invariant is broken.
func wantUnsound(t *testing.T, h *house, check string) {
	t.Helper()
	var found []string
	for _, v := range h.violations() {
		if v.Check == check {
			return
		}
		found = append(found, v.Check)
	}
	t.Errorf("without its guards the race breaks %q, and not that %s", found, check)
}
