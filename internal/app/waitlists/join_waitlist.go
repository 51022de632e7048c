package waitlists

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// JoinRequest asks for a place in one session, in any one of several, or in a window.
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

// hash identifies what was asked for: see BookRequest.
func (r JoinRequest) hash() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("app: join request: " + err.Error()) // plain values
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// JoinWaitlist puts a member on a waitlist.
func (s *Service) JoinWaitlist(ctx context.Context, caller tenant.Caller, r JoinRequest) (seats.Place, error) {
	if r.Member.IsZero() {
		r.Member = caller.Member
	}
	if !caller.CanAccess(r.Member) {
		return seats.Place{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	races, locks := []engine.Race{seats.QueueRace}, engine.Locks{Single: []engine.Key{r.Member.UUID}, Solo: true}
	if r.ExternalRef != "" {
		races, locks.Single = append(races, seats.RefRace), append(locks.Single, engine.NameKey("ref", r.ExternalRef))
	}
	for _, id := range r.Sessions {
		locks.Together = append(locks.Together, id.UUID)
	}
	if w := r.Window; w != nil {
		locks.Together = append(locks.Together, seats.QueueKey(waitlist.Queue{Location: w.Location, Service: w.Service}))
	}
	join := func(ctx context.Context, tx *engine.Tx) (seats.Place, error) { return s.joinWaitlist(ctx, tx, r) }
	joined, err := engine.Run(ctx, s.engine, caller, engine.Spec[seats.Place]{
		Name: "waitlist.join", Locks: locks, Races: races, Replay: true,
		New: func() engine.Operation[seats.Place] { return engine.RunFunc[seats.Place](join) },
	})
	if pg.IsUnique(err, "waitlist_places_active") && len(r.Sessions) > 0 {
		if refused := seats.AlreadyBooked(ctx, s.engine, caller, r.Sessions[0], r.Member); refused != nil {
			return seats.Place{}, refused
		}
	}
	if err != nil {
		return seats.Place{}, seats.ConstraintError(err)
	}
	return joined, nil
}

func (s *Service) joinWaitlist(ctx context.Context, tx *engine.Tx, r JoinRequest) (seats.Place, error) {
	var (
		who, coach *booking.Member
		made       seats.Place
		batch      pg.Batch
	)
	bookingdb.FindBookingMember(&batch, tx.Tenant, r.Member, &who)
	bookingdb.FindBookingMember(&batch, tx.Tenant, r.Coach, &coach)
	if r.ExternalRef != "" {
		bookingdb.FindBookingByRef(&batch, tx.Tenant, r.ExternalRef, &made.Booking)
		waitlistdb.FindEntryByRef(&batch, tx.Tenant, r.ExternalRef, &made.Entry)
	}
	if err := tx.Load(ctx, &batch); err != nil {
		return seats.Place{}, err
	}
	switch {
	case made.Booking != nil || made.Entry != nil:
		return seats.RepeatedPlace(made, r.hash())
	case who == nil || !who.Active:
		return seats.Place{}, fault.Missing(fault.MemberNotFound, "Member")
	case coach == nil && !r.Coach.IsZero():
		return seats.Place{}, fault.Missing(fault.MemberNotFound, "Coach")
	}
	e := waitlist.Entry{
		Member: who.ID, Window: r.Window, Coach: r.Coach, Party: r.Party, Subscription: r.Subscription, Channel: r.Channel,
		ByStaff: tx.Caller.IsStaff(), ExternalRef: r.ExternalRef, Note: r.Note, MemberName: who.Name, MemberTier: who.Tier,
	}
	if r.ExternalRef != "" {
		e.RequestHash = r.hash()
	}
	var slots []booking.Slot
	var err error
	if r.Window != nil {
		err = s.wishForWindow(ctx, tx, &e)
	} else {
		slots, err = s.wishForSessions(ctx, tx, &e, *who, r.Sessions)
	}
	if err != nil {
		return seats.Place{}, err
	}
	e, err = s.join(ctx, tx, e, slots)
	return seats.Place{Entry: &e}, err
}

// wishForSessions decides for each session whether the entry may join its queue.
func (s *Service) wishForSessions(
	ctx context.Context, tx *engine.Tx, e *waitlist.Entry, who booking.Member, sessions []tenant.SessionID,
) ([]booking.Slot, error) {
	facts := make([]booking.Facts, len(sessions))
	found := make([]*booking.Slot, len(sessions))
	var batch pg.Batch
	for i, id := range sessions {
		bookingdb.FindSlot(&batch, tx.Tenant, id, &found[i])
		bookingdb.FindDoubles(&batch, tx.Tenant, id, who.ID, e.Party, &facts[i].Booking, &facts[i].Entry)
		bookingdb.ListPayers(
			&batch, tx.Tenant, id, []tenant.MemberID{who.ID}, []tenant.SubscriptionID{e.Subscription}, &facts[i].Subscriptions)
	}
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	command := booking.Request{
		ID: tenant.NextID[tenant.BookingID](tx.IDs), Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
		Staff: e.ByStaff, JoinWaitlist: true, Actor: tx.Caller.Actor(),
	}
	slots := make([]booking.Slot, len(sessions))
	for i, slot := range found {
		if slot == nil {
			return nil, fault.Missing(fault.SessionNotFound, "Session").WithMetadata("session_id", sessions[i].String())
		}
		due, err := seats.ExpiredHolds(ctx, tx, *slot)
		if err == nil {
			err = s.EndExpiredHolds(ctx, tx, slot, due)
		}
		if err != nil {
			return nil, err
		}
		facts[i].Slot, facts[i].Member, slots[i] = *slot, who, *slot
		if _, err := booking.Decide(facts[i], command, tx.Now); err != nil {
			return nil, err
		}
	}
	e.SessionTitle, e.SessionStarts, e.TimeZone = slots[0].Title, slots[0].StartsAt, slots[0].TimeZone
	if len(sessions) == 1 {
		e.Session = sessions[0]
	} else {
		e.AnyOf = sessions
	}
	return slots, nil
}

// wishForWindow refuses a window that no session can be in, and one in which seats are open.
func (s *Service) wishForWindow(ctx context.Context, tx *engine.Tx, e *waitlist.Entry) error {
	w := *e.Window // a copy: the transaction may run again with the same request
	e.Window = &w
	var (
		service  *catalog.Service
		location *catalog.Location
		resource *catalog.Resource
		before   []waitlist.Entry
		batch    pg.Batch
	)
	catalogdb.FindService(&batch, tx.Tenant, w.Service, &service)
	catalogdb.FindLocation(&batch, tx.Tenant, w.Location, &location)
	catalogdb.FindResource(&batch, tx.Tenant, w.Resource, &resource)
	waitlistdb.ListWindows(&batch, tx.Tenant, e.Member, w.Service, w.Location, &before)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	switch {
	case location == nil || !location.Active:
		return catalog.ErrNoLocation
	case service == nil || !service.Active:
		return catalog.ErrNoService
	case !w.Resource.IsZero() && (resource == nil || resource.Location != w.Location):
		return fault.Missing(fault.ResourceNotFound, "Resource")
	}
	at, err := session.ZoneOf(*location)
	if err != nil {
		return err
	}
	today := civil.DateOf(tx.Now, at.Zone)
	switch {
	case w.Until.Before(w.From):
		return fault.Invalid("window.last_date", "The last day is before the first.")
	case w.Until.Before(today):
		return fault.Invalid("window.last_date", "The window has passed.")
	case w.Until.DaysSince(w.From) >= waitlist.MaxWindow:
		return fault.Invalid("window.last_date", "A window spans at most %d days.", waitlist.MaxWindow)
	case e.Party < service.MinParty || e.Party > service.MaxParty:
		return fault.New(fault.InvalidArgument, fault.PartySize,
			"The party must be of %d to %d.", service.MinParty, service.MaxParty).
			WithMetadata("min", strconv.Itoa(service.MinParty)).WithMetadata("max", strconv.Itoa(service.MaxParty)).WithField("party_size")
	case !slices.Contains(location.Channels, e.Channel) || e.Channel.StaffOnly() && !e.ByStaff:
		return fault.New(fault.FailedPrecondition, fault.ChannelClosed,
			"The location takes no wishes through %s.", e.Channel).
			WithMetadata("channel", string(e.Channel)).WithField("channel")
	}
	if w.From.Before(today) {
		w.From = today
	}
	for _, other := range before {
		if o := other.Window; o.Overlaps(w) && o.Resource == w.Resource && other.Coach == e.Coach {
			return booking.AlreadyBooked(tenant.BookingID{}, other.ID)
		}
	}
	e.SessionTitle, e.TimeZone = service.Name, location.TimeZone
	return s.nothingOpen(ctx, tx, *e, civil.Span{Start: w.From.On(at.Zone), End: w.Until.AddDays(1).On(at.Zone)})
}

// nothingOpen refuses a window if a session in it has open seats.
func (s *Service) nothingOpen(ctx context.Context, tx *engine.Tx, e waitlist.Entry, span civil.Span) error {
	var open []waitlist.Slot
	var batch pg.Batch
	waitlistdb.ListOpenSlots(&batch, tx.Tenant, e.Window.Location, e.Window.Service, span, e.Party, &open)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	for _, slot := range open {
		if slot.StartsAt.After(tx.Now) && e.Wants(slot) {
			return fault.New(fault.FailedPrecondition, fault.SeatsAvailable, "There are seats: book one.").
				WithMetadata("session_id", slot.Session.String())
		}
	}
	return nil
}

// join puts an entry behind all others: in the queues of the sessions that it names, or of its window.
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
		sizes []waitlist.QueueSize
		rules []waitlist.Layer
		batch pg.Batch
	)
	waitlistdb.ListQueues(&batch, tx.Tenant, queues, &sizes)
	waitlistdb.ListAllRules(&batch, tx.Tenant, &rules)
	if err := tx.Load(ctx, &batch); err != nil {
		return e, err
	}
	e, err := waitlist.Join(e, queues, sizes, waitlist.RulesOf(rules), tx.Now)
	if err != nil {
		return e, err
	}
	e.ID, e.CreatedBy, e.MemberActive = tenant.NextID[tenant.EntryID](tx.IDs), tx.Caller.Actor(), true
	waitlistdb.InsertEntry(tx.Tx, tx.Tenant, e)
	waitlistdb.AddPlaces(tx.Tx, tx.Tenant, e, sessions, queues)
	if e, err = s.standing(ctx, tx, e); err != nil {
		return e, err
	}
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.WaitlistJoined, Session: e.Session, Member: e.Member,
		Actor: e.CreatedBy, Data: map[string]any{"entry_id": e.ID.String(), "position": e.Position}, At: tx.Now,
	})
	s.countEntry(tx, waitlist.Waiting)
	return e, nil
}

// LeaveWaitlist ends an entry. The seats of its live offer, if it has one, go to the next in line.
func (s *Service) LeaveWaitlist(
	ctx context.Context, caller tenant.Caller, id tenant.EntryID, reason string, notify bool,
) (waitlist.Entry, error) {
	leave := func(ctx context.Context, tx *engine.Tx) (waitlist.Entry, error) {
		e, err := s.Entry(ctx, tx, id)
		if err != nil {
			return waitlist.Entry{}, err
		}
		up, err := s.LeaveQueue(ctx, tx, e, seats.CancelOptions{Reason: reason, Notify: notify})
		if err != nil {
			return waitlist.Entry{}, err
		}
		return *up.Entry, nil
	}
	return engine.Run(ctx, s.engine, caller, engine.Spec[waitlist.Entry]{
		Name: "waitlist.leave", Races: []engine.Race{seats.PromotionRace}, Replay: true,
		Locate: func(ctx context.Context, read engine.Reader) (engine.Locks, func() engine.Operation[waitlist.Entry], error) {
			_, locks, err := seats.Locator{ID: tenant.BookingID(id), Fills: true}.Locate(ctx, caller.Tenant, read)
			locks.Solo = true
			return locks, func() engine.Operation[waitlist.Entry] { return engine.RunFunc[waitlist.Entry](leave) }, err
		},
	})
}

// Quit ends an active entry. The seats of its live offer, if it has one, go to the next in line.
func (s *Service) Quit(
	ctx context.Context, tx *engine.Tx, e waitlist.Entry, r seats.CancelOptions,
) (waitlist.Entry, error) {
	leaving := waitlist.Leaving(r)
	if e.Status == waitlist.Waiting {
		changes := waitlist.Leave(e, leaving, tx.Now)
		return changes.Entries[0].Entry, s.Apply(ctx, tx, changes)
	}
	var live []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListRivalOffers(&batch, tx.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{e.ID}}, &live)
	if err := tx.Load(ctx, &batch); err != nil {
		return e, err
	}
	for _, o := range live { // one
		answered, err := s.letGo(ctx, tx, o.Withdraw(waitlist.EntryLeft, "", tx.Now), &leaving)
		if err != nil {
			return e, err
		}
		e = *answered.Entry
	}
	return e, nil
}

var noEntry = fault.Missing(fault.EntryNotFound, "Waitlist entry")

// Entry loads an entry that the caller may touch.
func (s *Service) Entry(ctx context.Context, tx *engine.Tx, id tenant.EntryID) (waitlist.Entry, error) {
	var e *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindEntry(&batch, tx.Tenant, id, &e)
	if err := tx.Load(ctx, &batch); err != nil {
		return waitlist.Entry{}, err
	}
	if e == nil || !tx.Caller.CanAccess(e.Member) {
		return waitlist.Entry{}, noEntry
	}
	return *e, nil
}

// waiting loads an entry that must be active.
func (s *Service) waiting(ctx context.Context, tx *engine.Tx, id tenant.EntryID) (waitlist.Entry, error) {
	e, err := s.Entry(ctx, tx, id)
	if err == nil && !e.Status.Active() {
		err = notWaiting(e)
	}
	return e, err
}

func notWaiting(e waitlist.Entry) error {
	return fault.New(fault.FailedPrecondition, fault.BookingState, "The entry no longer waits.").
		WithMetadata("status", string(e.Status))
}
