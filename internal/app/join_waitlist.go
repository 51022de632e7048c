package app

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// JoinRequest is a wish for a place: in one session, in any one of several, or in a window.
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

// JoinWaitlist queues a member.
func (a *App) JoinWaitlist(ctx context.Context, caller tenant.Caller, r JoinRequest) (Place, error) {
	if r.Member.IsZero() {
		r.Member = caller.Member
	}
	if !caller.MayTouch(r.Member) {
		return Place{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	races, about := []func(error) bool{byQueue}, subjects{sole: []tenant.UUID{r.Member.UUID}}
	if r.ExternalRef != "" {
		races, about.sole = append(races, byRef), append(about.sole, subject("ref", r.ExternalRef))
	}
	for _, id := range r.Sessions {
		about.shared = append(about.shared, id.UUID)
	}
	if w := r.Window; w != nil {
		about.shared = append(about.shared, waitlistOf(waitlist.Queue{Location: w.Location, Service: w.Service}))
	}
	var joined Place
	err := a.deal(ctx, caller, "waitlist.join", whole(func(ctx context.Context, t *tx) (err error) {
		joined, err = t.joinWaitlist(ctx, r)
		return err
	}), about, answers(&joined), losing(races...))
	if pg.IsUnique(err, "waitlist_places_active") && len(r.Sessions) > 0 {
		if refused := a.alreadyBooked(ctx, caller, BookRequest{Session: r.Sessions[0], Member: r.Member}); refused != nil {
			return Place{}, refused
		}
	}
	if err != nil {
		return Place{}, refusal(err)
	}
	return joined, nil
}

func (t *tx) joinWaitlist(ctx context.Context, r JoinRequest) (Place, error) {
	var who, coach *booking.Member
	var made Place
	var batch pg.Batch
	bookingdb.FindBookingMember(&batch, t.in, r.Member, &who)
	bookingdb.FindBookingMember(&batch, t.in, r.Coach, &coach)
	if r.ExternalRef != "" {
		bookingdb.FindBookingByRef(&batch, t.in, r.ExternalRef, &made.Booking)
		waitlistdb.FindEntryByRef(&batch, t.in, r.ExternalRef, &made.Entry)
	}
	if err := t.Load(ctx, &batch); err != nil {
		return Place{}, err
	}
	switch {
	case made.Booking != nil || made.Entry != nil:
		return repeated(made, r.hash())
	case who == nil || !who.Active:
		return Place{}, fault.Missing(fault.MemberNotFound, "Member")
	case coach == nil && !r.Coach.IsZero():
		return Place{}, fault.Missing(fault.MemberNotFound, "Coach")
	}
	e := waitlist.Entry{
		Member: who.ID, Window: r.Window, Coach: r.Coach, Party: r.Party, Subscription: r.Subscription, Channel: r.Channel,
		ByStaff: t.caller.Staff(), ExternalRef: r.ExternalRef, Note: r.Note, MemberName: who.Name, MemberTier: who.Tier,
	}
	if r.ExternalRef != "" {
		e.RequestHash = r.hash()
	}
	var slots []booking.Slot
	var err error
	if r.Window != nil {
		err = t.wishForWindow(ctx, &e)
	} else {
		slots, err = t.wishForSessions(ctx, &e, *who, r.Sessions)
	}
	if err != nil {
		return Place{}, err
	}
	e, err = t.join(ctx, e, slots)
	return Place{Entry: &e}, err
}

// wishForSessions asks for each session what joining its queue would say.
func (t *tx) wishForSessions(ctx context.Context, e *waitlist.Entry, who booking.Member, sessions []tenant.SessionID) ([]booking.Slot, error) {
	facts := make([]booking.Facts, len(sessions))
	found := make([]*booking.Slot, len(sessions))
	var batch pg.Batch
	for i, id := range sessions {
		bookingdb.FindSlot(&batch, t.in, id, &found[i])
		bookingdb.FindDoubles(&batch, t.in, id, who.ID, e.Party, &facts[i].Booking, &facts[i].Entry)
		bookingdb.ListPayers(&batch, t.in, id, []tenant.MemberID{who.ID}, []tenant.SubscriptionID{e.Subscription}, &facts[i].Subscriptions)
	}
	if err := t.Load(ctx, &batch); err != nil {
		return nil, err
	}
	command := booking.Command{
		ID: tenant.Next[tenant.BookingID](t.mint), Party: e.Party, Subscription: e.Subscription, Channel: e.Channel, Staff: e.ByStaff,
		Join: true, Actor: t.caller.Actor(),
	}
	slots := make([]booking.Slot, len(sessions))
	for i, slot := range found {
		if slot == nil {
			return nil, fault.Missing(fault.SessionNotFound, "Session").With("session_id", sessions[i].String())
		}
		due, err := t.dueHolds(ctx, *slot)
		if err == nil {
			err = t.lapse(ctx, slot, due)
		}
		if err != nil {
			return nil, err
		}
		facts[i].Slot, facts[i].Member, slots[i] = *slot, who, *slot
		if _, err := booking.Decide(facts[i], command, t.now); err != nil {
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

// wishForWindow checks that there may be something in the window, and that there is nothing yet.
func (t *tx) wishForWindow(ctx context.Context, e *waitlist.Entry) error {
	w := *e.Window // the request is asked again when the transaction runs again
	e.Window = &w
	var (
		service  *catalog.Service
		location *catalog.Location
		resource *catalog.Resource
		before   []waitlist.Entry
		batch    pg.Batch
	)
	catalogdb.FindService(&batch, t.in, w.Service, &service)
	catalogdb.FindLocation(&batch, t.in, w.Location, &location)
	catalogdb.FindResource(&batch, t.in, w.Resource, &resource)
	waitlistdb.ListWindows(&batch, t.in, e.Member, w.Service, w.Location, &before)
	if err := t.Load(ctx, &batch); err != nil {
		return err
	}
	switch {
	case location == nil || !location.Active:
		return noLocation
	case service == nil || !service.Active:
		return noService
	case !w.Resource.IsZero() && (resource == nil || resource.Location != w.Location):
		return fault.Missing(fault.ResourceNotFound, "Resource")
	}
	at, err := zoneOf(*location)
	if err != nil {
		return err
	}
	today := civil.DateOf(t.now, at.Zone)
	switch {
	case w.Until.Before(w.From):
		return fault.Invalid("window.last_date", "The last day is before the first.")
	case w.Until.Before(today):
		return fault.Invalid("window.last_date", "The window has passed.")
	case w.Until.DaysSince(w.From) >= waitlist.MaxWindow:
		return fault.Invalid("window.last_date", "A window spans at most %d days.", waitlist.MaxWindow)
	case e.Party < service.MinParty || e.Party > service.MaxParty:
		return fault.New(fault.InvalidArgument, fault.PartySize, "The party must be of %d to %d.", service.MinParty, service.MaxParty).
			With("min", strconv.Itoa(service.MinParty)).With("max", strconv.Itoa(service.MaxParty)).In("party_size")
	case !slices.Contains(location.Channels, e.Channel) || e.Channel.StaffOnly() && !e.ByStaff:
		return fault.New(fault.FailedPrecondition, fault.ChannelClosed, "The location takes no wishes through %s.", e.Channel).
			With("channel", string(e.Channel)).In("channel")
	}
	if w.From.Before(today) {
		w.From = today
	}
	for _, other := range before {
		if o := other.Window; !o.From.After(w.Until) && !o.Until.Before(w.From) && o.Resource == w.Resource && other.Coach == e.Coach {
			return booking.AlreadyBooked(tenant.BookingID{}, other.ID)
		}
	}
	e.SessionTitle, e.TimeZone = service.Name, location.TimeZone
	return t.nothingOpen(ctx, *e, civil.Span{Start: w.From.On(at.Zone), End: w.Until.AddDays(1).On(at.Zone)})
}

// nothingOpen refuses a wish that some session fulfils already.
func (t *tx) nothingOpen(ctx context.Context, e waitlist.Entry, span civil.Span) error {
	var open []waitlist.Slot
	var batch pg.Batch
	waitlistdb.ListOpenSlots(&batch, t.in, e.Window.Location, e.Window.Service, span, e.Party, &open)
	if err := t.Load(ctx, &batch); err != nil {
		return err
	}
	for _, slot := range open {
		if slot.StartsAt.After(t.now) && e.Wants(slot) {
			return fault.New(fault.FailedPrecondition, fault.SeatsAvailable, "There are seats: book one.").With("session_id", slot.Session.String())
		}
	}
	return nil
}

// join puts an entry in line, behind all others: in the queues of the sessions that it names, or of its window.
func (t *tx) join(ctx context.Context, e waitlist.Entry, slots []booking.Slot) (waitlist.Entry, error) {
	queues := make([]waitlist.Queue, len(slots))
	sessions := make([]tenant.SessionID, len(slots))
	for i, s := range slots {
		queues[i], sessions[i] = queueOf(s), s.ID
	}
	if e.Window != nil {
		queues = e.Window.Queues()
	}
	if err := t.takeTurn(queues...); err != nil {
		return e, err
	}
	var sizes []waitlistdb.QueueSize
	var rules []waitlist.Layer
	var batch pg.Batch
	waitlistdb.ListQueues(&batch, t.in, queues, &sizes)
	waitlistdb.ListAllRules(&batch, t.in, &rules)
	if err := t.Load(ctx, &batch); err != nil {
		return e, err
	}
	var last int64
	size := make(map[waitlist.Queue]int, len(sizes))
	for _, s := range sizes {
		last, size[s.Queue] = max(last, s.LastKey), s.Waiting
	}
	for _, q := range queues {
		if err := rulesAt(rules, q.Location, q.Service).Rules.Admits(size[q], q.Date); err != nil {
			return e, err
		}
	}
	e.ID, e.Status, e.Key = tenant.Next[tenant.EntryID](t.mint), waitlist.Waiting, waitlist.NextKey(t.now, last)
	e.CreatedBy, e.CreatedAt, e.MemberActive = t.caller.Actor(), t.now, true
	waitlistdb.InsertEntry(t.Tx, t.in, e)
	waitlistdb.AddPlaces(t.Tx, t.in, e, sessions, queues)
	e, err := t.standing(ctx, e)
	if err != nil {
		return e, err
	}
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: outbox.WaitlistJoined, Session: e.Session, Member: e.Member,
		Actor: e.CreatedBy, Data: map[string]any{"entry_id": e.ID.String(), "position": e.Position}, At: t.now,
	})
	t.tally.entry(waitlist.Waiting)
	return e, nil
}

// LeaveWaitlist ends an entry. Its live offer, if it has one, goes to the next.
func (a *App) LeaveWaitlist(ctx context.Context, caller tenant.Caller, id tenant.EntryID, reason string, notify bool) (waitlist.Entry, error) {
	var left waitlist.Entry
	leave := whole(func(ctx context.Context, t *tx) error {
		e, err := t.entry(ctx, id)
		if err != nil {
			return err
		}
		up, err := t.leaveQueue(ctx, e, CancelRequest{Reason: reason, Notify: notify})
		if err == nil {
			left = *up.Entry
		}
		return err
	})
	err := a.dealAt(ctx, caller, "waitlist.leave", tenant.BookingID(id), func(bookingdb.Visit) deal { return leave },
		answers(&left), losing(byPromotion))
	if err != nil {
		return waitlist.Entry{}, err
	}
	return left, nil
}

// quit ends an entry that waits. Its live offer, if it has one, goes to the next.
func (t *tx) quit(ctx context.Context, e waitlist.Entry, r CancelRequest) (waitlist.Entry, error) {
	if e.Status == waitlist.Waiting {
		e = t.close(e, waitlist.Cancelled, tenant.BookingID{})
		t.left(e, r.Reason, r.Notify)
		return e, nil
	}
	var live []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListRivalOffers(&batch, t.in, waitlistdb.WhoseRivals{Entries: []tenant.EntryID{e.ID}}, &live)
	if err := t.Load(ctx, &batch); err != nil {
		return e, err
	}
	for _, o := range live { // one
		answered, err := t.letGo(ctx, o.Withdraw(waitlist.EntryLeft, "", t.now), &r)
		if err != nil {
			return e, err
		}
		e = *answered.Entry
	}
	return e, nil
}

var noEntry = fault.Missing(fault.EntryNotFound, "Waitlist entry")

// entry loads an entry that the caller may touch.
func (t *tx) entry(ctx context.Context, id tenant.EntryID) (waitlist.Entry, error) {
	var e *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindEntry(&batch, t.in, id, &e)
	if err := t.Load(ctx, &batch); err != nil {
		return waitlist.Entry{}, err
	}
	if e == nil || !t.caller.MayTouch(e.Member) {
		return waitlist.Entry{}, noEntry
	}
	return *e, nil
}

// waiting is entry for one that must still be in line.
func (t *tx) waiting(ctx context.Context, id tenant.EntryID) (waitlist.Entry, error) {
	e, err := t.entry(ctx, id)
	if err == nil && !e.Status.Active() {
		err = notWaiting(e)
	}
	return e, err
}

func notWaiting(e waitlist.Entry) error {
	return fault.New(fault.FailedPrecondition, fault.BookingState, "The entry no longer waits.").With("status", string(e.Status))
}
