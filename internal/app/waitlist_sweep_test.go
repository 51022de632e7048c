package app_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/waitlist"
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
