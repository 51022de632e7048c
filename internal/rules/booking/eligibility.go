package booking

import (
	"errors"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Outlook is the outcome that a booking would have.
type Outlook string

// The outlooks.
const (
	Eligible   Outlook = "ELIGIBLE"
	Waitlist   Outlook = "WAITLIST"   // full: it would be a place in the queue
	Blocked    Outlook = "BLOCKED"    // it would be refused
	Booked     Outlook = "BOOKED"     // it is booked already
	Waitlisted Outlook = "WAITLISTED" // waits already
)

// Eligibility is what Decide would say, for showing beside a session.
type Eligibility struct {
	Outlook      Outlook
	Refusal      *fault.Error // where blocked
	Subscription tenant.SubscriptionID
	Booking      tenant.BookingID
	Entry        tenant.EntryID
	Position     int // in the queue, from 1, where waitlisted
}

// EligibilityOf tells what would come of booking for the smallest party the service takes.
func EligibilityOf(f Facts, c Command, now time.Time) Eligibility {
	switch {
	case !f.Booking.IsZero():
		return Eligibility{Outlook: Booked, Booking: f.Booking}
	case !f.Entry.IsZero():
		return Eligibility{Outlook: Waitlisted, Entry: f.Entry}
	}
	c.Party = max(c.Party, f.Slot.MinParty)
	plan, err := f.decide(c, now)
	if err != nil {
		var refusal *fault.Error
		errors.As(err, &refusal)
		return Eligibility{Outlook: Blocked, Refusal: refusal}
	}
	e := Eligibility{Outlook: Eligible}
	if plan.Wait {
		e.Outlook = Waitlist
	}
	if plan.Payer != nil {
		e.Subscription = plan.Payer.ID
	}
	return e
}
