package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// A sweep that comes upon an offer in the moment in which it runs out was faster than the alarm: there was nothing to mend. One
// that nobody ended for longer is a defect. The next is asked in either case.
func TestASweepThatIsFasterThanTheAlarmMendsNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		late time.Duration
		want app.Swept
	}{
		"in the same instant": {0, app.Swept{}},
		"within the grace":    {5 * time.Second, app.Swept{}},
		"later":               {5*time.Second + time.Millisecond, app.Swept{Mended: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.mode(waitlist.OfferInTurn)
			class, _, o := h.offered()
			h.clock.Set(o.ExpiresAt.Add(tt.late))
			if done := h.sweep(); done != tt.want {
				t.Errorf("%+v, want %+v", done, tt.want)
			}
			offers := h.offers(class)
			if len(offers) != 2 || offers[0].Status != waitlist.RanOut || offers[1].Status != waitlist.Live {
				t.Errorf("%+v", offers)
			}
			h.wantSound()
		})
	}
}

// What a sweep mends is counted by what it was, so that whoever runs a server hears of it.
func TestWhatASweepMendsIsCounted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode  waitlist.Mode
		spoil func(h *house)
		want  map[string]int
	}{
		"nothing": {waitlist.OfferInTurn, func(h *house) { h.offered() }, map[string]int{}},
		"an offer that no alarm has ended": {waitlist.OfferInTurn, func(h *house) {
			_, _, o := h.offered()
			h.clock.Set(o.ExpiresAt.Add(time.Minute))
		}, map[string]int{"overdue_offer": 1}},
		"entries and a round without offers": {waitlist.FirstToClaim, func(h *house) {
			h.offered()
			h.exec(`update waitlist_offers set status = 'WITHDRAWN', closed_at = $1`, noon)
		}, map[string]int{"orphaned_entry": 2, "orphaned_round": 1}},
		"a seat of which nobody heard": {waitlist.OfferInTurn, func(h *house) {
			class, _, booked := h.full(1)
			h.waiters(1, names(class))
			h.exec(`update bookings set status = 'CANCELLED', cancelled_at = $2 where id = $1`, booked[0], noon)
			h.exec(`update sessions set seats_taken = 0 where id = $1`, class)
		}, map[string]int{"missed_trigger": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.mode(tt.mode)
			tt.spoil(h)
			h.tick()
			claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]int)
			node := app.New(app.Config{DB: h.db.DB, Now: h.clock.Now, Claims: claims, Tally: func(one app.Tally) {
				for what, n := range one.Mended {
					got[what] += n
				}
			}})
			mended := 0
			for _, n := range tt.want {
				mended += n
			}
			for range 2 { // the second finds nothing
				done, err := node.SweepTenant(context.Background(), h.Tenant)
				if err != nil || done.Mended != mended {
					t.Errorf("%+v, %v, want %d", done, err, mended)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				mended = 0
			}
			h.wantSound()
		})
	}
}
