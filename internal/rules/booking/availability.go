package booking

import "github.com/berthhq/berth/internal/rules/catalog"

// Availability is the availability of a session, as shown to people who may book it.
type Availability string

// The views.
const (
	Available Availability = "AVAILABLE"
	Held      Availability = "HELD"    // full, but a hold may expire
	Taken     Availability = "BOOKED"  // full
	OffSale   Availability = "BLOCKED" // blocked, or not published
)

// Availability returns the availability of the session.
func (s Slot) Availability() Availability {
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
