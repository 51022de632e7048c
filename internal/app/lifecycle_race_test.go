package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Two people swap seats in full sessions at the same moment: nobody waits forever, nobody loses a place.
func TestSwappingSeatsNeitherDeadlocksNorLosesAPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a, b := h.session(slot{Capacity: 5}), h.session(slot{Capacity: 5, Starts: noon.Add(60 * time.Hour)})
	ids := make([]tenant.BookingID, 8)
	targets := make([]tenant.SessionID, len(ids))
	for i := range ids {
		home, away := a, b
		if i%2 == 1 {
			home, away = b, a
		}
		ids[i], targets[i] = h.mustBook(h.member(fmt.Sprint("Member ", i)), home), away
	}
	together(len(ids), func(i int) {
		if _, err := h.move(h.Owner, ids[i], targets[i]); err != nil && fault.ReasonOf(err) != fault.RescheduleTarget {
			t.Errorf("%d: %v", i, err)
		}
	})
	for _, id := range ids {
		if h.status(id) != "CONFIRMED" {
			t.Errorf("%s is %s", id, h.status(id))
		}
	}
	h.wantSound()
}

// At the instant at which a hold runs out, confirming and expiring have one winner.
func TestConfirmAgainstExpiry(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 5 {
		h.clock.Set(noon)
		mia := h.member("Mia")
		held := h.mustHold(mia, h.session(slot{Capacity: 1}))
		var confirmed error
		together(2, func(i int) {
			if i == 0 {
				_, confirmed = h.confirm(mia, held.ID)
				return
			}
			h.clock.Set(*held.HoldUntil)
			if _, err := h.app.ExpireHolds(context.Background(), h.Tenant); err != nil {
				t.Error(err)
			}
		})
		switch status := h.status(held.ID); {
		case confirmed == nil && status != "CONFIRMED", confirmed != nil && status != "EXPIRED":
			t.Errorf("confirm said %v, the booking is %s", confirmed, status)
		case confirmed != nil:
			wantReason(t, confirmed, fault.HoldExpired)
		}
	}
	h.wantSound()
}

func TestRescheduleAgainstCancel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 5 {
		mia := h.member("Mia")
		s := h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Credits, Credits: 2}))
		id := h.mustBook(mia, h.session(slot{Capacity: 1}))
		to := h.session(slot{Capacity: 1, Starts: noon.Add(90 * time.Hour)})
		together(2, func(i int) {
			var err error
			if i == 0 {
				_, err = h.move(own(mia), id, to)
			} else {
				_, err = h.cancel(mia, id)
			}
			if err != nil && fault.ReasonOf(err) != fault.BookingState {
				t.Error(err)
			}
		})
		if h.status(id) != "CANCELLED" || h.balance(s) != 2 {
			t.Errorf("%s, balance %d", h.status(id), h.balance(s))
		}
	}
	h.wantSound()
}
