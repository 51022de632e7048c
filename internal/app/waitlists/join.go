package waitlists

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// JoinRequest asks to join the waitlist of one session, of any one of several, or of a time window.
type JoinRequest struct {
	Member       tenant.MemberID       `json:"member_id"` // zero: the caller
	Sessions     []tenant.SessionID    `json:"sessions,omitempty"`
	Window       *waitlist.Window      `json:"window,omitempty"`
	Party        int                   `json:"party_size"`
	Coach        tenant.MemberID       `json:"coach_id"`
	Subscription tenant.SubscriptionID `json:"subscription_id"`
	Channel      catalog.Channel       `json:"channel"`
	ExternalRef  string                `json:"external_ref"`
	Note         string                `json:"note"`
}

// hash identifies the request, as that of bookings.BookRequest does. The JSON names of the fields never change.
func (r JoinRequest) hash() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("waitlists: join request: " + err.Error()) // plain values
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// JoinWaitlist adds a waitlist entry for a member.
func (s *Service) JoinWaitlist(ctx context.Context, caller tenant.Caller, r JoinRequest) (seats.Result, error) {
	if r.Member.IsZero() {
		r.Member = caller.Member
	}
	if !caller.CanAccess(r.Member) {
		return seats.Result{}, seats.ErrNoMember
	}
	races := []engine.Race{seats.QueueRace}
	if r.ExternalRef != "" {
		races = append(races, seats.RefRace)
	}
	joined, err := engine.RunBatched(ctx, s.engine, caller, engine.Batched[seats.Result]{
		Name: "waitlist.join", Races: races, Replay: true,
		Locate: engine.Known(r.locks(), func() engine.Operation[seats.Result] {
			return &join{service: s, JoinRequest: r}
		}),
	})
	return joined, seats.ConstraintError(err)
}

// locks returns the locks of the sessions or the window's queue, and those of the member and the external reference. A
// join runs alone, because it reads the queues that it joins.
func (r JoinRequest) locks() engine.Locks {
	locks := engine.Locks{Single: []engine.Key{r.Member.UUID}, Solo: true}
	if r.ExternalRef != "" {
		locks.Single = append(locks.Single, engine.NameKey("ref", r.ExternalRef))
	}
	for _, id := range r.Sessions {
		locks.Together = append(locks.Together, id.UUID)
	}
	if w := r.Window; w != nil {
		locks.Together = append(locks.Together, seats.QueueKey(waitlist.Queue{Location: w.Location, Service: w.Service}))
	}
	return locks
}

// join is one attempt at JoinWaitlist.
type join struct {
	service *Service
	JoinRequest
	member, coach *booking.Member
	made          seats.Result // by an earlier request with the same external reference
	slots         []*booking.Slot
	facts         []booking.Facts // of each session
	window        windowFacts
	awaited       []tenant.SessionID // sessions with seats that the window wants, and that cannot be booked yet
}

// windowFacts is what decides about an entry for a time window.
type windowFacts struct {
	service  *catalog.Service
	location *catalog.Location
	resource *catalog.Resource
	others   []waitlist.Entry // the member's other entries for windows of the service at the location
}

// Load implements engine.Operation.
func (j *join) Load(q *engine.Query) {
	bookingdb.FindBookingMember(q.Batch, q.Tenant, j.Member, &j.member)
	bookingdb.FindBookingMember(q.Batch, q.Tenant, j.Coach, &j.coach)
	seats.LoadByRef(q, j.ExternalRef, &j.made)
	if w := j.Window; w != nil {
		catalogdb.FindService(q.Batch, q.Tenant, w.Service, &j.window.service)
		catalogdb.FindLocation(q.Batch, q.Tenant, w.Location, &j.window.location)
		catalogdb.FindResource(q.Batch, q.Tenant, w.Resource, &j.window.resource)
		waitlistdb.ListWindows(q.Batch, q.Tenant, j.Member, w.Service, w.Location, &j.window.others)
		return
	}
	j.slots, j.facts = make([]*booking.Slot, len(j.Sessions)), make([]booking.Facts, len(j.Sessions))
	for i, id := range j.Sessions {
		seats.LoadSlot(q, id, &j.slots[i])
		seats.RequestSeats(q, id, j.Party)
		seats.LoadPayers(q, &j.slots[i], j.Member, j.Subscription, &j.facts[i].Subscriptions)
	}
	q.Then(j.loadOthers)
}

// loadOthers reads the member's booking and entry in each session that could be full or has a waitlist. In the others
// they may book, and joining is refused: where seats are open, SEATS_AVAILABLE wins over a booking of the member.
func (j *join) loadOthers(q *engine.Query) {
	for i, slot := range j.slots {
		if slot != nil && (q.Strict || seats.MayBeFull(q, slot)) {
			full := slot.Holds > 0 || !slot.Fits(j.Party) // when a hold expires, all open seats go to the queue
			bookingdb.FindActiveIDs(q.Batch, q.Tenant, bookingdb.SessionMember{Session: slot.ID, Member: j.Member},
				func(ids bookingdb.ActiveIDs) {
					j.facts[i].Entry = ids.Entry
					if full {
						j.facts[i].Booking = ids.Booking
					}
				})
		}
	}
}

// Run implements engine.Operation.
func (j *join) Run(ctx context.Context, tx *engine.Tx) (seats.Result, error) {
	if j.made.Entry != nil {
		j.made.Booking = nil // that of a promoted entry has the same reference
	}
	switch {
	case j.made.Found():
		return j.service.RepeatedResult(ctx, tx, j.made, j.hash())
	case j.member == nil || !j.member.Active:
		return seats.Result{}, seats.ErrNoMember
	case j.coach == nil && !j.Coach.IsZero():
		return seats.Result{}, fault.Missing(fault.MemberNotFound, "Coach")
	}
	e := waitlist.Entry{
		Member: j.member.ID, Window: j.Window, Coach: j.Coach, Party: j.Party, Subscription: j.Subscription,
		Channel: j.Channel, ByStaff: booking.IsFree(tx.Caller, j.member.ID), ExternalRef: j.ExternalRef, Note: j.Note,
		MemberName: j.member.Name, MemberTier: j.member.Tier,
	}
	if j.ExternalRef != "" {
		e.RequestHash = j.hash()
	}
	check := j.checkSessions
	if j.Window != nil {
		check = j.checkWindow
	}
	slots, err := check(ctx, tx, &e)
	if err != nil {
		return seats.Result{}, err
	}
	e, err = j.service.join(ctx, tx, e, slots)
	if err == nil {
		bookingdb.SetOpening(tx.Tx, tx.Tenant, true, j.awaited...)
	}
	return seats.Result{Entry: &e}, err
}

// checkSessions decides for each session whether the entry may join its queue, and sets the entry's sessions.
func (j *join) checkSessions(ctx context.Context, tx *engine.Tx, e *waitlist.Entry) ([]booking.Slot, error) {
	request := booking.Request{
		ID: tenant.NextID[tenant.BookingID](tx.IDs), Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
		May: tx.Caller.May, Free: e.ByStaff, JoinWaitlist: true, Actor: tx.Caller.Actor(),
	}
	slots := make([]booking.Slot, len(j.slots))
	for i, slot := range j.slots {
		if slot == nil {
			return nil, seats.ErrNoSession.WithMetadata("session_id", j.Sessions[i].String())
		}
		if _, err := j.service.EndExpiredHolds(ctx, tx, slot); err != nil {
			return nil, err
		}
		j.facts[i].Slot, j.facts[i].Member, slots[i] = *slot, *j.member, *slot
		if _, err := booking.Decide(j.facts[i], request, tx.Now); err != nil {
			return nil, err
		}
	}
	for _, slot := range slots {
		e.Sessions = append(e.Sessions, slot.Summary())
	}
	if len(slots) == 1 {
		e.Session = slots[0].ID
	} else {
		e.AnyOf = j.Sessions
	}
	return slots, nil
}

// checkWindow decides whether the entry may wait for its time window, in which no session may have open seats that can
// be booked now.
func (j *join) checkWindow(ctx context.Context, tx *engine.Tx, e *waitlist.Entry) ([]booking.Slot, error) {
	service, location, resource := j.window.service, j.window.location, j.window.resource
	switch {
	case location == nil || !location.Active:
		return nil, catalog.ErrNoLocation
	case service == nil || !service.Active:
		return nil, catalog.ErrNoService
	case !e.Window.Resource.IsZero() && (resource == nil || resource.Location != e.Window.Location):
		return nil, fault.Missing(fault.ResourceNotFound, "Resource")
	}
	at, err := session.ZoneOf(*location)
	if err != nil {
		return nil, err
	}
	*e, err = waitlist.JoinWindow(*e, waitlist.WindowFacts{
		Today: civil.DateOf(tx.Now, at.Zone), MinParty: service.MinParty, MaxParty: service.MaxParty,
		Channels: location.Channels, Others: j.window.others, May: tx.Caller.May,
	})
	if err != nil {
		return nil, err
	}
	span := civil.Span{Start: e.Window.From.On(at.Zone), End: e.Window.Until.AddDays(1).On(at.Zone)}
	var open []waitlist.Slot
	var batch pg.Batch
	waitlistdb.ListOpenSlots(&batch, tx.Tenant, e.Window.Location, e.Window.Service, span, e.Party, &open)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	j.awaited = nil
	for _, slot := range open {
		if tx.Now.Before(slot.Opens) {
			j.awaited = append(j.awaited, slot.Session)
		}
	}
	return nil, e.CheckNoSeats(open, tx.Now)
}

// join appends an entry to the queues of its sessions or of its time window.
func (s *Service) join(
	ctx context.Context, tx *engine.Tx, e waitlist.Entry, slots []booking.Slot,
) (waitlist.Entry, error) {
	queues := make([]waitlist.Queue, len(slots))
	sessions := make([]tenant.SessionID, len(slots))
	for i, s := range slots {
		queues[i], sessions[i] = queueOf(s), s.ID
	}
	if e.Window != nil {
		queues = e.Window.Queues()
	}
	if err := lockQueues(tx, queues...); err != nil {
		return e, err
	}
	var (
		sizes  []waitlist.QueueSize
		layers []waitlist.Layer
		batch  pg.Batch
	)
	waitlistdb.ListQueues(&batch, tx.Tenant, queues, &sizes)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &layers)
	if err := tx.Load(ctx, &batch); err != nil {
		return e, err
	}
	e, err := waitlist.Join(e, queues, sizes, waitlist.RulesOf(layers), tx.Now)
	if err != nil {
		return e, err
	}
	e.ID, e.CreatedBy, e.MemberActive = tenant.NextID[tenant.EntryID](tx.IDs), tx.Caller.Actor(), true
	waitlistdb.InsertEntry(tx.Tx, tx.Tenant, e)
	waitlistdb.CountWaiting(tx.Tx, tx.Tenant, e.Member, +1)
	waitlistdb.AddPlaces(tx.Tx, tx.Tenant, e, sessions, queues)
	if e, err = s.addPosition(ctx, tx, e); err != nil {
		return e, err
	}
	entryEvent(tx, e, event.WaitlistJoined{Position: e.Position})
	s.countEntry(tx, waitlist.Waiting)
	return e, nil
}
