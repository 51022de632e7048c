package booking

import (
	"cmp"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// RescheduleResult is the result of rescheduling a booking.
type RescheduleResult struct {
	Booking Booking // after the move
	// Unchanged: the booking is in that session. There is nothing to do.
	Unchanged bool
}

// Reschedule moves a booking from one session to another, together with its credits. The facts are those of the new
// session: its slot, and the member's entry and live offer there. The payer is the booking's subscription, if it has
// one, with the usage in the day and week of the new session. Anyone means that the caller may move the bookings of
// others: the cancellation window, the start of the old session and the quotas then do not matter.
func Reschedule(
	b Booking, from Slot, f Facts, payer *credit.Subscription, anyone bool, now time.Time,
) (RescheduleResult, error) {
	to := f.Slot
	if b.Status != Confirmed {
		return RescheduleResult{}, wrongState(b, "Only a confirmed booking can be rescheduled.")
	}
	if from.ID == to.ID {
		return RescheduleResult{Booking: b, Unchanged: true}, nil
	}
	if from.Location != to.Location {
		return RescheduleResult{}, targetError("The session is at another location.").WithMetadata("reason", "LOCATION")
	}
	policy := b.Policy.For(b.MemberTier)
	if deadline := b.CancelDeadline(); now.After(deadline) && !policy.AllowReschedule && !anyone {
		return RescheduleResult{}, tooLate("reschedule", policy.CancellationWindow, deadline)
	}
	opened, until := to.checkOpened(now), (*time.Time)(nil)
	if f.Offer != nil {
		opened, until = nil, &f.Offer.Until
	}
	if err := to.checkOpen(until, now); err != nil {
		return RescheduleResult{}, targetError("The session is not open for booking.").
			WithMetadata("reason", string(fault.ReasonOf(err))).WithCause(err)
	}
	if !now.Before(from.StartsAt) && !anyone {
		return RescheduleResult{}, wrongState(b, "The booked session has started.")
	}
	if err := cmp.Or(opened, to.checkAdmission(b.Channel, b.Party)); err != nil {
		return RescheduleResult{}, err
	}
	switch fits := f.fits(b.Party); {
	case !fits && !f.Entry.IsZero():
		return RescheduleResult{}, catalog.AlreadyBooked(b.Member, tenant.BookingID{}, f.Entry)
	case !fits:
		return RescheduleResult{}, targetError("The session has too few open seats.").
			WithMetadata("reason", string(fault.SessionFull))
	}
	if payer != nil && b.Counted && !anyone {
		if err := withoutMoved(*payer, from, to).CheckQuota(to.LocalDate); err != nil {
			return RescheduleResult{}, err
		}
	}
	b.GraceUntil = nil
	return RescheduleResult{Booking: b.In(to)}, nil
}

// withoutMoved subtracts the moved booking from the usage in the new day and week, where it is counted already.
func withoutMoved(payer credit.Subscription, from, to Slot) *credit.Subscription {
	if from.LocalDate == to.LocalDate {
		payer.UsedToday--
	}
	if from.LocalDate.WeekStart() == to.LocalDate.WeekStart() {
		payer.UsedThisWeek--
	}
	return &payer
}

func targetError(message string) *fault.Error {
	return fault.New(fault.FailedPrecondition, fault.RescheduleTarget, "%s", message).WithField("session_id")
}
