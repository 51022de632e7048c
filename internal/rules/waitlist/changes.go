package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Changes are the result of a decision or an act on the waitlist of a session. The caller writes them in the order of
// the fields.
type Changes struct {
	Session  tenant.SessionID
	Opened   *Round  // a new one
	Rounds   []Round // existing ones, as they are from now on
	Decision *Record
	Entries  []EntryChange
	Promoted []Promotion // to book
	Skipped  []Verdict   // why entries were passed over, if the reason is new
	Seats    int         // added to the seats that offers and rounds reserve; bookings take theirs in addition
	Refill   *Refill
}

// EntryChange is an entry as it is from now on, with the offer that it got or that ended.
type EntryChange struct {
	Entry Entry
	Offer *Offer
	Leaving
}

// Leaving is recorded with an entry that closes without a booking.
type Leaving struct {
	Reason string
	Notify bool // its member gets a message
}

// Promotion is an entry to be booked without an offer.
type Promotion struct {
	Entry      Entry
	GraceUntil time.Time // of the booking
}

// Refill asks for a decision about a session, made from the state after the changes.
type Refill struct {
	Session tenant.SessionID
	Round   tenant.RoundID // in which the seats were offered; zero: none
	Trigger Trigger
}

// Record is a decision with everything that it was made from, to be stored.
type Record struct {
	Queue    Queue
	Round    tenant.RoundID
	Rules    int    // version
	Note     string // to staff: see Note
	Case     Case
	Decision Decision
}

// Close ends an entry, with all its places in queues.
func (e Entry) Close(as Status, got tenant.BookingID, now time.Time) Entry {
	e.Status, e.Booking, e.PassedOver, e.ClosedAt = as, got, "", &now
	e.Position, e.Worth, e.Offer = 0, Worth{}, nil
	return e
}

// Leave ends an entry that has no live offer.
func Leave(e Entry, said Leaving, now time.Time) Changes { return closing(e, Cancelled, said, now) }

func closing(e Entry, as Status, said Leaving, now time.Time) Changes {
	return Changes{Entries: []EntryChange{{Entry: e.Close(as, tenant.BookingID{}, now), Leaving: said}}}
}
