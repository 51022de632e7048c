package simulate

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// pageSize is small, so that queues have several pages.
const pageSize = 3

// fill fills a session's open seats from its waitlist.
func (w *world) fill(s *sessionRow, slot *booking.Slot, by waitlist.Trigger, gaveUp ...tenant.MemberID) error {
	if w.bug == promoteBack {
		gaveUp = nil
	}
	return w.fillRound(s, slot, by, nil, gaveUp...)
}

// fillRound fills open seats in a round that has begun, or in a new one if round is nil.
func (w *world) fillRound(
	s *sessionRow, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round, gaveUp ...tenant.MemberID,
) error {
	if opened, err := w.fillOpening(s, slot); err != nil || opened && !trigger.FreesSeats() {
		return err
	}
	return w.fillSeats(s, slot, trigger, round, gaveUp...)
}

// fillSeats is fillRound without the opening, which comes first.
func (w *world) fillSeats(
	s *sessionRow, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round, gaveUp ...tenant.MemberID,
) error {
	if slot.Availability() != booking.Available || !w.now.Before(slot.EndsAt) {
		return nil
	}
	f := w.filler(s, slot)
	f.scene.GaveUp = gaveUp
	return f.applyFill(f.decide(waitlist.NewFill(f.scene, trigger, round)))
}

// filler answers the questions of a waitlist.Fill from the tables, and applies its changes.
type filler struct {
	*world
	row     *sessionRow
	slot    *booking.Slot
	scene   waitlist.FillFacts
	queue   []waitlist.Entry // entries that were not read yet
	checked map[tenant.EntryID]checkedBooking
}

func (w *world) filler(s *sessionRow, slot *booking.Slot) *filler {
	f := &filler{
		world: w, row: s, slot: slot, scene: w.scene(s, *slot), queue: w.readQueue(s),
		checked: make(map[tenant.EntryID]checkedBooking),
	}
	f.scene.Entries = f.page(pageSize)
	return f
}

// page returns up to limit entries, or all that are left if limit is 0.
func (f *filler) page(limit int) []waitlist.Entry {
	if limit == 0 {
		limit = len(f.queue)
	}
	page := f.queue[:min(limit, len(f.queue))]
	f.queue = f.queue[len(page):]
	return page
}

func (f *filler) decide(filling *waitlist.Fill) waitlist.Changes {
	for {
		switch step := filling.Next(); {
		case step.Changes != nil:
			return *step.Changes
		case step.Check != nil:
			filling.SetChecks(f.check(step.Check))
		default:
			filling.AddEntries(f.page(step.Page.Limit))
		}
	}
}

// refill fills a session again, from the current state of the tables.
func (w *world) refill(r *waitlist.Refill) error {
	if r == nil || w.bug == skipRefill {
		return nil
	}
	s := w.sessions[r.Session]
	slot := s.slot()
	return w.fillRound(s, &slot, r.Trigger, w.round(r.Round))
}

// round returns a round with the entries that got offers in it, as waitlistdb reads it. It returns nil if there is
// none.
func (w *world) round(id tenant.RoundID) *waitlist.Round {
	kept := w.rounds[id]
	if kept == nil {
		return nil
	}
	r := *kept
	r.Tried, r.Asked, r.Declined, r.Offers, r.Given = nil, nil, nil, 0, 0
	if r.Opening {
		r.Given = r.Keeps
	}
	for _, o := range w.sessions[r.Session].offers {
		if o.Round != id {
			continue
		}
		if r.Opening {
			r.Given += w.givenBy(o)
		}
		r.Offers = o.Try
		if tried := !o.Void || w.bug == neverRetryTooSlow; tried &&
			(w.bug != retryUnsendable || o.Status != waitlist.Withdrawn) {
			r.Tried = append(r.Tried, o.Entry)
			if !slices.Contains(r.Asked, o.Member) {
				r.Asked = append(r.Asked, o.Member)
			}
		}
		if o.Status == waitlist.Declined {
			r.Declined = append(r.Declined, o.Member)
		}
	}
	return &r
}

// givenBy returns how many seats an offer takes from those that an opening can give.
func (w *world) givenBy(o *waitlist.Offer) int {
	if o.Status == waitlist.Accepted {
		return min(o.Seats, w.bookings[o.Booking].Party)
	}
	return o.Reserves()
}

func timesOf(s *sessionRow) waitlist.Times {
	return waitlist.Times{
		Starts: s.StartsAt, Ends: s.EndsAt, BookingCloses: s.service.policy.BookingClosesBefore,
		Single: s.Capacity != nil && *s.Capacity == 1,
	}
}

func (w *world) scene(s *sessionRow, slot booking.Slot) waitlist.FillFacts {
	rules := s.service.waitlist
	if w.bug == offerInQuietHours {
		rules = new(*rules)
		rules.OffersInQuietHours = true
	}
	scene := waitlist.FillFacts{
		Slot: waitSlot(s), Queue: queueOf(s), Rules: rules, Policy: slot.Policy, PageSize: pageSize, NewID: w.newID,
		Now: w.now,
	}
	scene.Slot.Seats, scene.Slot.Opens = slot.SeatsOpen(), slot.Opens()
	scene.Slot.Closes = rules.ClosesAt(timesOf(s), w.now)
	if w.bug == offerUntilEnd {
		scene.Slot.Closes = slot.EndsAt
	}
	if seats := scene.Slot.Seats; w.bug == fillOneTooMany && seats != nil {
		scene.Slot.Seats = new(*seats + 1)
	}
	for _, o := range s.liveOffers() {
		scene.Live = append(scene.Live, *o)
	}
	return scene
}

// readQueue returns the queue of a session, ordered by flag and key.
func (w *world) readQueue(s *sessionRow) []waitlist.Entry {
	var all []waitlist.Entry
	if q := w.queues[queueOf(s)]; q != nil {
		for _, e := range q.entries {
			if (e.Window != nil || slices.Contains(e.sessions, s)) && (w.bug != skipFlagged || !e.Flagged) {
				all = append(all, e.withMember())
			}
		}
	}
	slices.SortFunc(all, func(a, b waitlist.Entry) int {
		return cmp.Or(
			-compareBool(a.Flagged, b.Flagged), cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID.UUID[:], b.ID.UUID[:]))
	})
	return all
}

// withMember returns an entry with its member's details.
func (e *entryRow) withMember() waitlist.Entry {
	read := e.Entry
	read.MemberTier, read.MemberTags = e.member.Tier, e.member.tags
	read.MemberZone, read.MemberActive = e.member.zone, e.member.Active
	return read
}

func waitSlot(s *sessionRow) waitlist.Slot {
	return waitlist.Slot{
		Session: s.ID, Service: s.Service, Location: s.Location, Coach: s.Coach, StartsAt: s.StartsAt, EndsAt: s.EndsAt,
		Zone: s.location.name,
	}
}

// checkedBooking is the booking that an entry could get.
type checkedBooking struct {
	id       tenant.BookingID
	facts    booking.Facts
	decision booking.BookResult
}

// check finds out for each entry about the booking that it could get.
func (f *filler) check(entries []waitlist.Entry) map[tenant.EntryID]waitlist.Check {
	checks := make(map[tenant.EntryID]waitlist.Check)
	for _, e := range entries {
		member := f.membersByID[e.Member]
		b := checkedBooking{id: id[tenant.BookingID](&f.tables), facts: booking.Facts{
			Slot: *f.slot, Member: member.Member, Subscriptions: f.payers(member, f.row, e.Subscription),
			Booking: f.bookingIn(f.row, member),
		}}
		var check waitlist.Check
		for _, other := range member.bookings {
			active, in := other.Status.Active(), f.sessions[other.Session]
			if other.Exclusive && active {
				b.facts.Busy = append(b.facts.Busy, span(*other))
			}
			check.Busy = check.Busy || active && in != f.row && span(*other).Overlaps(f.row.Span())
			check.Promoted = check.Promoted || other.GraceUntil != nil && in != f.row && in.LocalDate == f.row.LocalDate
		}
		err := error(fault.Missing(fault.MemberNotFound, "Member"))
		switch {
		case !e.MemberActive:
		case slices.ContainsFunc(member.bookings, func(h *booking.Booking) bool {
			return h.Status == booking.Pending && e.GotBy(waitSlot(f.sessions[h.Session]))
		}):
			err = catalog.AlreadyBooked(e.Member, tenant.BookingID{}, e.ID)
		default:
			b.decision, err = booking.Decide(b.facts, f.request(b, e), f.now)
		}
		f.checked[e.ID], check.Refusal = b, waitlist.RefusalOf(err)
		checks[e.ID] = check
	}
	return checks
}

func (f *filler) request(b checkedBooking, e waitlist.Entry) booking.Request {
	return booking.Request{
		ID: b.id, Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
		Free: e.ByStaff, Promotion: true, Actor: credit.SystemActor, FillUntil: &f.scene.Slot.Closes,
	}
}

// applyFill applies the changes of a fill.
func (f *filler) applyFill(c waitlist.Changes) error {
	f.slot.SeatsTaken += c.Seats
	if c.AwaitsOpening {
		f.slot.OpeningDue = true
		f.awaitOpening(f.row)
	}
	if f.bug == unreservedOffers && c.Decision != nil && c.Decision.Decision.Mode == waitlist.OfferInTurn {
		c.Seats = 0
	}
	if err := f.apply(c); err != nil {
		return err
	}
	var booked []booking.Booking
	for _, p := range c.Promoted {
		e, b := p.Entry, f.checked[p.Entry.ID]
		f.emit(Event{
			Kind: Booked, Session: f.row.ID, Member: e.Member, Booking: b.id, Entry: e.ID, Party: e.Party, Promoted: true,
			Until: p.GraceUntil,
			Staff: e.ByStaff, Subscription: e.Subscription,
		})
		made := f.createBooking(f.row, b.facts, booking.Booking{
			ID: b.id, Session: f.row.ID, Member: e.Member, Party: e.Party, Channel: e.Channel, Promoted: true,
			GraceUntil: &p.GraceUntil,
		}, b.decision)
		f.writeEntry(waitlist.EntryChange{Entry: e.Close(waitlist.Booked, b.id, f.now)})
		f.slot.SeatsTaken += e.Party
		booked = append(booked, *made)
	}
	for _, b := range booked {
		if err := f.settle(f.standing(f.row, f.membersByID[b.Member]), b, nil, func() {}); err != nil {
			return err
		}
	}
	return nil
}

// offerByHand offers seats to an entry that staff choose.
func (w *world) offerByHand(s *sessionRow, e *entryRow) error {
	return w.transact(Operation{Name: "offer by hand", Session: s.ID, Entry: e.ID}, func() error {
		if e.Status != waitlist.Waiting {
			return fault.New(fault.FailedPrecondition, fault.WaitlistEntryState, "The entry has a live offer.")
		}
		slot := s.slot()
		f := w.filler(s, &slot)
		choice, err := waitlist.NewManualOffer(f.scene, e.withMember(), time.Time{})
		if err != nil {
			return err
		}
		c := f.decide(choice)
		b := f.checked[e.ID]
		request := f.request(b, e.Entry)
		request.Free = true
		if _, err := booking.Decide(b.facts, request, w.now); err != nil {
			return err
		}
		return f.applyFill(c)
	})
}

// apply writes changes to the tables, and then refills the session if the changes request it.
func (w *world) apply(c waitlist.Changes) error {
	w.writeChanges(c)
	return w.refill(c.Refill)
}

func (w *world) writeChanges(c waitlist.Changes) {
	w.injectBugs(&c)
	s := w.sessions[c.Session]
	if r := c.Opened; r != nil {
		insert(&w.tables, w.rounds, r.ID, r)
		appendTo(&w.tables, &s.rounds, r)
	}
	for _, r := range c.Rounds {
		saveForUndo(&w.tables, w.rounds[r.ID])
		*w.rounds[r.ID] = r
	}
	if d := c.Decision; d != nil {
		saveForUndo(&w.tables, &s.decidedAt)
		saveForUndo(&w.tables, &s.lastRound)
		saveForUndo(&w.tables, &s.verdicts)
		s.decidedAt, s.lastRound, s.verdicts = w.now, d.Round, d.Decision.Verdicts
		w.emit(Event{Kind: Decided, Session: s.ID, Round: d.Round, decision: d})
	}
	for _, e := range c.Entries {
		w.writeEntry(e)
	}
	for _, v := range c.Skipped {
		e := w.entries[v.Entry].Entry
		e.PassedOver = v.Reason
		w.updateEntry(e)
	}
	if c.Seats != 0 {
		w.addSeats(s, c.Seats, 0)
	}
}

// injectBugs changes a fill as the injected bug would.
func (w *world) injectBugs(c *waitlist.Changes) {
	for i, r := range c.Rounds {
		switch before := w.rounds[r.ID]; w.bug {
		case fixedRoundSize:
			c.Rounds[i].Freed = before.Freed
		case neverReopenRound:
			c.Rounds[i].Closed = cmp.Or(before.Closed, r.Closed)
		default:
		}
	}
	if w.bug == dropSkipReasons {
		c.Skipped = nil
	}
	if w.bug == dropStaffNote && c.Decision != nil {
		c.Decision.Note = ""
	}
}

// writeEntry writes an entry, and the offer that it got or that ended.
func (w *world) writeEntry(c waitlist.EntryChange) {
	e, o := w.entries[c.Entry.ID], c.Offer
	if w.bug == keepEntryOffered && c.Entry.Status == waitlist.Waiting {
		c.Entry.Status = waitlist.Offered
	}
	switch {
	case o == nil:
	case o.Status == waitlist.Live:
		o.ExpiresAt = o.ExpiresAt.Round(time.Microsecond) // as Postgres stores it
		insert(&w.tables, w.offers, o.ID, o)
		appendTo(&w.tables, &w.sessions[o.Session].offers, o)
		w.emit(Event{
			Kind: Offered, Session: o.Session, Member: o.Member, Entry: e.ID, Offer: o.ID, Round: o.Round, Party: o.Seats,
			Until: o.ExpiresAt, Shared: o.Shared,
			Staff: o.ByHand,
		})
		w.alarm(o.ExpiresAt)
	default:
		saveForUndo(&w.tables, w.offers[o.ID])
		*w.offers[o.ID] = *o
		w.emit(Event{
			Kind: OfferEnded, Session: o.Session, Member: o.Member, Entry: e.ID, Offer: o.ID, Round: o.Round, Ended: o.Status,
			Why:     o.Cause,
			On:      !c.Entry.Status.Active(),
			Booking: o.Booking, Party: o.Seats,
		})
		if c.Entry.Status.Active() {
			w.emit(Event{Kind: Requeued, Member: e.Member, Entry: e.ID})
		}
	}
	w.updateEntry(c.Entry)
	if c.Entry.Status.Active() {
		return
	}
	w.removePlaces(e, nil)
	if c.Entry.Status != waitlist.Booked || c.Taken {
		w.emit(Event{
			Kind: Left, Session: e.Session, Member: e.Member, Entry: e.ID, Booking: c.Entry.Booking,
			Over: !c.TellUntil.IsZero(), Until: c.TellUntil, Silent: !c.TellUntil.IsZero() && !c.Notify,
		})
	}
}

// join adds an entry to the end of its queues.
func (w *world) join(e *entryRow) error {
	for _, s := range e.sessions {
		e.queues = append(e.queues, queueOf(s))
	}
	if e.Window != nil {
		e.queues = e.Window.Queues()
	}
	var sizes []waitlist.QueueSize
	for _, q := range e.queues {
		if queued := w.queues[q]; queued != nil {
			sizes = append(sizes, waitlist.QueueSize{Queue: q, Waiting: len(queued.entries), LastKey: queued.lastKey})
		}
	}
	joined, err := waitlist.Join(e.Entry, e.queues, sizes, w.waitlistRules, w.now)
	if err != nil {
		return err
	}
	e.Entry, e.ID = joined, id[tenant.EntryID](&w.tables)
	w.insertEntry(e)
	w.emit(Event{Kind: Joined, Session: e.Session, Member: e.Member, Entry: e.ID, Party: e.Party, target: new(e.Entry)})
	return nil
}

// joinAny adds an entry for any one of several sessions.
func (w *world) joinAny(member *memberRow, sessions []*sessionRow, party int, staff bool) error {
	join := Operation{Name: "join", Member: member.ID, Party: party, Staff: staff}
	for _, s := range sessions {
		join.Sessions = append(join.Sessions, s.ID)
	}
	return w.transact(join, func() error {
		e := &entryRow{
			member: member, sessions: sessions,
			Entry: waitlist.Entry{Member: member.ID, Party: party, Channel: catalog.Online, ByStaff: staff},
		}
		if !member.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		for _, s := range sessions {
			facts := booking.Facts{Member: member.Member, Subscriptions: w.payers(member, s, tenant.SubscriptionID{})}
			facts.Booking, facts.Entry = w.otherPlaces(s, member, party)
			slot := s.slot()
			if err := w.expireHolds(s, &slot, w.expiredHolds(s)); err != nil {
				return err
			}
			facts.Slot = slot
			request := booking.Request{
				ID: id[tenant.BookingID](&w.tables), Party: party, Channel: catalog.Online, Free: staff, JoinWaitlist: true,
			}
			if _, err := booking.Decide(facts, request, w.now); err != nil {
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

// joinWindow adds an entry for a time window.
func (w *world) joinWindow(member *memberRow, window waitlist.Window, party int) error {
	join := Operation{Name: "join a window", Member: member.ID, Party: party, Window: &window}
	return w.transact(join, func() error {
		e := &entryRow{
			member: member, Entry: waitlist.Entry{Member: member.ID, Party: party, Channel: catalog.Online, Window: &window},
		}
		if !member.Active {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		var others []waitlist.Entry
		for _, other := range member.entries {
			o := other.Window
			if o != nil && o.Service == window.Service && o.Location == window.Location {
				others = append(others, other.Entry)
			}
		}
		service := w.serviceOf(waitlist.Queue{Location: window.Location, Service: window.Service})
		var err error
		e.Entry, err = waitlist.JoinWindow(e.Entry, waitlist.WindowFacts{
			Today: civil.DateOf(w.now, service.location.zone), MinParty: 1, MaxParty: service.maxParty,
			Channels: catalog.Channels(), Others: others,
		})
		if err != nil {
			return err
		}
		var open []waitlist.Slot
		var early []*sessionRow
		for _, s := range w.sessionList {
			slot, is := s.slot(), waitSlot(s)
			if slot.Availability() != booking.Available || !slot.Fits(party) {
				continue
			}
			is.Opens, is.Closes = slot.Opens(), s.StartsAt.Add(-slot.Policy.BookingClosesBefore)
			open = append(open, is)
			if s.service == service && w.now.Before(is.Opens) &&
				!s.LocalDate.Before(e.Window.From) && !s.LocalDate.After(e.Window.Until) {
				early = append(early, s)
			}
		}
		if err := e.CheckNoSeats(open, w.now); err != nil {
			return err
		}
		if err := w.join(e); err != nil {
			return err
		}
		for _, s := range early {
			w.awaitOpening(s)
		}
		return nil
	})
}

// prioritize sets or clears the flag of an entry.
func (w *world) prioritize(e *entryRow, flagged bool) error {
	return w.transact(Operation{Name: "prioritize", Entry: e.ID, On: flagged}, func() error {
		after := e.Entry
		after.Flagged = flagged
		w.updateEntry(after)
		w.emit(Event{Kind: Flagged, Member: e.Member, Entry: e.ID, On: flagged})
		return nil
	})
}
