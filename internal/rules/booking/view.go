package booking

import "github.com/berthhq/berth/internal/rules/catalog"

// View is the availability of a session, as shown to people who may book it.
type View string

// The views.
const (
	Available View = "AVAILABLE"
	Held      View = "HELD"    // full, but a hold may expire
	Taken     View = "BOOKED"  // full
	OffSale   View = "BLOCKED" // blocked, or not published
)

// View returns the availability of the session.
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
