package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Standing is how a member waits when they book a slot.
type Standing struct {
	Slot    Slot
	Entries []Entry // those that wait, for whatever
	Offers  []Offer // the live ones of these
}

// Offer returns the offer that a booking of the slot accepts; nil if there is none.
func (s Standing) Offer(now time.Time) *Offer {
	for _, o := range s.Offers {
		if o.Session == s.Slot.Session && o.Answerable(now) == nil {
			return &o
		}
	}
	return nil
}

// Named returns the entry that names the session; zero if there is none.
func (s Standing) Named() tenant.EntryID {
	for _, e := range s.Entries {
		if e.Window == nil && e.GotBy(s.Slot) {
			return e.ID
		}
	}
	return tenant.EntryID{}
}

// Booked returns the consequences of a booking of the slot: entries close that wait for it. First those without an
// offer, so that none of them gets the seats of those that end: the accepted one, if any, which takes the seats of the
// booking's party, and then the offers of other entries that close. The caller completes each with its round.
func (s Standing) Booked(booking tenant.BookingID, party int, accepted *Offer, now time.Time) (Changes, []Ending) {
	var closed Changes
	var endings []Ending
	for _, e := range s.Entries {
		at := slices.IndexFunc(s.Offers, func(o Offer) bool { return o.Entry == e.ID })
		switch {
		case accepted != nil && accepted.Entry == e.ID:
			o := accepted.Close(Accepted, "", now)
			o.Booking = booking
			endings = append([]Ending{{Offer: o, Entry: e, Party: party}}, endings...)
		case !e.GotBy(s.Slot):
		case at >= 0:
			endings = append(endings, Ending{Offer: s.Offers[at].Withdraw(EntryLeft, "", now), Entry: e, Got: booking})
		default:
			closed.Entries = append(closed.Entries, EntryChange{Entry: e.Close(Booked, booking, now), Taken: true})
		}
	}
	return closed, endings
}
