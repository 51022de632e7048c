package simulate

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// pageSize is small, so that queues have several pages.
const pageSize = 3

// fill gives a session's open seats to its waitlist.
func (w *world) fill(s *row, slot *booking.Slot, trigger waitlist.Trigger) error {
	return w.fillRound(s, slot, trigger, nil)
}

// fillRound is fill for seats that were offered before.
func (w *world) fillRound(s *row, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round) error {
	if slot.Availability() != booking.Available || !w.now.Before(slot.EndsAt) {
		return nil
	}
	f := w.filler(s, slot)
	return f.give(f.decide(waitlist.NewFilling(f.scene, trigger, round)))
}

// filler answers from the tables what a waitlist.Filling asks about a session, and applies the changes.
type filler struct {
	*world
	row     *row
	slot    *booking.Slot
	scene   waitlist.Scene
	queue   []waitlist.Entry // the pages that were not read yet
	checked map[tenant.EntryID]checkedBooking
}

func (w *world) filler(s *row, slot *booking.Slot) *filler {
	f := &filler{
		world: w, row: s, slot: slot, scene: w.scene(s, *slot), queue: w.inLine(s),
		checked: make(map[tenant.EntryID]checkedBooking),
	}
	f.scene.Entries = f.page(pageSize)
	return f
}

// page reads up to a limit of entries; 0 reads all that are left.
func (f *filler) page(limit int) []waitlist.Entry {
	if limit == 0 {
		limit = len(f.queue)
	}
	page := f.queue[:min(limit, len(f.queue))]
	f.queue = f.queue[len(page):]
	return page
}

func (f *filler) decide(filling *waitlist.Filling) waitlist.Changes {
	for {
		switch step := filling.Next(); {
		case step.Changes != nil:
			return *step.Changes
		case step.Check != nil:
			filling.SetRefusals(f.check(step.Check))
		default:
			filling.AddEntries(f.page(step.Page.Limit))
		}
	}
}

// refill fills a session again, from the state that the tables have now.
func (w *world) refill(r *waitlist.Refill) error {
	if r == nil || w.flaw == skipRefill {
		return nil
	}
	s := w.rows[r.Session]
	slot := s.slot()
	return w.fillRound(s, &slot, r.Trigger, w.round(r.Round))
}

// round reads a round with the entries that got offers in it, as package store does; nil if there is none.
func (w *world) round(id tenant.RoundID) *waitlist.Round {
	kept := w.rounds[id]
	if kept == nil {
		return nil
	}
	r := *kept
	r.Tried, r.Offers = nil, 0
	for _, o := range w.rows[r.Session].offers {
		if o.Round != id {
			continue
		}
		r.Offers = o.Try
		if asked := !o.Void || w.flaw == askOnce; asked && (w.flaw != askAgain || o.Status != waitlist.Withdrawn) {
			r.Tried = append(r.Tried, o.Entry)
		}
	}
	return &r
}

func (w *world) scene(s *row, slot booking.Slot) waitlist.Scene {
	rules := s.under.waitlist
	if w.flaw == offerAtNight {
		rules = new(*rules)
		rules.OffersInQuietHours = true
	}
	scene := waitlist.Scene{
		Slot: waitSlot(s), Queue: queueOf(s), Rules: rules, PageSize: pageSize, NewID: w.newID, Now: w.now,
	}
	scene.Slot.Seats = slot.SeatsOpen()
	scene.Slot.Closes = rules.ClosesAt(slot.StartsAt, slot.EndsAt, slot.Rules.BookingCloses, w.now)
	if w.flaw == outliveClose {
		scene.Slot.Closes = slot.EndsAt
	}
	if seats := scene.Slot.Seats; w.flaw == promoteTwice && seats != nil {
		scene.Slot.Seats = new(*seats + 1)
	}
	for _, o := range s.liveOffers() {
		scene.Live = append(scene.Live, *o)
	}
	return scene
}

// inLine reads the queue of a session, by flag and key.
func (w *world) inLine(s *row) []waitlist.Entry {
	var all []waitlist.Entry
	if q := w.queues[queueOf(s)]; q != nil {
		for _, e := range q.entries {
			if (e.Window != nil || slices.Contains(e.sessions, s)) && (w.flaw != passFlagged || !e.Flagged) {
				all = append(all, e.read())
			}
		}
	}
	slices.SortFunc(all, func(a, b waitlist.Entry) int {
		return cmp.Or(
			-compareBool(a.Flagged, b.Flagged), cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID.UUID[:], b.ID.UUID[:]))
	})
	return all
}

// read is an entry with its member's details.
func (e *entryRow) read() waitlist.Entry {
	read := e.Entry
	read.MemberTier, read.MemberTags, read.MemberZone, read.MemberActive = e.who.Tier, e.who.tags, e.who.zone, e.who.Active
	return read
}

func waitSlot(s *row) waitlist.Slot {
	return waitlist.Slot{
		Session: s.ID, Service: s.Service, Location: s.Location, Coach: s.Coach, StartsAt: s.StartsAt, EndsAt: s.EndsAt,
		Zone: s.at.name,
	}
}

// checkedBooking is a booking that an entry could get.
type checkedBooking struct {
	id    tenant.BookingID
	facts booking.Facts
	plan  booking.Decision
}

// check decides for each entry whether its booking would be refused.
func (f *filler) check(entries []waitlist.Entry) map[tenant.EntryID]error {
	refusals := make(map[tenant.EntryID]error)
	for _, e := range entries {
		who := f.who[e.Member]
		b := checkedBooking{id: id[tenant.BookingID](&f.tables), facts: booking.Facts{
			Slot: *f.slot, Member: who.Member, Subscriptions: f.payers(who, f.row, e.Subscription),
			Booking: f.inSession(f.row, who),
		}}
		for _, other := range who.bookings {
			if other.Exclusive && other.Status.Active() {
				b.facts.Busy = append(b.facts.Busy, span(*other))
			}
		}
		err := error(fault.Missing(fault.MemberNotFound, "Member"))
		if e.MemberActive {
			b.plan, err = booking.Decide(b.facts, f.command(b, e), f.now)
		}
		f.checked[e.ID], refusals[e.ID] = b, err
	}
	return refusals
}

func (f *filler) command(b checkedBooking, e waitlist.Entry) booking.Request {
	return booking.Request{
		ID: b.id, Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
		Staff: e.ByStaff, Promotion: true, Actor: credit.SystemActor, FillUntil: &f.scene.Slot.Closes,
	}
}

// give applies a decision.
func (f *filler) give(c waitlist.Changes) error {
	f.slot.SeatsTaken += c.Seats
	if f.flaw == offerUnreserved && c.Decision != nil && c.Decision.Decision.Mode == waitlist.OfferInTurn {
		c.Seats = 0
	}
	if err := f.apply(c); err != nil {
		return err
	}
	for _, p := range c.Promoted {
		e, b := p.Entry, f.checked[p.Entry.ID]
		f.say(Fact{
			What: Booked, Session: f.row.ID, Member: e.Member, Booking: b.id, Entry: e.ID, Party: e.Party, Promoted: true,
			Until: p.GraceUntil,
			Staff: e.ByStaff, Subscription: e.Subscription,
		})
		f.place(f.row, b.facts, booking.Booking{
			ID: b.id, Session: f.row.ID, Member: e.Member, Party: e.Party, Channel: e.Channel, Promoted: true,
			GraceUntil: &p.GraceUntil,
		}, b.plan)
		f.change(waitlist.EntryChange{Entry: e.Close(waitlist.Booked, b.id, f.now)})
		f.slot.SeatsTaken += e.Party
	}
	return nil
}

// lookAgain fills the open seats of a session after an edit of its rules.
func (w *world) lookAgain(s *row) error {
	return w.do("look again", func() error {
		slot := s.slot()
		w.say(Fact{What: LookedAgain, Session: s.ID, Round: s.lastRound})
		if w.flaw == sleepOnRules {
			return nil
		}
		return w.fillRound(s, &slot, waitlist.ByRules, w.round(s.lastRound))
	})
}

// offerByHand offers seats to an entry that staff choose.
func (w *world) offerByHand(s *row, e *entryRow) error {
	return w.do("offer by hand", func() error {
		if e.Status != waitlist.Waiting {
			return fault.New(fault.FailedPrecondition, fault.BookingState, "The entry has a live offer.")
		}
		slot := s.slot()
		f := w.filler(s, &slot)
		choice, err := waitlist.NewChoice(f.scene, e.read(), time.Time{})
		if err != nil {
			return err
		}
		c := f.decide(choice)
		b := f.checked[e.ID]
		command := f.command(b, e.Entry)
		command.Staff = true
		if _, err := booking.Decide(b.facts, command, w.now); err != nil {
			return err
		}
		return f.give(c)
	})
}

// apply writes changes to the tables, and then refills the session if they say so.
func (w *world) apply(c waitlist.Changes) error {
	w.write(c)
	return w.refill(c.Refill)
}

func (w *world) write(c waitlist.Changes) {
	w.spoil(&c)
	s := w.rows[c.Session]
	if r := c.Opened; r != nil {
		insert(&w.tables, w.rounds, r.ID, r)
		push(&w.tables, &s.rounds, r)
	}
	for _, r := range c.Rounds {
		before(&w.tables, w.rounds[r.ID])
		*w.rounds[r.ID] = r
	}
	if d := c.Decision; d != nil {
		before(&w.tables, &s.decided)
		before(&w.tables, &s.lastRound)
		s.decided, s.lastRound = w.now, d.Round
		w.say(Fact{What: Decided, Session: s.ID, Round: d.Round, decision: d})
	}
	for _, e := range c.Entries {
		w.change(e)
	}
	for _, v := range c.Skipped {
		e := w.entries[v.Entry].Entry
		e.PassedOver = v.Reason
		w.updateEntry(e)
	}
	if c.Seats != 0 {
		w.moveSeats(s, c.Seats, 0)
	}
}

// spoil breaks changes as a flaw would.
func (w *world) spoil(c *waitlist.Changes) {
	for i, r := range c.Rounds {
		switch before := w.rounds[r.ID]; w.flaw {
		case frozenRound:
			c.Rounds[i].Freed = before.Freed
		case stayClosed:
			c.Rounds[i].Closed = cmp.Or(before.Closed, r.Closed)
		default:
		}
	}
	if w.flaw == hushSkipped {
		c.Skipped = nil
	}
	if w.flaw == hushNote && c.Decision != nil {
		c.Decision.Note = ""
	}
}

// change writes an entry, and the offer that it got or that ended.
func (w *world) change(c waitlist.EntryChange) {
	e, o := w.entries[c.Entry.ID], c.Offer
	if w.flaw == loseEntry && c.Entry.Status == waitlist.Waiting {
		c.Entry.Status = waitlist.Offered
	}
	switch {
	case o == nil:
	case o.Status == waitlist.Live:
		insert(&w.tables, w.offers, o.ID, o)
		push(&w.tables, &w.rows[o.Session].offers, o)
		w.say(Fact{
			What: Offered, Session: o.Session, Member: o.Member, Entry: e.ID, Offer: o.ID, Round: o.Round, Party: o.Seats,
			Until: o.ExpiresAt, Shared: o.Shared,
			Staff: o.ByHand,
		})
		w.alarm(o.ExpiresAt)
	default:
		before(&w.tables, w.offers[o.ID])
		*w.offers[o.ID] = *o
		w.say(Fact{
			What: OfferEnded, Session: o.Session, Member: o.Member, Entry: e.ID, Offer: o.ID, Round: o.Round, Ended: o.Status,
			Why: o.Reason,
			On:  !c.Entry.Status.Active(),
		})
		if c.Entry.Status.Active() {
			w.say(Fact{What: Stays, Member: e.Member, Entry: e.ID})
		}
	}
	w.updateEntry(c.Entry)
	if c.Entry.Status.Active() {
		return
	}
	w.removePlaces(e, nil)
	if c.Entry.Status != waitlist.Booked {
		w.say(Fact{What: Left, Session: e.Session, Member: e.Member, Entry: e.ID})
	}
}

// join puts an entry behind all others.
func (w *world) join(e *entryRow) error {
	for _, s := range e.sessions {
		e.queues = append(e.queues, queueOf(s))
	}
	if e.Window != nil {
		e.queues = e.Window.Queues()
	}
	var sizes []waitlist.QueueSize
	for _, q := range e.queues {
		if line := w.queues[q]; line != nil {
			sizes = append(sizes, waitlist.QueueSize{Queue: q, Waiting: len(line.entries), LastKey: line.last})
		}
	}
	joined, err := waitlist.Join(e.Entry, e.queues, sizes, w.rulesOf, w.now)
	if err != nil {
		return err
	}
	e.Entry, e.ID = joined, id[tenant.EntryID](&w.tables)
	w.insertEntry(e)
	w.say(Fact{What: Joined, Session: e.Session, Member: e.Member, Entry: e.ID, Party: e.Party, wish: new(e.Entry)})
	return nil
}

// joinAny queues a member for any one of several sessions.
func (w *world) joinAny(who *member, sessions []*row, party int, staff bool) error {
	return w.do("join", func() error {
		e := &entryRow{
			who: who, sessions: sessions,
			Entry: waitlist.Entry{Member: who.ID, Party: party, Channel: catalog.Online, ByStaff: staff},
		}
		if !who.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		for _, s := range sessions {
			facts := booking.Facts{Member: who.Member, Subscriptions: w.payers(who, s, tenant.SubscriptionID{})}
			facts.Booking, facts.Entry = w.doubles(s, who, party)
			slot := s.slot()
			if err := w.lapse(s, &slot, w.dueHolds(s)); err != nil {
				return err
			}
			facts.Slot = slot
			command := booking.Request{
				ID: id[tenant.BookingID](&w.tables), Party: party, Channel: catalog.Online, Staff: staff, JoinWaitlist: true,
			}
			if _, err := booking.Decide(facts, command, w.now); err != nil {
				return err
			}
			e.AnyOf = append(e.AnyOf, s.ID)
		}
		if len(sessions) == 1 {
			e.Session, e.AnyOf = sessions[0].ID, nil
		}
		return w.join(e)
	})
}

// joinWindow queues a member for whatever comes free in a window.
func (w *world) joinWindow(who *member, window waitlist.Window, party int) error {
	return w.do("join a window", func() error {
		e := &entryRow{
			who: who, Entry: waitlist.Entry{Member: who.ID, Party: party, Channel: catalog.Online, Window: &window},
		}
		for _, other := range who.entries {
			o := other.Window
			if o != nil && o.Service == window.Service && o.Location == window.Location && o.Overlaps(window) {
				return booking.AlreadyBooked(tenant.BookingID{}, other.ID)
			}
		}
		for _, s := range w.live {
			slot := s.slot()
			if slot.Availability() == booking.Available && s.StartsAt.After(w.now) && slot.Fits(party) && e.Wants(waitSlot(s)) {
				return fault.New(fault.FailedPrecondition, fault.SeatsAvailable, "There are seats: book one.")
			}
		}
		if !who.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		return w.join(e)
	})
}

// prioritize flags an entry, or takes the flag away.
func (w *world) prioritize(e *entryRow, flagged bool) error {
	return w.do("prioritize", func() error {
		after := e.Entry
		after.Flagged = flagged
		w.updateEntry(after)
		w.say(Fact{What: Prioritized, Member: e.Member, Entry: e.ID, On: flagged})
		return nil
	})
}
