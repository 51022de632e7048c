package event

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// bookingTypes are the types of this file.
var bookingTypes = []stored{
	as(BookingHeld{}), as(BookingReleased{}), as(BookingExpired{}), as(BookingUpdated{}), as(BookingConfirmed{}),
	as(BookingRescheduled{Notify: true}), as(BookingCancelled{Notify: true}), as(BookingAttended{}),
	as(BookingCheckInUndone{}), as(BookingNoShow{}), as(BookingNoShowUndone{}), as(BookingReminderDue{}),
	as(DisplaySecondScreen{}),
}

// BookingHeld says that seats were held.
type BookingHeld struct{}

// Type implements Data.
func (BookingHeld) Type() Type { return "booking.held" }

// BookingReleased says that a hold was released.
type BookingReleased struct{}

// Type implements Data.
func (BookingReleased) Type() Type { return "booking.released" }

// BookingExpired says that a hold expired.
type BookingExpired struct{}

// Type implements Data.
func (BookingExpired) Type() Type { return "booking.expired" }

// BookingUpdated says that a booking's payment, benefit or items changed.
type BookingUpdated struct{}

// Type implements Data.
func (BookingUpdated) Type() Type { return "booking.updated" }

// BookingConfirmed says that a booking was made, also from an offer, or that a hold was confirmed.
type BookingConfirmed struct {
	// Imported: with a file of bookings from another program, about which nobody is told.
	Imported bool `json:"imported,omitempty"`
}

// Type implements Data.
func (BookingConfirmed) Type() Type { return "booking.confirmed" }

// BookingRescheduled says that a booking was moved to another session, which is that of the event.
type BookingRescheduled struct {
	FromSession tenant.SessionID `json:"from_session_id" see:"own"`
	FromStart   time.Time        `json:"from_start_time" see:"own"` // to the second
	Notify      bool             `json:"notify"`
}

// Type implements Data.
func (BookingRescheduled) Type() Type { return "booking.rescheduled" }

// BookingCancelled says that a booking was cancelled.
type BookingCancelled struct {
	Refunded    bool   `json:"credit_refunded" see:"own"`
	Late        bool   `json:"late" see:"own"`
	Reason      string `json:"reason" see:"own"`
	Notify      bool   `json:"notify"`
	SessionGone bool   `json:"session_gone"` // because the session is cancelled
}

// Type implements Data.
func (BookingCancelled) Type() Type { return "booking.cancelled" }

// BookingAttended says that a party was checked in.
type BookingAttended struct{}

// Type implements Data.
func (BookingAttended) Type() Type { return "booking.attended" }

// BookingCheckInUndone says that a check-in was undone.
type BookingCheckInUndone struct{}

// Type implements Data.
func (BookingCheckInUndone) Type() Type { return "booking.check_in_undone" }

// BookingNoShow says that a party did not come.
type BookingNoShow struct{}

// Type implements Data.
func (BookingNoShow) Type() Type { return "booking.no_show" }

// BookingNoShowUndone says that a no-show was undone.
type BookingNoShowUndone struct{}

// Type implements Data.
func (BookingNoShowUndone) Type() Type { return "booking.no_show_undone" }

// BookingReminderDue says that a booking's session starts soon.
type BookingReminderDue struct {
	LeadSeconds int `json:"lead_seconds"`
}

// Type implements Data.
func (BookingReminderDue) Type() Type { return "booking.reminder_due" }

// DisplaySecondScreen says that a second screen read the display of a session with a link.
type DisplaySecondScreen struct {
	Link tenant.DisplayLinkID `json:"display_link_id"`
}

// Type implements Data.
func (DisplaySecondScreen) Type() Type { return "display.second_screen" }
