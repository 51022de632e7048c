package booking

import (
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
)

// CancelRequest is a request to cancel a booking.
type CancelRequest struct {
	Actor  string
	Reason string
	// OverrideWindow cancels also after the cancellation window, and after the session.
	OverrideWindow bool
	// SessionGone: the session is cancelled or deleted. The cancellation is then never late, and refunds every credit.
	// After the session's end, attendance and no-shows stay as they are: they happened.
	SessionGone bool
	// ImportUndone: the import that created the booking is undone. The cancellation is then never late, and credits that
	// paid elsewhere go where they came from.
	ImportUndone bool
}

// CancelResult is the result of cancelling a booking.
type CancelResult struct {
	// SessionGone: the session is cancelled or deleted.
	SessionGone bool
	// Unchanged: the booking was cancelled before, or stays with its session that ended. There is nothing to do.
	Unchanged bool
	Booking   Booking // after the cancellation
	Late      bool
	// SeatsFreed are seats that the waitlist can fill.
	SeatsFreed int
	// HoldsEnded is 1 if the booking was a hold.
	HoldsEnded int
	// ReleasesQuota: the booking no longer counts toward the quotas of its subscription.
	ReleasesQuota bool
	// Payer is the subscription after the refund; nil without a refund.
	Payer    *credit.Subscription
	Ledger   []credit.Line
	Refunded bool
}

// Cancel cancels a booking. The payer is its subscription, if it has one.
//
// Before the end of the cancellation window the credits are refunded. After it, a member gets an error, or loses the
// credits if the policy allows late cancellation. Overriding the window is late, too: the credits are not refunded.
func Cancel(b Booking, payer *credit.Subscription, request CancelRequest, now time.Time) (CancelResult, error) {
	switch b.Status {
	case Cancelled:
		return CancelResult{Unchanged: true, Booking: b, Late: b.LateCancelled}, nil
	case Pending, Confirmed:
	case Attended, NoShow:
		switch {
		case !request.SessionGone && b.Status == Attended:
			return CancelResult{}, wrongState(b, "The party has already checked in.")
		case !request.SessionGone:
			return CancelResult{}, wrongState(b, "A no-show cannot be cancelled.")
		case !now.Before(b.EndsAt):
			return CancelResult{Unchanged: true, Booking: b}, nil
		}
	case Expired:
		return CancelResult{}, wrongState(b, "The hold has expired. There is nothing to cancel.")
	}
	late := !request.SessionGone && !request.ImportUndone && now.After(b.CancelDeadline())
	if late && !request.OverrideWindow {
		if err := b.checkLate(now); err != nil {
			return CancelResult{}, err
		}
	}
	c := CancelResult{SessionGone: request.SessionGone, Late: late, ReleasesQuota: b.Counted}
	if b.Status.Active() {
		c.SeatsFreed = b.Party
	}
	if b.Status == Pending {
		c.HoldsEnded = 1
	}
	for i := range b.Items {
		b.Items[i].Status = ItemCancelled
	}
	if b.Credits > 0 && !late && payer != nil {
		// Renew an ended period first. Otherwise the refunded credits would expire with the old period, and the result
		// would depend on whether the renewal had run before.
		var renewal []credit.Line
		*payer, renewal = credit.Advance(*payer, now)
		c.Payer = payer
		c.Ledger = payer.Refund(renewal, b.ID, b.Credits, request.Actor, request.Reason, now)
		if request.ImportUndone {
			c.Ledger = payer.UndoTakeOver(c.Ledger, b.Credits, request.Actor, request.Reason, now)
		}
		c.Refunded = !request.ImportUndone
		b.Credits = 0
	}
	b.Status, b.LateCancelled, b.CancelReason, b.CancelledAt = Cancelled, late, request.Reason, &now
	b.Counted, b.CheckedInAt, b.CheckInMethod = false, nil, ""
	c.Booking = b
	return c, nil
}

// checkLate rejects a cancellation after the deadline, unless the policy allows it.
func (b Booking) checkLate(now time.Time) error {
	switch {
	case !b.Policy.AllowLateCancellation:
		return tooLate("cancel", b.Policy.For(b.MemberTier).CancellationWindow, b.CancelDeadline())
	case !now.Before(b.EndsAt):
		return wrongState(b, "The session is over.")
	default:
		return nil
	}
}

// CancellationKind is how a cancellation would end.
type CancellationKind string

// The kinds of cancellations.
const (
	FreeCancellation    CancellationKind = "FREE"
	LateCancellation    CancellationKind = "LATE"
	RefusedCancellation CancellationKind = "REFUSED"
)

// Cancellation is what Cancel would do, if nothing is overridden.
type Cancellation struct {
	Kind    CancellationKind
	Credits int          // that it returns
	Reason  fault.Reason // why it is refused
}

// Cancellation returns what cancelling a booking does at a time; nil if there is nothing left to cancel.
func (b Booking) Cancellation(now time.Time) *Cancellation {
	if b.Status != Pending && b.Status != Confirmed {
		return nil
	}
	if !now.After(b.CancelDeadline()) {
		return &Cancellation{Kind: FreeCancellation, Credits: b.Credits}
	}
	if err := b.checkLate(now); err != nil {
		return &Cancellation{Kind: RefusedCancellation, Reason: fault.ReasonOf(err)}
	}
	return &Cancellation{Kind: LateCancellation}
}

// RefundCredits refunds the credits of a booking, whatever its status is. The payer is its subscription; nil if it has
// none. If the booking has no credits, or no longer, the error is NOTHING_TO_REFUND.
func RefundCredits(
	b Booking, payer *credit.Subscription, actor, reason string, now time.Time,
) (Booking, credit.Subscription, []credit.Line, error) {
	if b.Credits == 0 || payer == nil {
		return b, credit.Subscription{}, nil, fault.New(fault.FailedPrecondition, fault.NothingToRefund,
			"The booking holds no credit.")
	}
	after, renewal := credit.Advance(*payer, now)
	ledger := after.Refund(renewal, b.ID, b.Credits, actor, reason, now)
	b.Credits = 0
	return b, after, ledger, nil
}

// MarkNoShow marks a booking whose party did not come. Its seats are free from then on. It reports whether anything
// changed.
func MarkNoShow(b Booking, now time.Time) (Booking, bool, error) {
	switch {
	case b.Status == NoShow:
		return b, false, nil
	case b.Status != Confirmed:
		return b, false, wrongState(b, "Only a confirmed booking can be a no-show.")
	case now.Before(b.StartsAt):
		return b, false, fault.New(fault.FailedPrecondition, fault.SessionNotOpen, "The session has not started.").
			WithMetadata("state", "not_started")
	}
	b.Status = NoShow
	return b, true, nil
}

// Absence is a booking whose party may not have come.
type Absence struct {
	Booking
	MarkedAt *time.Time // when MarkAbsent marked it before; nil: never
}

// MarkAbsent marks those bookings of a session as no-shows whose party did not come, if its policy says so. From when
// a party that has not checked in is absent, from says. If staff took a mark back, it is not made again, unless the
// booking was moved to another session since, which then starts after the mark.
func MarkAbsent(s Slot, candidates []Absence, from func(Booking, Slot) time.Time, now time.Time) ([]Booking, error) {
	if !s.Policy.AutoNoShow {
		return nil, nil
	}
	var absent []Booking
	for _, c := range candidates {
		before := c.MarkedAt != nil && !c.MarkedAt.Before(c.StartsAt)
		if c.Status != Confirmed || before || now.Before(from(c.Booking, s)) {
			continue
		}
		marked, _, err := MarkNoShow(c.Booking, now)
		if err != nil {
			return nil, err
		}
		absent = append(absent, marked)
	}
	return absent, nil
}

// UndoNoShow confirms a no-show again, if its party still fits. It reports whether anything changed.
func UndoNoShow(b Booking, s Slot) (Booking, bool, error) {
	switch {
	case b.Status == Confirmed:
		return b, false, nil
	case b.Status != NoShow:
		return b, false, wrongState(b, "The booking is not a no-show.")
	case s.State == catalog.Cancelled:
		return b, false, fault.New(fault.FailedPrecondition, fault.SessionNotOpen, "The session is cancelled.").
			WithMetadata("state", "cancelled")
	case !s.Fits(b.Party):
		return b, false, fault.New(fault.FailedPrecondition, fault.SessionFull, "Its seats are taken by other bookings.")
	}
	b.Status = Confirmed
	return b, true, nil
}

// tooLate means that the cancellation window, counted back from the start, has closed.
func tooLate(action string, window time.Duration, deadline time.Time) *fault.Error {
	hours := strconv.FormatFloat(window.Hours(), 'f', -1, 64)
	return fault.New(fault.FailedPrecondition, fault.CancellationWindow,
		"It is too late to %s: that was possible until %s hours before the start.", action, hours).
		WithMetadata("hours_before", hours).WithMetadata("deadline", deadline.UTC().Format(time.RFC3339))
}

func wrongState(b Booking, message string) *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.BookingState, "%s", message).WithMetadata("status", string(b.Status))
}
