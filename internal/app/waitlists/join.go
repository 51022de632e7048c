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

// JoinRequest asks for a place on the waitlist of one session, of any one of several, or of a time window.
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

// JoinWaitlist puts a member on a waitlist.
func (s *Service) JoinWaitlist(ctx context.Context, caller tenant.Caller, r JoinRequest) (seats.Place, error) {
	if r.Member.IsZero() {
		r.Member = caller.Member
	}
	if !caller.MayTouch(r.Member) {
		return seats.Place{}, seats.NoMember
	}
	races, locks := []engine.Race{seats.LostByQueue}, engine.Locks{Single: []engine.Key{r.Member.UUID}, Solo: true}
	if r.ExternalRef != "" {
		races, locks.Single = append(races, seats.LostByRef), append(locks.Single, engine.NameKey("ref", r.ExternalRef))
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
		return seats.Place{}, seats.Refusal(err)
	}
	return joined, nil
}

func (s *Service) joinWaitlist(ctx context.Context, tx *engine.Tx, r JoinRequest) (seats.Place, error) {
	var (
		member, coach *booking.Member
		made          seats.Place
		batch         pg.Batch
	)
	bookingdb.FindBookingMember(&batch, tx.Tenant, r.Member, &member)
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
		return seats.Repeated(made, r.hash())
	case member == nil || !member.Active:
		return seats.Place{}, seats.NoMember
	case coach == nil && !r.Coach.IsZero():
		return seats.Place{}, fault.Missing(fault.MemberNotFound, "Coach")
	}
	e := waitlist.Entry{
		Member: member.ID, Window: r.Window, Coach: r.Coach, Party: r.Party, Subscription: r.Subscription,
		Channel: r.Channel, ByStaff: tx.Caller.Staff(), ExternalRef: r.ExternalRef, Note: r.Note,
		MemberName: member.Name, MemberTier: member.Tier,
	}
	if r.ExternalRef != "" {
		e.RequestHash = r.hash()
	}
	var slots []booking.Slot
	var err error
	if r.Window != nil {
		err = s.checkWindow(ctx, tx, &e)
	} else {
		slots, err = s.checkSessions(ctx, tx, &e, *member, r.Sessions)
	}
	if err != nil {
		return seats.Place{}, err
	}
	e, err = s.join(ctx, tx, e, slots)
	return seats.Place{Entry: &e}, err
}

// checkSessions decides for each session whether the entry may join its queue, and sets the entry's sessions.
func (s *Service) checkSessions(
	ctx context.Context, tx *engine.Tx, e *waitlist.Entry, member booking.Member, sessions []tenant.SessionID,
) ([]booking.Slot, error) {
	facts := make([]booking.Facts, len(sessions))
	found := make([]*booking.Slot, len(sessions))
	var batch pg.Batch
	for i, id := range sessions {
		bookingdb.FindSlot(&batch, tx.Tenant, id, &found[i])
		bookingdb.FindDoubles(&batch, tx.Tenant, id, member.ID, e.Party, &facts[i].Booking, &facts[i].Entry)
		bookingdb.ListPayers(
			&batch, tx.Tenant, id, []tenant.MemberID{member.ID}, []tenant.SubscriptionID{e.Subscription},
			&facts[i].Subscriptions)
	}
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	command := booking.Command{
		ID: tenant.Next[tenant.BookingID](tx.IDs), Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
		Staff: e.ByStaff, Join: true, Actor: tx.Caller.Actor(),
	}
	slots := make([]booking.Slot, len(sessions))
	for i, slot := range found {
		if slot == nil {
			return nil, seats.NoSession.With("session_id", sessions[i].String())
		}
		if _, err := s.Lapse(ctx, tx, slot); err != nil {
			return nil, err
		}
		facts[i].Slot, facts[i].Member, slots[i] = *slot, member, *slot
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

// checkWindow rejects a time window that cannot contain a session, and one with a session that has open seats. It moves
// the window's start to today, if it has passed.
func (s *Service) checkWindow(ctx context.Context, tx *engine.Tx, e *waitlist.Entry) error {
	w := *e.Window // a copy, because the transaction may run again with the same request
	e.Window = &w
	var (
		service  *catalog.Service
		location *catalog.Location
		resource *catalog.Resource
		others   []waitlist.Entry
		batch    pg.Batch
	)
	catalogdb.FindService(&batch, tx.Tenant, w.Service, &service)
	catalogdb.FindLocation(&batch, tx.Tenant, w.Location, &location)
	catalogdb.FindResource(&batch, tx.Tenant, w.Resource, &resource)
	waitlistdb.ListWindows(&batch, tx.Tenant, e.Member, w.Service, w.Location, &others)
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
			With("min", strconv.Itoa(service.MinParty)).With("max", strconv.Itoa(service.MaxParty)).In("party_size")
	case !slices.Contains(location.Channels, e.Channel) || e.Channel.StaffOnly() && !e.ByStaff:
		return fault.New(fault.FailedPrecondition, fault.ChannelClosed,
			"The location takes no wishes through %s.", e.Channel).
			With("channel", string(e.Channel)).In("channel")
	}
	if w.From.Before(today) {
		w.From = today
	}
	for _, other := range others {
		if o := other.Window; o.Overlaps(w) && o.Resource == w.Resource && other.Coach == e.Coach {
			return booking.AlreadyBooked(tenant.BookingID{}, other.ID)
		}
	}
	e.SessionTitle, e.TimeZone = service.Name, location.TimeZone
	return s.checkNoOpenSeats(ctx, tx, *e, civil.Span{Start: w.From.On(at.Zone), End: w.Until.AddDays(1).On(at.Zone)})
}

// checkNoOpenSeats rejects a time window if a session in it has open seats.
func (s *Service) checkNoOpenSeats(ctx context.Context, tx *engine.Tx, e waitlist.Entry, span civil.Span) error {
	var open []waitlist.Slot
	var batch pg.Batch
	waitlistdb.ListOpenSlots(&batch, tx.Tenant, e.Window.Location, e.Window.Service, span, e.Party, &open)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	for _, slot := range open {
		if slot.StartsAt.After(tx.Now) && e.Wants(slot) {
			return fault.New(fault.FailedPrecondition, fault.SeatsAvailable, "There are seats: book one.").
				With("session_id", slot.Session.String())
		}
	}
	return nil
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
	e.ID, e.CreatedBy, e.MemberActive = tenant.Next[tenant.EntryID](tx.IDs), tx.Caller.Actor(), true
	waitlistdb.InsertEntry(tx.Tx, tx.Tenant, e)
	waitlistdb.AddPlaces(tx.Tx, tx.Tenant, e, sessions, queues)
	if e, err = s.addPosition(ctx, tx, e); err != nil {
		return e, err
	}
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.Next[tenant.EventID](tx.IDs), Type: outbox.WaitlistJoined, Session: e.Session, Member: e.Member,
		Actor: e.CreatedBy, Data: map[string]any{"entry_id": e.ID.String(), "position": e.Position}, At: tx.Now,
	})
	s.countEntry(tx, waitlist.Waiting)
	return e, nil
}
