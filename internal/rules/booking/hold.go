package booking

import (
	"regexp"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// HoldUntil is when a hold that is made now runs out: after the policy's hold_ttl, and with the start at the latest.
func HoldUntil(s Slot, now time.Time) time.Time {
	if until := now.Add(s.Rules.HoldTTL); until.Before(s.StartsAt) {
		return until
	}
	return s.StartsAt
}

// Confirmation is what a confirmation asks for.
type Confirmation struct {
	Command
	// Paid are payment facts; nil where the member's plan pays, and for guests, who pay later.
	Paid    *Payment
	Benefit Benefit
}

// Conversion is what confirming a hold means.
type Conversion struct {
	Booking Booking // as it will be
	// Again: it was confirmed before. Only the payment may have changed.
	Again bool
	Plan
}

// Confirm makes a hold a booking. Confirming again is harmless: it updates the payment and nothing else.
func Confirm(b Booking, f Facts, c Confirmation, now time.Time) (Conversion, error) {
	switch {
	case b.Status == Confirmed:
		b.Payment = paid(b.Payment, c.Paid, now)
		return Conversion{Booking: b, Again: true}, nil
	case b.Status == Expired, b.Due(now):
		return Conversion{}, fault.New(fault.FailedPrecondition, fault.HoldExpired, "The hold has run out. Hold again.")
	case b.Status != Pending:
		return Conversion{}, badState(b, "The booking is no hold.")
	}
	var plan Plan
	if c.Paid == nil && !b.Member.IsZero() {
		c.Party = b.Party
		var err error
		if plan, err = pay(&f, c.Command, now); err != nil {
			return Conversion{}, err
		}
	}
	b.Status, b.ConfirmedAt, b.HoldUntil = Confirmed, &now, nil
	b.Payment, b.Benefit = paid(b.Payment, c.Paid, now), c.Benefit
	b.Credits, b.Counted, b.Exclusive = plan.Credits, plan.Counted, plan.Exclusive
	if plan.Payer != nil {
		b.Subscription = plan.Payer.ID
	}
	return Conversion{Booking: b, Plan: plan}, nil
}

var currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)

// Validate refuses amounts that are no money.
func (p Payment) Validate() error {
	switch {
	case !currencyPattern.MatchString(p.Amount.Currency):
		return fault.Invalid("payment.amount.currency_code", "A currency is three capital letters (ISO 4217).")
	case p.Amount.Units < 0 || p.Amount.Nanos < 0 || p.Amount.Nanos > 999_999_999:
		return fault.Invalid("payment.amount", "An amount is not below zero, and its nanos are below a unit.")
	}
	return nil
}

// paid lays new payment facts over the old ones.
func paid(before Payment, facts *Payment, now time.Time) Payment {
	if facts == nil {
		return before
	}
	after := *facts
	if after.PaidAt = before.PaidAt; after.PaidAt == nil {
		after.PaidAt = &now
	}
	return after
}

// Release gives a hold up. It reports whether anything changed.
func Release(b Booking, now time.Time) (Booking, bool, error) {
	switch {
	case b.Status == Cancelled, b.Status == Expired:
		return b, false, nil
	case b.Due(now):
		return Expire(b, now), true, nil
	case b.Status != Pending:
		return b, false, badState(b, "The booking is no hold: cancel it instead.")
	}
	b.Status, b.CancelledAt = Cancelled, &now
	return b, true, nil
}

// Expire ends a hold that has run out.
func Expire(b Booking, now time.Time) Booking {
	b.Status, b.CancelledAt = Expired, &now
	return b
}

// Move is what rescheduling a booking means.
type Move struct {
	Booking Booking // as it will be
	// Already: it is there. Nothing is to be done.
	Already bool
}

// Reschedule moves a booking from one session to another. The credit goes with it. Any is set for
// whoever may move anyone's booking, whatever the cancellation window. The payer is its
// subscription, if it has one, with the usage on the new session's day and week. Waits is the entry with which its member
// waits for the new session; zero: they do not.
func Reschedule(b Booking, from, to Slot, waits tenant.EntryID, payer *credit.Subscription, anyone bool, now time.Time) (Move, error) {
	if b.Status != Confirmed {
		return Move{}, badState(b, "Only a confirmed booking can be moved.")
	}
	if from.ID == to.ID {
		return Move{Booking: b, Already: true}, nil
	}
	if from.Location != to.Location {
		return Move{}, target("The session is at another location.").With("reason", "LOCATION")
	}
	rules := b.Rules.For(b.MemberTier)
	if deadline := b.CancellableUntil(); now.After(deadline) && !rules.AllowReschedule && !anyone {
		hours := strconv.FormatFloat(rules.Cancellation.Hours(), 'f', -1, 64)
		return Move{}, fault.New(fault.FailedPrecondition, fault.CancellationWindow,
			"It is too late to move the booking: that was possible until %s hours before the start.", hours).
			With("hours_before", hours).With("deadline", deadline.UTC().Format(time.RFC3339))
	}
	if err := to.open(nil, now); err != nil {
		return Move{}, target("The session is not open for booking.").With("reason", string(fault.ReasonOf(err))).Because(err)
	}
	if !now.Before(from.StartsAt) && !anyone {
		return Move{}, badState(b, "Its session has started.")
	}
	if err := to.admits(Command{Party: b.Party, Channel: b.Channel, Staff: anyone || b.Channel.StaffOnly()}, now); err != nil {
		return Move{}, err
	}
	if !waits.IsZero() { // nobody has two places in one session
		return Move{}, AlreadyBooked(tenant.BookingID{}, waits)
	}
	if !to.Fits(b.Party) {
		return Move{}, target("The session has no room.").With("reason", string(fault.SessionFull))
	}
	if payer != nil && b.Counted && !anyone {
		if err := elsewhere(*payer, from, to).CheckQuota(to.LocalDate); err != nil {
			return Move{}, err
		}
	}
	b.Session, b.StartsAt, b.EndsAt, b.LocalDate = to.ID, to.StartsAt, to.EndsAt, to.LocalDate
	b.SessionTitle, b.TimeZone, b.Rules, b.GraceUntil = to.Title, to.TimeZone, to.Rules, nil
	return Move{Booking: b}, nil
}

// elsewhere leaves the booking that moves out of what is used on the new day and in the new week.
func elsewhere(payer credit.Subscription, from, to Slot) *credit.Subscription {
	if from.LocalDate == to.LocalDate {
		payer.UsedToday--
	}
	if from.LocalDate.WeekStart() == to.LocalDate.WeekStart() {
		payer.UsedThisWeek--
	}
	return &payer
}

func target(message string) *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.RescheduleTarget, "%s", message).In("session_id")
}

// View is what a slot looks like to someone who wants one.
type View string

// The views.
const (
	Available View = "AVAILABLE"
	Held      View = "HELD"   // full, but a hold may run out
	Taken     View = "BOOKED" // full
	OffSale   View = "BLOCKED"
)

// View tells what the slot looks like.
func (s Slot) View() View {
	switch {
	case s.Blocked, s.State != catalog.Published:
		return OffSale
	case s.Fits(1):
		return Available
	case s.Holds > 0:
		return Held
	default:
		return Taken
	}
}
