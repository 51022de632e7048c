package booking

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// ConfirmRequest is a request to confirm a hold.
type ConfirmRequest struct {
	Request
	// Paid: a payment is recorded with the confirmation, so that no plan pays. Guests without one pay later.
	Paid    bool
	Benefit Benefit
}

// ConfirmResult is the result of confirming a hold.
type ConfirmResult struct {
	Booking Booking // after the confirmation
	// Repeated: the booking was confirmed before.
	Repeated bool
	BookResult
}

// Confirm turns a hold into a confirmed booking. To confirm again changes nothing.
func Confirm(b Booking, f Facts, c ConfirmRequest, now time.Time) (ConfirmResult, error) {
	switch {
	case b.Status == Confirmed:
		return ConfirmResult{Booking: b, Repeated: true}, nil
	case b.Status == Expired, b.HoldExpired(now):
		return ConfirmResult{}, fault.New(fault.FailedPrecondition, fault.HoldExpired,
			"The hold has expired. Make a new one.")
	case b.Status != Pending:
		return ConfirmResult{}, wrongState(b, "The booking is not a hold.")
	}
	var result BookResult
	if !c.Paid && !b.Member.IsZero() {
		c.Party = b.Party
		var err error
		if result, err = f.charge(c.Request, now); err != nil {
			return ConfirmResult{}, err
		}
	}
	b.Status, b.ConfirmedAt, b.HoldUntil = Confirmed, &now, nil
	b.Benefit = c.Benefit
	b.Credits, b.Counted, b.Exclusive = result.Credits, result.Counted, result.Exclusive
	if result.Payer != nil {
		b.Subscription = result.Payer.ID
	}
	return ConfirmResult{Booking: b, BookResult: result}, nil
}

// Release cancels a hold. It reports whether anything changed.
func Release(b Booking, now time.Time) (Booking, bool, error) {
	switch {
	case b.Status == Cancelled, b.Status == Expired:
		return b, false, nil
	case b.HoldExpired(now):
		return Expire(b, now), true, nil
	case b.Status != Pending:
		return b, false, wrongState(b, "The booking is not a hold. Cancel it instead.")
	}
	b.Status, b.CancelledAt = Cancelled, &now
	return b, true, nil
}

// Expire ends a hold that is due.
func Expire(b Booking, now time.Time) Booking {
	b.Status, b.CancelledAt = Expired, &now
	return b
}
