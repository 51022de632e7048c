package notify

import (
	"time"

	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// Audience is how the people whom an event concerns are found.
type Audience int

// The audiences.
const (
	Nobody    Audience = iota
	OfBooking          // whose booking it is
	OfSession          // who have confirmed bookings of the session
	OfEntry            // whose waitlist entry it is
	OfPayer            // whose subscription it is
	OfStaff            // active owners and admins
	OfAccess           // whose access changed, who changed it, and the active owners
)

// Audience returns whom the event concerns.
func (e Event) Audience() Audience {
	switch e.Data.(type) {
	case event.AccessChanged:
		if e.Details.Access == nil { // the roles are not worth a message
			return Nobody
		}
		return OfAccess
	case event.SessionUpdated:
		if !e.Moved {
			return Nobody
		}
		return OfSession
	case event.WaitlistStaffNote, event.DisplaySecondScreen:
		return OfStaff
	case event.CreditsChanged:
		return OfPayer
	}
	switch {
	case !e.Booking.IsZero():
		return OfBooking
	case !e.Entry.IsZero():
		return OfEntry
	case !e.Payer.IsZero():
		return OfPayer
	}
	return Nobody
}

// Concerns reports whether a person of the event's audience is one whom it concerns.
func (e Event) Concerns(p Person) bool {
	switch e.Audience() {
	case OfBooking:
		return p.Booking == e.Booking
	case OfSession:
		return p.Session == e.Session
	case OfEntry:
		return p.Entry == e.Entry
	case OfPayer:
		return p.Payer == e.Payer
	case OfStaff:
		return true
	case OfAccess:
		return p.Owner || p.Member == e.Member || p.Member == e.Actor
	case Nobody:
	}
	return false
}

// Person is the current state of a person whom an event concerns.
type Person struct {
	Member      tenant.MemberID
	Name        string // if the event is about access
	Owner       bool   // an active owner, if the event is about access
	Session     tenant.SessionID
	Booking     tenant.BookingID
	Entry       tenant.EntryID
	Preferences Preferences

	Booked       bool      // the booking is confirmed
	StartsAt     time.Time // of the session; zero if there is none yet
	EndsAt       time.Time
	SessionGone  bool // cancelled or deleted
	CheckInOpens time.Time

	// Payer is the subscription with credits of the booking or the event; zero: none.
	Payer   tenant.UUID
	Balance int
	Taken   int // credits charged for the booking
}
