package waitlist

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// lookAhead is how many entries behind those that were chosen are checked in the same step. If the booking of one
// that was chosen is refused, it takes no other step to find the next.
const lookAhead = 10

// FillFacts is the state that a decision about a session's open seats is made from.
type FillFacts struct {
	Slot     Slot // with its open seats
	Queue    Queue
	Rules    *CompiledRules
	Policy   catalog.BookingPolicy // of the session
	Version  int                   // of the rules
	Entries  []Entry               // the first page of the queue, by flag and key
	PageSize int                   // a page with fewer entries is the last
	Live     []Offer               // of the session
	GaveUp   []tenant.MemberID     // whose seats they were
	NewID    func() tenant.UUID
	Now      time.Time
}

// A Fill decides which entries get a session's open seats. It does no I/O: Next returns the next question, or the
// changes.
type Fill struct {
	FillFacts
	facts    Case
	round    *Round // nil: the seats were not offered before
	entries  map[tenant.EntryID]Entry
	last     bool // there are no more pages
	checked  map[tenant.EntryID]bool
	manual   *Grant // made by staff; nil: the rules decide
	decision Decision
}

// Step is the next question of a Fill, or its changes. One field is set.
type Step struct {
	Page    *PageQuery // read it, and call AddEntries
	Check   []Entry    // check the booking of each, and call SetChecks
	Changes *Changes
}

// PageQuery requests the entries of a queue after one of them.
type PageQuery struct {
	After Candidate
	Limit int // 0: all of them
}

// NewFill begins a decision. Round is the one in which the seats were offered before, nil if there is none.
func NewFill(s FillFacts, trigger Trigger, round *Round) *Fill {
	f := &Fill{
		FillFacts: s, facts: Case{Slot: s.Slot.forEntries(trigger, round), Trigger: trigger, Now: s.Now},
		entries: make(map[tenant.EntryID]Entry), checked: make(map[tenant.EntryID]bool),
	}
	if round != nil {
		f.facts.Round = f.withOpenSeats(*round)
	}
	f.facts.Round.GaveUp = with(f.facts.Round.GaveUp, s.GaveUp...)
	if round != nil {
		f.round = new(f.facts.Round)
	}
	f.AddEntries(s.Entries)
	return f
}

// withOpenSeats adds seats that were already open to a round. No entry fitted them before, but together with the seats
// of an ended offer one may fit.
func (f *Fill) withOpenSeats(r Round) Round {
	if f.Slot.Seats == nil || r.Opening {
		return r
	}
	seats := *f.Slot.Seats + r.Keeps
	for _, o := range f.Live {
		if o.Round == r.ID {
			seats += o.Reserves()
		}
	}
	r.Freed = max(r.Freed, seats)
	return r
}

// AddEntries adds a page of the queue. A member with a live offer for the session gets no second one through another
// entry.
func (f *Fill) AddEntries(page []Entry) {
	for _, e := range page {
		c := e.Candidate()
		c.CancellationWindow = f.Policy.For(e.MemberTier).CancellationWindow
		c.Asked = c.Asked || slices.ContainsFunc(f.Live, func(o Offer) bool { return o.Member == e.Member })
		f.entries[e.ID] = e
		f.facts.Queue = append(f.facts.Queue, c)
	}
	f.last = f.last || len(page) < f.PageSize
}

// SetChecks sets what was found out about the bookings of entries.
func (f *Fill) SetChecks(checks map[tenant.EntryID]Check) {
	for i, c := range f.facts.Queue {
		if check, ok := checks[c.Entry]; ok {
			f.facts.Queue[i].Check, f.checked[c.Entry] = check, true
		}
	}
}

// Next decides with the entries and refusals that are known so far.
func (f *Fill) Next() Step {
	switch {
	case f.manual != nil:
		f.decision = ManualDecision(f.facts.Queue[0], *f.manual)
	case !f.Rules.Enabled, len(f.facts.Queue) == 0 && f.round == nil:
		return Step{Changes: new(Changes)}
	case !f.last && (f.Rules.Order != ByJoining || f.Rules.Mode == FirstToClaim):
		f.last = true // the order depends on the whole queue, or the whole queue gets offers
		return f.page(0)
	default:
		f.decision = f.facts.Decide(f.Rules)
	}
	if check := f.unchecked(); len(check) > 0 {
		return Step{Check: check}
	}
	if !f.last && (f.decision.Seats == nil || f.decision.Left() > 0) {
		return f.page(f.PageSize)
	}
	return Step{Changes: new(f.changes())}
}

func (f *Fill) page(limit int) Step {
	return Step{Page: &PageQuery{After: f.facts.Queue[len(f.facts.Queue)-1], Limit: limit}}
}

// unchecked returns the chosen entries that were not checked yet, with some behind them; none if all chosen ones were
// checked.
func (f *Fill) unchecked() []Entry {
	var check []Entry
	chosen := 0
	for _, v := range f.decision.Verdicts {
		switch {
		case f.checked[v.Entry]:
		case v.chosen():
			chosen++
			check = append(check, f.entries[v.Entry])
		case v.Reason == NoSeatsLeft && len(check) < chosen+lookAhead:
			check = append(check, f.entries[v.Entry])
		}
	}
	if chosen == 0 {
		return nil
	}
	return check
}

func (f *Fill) changes() Changes {
	d := f.decision
	early := f.manual == nil && f.Now.Before(f.Slot.Opens)
	c := Changes{Session: f.Slot.Session, AwaitsOpening: early && len(d.Verdicts) > 0}
	if f.facts.Trigger.ofOpenSeats() && d.Given == 0 {
		return c // no seat was freed or given: there is nothing to record
	}
	// A round without offers lets a later fill know who gave the seats up, and how many an opening can still give.
	opening := f.facts.Trigger == ByOpening || f.round != nil && f.round.Opening
	begins := f.round == nil && (opening || len(f.facts.Round.GaveUp) > 0)
	if seats := d.offered(); seats > 0 || begins || opening && d.Given > 0 {
		f.reserve(&c, seats)
	}
	for _, g := range d.Grants {
		if g.promotes() {
			c.Promoted = append(c.Promoted, Promotion{Entry: f.entries[g.Entry], GraceUntil: f.Slot.StartsAt})
		} else {
			c.Entries = append(c.Entries, f.offer(g))
		}
	}
	c.Decision = &Record{Queue: f.Queue, Rules: f.Version, Note: Note(d), Case: f.facts, Decision: d}
	if early || f.facts.Trigger == ByOpening {
		c.Decision.Note = "" // no seat came free
	}
	if f.round != nil {
		c.Decision.Round = f.round.ID
	}
	for _, v := range d.Verdicts {
		switch v.Reason {
		case Promoted, WasOffered, NoSeatsLeft, HasOffer, f.entries[v.Entry].PassedOver: // known already, or not a reason
		default:
			c.Skipped = append(c.Skipped, v)
		}
	}
	return c
}

// reserve reserves the seats of the offers, if there are any: in the round if the first to claim gets them.
func (f *Fill) reserve(c *Changes, seats int) {
	c.Seats = seats
	keeps := 0
	if f.decision.Mode == FirstToClaim {
		keeps = c.Seats
	}
	freed := seats // of unlimited ones, those that are offered
	promoted := f.decision.Given - f.decision.offered()
	if f.decision.Seats != nil {
		freed = *f.decision.Seats
	}
	if opening := f.facts.Trigger == ByOpening && f.decision.Seats != nil; opening {
		freed -= promoted // which are in no offer of the round
	}
	if f.round == nil {
		f.round = &Round{
			ID: tenant.RoundID{UUID: f.NewID()}, Session: f.Slot.Session, Freed: freed, Keeps: keeps,
			GaveUp: f.facts.Round.GaveUp, Opened: f.Now,
			Opening: f.facts.Trigger == ByOpening && f.decision.Seats != nil,
		}
		c.Opened = new(*f.round)
		return
	}
	switch {
	case f.decision.Seats == nil:
		f.round.Freed += seats
	case f.round.Opening:
		f.round.Freed -= promoted
	}
	f.round.Keeps += keeps
	if keeps > 0 {
		f.round.Closed = nil
	}
	c.Rounds = []Round{*f.round}
}

func (f *Fill) offer(g Grant) EntryChange {
	e := f.entries[g.Entry]
	e.Status, e.Tries, e.PassedOver = Offered, e.Tries+1, ""
	return EntryChange{Entry: e, Offer: &Offer{
		ID: tenant.OfferID{UUID: f.NewID()}, Round: f.round.ID, Session: f.Slot.Session, Entry: e.ID, Member: e.Member,
		Seats: g.Seats, Shared: f.decision.Mode == FirstToClaim, Status: Live, Try: f.round.AddOffer(e),
		ByHand: f.manual != nil, Score: g.Score, CreatedAt: f.Now, ExpiresAt: g.Until,
	}}
}

// Times are those of a session that say until when the waitlist fills its seats.
type Times struct {
	Starts, Ends  time.Time
	BookingCloses time.Duration // before the start
	Single        bool          // the session has one seat, as a chair or a therapist has
}

// ClosesAt returns until when the waitlist fills seats: until booking closes, and then until FillAfterStart after the
// start. A single seat is filled again from the start on, until FillAfterStartSingle after it: that of a no-show. None
// is filled after the end.
func (r Rules) ClosesAt(t Times, now time.Time) time.Time {
	closes := t.Starts.Add(-t.BookingCloses)
	again := closes
	if t.Single {
		again = t.Starts
	}
	if now.Before(again) {
		return earlier(closes, t.Ends)
	}
	return r.LastSeat(t)
}

// LastSeat returns until when a session can give seats at all.
func (r Rules) LastSeat(t Times) time.Time {
	after := r.FillAfterStart
	if t.Single {
		after = r.FillAfterStartSingle
	}
	if after > 0 {
		return earlier(t.Starts.Add(after), t.Ends)
	}
	return earlier(t.Starts.Add(-t.BookingCloses), t.Ends)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
