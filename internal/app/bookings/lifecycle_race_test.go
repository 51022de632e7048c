package bookings_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Two hold the last seat. Serializable transactions and the check on the counter guard it; each of them is enough.
func TestHold_ConcurrentCallsTakeTheLastSeatOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		careless, unchecked bool
		holds               int
	}
	testkit.EachRace(t, map[string]row{
		"guarded":               {holds: 1},
		"by the isolation only": {unchecked: true, holds: 1},
		"by the check only":     {careless: true, holds: 1},
		"unguarded":             {careless: true, unchecked: true, holds: 2},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		a.ReadCommitted = tt.careless
		if tt.unchecked {
			studio.Exec(`alter table sessions drop constraint sessions_capacity`)
		}
		mia, noa := studio.AddMember("Mia"), studio.AddMember("Noa")
		last := studio.AddSession(testkit.Session{Capacity: 1})
		hold := func(who tenant.Caller) func() {
			return func() { expect.OKOr(studio.T, fault.SessionFull)(studio.OtherNode().Hold(who, last)) }
		}
		a.Run(hold(mia), hold(noa))
		studio.WantOnce(tt.holds, `select count(*) from bookings where session_id = $1 and status = 'PENDING'`, last)
	})
}

// At the instant at which a hold runs out, confirming it and ending it have one winner. Two nodes, between whose clocks
// the hold runs out, do both. Serializable transactions guard it.
func TestConfirmBooking_RacesWithExpiry(t *testing.T) {
	t.Parallel()
	contest := func(studio *testkit.Studio, a *testkit.Barrier) (status string, told error) {
		mia := studio.AddMember("Mia")
		held := studio.MustHold(mia, studio.AddSession(testkit.Session{Capacity: 1}))
		in := app.New(app.Config{DB: studio.DB.DB, Now: func() time.Time { return held.HoldUntil.Add(-time.Microsecond) }})
		out := app.New(app.Config{DB: studio.DB.DB, Now: func() time.Time { return *held.HoldUntil }})
		a.Run(
			func() {
				_, told = in.Bookings.ConfirmBooking(
					context.Background(), testkit.SelfOnly(mia), bookings.ConfirmRequest{ID: held.ID},
				)
			},
			func() {
				expect.OK(studio.T)(out.Waitlists.ExpireHolds(context.Background(), studio.Tenant))
			})
		return studio.BookingStatus(held.ID), told
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		a, studio := testkit.NewRace(t)
		for range 5 {
			switch status, told := contest(studio, a); {
			case told == nil && status != "CONFIRMED", told != nil && status != "EXPIRED":
				t.Errorf("confirm said %v, the booking is %s", told, status)
			case told != nil:
				expect.Reason(t, fault.HoldExpired)(told)
			}
		}
	})
	t.Run("unguarded", func(t *testing.T) {
		t.Parallel()
		a, studio := testkit.NewRace(t)
		a.ReadCommitted = true
		studio.Exec(`alter table sessions drop constraint sessions_holds_check`)
		_, _ = contest(studio, a) // whatever they were told
		wantUnsound(t, studio, "holds counts the pending bookings")
	})
}

// Of moving a booking and cancelling it at the same moment, either the one or the other comes first, and the seat and
// the credit are back in the end. Serializable transactions guard it.
func TestRescheduleBooking_RacesWithCancel(t *testing.T) {
	t.Parallel()
	contest := func(studio *testkit.Studio, a *testkit.Barrier) (tenant.BookingID, credit.Subscription) {
		mia := studio.AddMember("Mia")
		s := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 2}))
		from, to := studio.AddSession(testkit.Session{Capacity: 2}), studio.AddSession(testkit.Session{
			Capacity: 1, Starts: testkit.Noon.Add(90 * time.Hour),
		})
		id := studio.MustBook(mia, from)
		studio.MustBook(studio.AddMember("Noa"), from)
		check := func(err error) {
			test.False(studio.T, err != nil && fault.ReasonOf(err) != fault.BookingState, test.Sprint(err))
		}
		a.Run(
			func() { _, err := studio.OtherNode().Reschedule(testkit.SelfOnly(mia), id, to); check(err) },
			func() { _, err := studio.OtherNode().Cancel(mia, id); check(err) })
		return id, s
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		a, studio := testkit.NewRace(t)
		for range 5 {
			id, s := contest(studio, a)
			test.EqOp(t, "CANCELLED", studio.BookingStatus(id),
				test.Sprintf("%s, balance %d", studio.BookingStatus(id), studio.Balance(s)))
			test.EqOp(t, 2, studio.Balance(s),
				test.Sprintf("%s, balance %d", studio.BookingStatus(id), studio.Balance(s)))
		}
	})
	t.Run("unguarded", func(t *testing.T) {
		t.Parallel()
		a, studio := testkit.NewRace(t)
		a.ReadCommitted = true
		contest(studio, a)
		wantUnsound(t, studio, "seats taken are those of bookings and offers")
	})
}

// Two people swap seats at the same moment: both get the other's seat, and if both sessions are full both keep their
// own. There is no deadlock: each transaction changes the two sessions in the same order.
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
			studio := testkit.New(t, func(c *pg.Config) { c.Tracer, c.Registerer = a, registry })
			homes := []tenant.SessionID{
				studio.AddSession(testkit.Session{Capacity: tt.capacity}),
				studio.AddSession(testkit.Session{Capacity: tt.capacity, Starts: testkit.Noon.Add(60 * time.Hour)}),
			}
			ids, moves := make([]tenant.BookingID, tt.people), make([]func(), tt.people)
			for i := range ids {
				who := studio.AddMember(fmt.Sprint("Member ", i))
				ids[i] = studio.MustBook(who, homes[i%2])
				moves[i] = func() {
					if _, err := studio.OtherNode().Reschedule(testkit.SelfOnly(who), ids[i], homes[1-i%2]); err != nil &&
						(tt.swapped || fault.ReasonOf(err) != fault.RescheduleTarget) {
						t.Errorf("%d: %v", i, err)
					}
				}
			}
			a.Run(moves...)
			for i, id := range ids {
				test.EqOp(t, "CONFIRMED", studio.BookingStatus(id), test.Sprintf("%s", id))
				n := studio.Count(
					`select count(*) from bookings where id = $1 and session_id = $2`, id, homes[1-i%2],
				)
				test.False(t, tt.swapped && n != 1, test.Sprintf("%d is where it was", i))
			}
			test.EqOp(t, 0, testkit.RetriesFor(t, registry, "40P01"), test.Sprint("deadlocks"))
			first := make(map[string]bool)
			for _, queries := range a.Commits {
				for _, q := range queries {
					if strings.Contains(q.SQL, "update sessions s set seats_taken") {
						first[fmt.Sprint(q.Arguments[1])] = true // both, in their order
						break
					}
				}
			}
			test.False(t, tt.swapped && len(first) != 1, test.Sprintf("moves change first: %v", first))
		})
	}
}

// The control of the test above: who changes the sessions in the order of leaving and entering waits in a circle.
func TestRescheduleBooking_SwapsInAnyOrderDeadlock(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	homes := []tenant.SessionID{studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{})}
	const change = `update sessions set seats_taken = seats_taken where tenant_id = $1 and id = $2`
	errs := make([]error, 2)
	var left sync.WaitGroup
	left.Add(2)
	testkit.Parallel(2, func(i int) {
		tx, err := studio.DB.Owner.Begin(t.Context())
		if err != nil {
			panic(err) // the other one would wait forever
		}
		defer tx.Rollback(t.Context())
		if _, err = tx.Exec(t.Context(), `set local deadlock_timeout = '20ms'`); err == nil {
			_, err = tx.Exec(t.Context(), change, studio.Tenant, homes[i])
		}
		left.Done()
		left.Wait()
		if err == nil {
			_, err = tx.Exec(t.Context(), change, studio.Tenant, homes[1-i])
		}
		if err == nil {
			err = tx.Commit(t.Context())
		}
		errs[i] = err
	})
	test.True(
		t, (pg.Code(errs[0]) == "40P01") != (pg.Code(errs[1]) == "40P01"),
		test.Sprintf("%v and %v, want one deadlock", errs[0], errs[1]),
	)
}

// wantUnsound fails unless an invariant is broken.
func wantUnsound(t *testing.T, studio *testkit.Studio, check string) {
	t.Helper()
	var found []string
	for _, v := range studio.Violations() {
		if v.Check == check {
			return
		}
		found = append(found, v.Check)
	}
	t.Errorf("without its guards the race breaks %q, and not that %s", found, check)
}
