package waitlists

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// pageSize is how many entries of a queue are read at once, unless all are needed.
const pageSize = 100

// Fill gives a session's open seats to its waitlist, in the transaction that freed them. The slot contains what that
// transaction has written so far, and Fill adds what it writes. Who gave up the seats gets none of them.
func (s *Service) Fill(
	ctx context.Context, tx *engine.Tx, slot *booking.Slot, trigger waitlist.Trigger, gaveUp ...tenant.MemberID,
) (promoted int, err error) {
	return s.fillRound(ctx, tx, slot, trigger, nil, gaveUp...)
}

// fillRound is Fill for seats that were offered before, in a round. A nil round is a new one.
func (s *Service) fillRound(
	ctx context.Context, tx *engine.Tx, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round,
	gaveUp ...tenant.MemberID,
) (promoted int, err error) {
	if s.openingDue(tx, slot) {
		if promoted, err = s.fillOpening(ctx, tx, slot); err != nil || !trigger.FreesSeats() {
			return promoted, err
		}
	}
	more, err := s.fillSeats(ctx, tx, slot, trigger, round, gaveUp...)
	return promoted + more, err
}

// fillSeats is fillRound without the opening, which comes first.
func (s *Service) fillSeats(
	ctx context.Context, tx *engine.Tx, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round,
	gaveUp ...tenant.MemberID,
) (promoted int, err error) {
	if slot.Availability() != booking.Available || !tx.Now.Before(slot.EndsAt) {
		return 0, nil
	}
	if slot.Queued == nil && round == nil {
		slot.Queued = new(int)
		var batch pg.Batch
		waitlistdb.FindQueueSize(&batch, tx.Tenant, slot.ID, slot.Queued)
		if err := tx.Load(ctx, &batch); err != nil {
			return 0, err
		}
	}
	if round == nil && *slot.Queued == 0 {
		return 0, nil
	}
	f, err := s.filler(ctx, tx, slot)
	if err != nil {
		return 0, err
	}
	f.facts.GaveUp = gaveUp
	changes, err := f.decide(ctx, waitlist.NewFill(f.facts, trigger, round))
	if err != nil {
		return 0, err
	}
	booked := f.apply(changes)
	return len(booked), s.settleOthers(ctx, tx, booked...)
}

// fillSession reads a session, and with findRound a round of offers, and fills the session unless it is deleted.
func (s *Service) fillSession(
	ctx context.Context, tx *engine.Tx, id tenant.SessionID, trigger waitlist.Trigger,
	findRound func(*pg.Batch, **waitlist.Round),
) (promoted int, err error) {
	var (
		slot  *booking.Slot
		round *waitlist.Round
		batch pg.Batch
	)
	bookingdb.FindSlot(&batch, tx.Tenant, id, &slot)
	if findRound != nil {
		findRound(&batch, &round)
	}
	if err = tx.Load(ctx, &batch); err == nil && slot != nil {
		promoted, err = s.fillRound(ctx, tx, slot, trigger, round)
	}
	return promoted, err
}

// FillAll fills several sessions, in the order of their starts. Filled reports whether any of them has a queue.
func (s *Service) FillAll(
	ctx context.Context, tx *engine.Tx, trigger waitlist.Trigger, sessions ...tenant.SessionID,
) (promoted int, filled bool, err error) {
	if len(sessions) == 0 {
		return 0, false, nil
	}
	var awaited []tenant.SessionID
	var batch pg.Batch
	waitlistdb.ListAwaited(&batch, tx.Tenant, sessions, &awaited)
	if err := tx.Load(ctx, &batch); err != nil {
		return 0, false, err
	}
	for _, id := range awaited {
		// One after the other, because an entry that waits for any of them can get its booking in the first.
		n, err := s.fillSession(ctx, tx, id, trigger, nil)
		if err != nil {
			return 0, false, err
		}
		promoted += n
	}
	return promoted, len(awaited) > 0, nil
}

// filler drives a waitlist.Fill of a session: it answers its questions from the database, and writes its changes.
type filler struct {
	*engine.Tx
	service *Service
	slot    *booking.Slot
	facts   waitlist.FillFacts
	checked map[tenant.EntryID]checkedBooking
}

// checkedBooking is the booking that an entry could get.
type checkedBooking struct {
	id     tenant.BookingID
	facts  booking.Facts
	result booking.BookResult
}

func queueOf(s booking.Slot) waitlist.Queue {
	return waitlist.Queue{Location: s.Location, Service: s.Service, Date: s.LocalDate}
}

func timesOf(s booking.Slot) waitlist.Times {
	return waitlist.Times{
		Starts: s.StartsAt, Ends: s.EndsAt, BookingCloses: s.Policy.BookingClosesBefore,
		Single: s.Capacity != nil && *s.Capacity == 1,
	}
}

// filler loads the rules, the first page of the queue and the live offers in one round trip.
func (s *Service) filler(ctx context.Context, tx *engine.Tx, slot *booking.Slot) (*filler, error) {
	queue := queueOf(*slot)
	if err := lockQueues(tx, queue); err != nil {
		return nil, err
	}
	f := &filler{
		Tx: tx, service: s, slot: slot, facts: waitlist.FillFacts{
			Queue: queue, PageSize: pageSize, Now: tx.Now,
			NewID: func() tenant.UUID { return tenant.NextID[tenant.OfferID](tx.IDs).UUID },
		},
		checked: make(map[tenant.EntryID]checkedBooking),
	}
	var layers []waitlist.Layer
	var batch pg.Batch
	waitlistdb.FindWaitSlot(&batch, tx.Tenant, slot.ID, &f.facts.Slot)
	waitlistdb.ListRules(&batch, tx.Tenant, slot.Location, slot.Service, &layers)
	page := waitlistdb.QueueQuery{Session: slot.ID, Queue: queue, Limit: pageSize}
	waitlistdb.ListQueued(&batch, tx.Tenant, page, &f.facts.Entries)
	waitlistdb.ListLiveOffers(&batch, tx.Tenant, []tenant.SessionID{slot.ID}, &f.facts.Live)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	effective := waitlist.Resolve(layers...)
	rules, err := waitlist.CompileSaved(effective.Rules)
	if err != nil {
		return nil, err
	}
	f.facts.Rules, f.facts.Version, f.facts.Policy = rules, effective.Version, slot.Policy
	f.facts.Slot.Seats, f.facts.Slot.Opens = slot.SeatsOpen(), slot.Opens()
	f.facts.Slot.Closes = rules.ClosesAt(timesOf(*slot), tx.Now)
	return f, nil
}

// decide answers the filling until it has come to a decision.
func (f *filler) decide(ctx context.Context, filling *waitlist.Fill) (waitlist.Changes, error) {
	for {
		var err error
		switch step := filling.Next(); {
		case step.Changes != nil:
			return *step.Changes, nil
		case step.Check != nil:
			err = f.checkBookings(ctx, filling, step.Check)
		default:
			err = f.readPage(ctx, filling, *step.Page)
		}
		if err != nil {
			return waitlist.Changes{}, err
		}
	}
}

func (f *filler) readPage(ctx context.Context, filling *waitlist.Fill, page waitlist.PageQuery) error {
	var entries []waitlist.Entry
	var batch pg.Batch
	waitlistdb.ListQueued(&batch, f.Tenant, waitlistdb.QueueQuery{
		Session: f.slot.ID, Queue: f.facts.Queue, AfterFlagged: page.After.Flagged, AfterKey: page.After.Key,
		AfterID: page.After.Entry, Limit: page.Limit,
	}, &entries)
	if err := f.Load(ctx, &batch); err != nil {
		return err
	}
	filling.AddEntries(entries)
	return nil
}

// checkBookings finds out for each entry about the booking that it could get, and keeps the booking for promote.
func (f *filler) checkBookings(ctx context.Context, filling *waitlist.Fill, entries []waitlist.Entry) error {
	facts, days := make([]booking.Facts, len(entries)), make([]bookingdb.MemberDay, len(entries))
	held := make([][]waitlist.Slot, len(entries))
	var batch pg.Batch
	for i, e := range entries {
		key := bookingdb.SessionMember{Session: f.slot.ID, Member: e.Member}
		facts[i].Slot = *f.slot
		facts[i].Member = booking.Member{ID: e.Member, Name: e.MemberName, Tier: e.MemberTier, Active: e.MemberActive}
		bookingdb.ListPayers(&batch, f.Tenant, key, e.Subscription, &facts[i].Subscriptions)
		bookingdb.ListBusy(&batch, f.Tenant, key, &facts[i].Busy)
		bookingdb.FindMemberDay(&batch, f.Tenant, key, &days[i])
		waitlistdb.ListHeldSlots(&batch, f.Tenant, e.Member, &held[i])
		bookingdb.FindActiveIDs(&batch, f.Tenant, key, func(ids bookingdb.ActiveIDs) { facts[i].Booking = ids.Booking })
	}
	if err := f.Load(ctx, &batch); err != nil {
		return err
	}
	checks := make(map[tenant.EntryID]waitlist.Check, len(entries))
	for i, e := range entries {
		b := checkedBooking{id: tenant.NextID[tenant.BookingID](f.IDs), facts: facts[i]}
		var err error = seats.ErrNoMember
		switch {
		case !e.MemberActive:
		case slices.ContainsFunc(held[i], e.GotBy): // it waits until the hold ends
			err = catalog.AlreadyBooked(e.Member, tenant.BookingID{}, e.ID)
		default:
			b.result, err = booking.Decide(b.facts, f.request(b.id, e), f.Now)
		}
		f.checked[e.ID] = b
		checks[e.ID] = waitlist.Check{
			Refusal: waitlist.RefusalOf(err), Busy: days[i].Busy, Promoted: days[i].Promoted,
		}
	}
	filling.SetChecks(checks)
	return nil
}

func (f *filler) request(id tenant.BookingID, e waitlist.Entry) booking.Request {
	return booking.Request{
		ID: id, Party: e.Party, Subscription: e.Subscription, Channel: e.Channel, Free: e.ByStaff, Promotion: true,
		Actor: credit.SystemActor, FillUntil: &f.facts.Slot.Closes,
	}
}

// apply writes a decision, and adds it to the slot. It returns the bookings of those who were promoted.
func (f *filler) apply(c waitlist.Changes) []booking.Booking {
	f.slot.SeatsTaken += c.Seats
	if c.AwaitsOpening && !f.slot.OpeningDue {
		f.slot.OpeningDue = true
		bookingdb.SetOpening(f.Tx.Tx, f.Tenant, true, f.slot.ID)
	}
	f.service.Write(f.Tx, c)
	booked := make([]booking.Booking, len(c.Promoted))
	for i, p := range c.Promoted {
		booked[i] = f.promote(p)
	}
	return booked
}

// promote turns an entry into a booking.
func (f *filler) promote(p waitlist.Promotion) booking.Booking {
	e, checked := p.Entry, f.checked[p.Entry.ID]
	b := seats.Take(f.Tx, checked.facts, booking.Booking{
		ID: checked.id, Session: f.slot.ID, Member: e.Member, Party: e.Party, Channel: e.Channel, ExternalRef: e.ExternalRef,
		RequestHash: e.RequestHash, Note: e.Note, Promoted: true, GraceUntil: &p.GraceUntil, CreatedBy: e.CreatedBy,
	}, checked.result)
	f.slot.SeatsTaken += b.Party
	f.service.writeEntry(f.Tx, waitlist.EntryChange{Entry: e.Close(waitlist.Booked, b.ID, f.Now)})
	if e.Window == nil {
		f.slot.Waiting-- // another request in the same transaction may join
	}
	outbox.Append(f.Tx.Tx, f.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](f.IDs), Session: f.slot.ID, Booking: b.ID, Member: e.Member, Entry: e.ID,
		Actor: credit.SystemActor, Data: event.WaitlistPromoted{}, At: f.Now,
		Facts: seats.FactsOf(b, checked.result.Ledger),
	})
	return b
}
