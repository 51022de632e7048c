package app

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
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
	NoWaitlist   bool                  `json:"no_waitlist"`
	// Hold keeps the seats while somebody pays. A guest has no member, and a contact with a name instead.
	Hold    bool             `json:"hold,omitempty"`
	Guest   bool             `json:"guest,omitempty"`
	Contact booking.Contact  `json:"contact,omitzero"`
	Items   []booking.Choice `json:"items,omitempty"`
	// GuestTier names whose policy a guest follows. A member's tier is that of their membership.
	GuestTier string `json:"guest_tier,omitempty"`
}

// hash identifies what was asked for, to tell a repetition from a conflict. It is kept with
// what came of it, so the names above never change.
func (r BookRequest) hash() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("app: book request: " + err.Error()) // plain values
	}
	sum := sha256.Sum256(text)
	return sum[:]
}

// Place is what came of asking for a place, or of giving one up: a booking or an entry.
type Place struct {
	Booking *booking.Booking
	Entry   *waitlist.Entry
	// Repeated: an earlier request with the same external reference has made it.
	Repeated bool
}

// Book takes seats for a member, or a place in the queue of a full session; or it holds seats for a while, for
// guests too, and with items.
func (a *App) Book(ctx context.Context, caller tenant.Caller, r BookRequest) (Place, error) {
	if r.Guest && strings.TrimSpace(r.Contact.Name) == "" {
		return Place{}, fault.Invalid("contact.name", "A guest needs a name.")
	}
	if r.GuestTier != "" && !r.Guest {
		return Place{}, fault.Invalid("guest_tier", "Only a guest is given a tier: a member's is that of their membership.")
	}
	if r.Member.IsZero() && !r.Guest {
		r.Member = caller.Member
	}
	if r.Member.IsZero() && !r.Guest {
		return Place{}, fault.Invalid("member_id", "Say for whom: you are no member yourself.")
	}
	races := []func(error) bool{byQueue, byItem}
	if r.ExternalRef != "" {
		races = append(races, byRef)
	}
	var place Place
	err := a.write(ctx, caller, "booking.book", func(ctx context.Context, t *tx) (err error) {
		place, err = t.book(ctx, r)
		return err
	}, answers(&place), losing(races...))
	// A second booking of the same session also overlaps the first. Which constraint speaks up is chance.
	if pg.IsUnique(err, "bookings_active", "waitlist_places_active") || pg.IsExclusion(err, "bookings_overlap") {
		if refused := a.alreadyBooked(ctx, caller, r); refused != nil {
			return Place{}, refused
		}
	}
	return place, refusal(err)
}

func (t *tx) book(ctx context.Context, r BookRequest) (Place, error) {
	var (
		slot  *booking.Slot
		facts booking.Facts
		who   *booking.Member
		made  Place
		stock stock
		batch pg.Batch
	)
	command := booking.Command{
		ID: tenant.Next[tenant.BookingID](t.mint), Party: r.Party, Subscription: r.Subscription, Channel: r.Channel,
		NoWaitlist: r.NoWaitlist, Hold: r.Hold, Staff: t.caller.Staff(), Actor: t.caller.Actor(),
	}
	store.FindSlot(&batch, t.in, r.Session, &slot)
	if !r.Guest {
		store.FindBookingMember(&batch, t.in, r.Member, &who)
		store.FindDoubles(&batch, t.in, r.Session, r.Member, r.Party, &facts.Booking, &facts.Entry)
	}
	if !r.Hold && (!command.Staff || !r.Subscription.IsZero()) {
		store.ListPayers(&batch, t.in, r.Session, []tenant.MemberID{r.Member}, []tenant.SubscriptionID{r.Subscription}, &facts.Subscriptions)
	}
	if r.ExternalRef != "" {
		store.FindBookingByRef(&batch, t.in, r.ExternalRef, &made.Booking)
		store.FindEntryByRef(&batch, t.in, r.ExternalRef, &made.Entry)
	}
	if err := t.Load(ctx, &batch); err != nil {
		return Place{}, err
	}
	if made.Booking != nil || made.Entry != nil {
		return repeated(made, r.hash())
	}
	if slot == nil {
		return Place{}, fault.Missing(fault.SessionNotFound, "Session")
	}
	switch {
	case r.Guest:
		who = &booking.Member{Name: r.Contact.Name, Tier: r.GuestTier}
	case who == nil || !who.Active:
		return Place{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	due, err := t.dueHolds(ctx, *slot)
	if err != nil {
		return Place{}, err
	}
	if slices.ContainsFunc(due, func(b booking.Booking) bool { return b.ID == facts.Booking }) {
		facts.Booking = tenant.BookingID{} // their own hold, which has run out
	}
	if err := t.lapse(ctx, slot, due); err != nil {
		return Place{}, err
	}
	facts.Slot, facts.Member = *slot, *who

	plan, err := booking.Decide(facts, command, t.now)
	if err != nil {
		return Place{}, err
	}
	if err := t.takeStock(ctx, *slot, r.Items, &stock); err != nil {
		return Place{}, err
	}
	if plan.Wait {
		return t.enqueue(ctx, facts, command, r)
	}
	b := booking.Booking{
		ID: command.ID, Session: slot.ID, Member: who.ID, Party: r.Party, Channel: r.Channel,
		ExternalRef: r.ExternalRef, Note: r.Note, Contact: r.Contact, GuestTier: r.GuestTier, CreatedBy: t.caller.Actor(),
	}
	if r.ExternalRef != "" {
		b.RequestHash = r.hash()
	}
	what := outbox.BookingConfirmed
	if r.Hold {
		what, b.Status, b.HoldUntil = outbox.BookingHeld, booking.Pending, new(booking.HoldUntil(*slot, t.now))
		t.dueAt(*b.HoldUntil)
	}
	b.HasItems = len(r.Items) > 0
	b = t.place(facts, b, plan)
	b.Items = t.putOut(b, stock)
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: what, Session: b.Session, Booking: b.ID, Member: b.Member,
		Actor: t.caller.Actor(), At: t.now,
	})
	return Place{Booking: &b}, nil
}

// place writes a booking, confirmed unless it is a hold: first what the database may refuse.
func (t *tx) place(f booking.Facts, b booking.Booking, plan booking.Plan) booking.Booking {
	seats := store.Seats{Taken: b.Party}
	if b.Status == booking.Pending {
		seats.Holds = 1
	} else {
		b.Status, b.ConfirmedAt = booking.Confirmed, &t.now
	}
	b.Payment.Status = booking.Unpaid
	b.Credits, b.Counted, b.Exclusive = plan.Credits, plan.Counted, plan.Exclusive
	b.StartsAt, b.EndsAt, b.CreatedAt = f.Slot.StartsAt, f.Slot.EndsAt, t.now
	b.MemberName, b.MemberTier = f.Member.Name, f.Member.Tier
	b.SessionTitle, b.TimeZone, b.LocalDate, b.Rules = f.Slot.Title, f.Slot.TimeZone, f.Slot.LocalDate, f.Slot.Rules
	if plan.Payer != nil {
		b.Subscription = plan.Payer.ID
	}
	store.InsertBooking(t.Tx, t.in, b)
	store.MoveSeats(t.Tx, t.in, b.Session, seats)
	if plan.Payer != nil {
		t.settle(*plan.Payer, plan.Ledger)
		if plan.Counted {
			store.CountBooking(t.Tx, t.in, plan.Payer.ID, f.Slot.LocalDate, +1)
		}
	}
	return b
}

// enqueue gives a place in the queue of a full session.
func (t *tx) enqueue(ctx context.Context, f booking.Facts, c booking.Command, r BookRequest) (Place, error) {
	e := waitlist.Entry{
		Session: f.Slot.ID, Member: f.Member.ID, Party: r.Party, Subscription: r.Subscription, Channel: r.Channel, ByStaff: c.Staff,
		ExternalRef: r.ExternalRef, Note: r.Note, MemberName: f.Member.Name, MemberTier: f.Member.Tier,
		SessionTitle: f.Slot.Title, SessionStarts: f.Slot.StartsAt, TimeZone: f.Slot.TimeZone,
	}
	if r.ExternalRef != "" {
		e.RequestHash = r.hash()
	}
	e, err := t.join(ctx, e, []booking.Slot{f.Slot})
	if fault.ReasonOf(err) == fault.WaitlistFull || fault.ReasonOf(err) == fault.WaitlistClosed {
		err = booking.Full().Because(err) // they asked for seats
	}
	return Place{Entry: &e}, err
}

// repeated answers a request whose external reference is known.
func repeated(made Place, hash []byte) (Place, error) {
	var before []byte
	if made.Booking != nil {
		before, made.Entry = made.Booking.RequestHash, nil // a promoted entry's reference went over to its booking
	} else {
		before = made.Entry.RequestHash
	}
	if string(before) != string(hash) {
		return Place{}, fault.New(fault.AlreadyExists, fault.ExternalRefConflict,
			"The external reference was used for another request.").In("external_ref")
	}
	made.Repeated = true
	return made, nil
}

// alreadyBooked tells which booking or entry in the same session stands in the way; nil if none does.
func (a *App) alreadyBooked(ctx context.Context, caller tenant.Caller, r BookRequest) error {
	var batch pg.Batch
	var have *booking.Booking
	var waits *waitlist.Entry
	store.FindActiveBooking(&batch, caller.Tenant, r.Session, r.Member, &have)
	store.FindActiveEntry(&batch, caller.Tenant, r.Session, r.Member, &waits)
	if err := a.read(ctx, caller, &batch); err != nil {
		return err
	}
	var id tenant.BookingID
	var entry tenant.EntryID
	if have != nil {
		id = have.ID
	}
	if waits != nil {
		entry = waits.ID
	}
	if id.IsZero() && entry.IsZero() {
		return nil
	}
	return booking.AlreadyBooked(id, entry)
}
