package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// A sweep that comes upon an offer in the moment in which it runs out was faster than the alarm: there was nothing to
// mend. One that nobody ended for longer is a defect. The next is asked in either case.
func TestSweep_CountsNoRepairWhenFasterThanTheAlarm(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		late time.Duration
		want housekeeping.SweepResult
	}{
		"in the same instant": {0, housekeeping.SweepResult{}},
		"within the grace":    {5 * time.Second, housekeeping.SweepResult{}},
		"later":               {5*time.Second + time.Millisecond, housekeeping.SweepResult{Mended: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			class, _, o := offered(h)
			h.Clock.Set(o.ExpiresAt.Add(tt.late))
			if done := h.Sweep(); done != tt.want {
				t.Errorf("%+v, want %+v", done, tt.want)
			}
			offers := h.Offers(class)
			if len(offers) != 2 || offers[0].Status != waitlist.RanOut || offers[1].Status != waitlist.Live {
				t.Errorf("%+v", offers)
			}
			h.WantSound()
		})
	}
}

// cancelUnnoticed cancels a booking by SQL, so that no entry is asked for its seat. No use case does that.
func cancelUnnoticed(h *testkit.Studio, id tenant.BookingID) {
	h.T.Helper()
	h.Exec(`with cancelled as (
		update bookings set status = 'CANCELLED', cancelled_at = $2 where id = $1 returning session_id, party_size)
		update sessions s set seats_taken = seats_taken - c.party_size from cancelled c where s.id = c.session_id`,
		id, testkit.Noon)
}

// What a sweep mends is counted by what it was, so that whoever runs a server hears of it.
func TestSweep_CountsRepairs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode  waitlist.Mode
		spoil func(h *testkit.Studio)
		want  map[string]int
	}{
		"nothing": {waitlist.OfferInTurn, func(h *testkit.Studio) { offered(h) }, map[string]int{}},
		"an offer that no alarm has ended": {waitlist.OfferInTurn, func(h *testkit.Studio) {
			_, _, o := offered(h)
			h.Clock.Set(o.ExpiresAt.Add(time.Minute))
		}, map[string]int{"overdue_offer": 1}},
		"entries and a round without offers": {waitlist.FirstToClaim, func(h *testkit.Studio) {
			offered(h)
			h.Exec(`update waitlist_offers set status = 'WITHDRAWN', closed_at = $1`, testkit.Noon) // damage
		}, map[string]int{"orphaned_entry": 2, "orphaned_round": 1}},
		"a seat of which nobody heard": {waitlist.OfferInTurn, func(h *testkit.Studio) {
			class, _, booked := h.AddFullSession(1)
			h.AddWaiters(1, testkit.ForSessions(class))
			cancelUnnoticed(h, booked[0])
		}, map[string]int{"missed_trigger": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(tt.mode)
			tt.spoil(h)
			h.Tick()
			claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]int)
			node := app.New(app.Config{DB: h.DB.DB, Now: h.Clock.Now, Claims: claims, Stats: func(one waitlists.Stats) {
				for what, n := range one.Repaired {
					got[what] += n
				}
			}})
			mended := 0
			for _, n := range tt.want {
				mended += n
			}
			for range 2 { // the second finds nothing
				done, err := node.Housekeeping.SweepTenant(context.Background(), h.Tenant)
				if err != nil || done.Mended != mended {
					t.Errorf("%+v, %v, want %d", done, err, mended)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				mended = 0
			}
			h.WantSound()
		})
	}
}
