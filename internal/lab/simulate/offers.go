package simulate

import (
	"bytes"
	"math"
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func (w *world) accept(o *waitlist.Offer) error {
	return w.transact(Operation{Name: "accept", Offer: o.ID}, func() error {
		if o.Status == waitlist.Accepted {
			return nil
		}
		if err := o.Answerable(w.now); err != nil {
			return err
		}
		s, e := w.sessions[o.Session], w.entries[o.Entry]
		slot := s.slot()
		slot.SeatsTaken -= o.Seats
		facts := booking.Facts{
			Slot: slot, Member: e.member.Member, Booking: w.bookingIn(s, e.member),
			Subscriptions: w.payers(e.member, s, e.Subscription),
		}
		b := booking.Booking{
			ID: id[tenant.BookingID](&w.tables), Session: s.ID, Member: o.Member, Party: o.Seats, Channel: e.Channel,
			Promoted: true,
		}
		result, err := booking.Decide(facts, booking.Request{
			ID: b.ID, Party: o.Seats, Subscription: e.Subscription, Channel: e.Channel, Free: e.ByStaff, Promotion: true,
			Actor: "member", FillUntil: &o.ExpiresAt,
		}, w.now)
		if err != nil {
			return err
		}
		closed := o.Close(waitlist.Accepted, "", w.now)
		closed.Booking = b.ID
		changes := w.endOffer(closed, nil)
		w.writeChanges(changes)
		w.emit(Event{
			Kind: Booked, Session: s.ID, Member: o.Member, Booking: b.ID, Entry: e.ID, Offer: o.ID, Party: o.Seats,
			Promoted: true,
			Staff:    e.ByStaff, Subscription: e.Subscription,
		})
		w.addSeats(s, -o.Seats, 0)
		w.createBooking(s, facts, b, result)
		if err := w.refill(changes.Refill); err != nil {
			return err
		}
		return w.settle(w.standing(s, e.member), b, nil, func() {})
	})
}

// standing returns how a member waits around a session.
func (w *world) standing(s *sessionRow, member *memberRow) waitlist.Standing {
	st := waitlist.Standing{Slot: waitSlot(s)}
	for _, e := range member.entries {
		st.Entries = append(st.Entries, e.Entry)
	}
	slices.SortFunc(st.Entries, func(a, b waitlist.Entry) int { return bytes.Compare(a.ID.UUID[:], b.ID.UUID[:]) })
	for _, o := range w.offers {
		if o.Member == member.ID && o.Status == waitlist.Live {
			st.Offers = append(st.Offers, *o)
		}
	}
	return st
}

// settle writes a booking, with the offer that it accepts, and ends the entries of its member that waited for it.
func (w *world) settle(st waitlist.Standing, b booking.Booking, accepted *waitlist.Offer, write func()) error {
	if w.bug == keepOtherEntries && accepted == nil {
		write()
		return nil
	}
	closed, endings := st.Booked(b.ID, b.Party, accepted, w.now)
	var refill *waitlist.Refill
	if accepted != nil {
		changes := w.changesOf(endings[0])
		endings, refill = endings[1:], changes.Refill
		w.writeChanges(changes)
		for i := range w.events {
			if ev := &w.events[i]; ev.Kind == OfferEnded && ev.Offer == accepted.ID {
				ev.Party = b.Party
			}
		}
	}
	write()
	w.writeChanges(closed)
	if err := w.refill(refill); err != nil {
		return err
	}
	for _, e := range endings {
		if err := w.apply(w.changesOf(e)); err != nil {
			return err
		}
	}
	return nil
}

// endOffer returns the changes that follow from the end of an offer.
func (w *world) endOffer(o waitlist.Offer, options *waitlist.LeaveOptions) waitlist.Changes {
	return w.changesOf(waitlist.Ending{Offer: o, Entry: w.entries[o.Entry].Entry, Leaving: options})
}

func (w *world) changesOf(e waitlist.Ending) waitlist.Changes {
	o, s := e.Offer, w.sessions[e.Offer.Session]
	e.Rules, e.Round = s.service.waitlist.Rules, *w.rounds[o.Round]
	for _, other := range s.liveOffers() {
		if other.Round == o.Round {
			e.Live = append(e.Live, *other)
		}
	}
	e.Entries = w.entriesOf(e.Slower())
	c := e.Changes(w.now)
	if w.bug == keepUnclaimedSeats && o.Shared && c.Seats < 0 {
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
	return w.transact(Operation{Name: "decline", Offer: o.ID, On: leave}, func() error {
		if o.Status == waitlist.Declined {
			return nil
		}
		if err := o.Answerable(w.now); err != nil {
			return err
		}
		var options *waitlist.LeaveOptions
		if leave {
			options = new(waitlist.LeaveOptions)
		}
		return w.apply(w.endOffer(o.Close(waitlist.Declined, "", w.now), options))
	})
}

// withdraw withdraws all live offers of a session, and releases the seats that its rounds keep.
func (w *world) withdraw(s *sessionRow, why waitlist.Cause) { w.withdrawSeats(s, why, math.MaxInt) }

// withdrawSeats withdraws only as many offers as it takes to release the wanted seats.
func (w *world) withdrawSeats(s *sessionRow, why waitlist.Cause, wanted int) {
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
	taken := waitlist.WithdrawSeats(live, keeping, wanted, w.now)
	for _, after := range taken.Rounds {
		w.emit(Event{Kind: SeatsReleased, Session: s.ID, Round: after.ID, Party: w.rounds[after.ID].Keeps - after.Keeps})
	}
	w.writeChanges(taken.Changes(s.ID, w.entriesOf(taken.Offers), why, "", w.now))
}

// leave closes an entry. The seats of its live offer go to the next entry.
func (w *world) leave(e *entryRow) error {
	return w.transact(Operation{Name: "leave", Entry: e.ID}, func() error {
		return w.leaveWaitlist(e, waitlist.LeaveOptions{})
	})
}

func (w *world) leaveWaitlist(e *entryRow, options waitlist.LeaveOptions) error {
	switch e.Status {
	case waitlist.Waiting:
		return w.apply(waitlist.Leave(e.Entry, options, w.now))
	case waitlist.Offered:
		for _, o := range w.offers {
			if o.Entry == e.ID && o.Status == waitlist.Live {
				return w.apply(w.endOffer(o.Withdraw(waitlist.EntryLeft, "", w.now), &options))
			}
		}
	case waitlist.Booked:
		return fault.New(fault.FailedPrecondition, fault.WaitlistEntryState, "The entry has got its seats.")
	case waitlist.Cancelled, waitlist.Expired:
	}
	return nil
}

// expireDue expires holds and offers that are due.
func (w *world) expireDue() error {
	for _, s := range w.sessionList {
		if len(w.expiredHolds(s)) > 0 && w.bug != neverExpireHolds {
			err := w.transact(Operation{Name: "expire holds", Session: s.ID}, func() error {
				slot := s.slot()
				return w.expireHolds(s, &slot, w.expiredHolds(s))
			})
			if err != nil {
				return err
			}
		}
		for _, o := range s.liveOffers() {
			if !o.Due(w.now) {
				continue
			}
			err := w.transact(Operation{Name: "expire an offer", Offer: o.ID}, func() error {
				if !o.Due(w.now) {
					return nil
				}
				return w.apply(w.endOffer(o.Close(waitlist.RanOut, "", w.now), nil))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
