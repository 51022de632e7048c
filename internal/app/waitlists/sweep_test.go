package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// If a sweep finds an offer at the moment at which it expires, it was faster than the alarm: nothing was repaired. An
// offer that expired longer ago is a defect. The next entry gets an offer in both cases.
func TestSweep_CountsNoRepairWhenFasterThanTheAlarm(t *testing.T) {
	t.Parallel()
	type row struct {
		late time.Duration
		want housekeeping.SweepResult
	}
	testkit.Each(t, map[string]row{
		"in the same instant": {0, housekeeping.SweepResult{}},
		"within the grace":    {5 * time.Second, housekeeping.SweepResult{}},
		"later":               {5*time.Second + time.Millisecond, housekeeping.SweepResult{Mended: 1}},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetMode(waitlist.OfferInTurn)
		class, _, o := offered(studio)
		studio.Clock.Set(o.ExpiresAt.Add(tt.late))
		// Those who look see that it has expired, though nothing has ended it yet.
		history := expect.Value(studio.App.Waitlists.ExplainSessionWaitlist(t.Context(), studio.Owner, class))(studio.T)
		mine := expect.Value(studio.App.Waitlists.ExplainWaitlistEntry(t.Context(), studio.Owner, o.Entry))(studio.T)
		for _, shown := range [][]waitlist.Offer{studio.Offers(class), history.Offers, mine.Offers} {
			must.SliceLen(studio.T, 1, shown)
			test.EqOp(studio.T, waitlist.RanOut, shown[0].Status)
		}
		test.EqOp(studio.T, tt.want, studio.Sweep())
		offers := studio.Offers(class)
		must.SliceLen(studio.T, 2, offers)
		test.EqOp(studio.T, waitlist.RanOut, offers[0].Status)
		test.EqOp(studio.T, waitlist.Live, offers[1].Status)
	})
}

// cancelUnnoticed cancels a booking by SQL, so that no entry is asked for its seat. No use case does that.
func cancelUnnoticed(studio *testkit.Studio, id tenant.BookingID) {
	studio.T.Helper()
	studio.Exec(`with cancelled as (
		update bookings set status = 'CANCELLED', cancelled_at = $2 where id = $1 returning session_id, party_size)
		update sessions s set seats_taken = seats_taken - c.party_size from cancelled c where s.id = c.session_id`,
		id, testkit.Noon)
}

// Repairs are counted once, by their kind, so that operators see them. Two sweeps that find the same make one repair.
func TestSweep_CountsRepairs(t *testing.T) {
	t.Parallel()
	type row struct {
		mode  waitlist.Mode
		spoil func(studio *testkit.Studio)
		want  map[string]int
	}
	testkit.EachRace(t, map[string]row{
		"nothing": {waitlist.OfferInTurn, func(studio *testkit.Studio) { offered(studio) }, map[string]int{}},
		"an offer that no alarm has ended": {waitlist.OfferInTurn, func(studio *testkit.Studio) {
			_, _, o := offered(studio)
			studio.Clock.Set(o.ExpiresAt.Add(time.Minute))
		}, map[string]int{"overdue_offer": 1}},
		"entries and a round without offers": {waitlist.FirstToClaim, func(studio *testkit.Studio) {
			offered(studio)
			studio.Exec(
				`update waitlist_offers set status = 'WITHDRAWN', withdraw_cause = 'SESSION_MOVED', closed_at = $1`,
				testkit.Noon,
			) // damage
		}, map[string]int{"orphaned_entry": 2, "orphaned_round": 1}},
		"a freed seat without a fill": {waitlist.OfferInTurn, func(studio *testkit.Studio) {
			class, _, booked := studio.AddFullSession(1)
			studio.AddWaiters(1, testkit.ForSessions(class))
			cancelUnnoticed(studio, booked[0])
		}, map[string]int{"missed_trigger": 1}},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		studio.SetMode(tt.mode)
		tt.spoil(studio)
		studio.Tick()
		claims := expect.Value(waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes")))(studio.T)
		got := make(map[string]int)
		node := app.New(app.Config{DB: studio.DB.DB, Now: studio.Clock.Now, Claims: claims,
			Stats: func(one waitlists.Stats) {
				a.Mu.Lock()
				defer a.Mu.Unlock()
				for what, n := range one.Repaired {
					got[what] += n
				}
			}})
		mended := 0
		for _, n := range tt.want {
			mended += n
		}
		sweep := func() {
			done, err := node.Housekeeping.SweepTenant(context.Background(), studio.Tenant)
			test.NoError(studio.T, err)
			a.Mu.Lock()
			defer a.Mu.Unlock()
			mended -= done.Mended
		}
		a.Run(sweep, sweep)
		sweep() // it finds nothing
		test.EqOp(studio.T, 0, mended, test.Sprint("not mended"))
		test.Eq(studio.T, tt.want, got)
	})
}
