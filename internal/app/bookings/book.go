package bookings

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// BookRequest asks for seats.
type BookRequest struct {
	Session      tenant.SessionID      `json:"session_id"`
	Member       tenant.MemberID       `json:"member_id"` // zero: the caller
	Party        int                   `json:"party_size"`
	Subscription tenant.SubscriptionID `json:"subscription_id"`
	Channel      catalog.Channel       `json:"channel"`
	ExternalRef  string                `json:"external_ref"`
	Note         string                `json:"note"`
	RefuseFull   bool                  `json:"refuse_full"`
	// Hold keeps the seats while the customer pays. A guest has no member, and a contact with a name instead.
	Hold    bool                 `json:"hold,omitempty"`
	Guest   bool                 `json:"guest,omitempty"`
	Contact booking.Contact      `json:"contact,omitzero"`
	Items   []booking.ItemChoice `json:"items,omitempty"`
	// GuestTier is the tier whose policy a guest follows. A member's tier is that of their membership.
	GuestTier string `json:"guest_tier,omitempty"`
	// Raise the capacity of a full session by what is missing.
	Raise bool `json:"raise_capacity,omitempty"`
}

// Book takes seats in a session for a member or a guest, holds them for a while, or joins the waitlist of a full
// session.
func (s *Service) Book(ctx context.Context, caller tenant.Caller, r BookRequest) (seats.Result, error) {
	if err := r.complete(caller); err != nil {
		return seats.Result{}, err
	}
	result, err := engine.RunBatched(ctx, s.engine, caller, engine.Batched[seats.Result]{
		Name: "booking.book", Races: r.races(), Replay: true,
		Locate: engine.Known(r.locks(), func() engine.Operation[seats.Result] {
			return &book{service: s, BookRequest: r}
		}),
	})
	return result, s.nameOwnBooking(ctx, caller, s.explainRefusal(ctx, caller, r, seats.ConstraintError(err)))
}

// book is one attempt at Book.
type book struct {
	service *Service
	BookRequest
	slot   *booking.Slot
	member *booking.Member
	facts  booking.Facts
	waits  waitlist.Standing
	offer  *waitlist.Offer // that the booking accepts; nil if none
	made   seats.Result    // by an earlier request with the same external reference
}

// Load implements engine.Operation.
func (b *book) Load(q *engine.Query) {
	seats.LoadSlot(q, b.Session, &b.slot)
	seats.RequestSeats(q, b.Session, b.Party)
	if !b.Guest {
		bookingdb.FindBookingMember(q.Batch, q.Tenant, b.Member, &b.member)
		q.Then(b.loadOther)
	}
	if !b.Hold && (!booking.IsFree(q.Caller, b.Member) || !b.Subscription.IsZero()) { // what is not read cannot conflict
		seats.LoadPayers(q, &b.slot, b.Member, b.Subscription, &b.facts.Subscriptions)
	}
	seats.LoadByRef(q, b.ExternalRef, &b.made)
}

// loadOther reads how the member waits, and their other booking, but that only if this session could be full: a member
// with a booking must not join the queue. Otherwise a unique index rejects a second booking, and reading here would add
// predicate locks that make concurrent bookings fail.
func (b *book) loadOther(q *engine.Query) {
	if b.slot == nil {
		return
	}
	if b.member != nil {
		waitlists.LoadStanding(q.Batch, q.Tenant, b.Session, *b.member, &b.waits)
	}
	key := bookingdb.SessionMember{Session: b.Session, Member: b.Member}
	if q.Strict || seats.MayBeFull(q, b.slot) {
		bookingdb.FindActiveIDs(q.Batch, q.Tenant, key, func(ids bookingdb.ActiveIDs) {
			b.facts.Booking = ids.Booking
		})
	}
	if q.Strict {
		bookingdb.ListBusy(q.Batch, q.Tenant, key, &b.facts.Busy)
	}
}

// Run implements engine.Operation.
func (b *book) Run(ctx context.Context, tx *engine.Tx) (seats.Result, error) {
	if b.made.Found() {
		return b.service.waitlists.RepeatedResult(ctx, tx, b.made, b.hash())
	}
	if err := b.completeFacts(ctx, tx); err != nil {
		return seats.Result{}, err
	}
	request := booking.Request{
		ID: tenant.NextID[tenant.BookingID](tx.IDs), Party: b.Party, Subscription: b.Subscription, Channel: b.Channel,
		RefuseFull: b.RefuseFull, Raise: b.Raise, Hold: b.Hold, May: tx.Caller.May, Free: booking.IsFree(tx.Caller, b.Member),
		Actor: tx.Caller.Actor(),
	}
	result, err := booking.Decide(b.facts, request, tx.Now)
	if err != nil {
		return seats.Result{}, err
	}
	stock, err := seats.ReserveStock(ctx, tx, b.facts.Slot, b.Items)
	if err != nil {
		return seats.Result{}, err
	}
	if result.Wait {
		return b.service.waitlists.Enqueue(ctx, tx, b.facts, b.entry(request.Free))
	}
	if b.Hold { // it only pauses entries
		return b.write(tx, request.ID, result, stock), nil
	}
	if err := b.service.waitlists.PrepareSettle(tx, b.waits, b.offer); err != nil {
		return seats.Result{}, err
	}
	made := b.write(tx, request.ID, result, stock)
	return made, b.service.waitlists.Settle(ctx, tx, b.waits, *made.Booking, b.offer)
}

// completeFacts puts the facts together. It ends expired holds, whose seats go to the members who wait.
func (b *book) completeFacts(ctx context.Context, tx *engine.Tx) error {
	switch {
	case b.slot == nil:
		return seats.ErrNoSession
	case b.Guest:
		b.member = &booking.Member{Name: b.Contact.Name, Tier: b.GuestTier}
	case b.member == nil || !b.member.Active:
		return seats.ErrNoMember
	}
	expired, err := b.service.waitlists.EndExpiredHolds(ctx, tx, b.slot)
	if err != nil {
		return err
	}
	opened, err := b.service.waitlists.FillOpening(ctx, tx, b.slot)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(expired, func(other booking.Booking) bool { return other.ID == b.facts.Booking }) {
		b.facts.Booking = tenant.BookingID{} // the member's own hold, which has expired
	}
	b.facts.Slot, b.facts.Member = *b.slot, *b.member
	if len(expired) > 0 || opened { // seats may have gone to an entry of this member
		if b.waits, err = b.service.waitlists.Standing(ctx, tx, b.Session, *b.member); err != nil {
			return err
		}
	}
	if b.facts.Entry = b.waits.Named(); !b.Hold {
		b.offer = b.waits.Offer(tx.Now)
		b.facts.Offer = waitlists.OfferedSeats(b.offer)
	}
	return nil
}

// write writes the booking or the hold.
func (b *book) write(tx *engine.Tx, id tenant.BookingID, result booking.BookResult, stock seats.Stock) seats.Result {
	made := booking.Booking{
		ID: id, Session: b.Session, Member: b.member.ID, Party: b.Party, Channel: b.Channel,
		ExternalRef: b.ExternalRef, Note: b.Note, Contact: b.Contact, GuestTier: b.GuestTier, CreatedBy: tx.Caller.Actor(),
		HasItems: len(b.Items) > 0, RequestHash: b.refHash(), Promoted: b.offer != nil,
	}
	var data event.Data = event.BookingConfirmed{Imported: false}
	if b.Hold {
		data, made.Status, made.HoldUntil = event.BookingHeld{}, booking.Pending, new(b.slot.HoldUntil(tx.Now))
		tx.WakeAt(*made.HoldUntil)
	}
	if result.Raised > 0 {
		seats.RaiseCapacity(tx, b.slot, result.Raised)
	}
	waitlists.TakeOffered(tx, b.slot, b.facts.Offer, b.Party)
	made = seats.Take(tx, b.facts, made, result)
	b.slot.SeatsTaken += made.Party
	made.Items = seats.InsertItemLines(tx, made, stock)
	seats.BookingEvent(tx, made, data, result.Ledger...)
	return seats.Result{Booking: &made}
}

// entry is what the request asks of the waitlist of a full session.
func (b *book) entry(byStaff bool) waitlist.Entry {
	return waitlist.Entry{
		Party: b.Party, Subscription: b.Subscription, Channel: b.Channel, ByStaff: byStaff, ExternalRef: b.ExternalRef,
		Note: b.Note, RequestHash: b.refHash(),
	}
}

// complete decides for whom the request is, and whether the caller may ask for it. A hold with a contact and without a
// member is for a guest; a member who may not hold for others holds for themselves.
func (r *BookRequest) complete(caller tenant.Caller) error {
	if r.Hold && r.Member.IsZero() && r.Contact.Name != "" {
		r.Guest = !caller.SelfOnly || caller.Member.IsZero()
	}
	if r.Member.IsZero() && !r.Guest {
		r.Member = caller.Member
	}
	if r.Raise && !caller.May[booking.OverCapacity] {
		return fault.MissingPermission(booking.OverCapacity).WithField("raise_capacity")
	}
	if caller.SelfOnly && (r.Guest || r.Member != caller.Member) {
		if r.Hold {
			return fault.MissingPermission(booking.HoldForOthers)
		}
		return fault.MissingPermission(booking.CreateForOthers)
	}
	var err error
	r.Contact, err = booking.CheckBooker(r.Member, r.Guest, r.Contact, booking.Contact{}, r.GuestTier)
	return err
}

// locks returns the session's lock, shared with other bookings, and those of the member and the external reference.
func (r *BookRequest) locks() engine.Locks {
	locks := engine.Locks{Together: []engine.Key{r.Session.UUID}}
	if !r.Guest {
		locks.Single = append(locks.Single, r.Member.UUID)
	}
	if r.ExternalRef != "" {
		locks.Single = append(locks.Single, engine.NameKey("ref", r.ExternalRef))
	}
	return locks
}

// races returns the constraints to which a booking can lose a race.
func (r *BookRequest) races() []engine.Race {
	races := []engine.Race{seats.QueueRace, seats.ItemRace}
	if r.ExternalRef != "" {
		races = append(races, seats.RefRace)
	}
	return races
}

// hash identifies the request, to tell a repetition from a conflict. It is stored with the booking, so the JSON names
// of the fields never change.
func (r BookRequest) hash() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("bookings: request: " + err.Error()) // plain values
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// refHash is the hash that is stored with an external reference; nil without one.
func (r BookRequest) refHash() []byte {
	if r.ExternalRef == "" {
		return nil
	}
	return r.hash()
}

// explainRefusal makes "already booked" win over payment errors: loadOther may not have read the member's booking.
func (s *Service) explainRefusal(ctx context.Context, caller tenant.Caller, r BookRequest, err error) error {
	if r.Guest || !slices.Contains(paymentRefusals, fault.ReasonOf(err)) {
		return err
	}
	if booked := s.alreadyBooked(ctx, caller, r); booked != nil {
		return booked
	}
	return err
}

// alreadyBooked looks for the member's active booking in the session. If there is one, it returns the error that names
// it. A waitlist entry alone does not keep its member from booking.
func (s *Service) alreadyBooked(ctx context.Context, caller tenant.Caller, r BookRequest) error {
	var ids bookingdb.ActiveIDs
	var batch pg.Batch
	key := bookingdb.SessionMember{Session: r.Session, Member: r.Member}
	bookingdb.FindActiveIDs(&batch, caller.Tenant, key, func(found bookingdb.ActiveIDs) { ids = found })
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	if ids.Booking.IsZero() {
		return nil
	}
	return catalog.AlreadyBooked(r.Member, ids.Booking, ids.Entry)
}

// nameOwnBooking says that the booking that an error names is the caller's, if it is a program that made it.
func (s *Service) nameOwnBooking(ctx context.Context, caller tenant.Caller, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || !caller.Member.IsZero() {
		return err
	}
	id, notNamed := tenant.Parse[tenant.BookingID](f.Metadata["booking_id"])
	if notNamed != nil {
		return err
	}
	caller.SelfOnly = true
	if _, hidden := s.GetBooking(ctx, caller, id); hidden != nil {
		return err
	}
	return f.OwnedBy(caller.Actor())
}

// paymentRefusals are the refusals of members for whom no plan pays.
var paymentRefusals = []fault.Reason{
	fault.NoActivePlan, fault.PlanChoiceRequired, fault.OutstandingBalance, fault.NoCredits, fault.DailyLimit,
	fault.WeeklyLimit,
}
