package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Changes are the result of a decision, or of another operation on the waitlist of a session. The caller writes them in
// the order of the fields.
type Changes struct {
	Session  tenant.SessionID
	Opened   *Round  // a new one
	Rounds   []Round // existing ones, with their new state
	Decision *Record
	Entries  []EntryChange
	Promoted []Promotion // to book
	Skipped  []Verdict   // why entries were skipped, if the reason is new
	// AwaitsOpening: entries wait for booking to open, when the session is filled again.
	AwaitsOpening bool
	Seats         int // added to the seats that offers and rounds reserve; the seats of bookings come on top
	Refill        *Refill
}

// EntryChange is the new state of an entry, with the offer that it got or that ended.
type EntryChange struct {
	Entry Entry
	Offer *Offer
	// Taken: it closes because its member booked what it waits for, other than through the waitlist.
	Taken bool
	LeaveOptions
}

// LeaveOptions are recorded with an entry that closes without a booking.
type LeaveOptions struct {
	Reason string
	Notify bool // sends a message to the member
	// TellUntil: the entry can no longer get a seat. If Notify, its member is told so until this time.
	TellUntil time.Time
}

// Promotion is an entry to be booked without an offer.
type Promotion struct {
	Entry      Entry
	GraceUntil time.Time // of the booking: the start, until the member is told, which starts the grace
}

// Refill requests another decision about a session. The caller makes it from the state after these changes.
type Refill struct {
	Session tenant.SessionID
	Round   tenant.RoundID // the round in which the seats were offered; zero if none
	Trigger Trigger
}

// Record is a decision with its inputs, as it is stored.
type Record struct {
	Queue    Queue
	Round    tenant.RoundID
	Rules    int    // version
	Note     string // to staff: see Note
	Case     Case
	Decision Decision
}

// Close closes an entry. Its places in queues end too.
func (e Entry) Close(as Status, got tenant.BookingID, now time.Time) Entry {
	e.Status, e.Booking, e.PassedOver, e.ClosedAt = as, got, "", &now
	e.Position, e.Scoring, e.Mode, e.Offer = 0, Scoring{}, "", nil
	return e
}

// CheckLeave reports whether an entry has ended before, so that leaving changes nothing. An entry that was booked
// cannot be left: WAITLIST_ENTRY_STATE.
func (e Entry) CheckLeave() (ended bool, err error) {
	switch e.Status {
	case Waiting, Offered:
		return false, nil
	case Cancelled, Expired:
		return true, nil
	default:
		return false, wrongState(e, "The entry has got its place: cancel the booking.").
			WithMetadata("booking_id", e.Booking.String()).OwnedBy(e.Member.String())
	}
}

// Leave closes an entry that has no live offer.
func Leave(e Entry, options LeaveOptions, now time.Time) Changes {
	return closing(e, Cancelled, options, now)
}

func closing(e Entry, as Status, options LeaveOptions, now time.Time) Changes {
	return Changes{Entries: []EntryChange{{Entry: e.Close(as, tenant.BookingID{}, now), LeaveOptions: options}}}
}
