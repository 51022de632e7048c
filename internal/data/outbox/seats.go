package outbox

import (
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// takesOrFreesSeats reports whether an event of a booking or an offer changes the open seats of a session. Events of
// sessions do that too, but all who see a session's seats see them.
func takesOrFreesSeats(data event.Data) bool {
	switch data.(type) {
	case event.BookingHeld, event.BookingReleased, event.BookingExpired, event.BookingRescheduled,
		event.BookingConfirmed, event.BookingCancelled, event.BookingAttended, event.BookingCheckInUndone,
		event.BookingNoShow, event.BookingNoShowUndone, event.WaitlistPromoted, event.OfferCreated, event.OfferAccepted,
		event.OfferDeclined, event.OfferExpired, event.OfferWithdrawn:
		return true
	}
	return false
}

// SeatsChanged returns an event for each session of which this one may have changed the open seats, unless the session
// is a draft or has no limit. The number is that of the time when the record was read.
func (r *Record) SeatsChanged() []*Record {
	r.seatsOnce.Do(func() {
		if !takesOrFreesSeats(r.Data) {
			return
		}
		r.addSeats(r.Session, r.To)
		r.addSeats(r.FromSession, r.From)
	})
	return r.seats
}

func (r *Record) addSeats(of tenant.SessionID, s SessionContext) {
	if of.IsZero() || s.Draft || s.SeatsOpen == nil {
		return
	}
	seats := &Record{
		Event: Event{
			ID: r.ID, Session: of, Data: event.SessionSeatsChanged{SeatsOpen: *s.SeatsOpen}, Facts: event.NoFacts, At: r.At,
		},
		Cursor: r.Cursor, Context: Context{To: s},
	}
	// An id of its own that follows from those of the record and the session: a UUIDv8 (RFC 9562, section 5.8).
	id := &seats.ID.UUID
	id[6] = id[6]&0x0f | 0x80
	for i := 9; i < len(id); i++ {
		id[i] ^= of.UUID[i]
	}
	r.seats = append(r.seats, seats)
}
