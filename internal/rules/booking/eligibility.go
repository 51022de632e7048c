package booking

import (
	"errors"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// EligibilityStatus is the result that an attempt to book would have.
type EligibilityStatus string

// The outlooks.
const (
	Eligible   EligibilityStatus = "ELIGIBLE"
	Waitlist   EligibilityStatus = "WAITLIST"   // the session is full: a waitlist entry
	Blocked    EligibilityStatus = "BLOCKED"    // an error
	Booked     EligibilityStatus = "BOOKED"     // the caller has booked it
	Waitlisted EligibilityStatus = "WAITLISTED" // the caller is on its waitlist
)

// Eligibility is what Decide would return, to show with a session.
type Eligibility struct {
	Status       EligibilityStatus
	Refusal      *fault.Error // if Blocked
	Subscription tenant.SubscriptionID
	Booking      tenant.BookingID
	Entry        tenant.EntryID
	Position     int // on the waitlist, from 1, if Waitlisted
}

// EligibilityOf returns the result of booking for the party of the command, or for the smallest party that the service
// takes.
func EligibilityOf(f Facts, request Request, now time.Time) Eligibility {
	switch {
	case !f.Booking.IsZero():
		return Eligibility{Status: Booked, Booking: f.Booking}
	case !f.Entry.IsZero():
		return Eligibility{Status: Waitlisted, Entry: f.Entry}
	}
	request.Party = max(request.Party, f.Slot.MinParty)
	result, err := f.decide(request, now)
	if err != nil {
		var refusal *fault.Error
		errors.As(err, &refusal)
		return Eligibility{Status: Blocked, Refusal: refusal}
	}
	e := Eligibility{Status: Eligible}
	if result.Wait {
		e.Status = Waitlist
	}
	if result.Payer != nil {
		e.Subscription = result.Payer.ID
	}
	return e
}
