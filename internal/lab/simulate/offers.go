package simulate

import (
	"math"
	"slices"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func (w *world) accept(o *waitlist.Offer) error {
	return w.do("accept", func() error {
		if o.Status == waitlist.Accepted {
			return nil
		}
		if err := o.Answerable(w.now); err != nil {
			return err
		}
		s, e := w.rows[o.Session], w.entries[o.Entry]
		slot := s.slot()
		slot.SeatsTaken -= o.Seats
		facts := booking.Facts{
			Slot: slot, Member: e.who.Member, Booking: w.inSession(s, e.who), Subscriptions: w.payers(e.who, s, e.Subscription),
		}
		b := booking.Booking{
			ID: id[tenant.BookingID](&w.tables), Session: s.ID, Member: o.Member, Party: o.Seats, Channel: e.Channel,
			Promoted: true,
		}
		plan, err := booking.Decide(facts, booking.Request{
			ID: b.ID, Party: o.Seats, Subscription: e.Subscription, Channel: e.Channel, Staff: e.ByStaff, Promotion: true,
			Actor: "somebody", FillUntil: &o.ExpiresAt,
		}, w.now)
		if err != nil {
			return err
		}
		closed := o.Close(waitlist.Accepted, "", w.now)
		closed.Booking = b.ID
		changes := w.end(closed, nil)
		w.write(changes)
		w.say(Fact{
			What: Booked, Session: s.ID, Member: o.Member, Booking: b.ID, Entry: e.ID, Offer: o.ID, Party: o.Seats,
			Promoted: true,
			Staff:    e.ByStaff, Subscription: e.Subscription,
		})
		w.moveSeats(s, -o.Seats, 0)
		w.place(s, facts, b, plan)
		return w.refill(changes.Refill)
	})
}

// end gives what follows from the end of an offer.
func (w *world) end(o waitlist.Offer, leaving *waitlist.Leaving) waitlist.Changes {
	s := w.rows[o.Session]
	e := waitlist.Ending{
		Offer: o, Entry: w.entries[o.Entry].Entry, Rules: s.under.waitlist.Rules, Leaving: leaving, Round: *w.rounds[o.Round],
	}
	for _, other := range s.liveOffers() {
		if other.Round == o.Round {
			e.Live = append(e.Live, *other)
		}
	}
	e.Entries = w.entriesOf(e.Slower())
	c := e.Changes(w.now)
	if w.flaw == keepUnclaimed && o.Shared && c.Seats < 0 {
		c.Rounds[0].Keeps, c.Seats, c.Refill = -c.Seats, 0, nil
	}
	return c
}

func (w *world) entriesOf(offers []waitlist.Offer) map[tenant.EntryID]waitlist.Entry {
	entries := make(map[tenant.EntryID]waitlist.Entry)
	for _, o := range offers {
		entries[o.Entry] = w.entries[o.Entry].Entry
	}
	return entries
}

func (w *world) decline(o *waitlist.Offer, leave bool) error {
	return w.do("decline", func() error {
		if o.Status == waitlist.Declined {
			return nil
		}
		if err := o.Answerable(w.now); err != nil {
			return err
		}
		var leaving *waitlist.Leaving
		if leave {
			leaving = new(waitlist.Leaving)
		}
		return w.apply(w.end(o.Close(waitlist.Declined, "", w.now), leaving))
	})
}

// withdraw ends all live offers of a session, and gives up what rounds keep there.
func (w *world) withdraw(s *row, why waitlist.Cause) { w.withdrawSeats(s, why, math.MaxInt) }

// withdrawSeats is withdraw for no more offers than it takes to give up so many seats.
func (w *world) withdrawSeats(s *row, why waitlist.Cause, wanted int) {
	var live []waitlist.Offer
	for _, o := range slices.Backward(s.liveOffers()) {
		live = append(live, *o)
	}
	var keeping []waitlist.Round
	for _, r := range s.rounds {
		if r.Keeps > 0 {
			keeping = append(keeping, *r)
		}
	}
	taken := waitlist.TakeBack(live, keeping, wanted, w.now)
	for _, after := range taken.Rounds {
		w.say(Fact{What: GivenUp, Session: s.ID, Round: after.ID, Party: w.rounds[after.ID].Keeps - after.Keeps})
	}
	w.write(taken.Changes(s.ID, w.entriesOf(taken.Offers), why, "", w.now))
}

// leave ends an entry. The seats of its live offer go to the next in line.
func (w *world) leave(e *entryRow) error {
	return w.do("leave", func() error { return w.quit(e, waitlist.Leaving{}) })
}

func (w *world) quit(e *entryRow, said waitlist.Leaving) error {
	switch e.Status {
	case waitlist.Waiting:
		return w.apply(waitlist.Leave(e.Entry, said, w.now))
	case waitlist.Offered:
		for _, o := range w.offers {
			if o.Entry == e.ID && o.Status == waitlist.Live {
				return w.apply(w.end(o.Withdraw(waitlist.EntryLeft, "", w.now), &said))
			}
		}
	case waitlist.Booked, waitlist.Cancelled, waitlist.Expired:
	}
	return nil
}

// expireDue ends what has run out.
func (w *world) expireDue() error {
	for _, s := range w.live {
		if len(w.dueHolds(s)) > 0 && w.flaw != holdForever {
			err := w.do("expire holds", func() error {
				slot := s.slot()
				return w.lapse(s, &slot, w.dueHolds(s))
			})
			if err != nil {
				return err
			}
		}
		for _, o := range s.liveOffers() {
			if !o.Due(w.now) {
				continue
			}
			err := w.do("expire an offer", func() error {
				if !o.Due(w.now) {
					return nil
				}
				return w.apply(w.end(o.Close(waitlist.RanOut, "", w.now), nil))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
