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

// lookAhead is for how many entries beyond those that get a seat it is asked what their bookings would say.
const lookAhead = 10

func (w *world) fill(s *row, slot *booking.Slot, trigger waitlist.Trigger) error {
	return w.roll(s, slot, trigger, nil)
}

// roll gives a session's open seats to whoever waits.
func (w *world) roll(s *row, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round) error {
	if !slot.Fits(1) || slot.State != catalog.Published || slot.Blocked || !w.now.Before(slot.EndsAt) {
		return nil
	}
	q := w.queues[queueOf(s)]
	if (q == nil || len(q.entries) == 0) && round == nil {
		return nil
	}
	l := w.lineFor(s, slot, trigger, round)
	if !l.rules.Enabled || len(l.entries) == 0 && round == nil {
		return nil
	}
	l.decide()
	l.give()
	return nil
}

type line struct {
	*world
	row     *row
	slot    *booking.Slot
	rules   *waitlist.Compiled
	facts   waitlist.Case
	round   *waitlist.Round
	entries map[tenant.EntryID]*entryRow
	judged  map[tenant.EntryID]queued
	verdict waitlist.Decision
}

type queued struct {
	id    tenant.BookingID
	facts booking.Facts
	plan  booking.Plan
}

func (w *world) lineFor(s *row, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round) *line {
	l := &line{
		world: w, row: s, slot: slot, rules: s.under.waitlist, round: round,
		entries: make(map[tenant.EntryID]*entryRow), judged: make(map[tenant.EntryID]queued),
		facts: waitlist.Case{Slot: waitSlot(s), Trigger: trigger, Now: w.now},
	}
	if round != nil {
		l.facts.Round = *round
		l.facts.Round.Tried = slices.Clone(round.Tried)
	}
	l.facts.Slot.Seats, l.facts.Slot.Closes = slot.SeatsOpen(), w.closes(*slot, l.rules.Rules)
	if w.flaw == offerAtNight || w.flaw == outliveClose {
		other := *l.rules
		other.OffersInQuietHours = w.flaw == offerAtNight || other.OffersInQuietHours
		if l.rules = &other; w.flaw == outliveClose {
			l.facts.Slot.Closes = slot.EndsAt
		}
	}
	if seats := l.facts.Slot.Seats; w.flaw == promoteTwice && seats != nil {
		l.facts.Slot.Seats = new(*seats + 1)
	}
	live := s.liveOffers()
	var first []*entryRow
	if q := w.queues[queueOf(s)]; q != nil {
		for _, e := range q.entries {
			if e.Window != nil || slices.Contains(e.sessions, s) {
				first = append(first, e)
			}
		}
	}
	slices.SortFunc(first, func(a, b *entryRow) int {
		if a.Flagged != b.Flagged {
			if a.Flagged {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID.UUID[:], b.ID.UUID[:]))
	})
	for _, e := range first {
		l.entries[e.ID] = e
		read := e.Entry
		read.MemberTier, read.MemberTags, read.MemberZone = e.who.Tier, e.who.tags, e.who.zone
		c := read.Candidate()
		c.Asked = c.Asked || slices.ContainsFunc(live, func(o *waitlist.Offer) bool { return o.Member == e.Member })
		if w.flaw == passFlagged && c.Flagged {
			continue
		}
		l.facts.Queue = append(l.facts.Queue, c)
	}
	return l
}

func waitSlot(s *row) waitlist.Slot {
	return waitlist.Slot{
		Session: s.ID, Service: s.Service, Location: s.Location, Coach: s.Coach, StartsAt: s.StartsAt, EndsAt: s.EndsAt, Zone: s.at.name,
	}
}

func (w *world) closes(slot booking.Slot, rules waitlist.Rules) time.Time {
	at := slot.StartsAt.Add(-slot.Rules.BookingCloses)
	if !w.now.Before(at) && rules.FillAfterStart > 0 {
		at = slot.StartsAt.Add(rules.FillAfterStart)
	}
	if at.After(slot.EndsAt) {
		return slot.EndsAt
	}
	return at
}

func (l *line) decide() {
	for {
		l.verdict = l.facts.Decide(l.rules)
		var ask []*entryRow
		chosen := 0
		for _, v := range l.verdict.Verdicts {
			_, known := l.judged[v.Entry]
			switch {
			case known:
			case v.Reason == waitlist.Promoted || v.Reason == waitlist.WasOffered:
				chosen++
				ask = append(ask, l.entries[v.Entry])
			case v.Reason == waitlist.NoSeatsLeft && len(ask) < chosen+lookAhead:
				ask = append(ask, l.entries[v.Entry])
			}
		}
		if chosen == 0 {
			return
		}
		l.judge(ask)
	}
}

func (l *line) judge(entries []*entryRow) {
	for _, e := range entries {
		q := queued{id: id[tenant.BookingID](&l.tables), facts: booking.Facts{Slot: *l.slot, Member: e.who.Member}}
		q.facts.Subscriptions = l.payers(e.who, l.row, e.Subscription)
		q.facts.Booking = l.inSession(l.row, e.who)
		for _, b := range e.who.bookings {
			if b.Exclusive && b.Status.Active() {
				q.facts.Busy = append(q.facts.Busy, span(*b))
			}
		}
		err := error(fault.Missing(fault.MemberNotFound, "Member"))
		if e.who.Active {
			q.plan, err = booking.Decide(q.facts, booking.Command{
				ID: q.id, Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
				Staff: e.ByStaff, Promotion: true, Actor: credit.SystemActor, OpenUntil: &l.facts.Slot.Closes,
			}, l.now)
		}
		l.judged[e.ID] = q
		for i := range l.facts.Queue {
			if l.facts.Queue[i].Entry == e.ID {
				l.facts.Queue[i].Refusal = waitlist.RefusalOf(err)
			}
		}
	}
}

func (l *line) give() {
	d := l.verdict
	offers := d.Mode != waitlist.AutoPromote
	if len(d.Grants) > 0 && offers {
		l.openRound()
	}
	l.record()
	for _, g := range d.Grants {
		e := l.entries[g.Entry]
		if offers {
			l.offer(e, g, d.Mode == waitlist.FirstToClaim)
			continue
		}
		l.promote(e, l.judged[g.Entry])
	}
	if d.Mode != waitlist.FirstToClaim && offers && d.Given > 0 && l.flaw != offerUnreserved {
		l.moveSeats(l.row, d.Given, 0)
	}
	l.slot.SeatsTaken += d.Given
}

func (l *line) openRound() {
	keeps := 0
	if l.verdict.Mode == waitlist.FirstToClaim {
		keeps = l.verdict.Given
		l.moveSeats(l.row, keeps, 0)
	}
	if l.round != nil {
		before(&l.tables, l.round)
		l.round.Keeps += keeps
		return
	}
	l.round = &waitlist.Round{
		ID: id[tenant.RoundID](&l.tables), Session: l.row.ID, Freed: *l.verdict.Seats, Keeps: keeps, Opened: l.now,
	}
	insert(&l.tables, l.rounds, l.round.ID, l.round)
	push(&l.tables, &l.row.rounds, l.round)
}

func (l *line) record() {
	before(&l.tables, &l.row.decided)
	l.row.decided = l.now
	f := Fact{What: Decided, Session: l.row.ID, decision: &decided{facts: l.facts, verdict: l.verdict, rules: l.row.under.waitlist}}
	if l.round != nil {
		f.Round = l.round.ID
	}
	l.say(f)
}

func (l *line) promote(e *entryRow, q queued) {
	grace := l.rules.GraceUntil(l.now, l.slot.StartsAt)
	q.facts.Slot = *l.slot
	b := booking.Booking{
		ID: q.id, Session: l.row.ID, Member: e.Member, Party: e.Party, Channel: e.Channel, Promoted: true, GraceUntil: &grace,
	}
	l.say(Fact{
		What: Booked, Session: l.row.ID, Member: e.Member, Booking: b.ID, Entry: e.ID, Party: e.Party, Promoted: true, Until: grace,
		Staff: e.ByStaff, Subscription: e.Subscription,
	})
	l.place(l.row, q.facts, b, q.plan)
	l.close(e, waitlist.Booked, b.ID)
}

func (l *line) offer(e *entryRow, g waitlist.Grant, shared bool) {
	before(&l.tables, l.round)
	o := &waitlist.Offer{
		ID: id[tenant.OfferID](&l.tables), Round: l.round.ID, Session: l.row.ID, Entry: e.ID, Member: e.Member, Seats: g.Seats, Shared: shared,
		Status: waitlist.Live, Try: l.round.Ask(e.ID), Score: g.Score, CreatedAt: l.now, ExpiresAt: g.Until,
	}
	insert(&l.tables, l.offers, o.ID, o)
	push(&l.tables, &l.row.offers, o)
	after := e.Entry
	after.Status, after.Tries = waitlist.Offered, e.Tries+1
	l.updateEntry(after)
	l.say(Fact{
		What: Offered, Session: l.row.ID, Member: e.Member, Entry: e.ID, Offer: o.ID, Round: o.Round, Party: o.Seats, Until: o.ExpiresAt, Shared: shared,
	})
	l.alarm(o.ExpiresAt)
}

// close ends an entry: it gives up all its places in line.
func (w *world) close(e *entryRow, as waitlist.Status, got tenant.BookingID) {
	after := e.Entry
	after.Status, after.Booking, after.ClosedAt = as, got, &w.now
	w.updateEntry(after)
	w.removePlaces(e, nil)
}

// join puts an entry in line, behind all others.
func (w *world) join(e *entryRow) error {
	for _, s := range e.sessions {
		e.queues = append(e.queues, queueOf(s))
	}
	if e.Window != nil {
		e.queues = e.Window.Queues()
	}
	var last int64
	for _, q := range e.queues {
		size := 0
		if line := w.queues[q]; line != nil {
			last, size = max(last, line.last), len(line.entries)
		}
		if err := w.ruling(q).waitlist.Admits(size, q.Date); err != nil {
			return err
		}
	}
	e.ID, e.Status, e.Key, e.CreatedAt = id[tenant.EntryID](&w.tables), waitlist.Waiting, waitlist.NextKey(w.now, last), w.now
	w.insertEntry(e)
	w.say(Fact{What: Joined, Session: e.Session, Member: e.Member, Entry: e.ID, Party: e.Party, wish: new(e.Entry)})
	return nil
}

// joinAny queues a member for any one of several sessions.
func (w *world) joinAny(who *member, sessions []*row, party int, staff bool) error {
	return w.do("join", func() error {
		e := &entryRow{who: who, sessions: sessions, Entry: waitlist.Entry{Member: who.ID, Party: party, Channel: catalog.Online, ByStaff: staff}}
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
			command := booking.Command{ID: id[tenant.BookingID](&w.tables), Party: party, Channel: catalog.Online, Staff: staff, Join: true}
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
		e := &entryRow{who: who, Entry: waitlist.Entry{Member: who.ID, Party: party, Channel: catalog.Online, Window: &window}}
		for _, other := range who.entries {
			if o := other.Window; o != nil && o.Service == window.Service && o.Location == window.Location &&
				!o.From.After(window.Until) && !o.Until.Before(window.From) {
				return booking.AlreadyBooked(tenant.BookingID{}, other.ID)
			}
		}
		for _, s := range w.live {
			if slot := s.slot(); s.State == catalog.Published && !s.Blocked && s.StartsAt.After(w.now) && slot.Fits(party) && e.Wants(waitSlot(s)) {
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
