package booking

import (
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
)

// Withdrawal says who gives a booking up, and why.
type Withdrawal struct {
	Actor  string
	Reason string
	// Admin may cancel past the cancellation window.
	Admin bool
	// SessionGone: the session is cancelled or deleted. Nobody is late then, and every credit comes back.
	SessionGone bool
}

// Cancellation is what giving a booking up means.
type Cancellation struct {
	// SessionGone: its session does not take place.
	SessionGone bool
	// Already: it was cancelled before. Nothing is to be done.
	Already bool
	Booking Booking // as it will be
	Late    bool
	// SeatsFreed may go to whoever waits.
	SeatsFreed int
	// HoldsEnded is 1 where the booking was a hold.
	HoldsEnded int
	// Uncount: it no longer counts against its subscription's quotas.
	Uncount bool
	// Payer is the subscription as it will be, where credits come back.
	Payer    *credit.Subscription
	Ledger   []credit.Entry
	Refunded bool
}

// Cancel gives a booking up. The payer is its subscription, if it has one.
//
// Before the end of the cancellation window the credits come back. Past it a
// member is refused, or, where late cancellation is allowed, loses them; an admin
// may always cancel, and past it no credit comes back either.
func Cancel(b Booking, payer *credit.Subscription, w Withdrawal, now time.Time) (Cancellation, error) {
	switch b.Status {
	case Cancelled:
		return Cancellation{Already: true, Booking: b, Late: b.LateCancelled}, nil
	case Pending, Confirmed:
	case Attended:
		if !w.SessionGone {
			return Cancellation{}, badState(b, "The party has checked in.")
		}
	case NoShow:
		if !w.SessionGone {
			return Cancellation{}, badState(b, "The party did not come: there is nothing left to cancel.")
		}
	case Expired:
		return Cancellation{}, badState(b, "The hold has run out: there is nothing left to cancel.")
	}
	deadline := b.CancellableUntil()
	late := !w.SessionGone && now.After(deadline)
	if late && !w.Admin {
		if !b.Rules.AllowLateCancellation {
			hours := b.Rules.For(b.MemberTier).Cancellation.Hours()
			text := strconv.FormatFloat(hours, 'f', -1, 64)
			return Cancellation{}, fault.New(fault.FailedPrecondition, fault.CancellationWindow,
				"It is too late to cancel: that was possible until %s hours before the start.", text).
				With("hours_before", text).With("deadline", deadline.UTC().Format(time.RFC3339))
		}
		if !now.Before(b.EndsAt) {
			return Cancellation{}, badState(b, "The session is over.")
		}
	}
	c := Cancellation{SessionGone: w.SessionGone, Late: late, Uncount: b.Counted}
	if b.Status.Active() {
		c.SeatsFreed = b.Party
	}
	if b.Status == Pending {
		c.HoldsEnded = 1
	}
	if !late && (b.Payment.Status == Authorized || b.Payment.Status == Captured) {
		b.Payment.Status = Refunded
	}
	for i := range b.Items {
		b.Items[i].Status = ItemCancelled
	}
	if b.Credits > 0 && !late && payer != nil {
		// A period that has ended lapses first, so that the credit that comes back is kept: whether
		// anybody noticed the end before must make no difference.
		var renewal []credit.Entry
		*payer, renewal = credit.Advance(*payer, now)
		c.Payer = payer
		c.Ledger = payer.GiveBack(renewal, b.ID, b.Credits, w.Actor, w.Reason, now)
		c.Refunded = true
		b.Credits = 0
	}
	b.Status, b.LateCancelled, b.CancelReason, b.CancelledAt = Cancelled, late, w.Reason, &now
	b.Counted, b.CheckedInAt, b.CheckInMethod = false, nil, ""
	c.Booking = b
	return c, nil
}

// MarkNoShow notes that a party did not come: its seats are free from then on. It
// reports whether anything changed.
func MarkNoShow(b Booking, now time.Time) (Booking, bool, error) {
	switch {
	case b.Status == NoShow:
		return b, false, nil
	case b.Status != Confirmed:
		return b, false, badState(b, "Only a confirmed booking can be a no-show.")
	case now.Before(b.StartsAt):
		return b, false, fault.New(fault.FailedPrecondition, fault.SessionNotOpen, "The session has not started.").
			With("state", "not_started")
	}
	b.Status = NoShow
	return b, true, nil
}

// UndoNoShow makes a no-show confirmed again, if there still is room for it.
func UndoNoShow(b Booking, s Slot) (Booking, bool, error) {
	switch {
	case b.Status == Confirmed:
		return b, false, nil
	case b.Status != NoShow:
		return b, false, badState(b, "The booking is no no-show.")
	case !s.Fits(b.Party):
		return b, false, fault.New(fault.ResourceExhausted, fault.SessionFull, "Its seats have gone to others.")
	}
	b.Status = Confirmed
	return b, true, nil
}

func badState(b Booking, message string) *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.BookingState, "%s", message).With("status", string(b.Status))
}
