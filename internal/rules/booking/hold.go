package booking

import (
	"regexp"
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// HoldUntil returns when a hold that is made now expires: after the policy's hold_ttl, but no later than the start.
func HoldUntil(s Slot, now time.Time) time.Time {
	if until := now.Add(s.Rules.HoldTTL); until.Before(s.StartsAt) {
		return until
	}
	return s.StartsAt
}

// ConfirmRequest is a request to confirm a hold.
type ConfirmRequest struct {
	Request
	// Payment is a payment made outside Berth. Nil if the member's plan pays, and for guests, who pay later.
	Payment *Payment
	Benefit Benefit
}

// ConfirmResult is the result of confirming a hold.
type ConfirmResult struct {
	Booking Booking // after the confirmation
	// Repeated: the booking was confirmed before. Only its payment may have changed.
	Repeated bool
	Decision
}

// Confirm turns a hold into a confirmed booking. To confirm again is harmless: it updates only the payment.
func Confirm(b Booking, f Facts, c ConfirmRequest, now time.Time) (ConfirmResult, error) {
	switch {
	case b.Status == Confirmed:
		b.Payment = updatePayment(b.Payment, c.Payment, now)
		return ConfirmResult{Booking: b, Repeated: true}, nil
	case b.Status == Expired, b.HoldExpired(now):
		return ConfirmResult{}, fault.New(fault.FailedPrecondition, fault.HoldExpired,
			"The hold has expired. Make a new one.")
	case b.Status != Pending:
		return ConfirmResult{}, wrongState(b, "The booking is not a hold.")
	}
	var plan Decision
	if c.Payment == nil && !b.Member.IsZero() {
		c.Party = b.Party
		var err error
		if plan, err = f.charge(c.Request, now); err != nil {
			return ConfirmResult{}, err
		}
	}
	b.Status, b.ConfirmedAt, b.HoldUntil = Confirmed, &now, nil
	b.Payment, b.Benefit = updatePayment(b.Payment, c.Payment, now), c.Benefit
	b.Credits, b.Counted, b.Exclusive = plan.Credits, plan.Counted, plan.Exclusive
	if plan.Payer != nil {
		b.Subscription = plan.Payer.ID
	}
	return ConfirmResult{Booking: b, Decision: plan}, nil
}

var currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)

// Validate rejects an invalid amount: INVALID_FIELD.
func (p Payment) Validate() error {
	switch {
	case !currencyPattern.MatchString(p.Amount.Currency):
		return fault.Invalid("payment.amount.currency_code", "A currency is three capital letters (ISO 4217).")
	case p.Amount.Units < 0 || p.Amount.Nanos < 0 || p.Amount.Nanos > 999_999_999:
		return fault.Invalid("payment.amount",
			"An amount must not be negative, and its nanos must be below 1,000,000,000.")
	}
	return nil
}

// updatePayment replaces a payment, but keeps the time of the first one.
func updatePayment(before Payment, reported *Payment, now time.Time) Payment {
	if reported == nil {
		return before
	}
	after := *reported
	if after.PaidAt = before.PaidAt; after.PaidAt == nil {
		after.PaidAt = &now
	}
	return after
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
