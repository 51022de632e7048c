package simulate

import (
	"math"
	"slices"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var triggerOf = map[waitlist.OfferStatus]waitlist.Trigger{
	waitlist.Declined: waitlist.ByDecline, waitlist.RanOut: waitlist.ByExpiry, waitlist.Withdrawn: waitlist.ByWithdrawal,
}

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
		facts := booking.Facts{Slot: slot, Member: e.who.Member, Booking: w.inSession(s, e.who), Subscriptions: w.payers(e.who, s, e.Subscription)}
		b := booking.Booking{
			ID: id[tenant.BookingID](&w.tables), Session: s.ID, Member: o.Member, Party: o.Seats, Channel: e.Channel, Promoted: true,
		}
		plan, err := booking.Decide(facts, booking.Command{
			ID: b.ID, Party: o.Seats, Subscription: e.Subscription, Channel: e.Channel, Staff: e.ByStaff, Promotion: true,
			Actor: "somebody", OpenUntil: &o.ExpiresAt,
		}, w.now)
		if err != nil {
			return err
		}
		w.moveSeats(s, -o.Seats, 0)
		closed := o.Close(waitlist.Accepted, "", w.now)
		closed.Booking = b.ID
		w.say(Fact{What: OfferEnded, Session: s.ID, Member: o.Member, Entry: e.ID, Offer: o.ID, Round: o.Round, Ended: waitlist.Accepted})
		w.say(Fact{
			What: Booked, Session: s.ID, Member: o.Member, Booking: b.ID, Entry: e.ID, Offer: o.ID, Party: o.Seats, Promoted: true,
			Staff: e.ByStaff, Subscription: e.Subscription,
		})
		w.place(s, facts, b, plan)
		before(&w.tables, o)
		*o = closed
		w.close(e, waitlist.Booked, b.ID)
		if o.Shared {
			return w.claimed(w.rounds[o.Round], closed)
		}
		return nil
	})
}

// claimed takes an offer's seats out of those that its round keeps, and tells those who were slower.
func (w *world) claimed(round *waitlist.Round, taken waitlist.Offer) error {
	before(&w.tables, round)
	round.Keeps -= taken.Seats
	left, slower := 0, 0
	for _, o := range w.liveIn(round) {
		if o.Seats <= round.Keeps {
			left++
			continue
		}
		slower++
		w.end(o, o.Withdraw(waitlist.TooSlow, "", w.now), waitlist.Rules{}, false)
	}
	switch {
	case w.keepOrFree(round, left):
		return w.rollOn(round, waitlist.ByWithdrawal)
	case slower > 0:
		return w.wake(w.rows[round.Session], waitlist.ByWithdrawal)
	}
	return nil
}

func (w *world) liveIn(round *waitlist.Round) []*waitlist.Offer {
	return slices.DeleteFunc(w.rows[round.Session].liveOffers(), func(o *waitlist.Offer) bool { return o.Round != round.ID })
}

// keepOrFree lets a round keep its seats while anybody may still claim them, and reports whether it gave any up.
func (w *world) keepOrFree(round *waitlist.Round, live int) bool {
	if live > 0 || w.flaw == keepUnclaimed {
		return false
	}
	before(&w.tables, round)
	freed := round.Keeps
	round.Keeps, round.Closed = 0, &w.now
	w.moveSeats(w.rows[round.Session], -freed, 0)
	return freed > 0
}

// rollOn gives the seats of a round that were let go to the next.
func (w *world) rollOn(round *waitlist.Round, trigger waitlist.Trigger) error {
	s := w.rows[round.Session]
	slot := s.slot()
	return w.roll(s, &slot, trigger, round)
}

func (w *world) decline(o *waitlist.Offer, leave bool) error {
	return w.do("decline", func() error {
		if o.Status == waitlist.Declined {
			return nil
		}
		if err := o.Answerable(w.now); err != nil {
			return err
		}
		return w.letGo(o, o.Close(waitlist.Declined, "", w.now), leave)
	})
}

// letGo ends a live offer without a booking, and gives its seats to the next.
func (w *world) letGo(o *waitlist.Offer, closed waitlist.Offer, leave bool) error {
	s, round := w.rows[o.Session], w.rounds[o.Round]
	live := len(w.liveIn(round))
	w.end(o, closed, s.under.waitlist.Rules, leave)
	if !o.Shared {
		w.moveSeats(s, -o.Seats, 0)
	} else if !w.keepOrFree(round, live-1) {
		return nil
	}
	return w.rollOn(round, triggerOf[o.Status])
}

// end closes a live offer, and says what becomes of its entry. The seats are the caller's to give up.
func (w *world) end(o *waitlist.Offer, closed waitlist.Offer, rules waitlist.Rules, leave bool) {
	e, round := w.entries[o.Entry], w.rounds[o.Round]
	before(&w.tables, o)
	*o = closed
	if o.Void && w.flaw != askOnce || w.flaw == askAgain && o.Status == waitlist.Withdrawn {
		before(&w.tables, round)
		round.Tried = slices.DeleteFunc(slices.Clone(round.Tried), func(id tenant.EntryID) bool { return id == e.ID })
	}
	after := e.Entry
	if o.Status == waitlist.Withdrawn {
		after.Tries--
	}
	next := rules.Returned(after, o.Status)
	if leave {
		next = waitlist.Cancelled
	}
	w.say(Fact{What: OfferEnded, Session: o.Session, Member: o.Member, Entry: e.ID, Offer: o.ID, Round: o.Round, Ended: o.Status, Why: o.Reason, On: leave})
	if next != waitlist.Waiting {
		w.updateEntry(after)
		w.close(e, next, tenant.BookingID{})
		w.say(Fact{What: Left, Session: e.Session, Member: e.Member, Entry: e.ID})
		return
	}
	if w.flaw != loseEntry {
		after.Status = waitlist.Waiting
	}
	w.updateEntry(after)
	w.say(Fact{What: Stays, Member: e.Member, Entry: e.ID})
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
		r := w.rounds[after.ID]
		before(&w.tables, r)
		w.say(Fact{What: GivenUp, Session: s.ID, Round: r.ID, Party: r.Keeps - after.Keeps})
		*r = after
	}
	for _, o := range taken.Offers {
		w.end(w.offers[o.ID], o.Withdraw(why, "", w.now), waitlist.Rules{}, false)
	}
	if taken.Seats > 0 {
		w.moveSeats(s, -taken.Seats, 0)
	}
}

// leave gives a place in the queue up. Its live offer goes to the next.
func (w *world) leave(e *entryRow) error {
	return w.do("leave", func() error {
		switch e.Status {
		case waitlist.Waiting:
			w.close(e, waitlist.Cancelled, tenant.BookingID{})
			w.say(Fact{What: Left, Session: e.Session, Member: e.Member, Entry: e.ID})
		case waitlist.Offered:
			for _, o := range w.offers {
				if o.Entry == e.ID && o.Status == waitlist.Live {
					return w.letGo(o, o.Withdraw(waitlist.EntryLeft, "", w.now), true)
				}
			}
		case waitlist.Booked, waitlist.Cancelled, waitlist.Expired:
		}
		return nil
	})
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
				return w.letGo(o, o.Close(waitlist.RanOut, "", w.now), false)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
