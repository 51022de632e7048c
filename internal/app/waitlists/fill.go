package waitlists

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// linePage is how many entries are looked at in one go, where the order of joining decides.
	linePage = 100
	// lookAhead is for how many entries beyond those that get a seat it is asked what their bookings would say: if one is
	// refused, the next is known already.
	lookAhead = 10
)

// Fill gives a session's open seats to whoever waits, in the transaction that freed them. The slot says how the
// session will be once that transaction's writes are done; afterwards it says how it will be with what was given.
func (s *Service) Fill(ctx context.Context, tx *engine.Tx, slot *booking.Slot, trigger waitlist.Trigger) (promoted int, err error) {
	return s.roll(ctx, tx, slot, trigger, nil)
}

// roll is fill for seats that some were asked for before.
func (s *Service) roll(ctx context.Context, tx *engine.Tx, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round) (promoted int, err error) {
	if !slot.Fits(1) || slot.State != catalog.Published || slot.Blocked || !tx.Now.Before(slot.EndsAt) {
		return 0, nil
	}
	if slot.Queued == nil {
		var batch pg.Batch
		slot.Queued = new(int)
		waitlistdb.FindQueueSize(&batch, tx.Tenant, slot.ID, slot.Queued)
		if err := tx.Load(ctx, &batch); err != nil {
			return 0, err
		}
	}
	if *slot.Queued == 0 && round == nil {
		return 0, nil
	}
	l, err := s.lineFor(ctx, tx, slot, trigger, round)
	if err != nil || !l.rules.Enabled || len(l.entries) == 0 && round == nil {
		return 0, err
	}
	if err := l.decide(ctx); err != nil {
		return 0, err
	}
	if trigger == waitlist.ByRules && l.verdict.Given == 0 {
		return 0, nil // nothing was freed, and nothing is different: there is nothing to tell
	}
	return l.give()
}

// line is everything that a decision about a slot is made from.
type line struct {
	*engine.Tx
	app     *Service
	slot    *booking.Slot
	rules   *waitlist.Compiled
	version int
	facts   waitlist.Case
	round   *waitlist.Round // nil: nobody was asked yet
	entries map[tenant.EntryID]waitlist.Entry
	judged  map[tenant.EntryID]queued
	more    bool // there are entries behind those that were read
	verdict waitlist.Decision
}

// queued is an entry with all that its booking would take.
type queued struct {
	id    tenant.BookingID
	facts booking.Facts
	plan  booking.Plan
}

func queueOf(s booking.Slot) waitlist.Queue {
	return waitlist.Queue{Location: s.Location, Service: s.Service, Date: s.LocalDate}
}

// lineFor loads the rules in force, who stands in line, and who has been asked.
func (s *Service) lineFor(ctx context.Context, tx *engine.Tx, slot *booking.Slot, trigger waitlist.Trigger, round *waitlist.Round) (*line, error) {
	l := &line{
		Tx: tx, app: s, slot: slot, round: round, entries: make(map[tenant.EntryID]waitlist.Entry), judged: make(map[tenant.EntryID]queued),
		facts: waitlist.Case{Trigger: trigger, Now: tx.Now},
	}
	if err := lockQueues(tx, queueOf(*slot)); err != nil {
		return nil, err
	}
	var layers []waitlist.Layer
	var first []waitlist.Entry
	var live []waitlist.Offer
	var batch pg.Batch
	waitlistdb.FindWaitSlot(&batch, tx.Tenant, slot.ID, &l.facts.Slot)
	waitlistdb.ListRules(&batch, tx.Tenant, slot.Location, slot.Service, &layers)
	waitlistdb.ListInLine(&batch, tx.Tenant, waitlistdb.InLine{Session: slot.ID, Queue: queueOf(*slot), Limit: linePage}, &first)
	waitlistdb.ListLiveOffers(&batch, tx.Tenant, []tenant.SessionID{slot.ID}, &live)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	effective := waitlist.Resolve(layers...)
	l.version = effective.Version
	var err error
	if l.rules, err = waitlist.Compile(effective.Rules); err != nil {
		return nil, err // rules are compiled before they are saved
	}
	l.facts.Slot.Seats = slot.SeatsOpen()
	if round != nil {
		l.facts.Round = l.grown(live)
	}
	l.facts.Slot.Closes = closes(*slot, l.rules.Rules, tx.Now)
	l.add(first, live)
	l.more = len(first) == linePage
	if l.more && (l.rules.Order != waitlist.ByJoining || l.rules.Mode == waitlist.FirstToClaim) {
		return l, l.readOn(ctx, 0)
	}
	return l, nil
}

// grown is the round with all seats that it gives now: besides those that were let go, seats may be open that nobody wanted before.
func (l *line) grown(live []waitlist.Offer) waitlist.Round {
	if l.facts.Slot.Seats != nil {
		seats := *l.facts.Slot.Seats + l.round.Keeps
		for _, o := range live {
			if o.Round == l.round.ID {
				seats += o.Reserves()
			}
		}
		l.round.Freed = max(l.round.Freed, seats)
	}
	return *l.round
}

// closes is the end of the time in which somebody who waits may still get a seat.
func closes(slot booking.Slot, rules waitlist.Rules, now time.Time) (at time.Time) {
	at = slot.StartsAt.Add(-slot.Rules.BookingCloses)
	if !now.Before(at) && rules.FillAfterStart > 0 {
		at = slot.StartsAt.Add(rules.FillAfterStart)
	}
	if at.After(slot.EndsAt) {
		return slot.EndsAt
	}
	return at
}

// readOn reads the entries behind those that were read; 0 reads all of them.
func (l *line) readOn(ctx context.Context, limit int) error {
	last := l.facts.Queue[len(l.facts.Queue)-1]
	var entries []waitlist.Entry
	var batch pg.Batch
	waitlistdb.ListInLine(&batch, l.Tenant, waitlistdb.InLine{
		Session: l.slot.ID, Queue: queueOf(*l.slot), AfterFlagged: last.Flagged, AfterKey: last.Key, AfterID: last.Entry, Limit: limit,
	}, &entries)
	if err := l.Load(ctx, &batch); err != nil {
		return err
	}
	l.add(entries, nil)
	l.more = limit > 0 && len(entries) == limit
	return nil
}

// add takes entries into the line. Whoever has a live offer for the session is not asked again through another wish.
func (l *line) add(entries []waitlist.Entry, live []waitlist.Offer) {
	asked := func(m tenant.MemberID) bool {
		return slices.ContainsFunc(live, func(o waitlist.Offer) bool { return o.Member == m })
	}
	for _, e := range entries {
		l.entries[e.ID] = e
		c := e.Candidate()
		c.Asked = c.Asked || asked(e.Member)
		l.facts.Queue = append(l.facts.Queue, c)
	}
}

// decide asks the rules, and for those whom they choose what their bookings would say, until the rules choose
// none of whom that is not known.
func (l *line) decide(ctx context.Context) error {
	for {
		l.verdict = l.facts.Decide(l.rules)
		var ask []waitlist.Entry
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
		switch {
		case chosen > 0:
			if err := l.judge(ctx, ask); err != nil {
				return err
			}
		case l.more && l.verdict.Left() > 0:
			if err := l.readOn(ctx, linePage); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// judge asks for each entry what its booking would say.
func (l *line) judge(ctx context.Context, entries []waitlist.Entry) error {
	members := make([]tenant.MemberID, len(entries))
	named := make([]tenant.SubscriptionID, len(entries))
	for i, e := range entries {
		members[i], named[i] = e.Member, e.Subscription
	}
	var payers []credit.Subscription
	var busy []bookingdb.BusySpan
	var in []bookingdb.InSession
	var batch pg.Batch
	bookingdb.ListPayers(&batch, l.Tenant, l.slot.ID, members, named, &payers)
	bookingdb.ListBusy(&batch, l.Tenant, members, civil.Span{Start: l.slot.StartsAt, End: l.slot.EndsAt}, &busy)
	bookingdb.ListInSession(&batch, l.Tenant, l.slot.ID, members, &in)
	if err := l.Load(ctx, &batch); err != nil {
		return err
	}
	refusals := make(map[tenant.EntryID]string, len(entries))
	for _, e := range entries {
		q := queued{id: tenant.Next[tenant.BookingID](l.IDs), facts: booking.Facts{
			Slot: *l.slot, Member: booking.Member{ID: e.Member, Name: e.MemberName, Tier: e.MemberTier, Active: e.MemberActive},
		}}
		for _, p := range payers {
			// A subscription that another wish of the same member names is none of this one's.
			if p.Member == e.Member && (e.Subscription.IsZero() || p.ID == e.Subscription) {
				q.facts.Subscriptions = append(q.facts.Subscriptions, p)
			}
		}
		for _, b := range busy {
			if b.Member == e.Member {
				q.facts.Busy = append(q.facts.Busy, b.Span)
			}
		}
		for _, b := range in {
			if b.Member == e.Member {
				q.facts.Booking = b.Booking
			}
		}
		var err error
		if !e.MemberActive {
			err = fault.Missing(fault.MemberNotFound, "Member")
		} else {
			q.plan, err = booking.Decide(q.facts, booking.Command{
				ID: q.id, Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
				Staff: e.ByStaff, Promotion: true, Actor: credit.SystemActor, OpenUntil: &l.facts.Slot.Closes,
			}, l.Now)
		}
		l.judged[e.ID], refusals[e.ID] = q, waitlist.RefusalOf(err)
	}
	for i, c := range l.facts.Queue {
		if refusal, asked := refusals[c.Entry]; asked {
			l.facts.Queue[i].Refusal = refusal
		}
	}
	return nil
}

// give records the decision and does what it says.
func (l *line) give() (promoted int, err error) {
	d := l.verdict
	offers := d.Mode != waitlist.AutoPromote
	if len(d.Grants) > 0 && offers {
		l.openRound()
	}
	l.record()
	for _, g := range d.Grants {
		e := l.entries[g.Entry]
		if offers {
			l.offer(e, g, d.Mode == waitlist.FirstToClaim, false)
			continue
		}
		l.promote(e, l.judged[g.Entry])
		promoted++
	}
	if d.Mode != waitlist.FirstToClaim && offers && d.Given > 0 {
		bookingdb.MoveSeats(l.Tx.Tx, l.Tenant, l.slot.ID, bookingdb.Seats{Taken: d.Given})
	}
	l.slot.SeatsTaken += d.Given
	l.passOver()
	return promoted, nil
}

// openRound begins a round for seats that nobody was asked for yet, and lets it keep them where the first to claim has them.
func (l *line) openRound() {
	keeps := 0
	if l.verdict.Mode == waitlist.FirstToClaim {
		keeps = l.verdict.Given
		bookingdb.MoveSeats(l.Tx.Tx, l.Tenant, l.slot.ID, bookingdb.Seats{Taken: keeps})
	}
	if l.round != nil {
		l.round.Keeps += keeps
		if keeps > 0 {
			l.round.Closed = nil
		}
		waitlistdb.UpdateRound(l.Tx.Tx, l.Tenant, *l.round)
		return
	}
	l.round = &waitlist.Round{
		ID: tenant.Next[tenant.RoundID](l.IDs), Session: l.slot.ID, Freed: *l.verdict.Seats, Keeps: keeps, Opened: l.Now,
	}
	waitlistdb.InsertRound(l.Tx.Tx, l.Tenant, *l.round)
}

// record keeps the decision with what it was made from, and tells staff where it leaves them something to do.
func (l *line) record() {
	note := waitlist.Note(l.verdict)
	decided := waitlistdb.Decided{
		ID: tenant.Next[tenant.DecisionID](l.IDs), Queue: queueOf(*l.slot), Rules: l.version, Note: note, Case: l.facts, Decision: l.verdict,
	}
	if l.round != nil {
		decided.Round = l.round.ID
	}
	waitlistdb.InsertDecision(l.Tx.Tx, l.Tenant, decided)
	if note != "" {
		outbox.Append(l.Tx.Tx, l.Tenant, outbox.Event{
			ID: tenant.Next[tenant.EventID](l.IDs), Type: outbox.WaitlistStaffNote, Session: l.slot.ID, Actor: credit.SystemActor, At: l.Now,
			Data: map[string]any{"decision_id": decided.ID.String(), "move": string(l.verdict.Move), "note": note},
		})
	}
}

// passOver notes for entries why the seats passed them by, where that is news.
func (l *line) passOver() {
	var ids []tenant.EntryID
	var reasons []string
	for _, v := range l.verdict.Verdicts {
		switch v.Reason {
		case waitlist.Promoted, waitlist.WasOffered, waitlist.NoSeatsLeft, waitlist.HasOffer, l.entries[v.Entry].PassedOver:
		default:
			ids, reasons = append(ids, v.Entry), append(reasons, v.Reason)
		}
	}
	waitlistdb.PassOver(l.Tx.Tx, l.Tenant, ids, reasons, l.Now)
}

// promote turns an entry into a booking.
func (l *line) promote(e waitlist.Entry, q queued) {
	grace := l.rules.GraceUntil(l.Now, l.slot.StartsAt)
	q.facts.Slot = *l.slot
	b := seats.Take(l.Tx, q.facts, booking.Booking{
		ID: q.id, Session: l.slot.ID, Member: e.Member, Party: e.Party, Channel: e.Channel, ExternalRef: e.ExternalRef,
		RequestHash: e.RequestHash, Note: e.Note, Promoted: true, GraceUntil: &grace, CreatedBy: e.CreatedBy,
	}, q.plan)
	l.app.Close(l.Tx, e, waitlist.Booked, b.ID)
	if e.Window == nil {
		l.slot.Waiting-- // whoever asks in the same transaction may wait there
	}
	outbox.Append(l.Tx.Tx, l.Tenant, outbox.Event{
		ID: tenant.Next[tenant.EventID](l.IDs), Type: outbox.WaitlistPromoted, Session: l.slot.ID, Booking: b.ID, Member: e.Member,
		Actor: credit.SystemActor, Data: map[string]any{"entry_id": e.ID.String()}, At: l.Now,
	})
}

// offer asks an entry whether it wants seats, and keeps them for it; where they are shared the round does.
func (l *line) offer(e waitlist.Entry, g waitlist.Grant, shared, byHand bool) waitlist.Offer {
	id := tenant.Next[tenant.OfferID](l.IDs)
	token := l.app.claims.Token(l.Tenant, id)
	o := waitlist.Offer{
		ID: id, Round: l.round.ID, Session: l.slot.ID, Entry: e.ID, Member: e.Member, Seats: g.Seats, Shared: shared, Status: waitlist.Live,
		Try: l.round.Ask(e.ID), ByHand: byHand, Score: g.Score, CreatedAt: l.Now, ExpiresAt: g.Until,
		ClaimHash: waitlist.HashClaim(token), Code: l.app.claims.Code(id),
		MemberName: e.MemberName, SessionTitle: l.slot.Title, SessionStarts: l.slot.StartsAt, SessionEnds: l.slot.EndsAt, TimeZone: l.slot.TimeZone,
	}
	waitlistdb.InsertOffer(l.Tx.Tx, l.Tenant, o)
	e.Status, e.Tries, e.PassedOver = waitlist.Offered, e.Tries+1, ""
	waitlistdb.UpdateEntry(l.Tx.Tx, l.Tenant, e, l.Now)
	l.app.offerEvent(l.Tx, outbox.OfferCreated, o, map[string]any{"expire_time": o.ExpiresAt, "seats": o.Seats, "first_to_claim": shared, "try": o.Try})
	l.WakeAt(o.ExpiresAt)
	return o
}

func (s *Service) offerEvent(tx *engine.Tx, what outbox.Type, o waitlist.Offer, data map[string]any) {
	if data == nil {
		data = make(map[string]any)
	}
	data["offer_id"], data["entry_id"] = o.ID.String(), o.Entry.String()
	actor := tx.Caller.Actor()
	if what == outbox.OfferCreated && !o.ByHand {
		actor = credit.SystemActor
	}
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.Next[tenant.EventID](tx.IDs), Type: what, Session: o.Session, Booking: o.Booking, Member: o.Member, Actor: actor, Data: data, At: tx.Now,
	})
	s.countOffer(tx, what, o)
}

// Close ends an entry: it gives up all its places in line.
func (s *Service) Close(tx *engine.Tx, e waitlist.Entry, as waitlist.Status, got tenant.BookingID) waitlist.Entry {
	e.Status, e.Booking, e.PassedOver, e.ClosedAt, e.Position, e.Worth, e.Offer = as, got, "", &tx.Now, 0, waitlist.Worth{}, nil
	waitlistdb.UpdateEntry(tx.Tx, tx.Tenant, e, tx.Now)
	waitlistdb.RemovePlaces(tx.Tx, tx.Tenant, e.ID)
	s.countEntry(tx, as)
	return e
}

// Wake lets whoever waits have the open seats of sessions, one after the other as they start.
func (s *Service) Wake(ctx context.Context, tx *engine.Tx, trigger waitlist.Trigger, sessions ...tenant.SessionID) (promoted, woken int, err error) {
	if len(sessions) == 0 {
		return 0, 0, nil
	}
	var awaited []tenant.SessionID
	var batch pg.Batch
	waitlistdb.ListAwaited(&batch, tx.Tenant, sessions, &awaited)
	if err := tx.Load(ctx, &batch); err != nil {
		return 0, 0, err
	}
	for _, id := range awaited {
		// One by one: whoever wished for any of them has a place after the first.
		var slot *booking.Slot
		var next pg.Batch
		bookingdb.FindSlot(&next, tx.Tenant, id, &slot)
		if err := tx.Load(ctx, &next); err != nil {
			return promoted, woken, err
		}
		if slot == nil {
			continue
		}
		n, err := s.Fill(ctx, tx, slot, trigger)
		if err != nil {
			return promoted, woken, err
		}
		promoted, woken = promoted+n, woken+1
	}
	return promoted, woken, nil
}
