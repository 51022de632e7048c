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
	Waitlisted EligibilityStatus = "WAITLISTED" // the caller is on its waitlist, and it has too few open seats
	Offered    EligibilityStatus = "OFFERED"    // seats are kept for the caller
)

// Eligibility is what Decide would return, to show with a session.
type Eligibility struct {
	Status       EligibilityStatus
	Refusal      *fault.Error // if Blocked
	Subscription tenant.SubscriptionID
	Booking      tenant.BookingID
	Entry        tenant.EntryID
	Position     int           // on the waitlist, from 1, if there is an entry
	Offer        *OfferedSeats // nil: no seats are kept for the caller
}

// EligibilityOf returns the result of booking for the party of the command, or for the smallest party that the service
// takes; for those with an offer, for the party that it is for.
func EligibilityOf(f Facts, request Request, now time.Time) Eligibility {
	request.Party = max(request.Party, f.Slot.MinParty)
	if f.Offer != nil {
		request.Party = f.Offer.Seats
	}
	switch {
	case !f.Booking.IsZero():
		return Eligibility{Status: Booked, Booking: f.Booking}
	case !f.Entry.IsZero() && !f.fits(request.Party):
		return Eligibility{Status: Waitlisted, Entry: f.Entry}
	}
	e := Eligibility{Status: Eligible, Entry: f.Entry, Offer: f.Offer}
	result, err := f.decide(request, now)
	if err != nil {
		errors.As(err, &e.Refusal)
		e.Status = Blocked
		return e
	}
	switch {
	case f.Offer != nil:
		e.Status = Offered
	case result.Wait:
		e.Status = Waitlist
	}
	if result.Payer != nil {
		e.Subscription = result.Payer.ID
	}
	return e
}
