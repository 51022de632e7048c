package app

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
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
	races, about := []func(error) bool{byQueue, byItem, byPromotion}, subjects{shared: []tenant.UUID{r.Session.UUID}}
	if !r.Guest {
		about.sole = append(about.sole, r.Member.UUID)
	}
	if r.ExternalRef != "" {
		races, about.sole = append(races, byRef), append(about.sole, subject("ref", r.ExternalRef))
	}
	p := &placing{BookRequest: r}
	err := refusal(a.deal(ctx, caller, "booking.book", p, about, answers(&p.place), losing(races...)))
	if err == nil {
		return p.place, nil
	}
	// Somebody who has a place is told so, rather than that another could not be paid. See more.
	if !r.Guest && slices.Contains(unpaid, fault.ReasonOf(err)) {
		if refused := a.alreadyBooked(ctx, caller, r); refused != nil {
			err = refused
		}
	}
	return Place{}, err
}

// unpaid are the refusals of those whom no plan pays for.
var unpaid = []fault.Reason{
	fault.NoActivePlan, fault.PlanChoiceRequired, fault.OutstandingBalance, fault.NoCredits, fault.DailyLimit, fault.WeeklyLimit,
}

// placing is Book on its way through a transaction.
type placing struct {
	BookRequest
	slot  *booking.Slot
	who   *booking.Member
	facts booking.Facts
	payers
	made  Place // under the same external reference
	place Place
}

func (p *placing) load(t *tx, batch *pg.Batch) {
	*p = placing{BookRequest: p.BookRequest}
	t.findSlot(batch, p.Session, &p.slot)
	t.table.wanted[p.Session] += p.Party
	if !p.Guest {
		bookingdb.FindBookingMember(batch, t.in, p.Member, &p.who)
	}
	if !p.Hold && (!t.caller.Staff() || !p.Subscription.IsZero()) {
		p.payers.load(t, batch, p.Member, p.Subscription)
	}
	if p.ExternalRef != "" {
		bookingdb.FindBookingByRef(batch, t.in, p.ExternalRef, &p.made.Booking)
		waitlistdb.FindEntryByRef(batch, t.in, p.ExternalRef, &p.made.Entry)
	}
}

// more looks for the member's other places only where the answer depends on them: on their booking where the session may
// be full when it comes to them (once a hold has run out, whoever waits may take its seats and all others), so that nobody with
// a place joins the queue, and on their entry where anyone waits. Their place itself is guarded by unique indexes, which take
// no predicate lock.
func (p *placing) more(t *tx, batch *pg.Batch) {
	if p.slot == nil {
		return
	}
	p.payers.more(t, batch, p.slot.LocalDate)
	visit := bookingdb.Visit{Session: p.Session, Member: p.Member}
	if !p.Guest && (t.table.careful || p.slot.Waiting > 0 || p.slot.Holds > 0 || !p.slot.Fits(t.table.wanted[p.Session])) {
		bookingdb.FindDouble(batch, t.in, visit, func(d bookingdb.Double) { p.facts.Booking, p.facts.Entry = d.Booking, d.Entry })
	}
	if !p.Guest && t.table.careful {
		bookingdb.FindBusy(batch, t.in, visit, func(s civil.Span) { p.facts.Busy = append(p.facts.Busy, s) })
	}
}

func (p *placing) settle(ctx context.Context, t *tx) (err error) {
	p.place, err = p.book(ctx, t)
	return err
}

func (p *placing) book(ctx context.Context, t *tx) (Place, error) {
	if p.made.Booking != nil || p.made.Entry != nil {
		return repeated(p.made, p.hash())
	}
	if p.slot == nil {
		return Place{}, fault.Missing(fault.SessionNotFound, "Session")
	}
	switch {
	case p.Guest:
		p.who = &booking.Member{Name: p.Contact.Name, Tier: p.GuestTier}
	case p.who == nil || !p.who.Active:
		return Place{}, fault.Missing(fault.MemberNotFound, "Member")
	}
	due, err := t.dueHolds(ctx, *p.slot)
	if err != nil {
		return Place{}, err
	}
	if slices.ContainsFunc(due, func(b booking.Booking) bool { return b.ID == p.facts.Booking }) {
		p.facts.Booking = tenant.BookingID{} // their own hold, which has run out
	}
	if err := t.lapse(ctx, p.slot, due); err != nil {
		return Place{}, err
	}
	p.facts.Slot, p.facts.Member, p.facts.Subscriptions = *p.slot, *p.who, p.payers
	command := booking.Command{
		ID: tenant.Next[tenant.BookingID](t.mint), Party: p.Party, Subscription: p.Subscription, Channel: p.Channel,
		NoWaitlist: p.NoWaitlist, Hold: p.Hold, Staff: t.caller.Staff(), Actor: t.caller.Actor(),
	}
	plan, err := booking.Decide(p.facts, command, t.now)
	if err != nil {
		return Place{}, err
	}
	var stock stock
	if err := t.takeStock(ctx, *p.slot, p.Items, &stock); err != nil {
		return Place{}, err
	}
	if plan.Wait {
		return t.enqueue(ctx, p.facts, command, p.BookRequest)
	}
	b := booking.Booking{
		ID: command.ID, Session: p.Session, Member: p.who.ID, Party: p.Party, Channel: p.Channel,
		ExternalRef: p.ExternalRef, Note: p.Note, Contact: p.Contact, GuestTier: p.GuestTier, CreatedBy: t.caller.Actor(),
		HasItems: len(p.Items) > 0,
	}
	if p.ExternalRef != "" {
		b.RequestHash = p.hash()
	}
	what := outbox.BookingConfirmed
	if p.Hold {
		what, b.Status, b.HoldUntil = outbox.BookingHeld, booking.Pending, new(booking.HoldUntil(*p.slot, t.now))
		t.dueAt(*b.HoldUntil)
		p.slot.Holds++
	}
	b = t.place(p.facts, b, plan)
	p.slot.SeatsTaken += b.Party
	b.Items = t.putOut(b, stock)
	t.bookingEvent(what, b, nil)
	return Place{Booking: &b}, nil
}

// place writes a booking, confirmed unless it is a hold: first what the database may refuse.
func (t *tx) place(f booking.Facts, b booking.Booking, plan booking.Plan) booking.Booking {
	seats := bookingdb.Seats{Taken: b.Party}
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
	bookingdb.InsertBooking(t.Tx, t.in, b)
	bookingdb.MoveSeats(t.Tx, t.in, b.Session, seats)
	if plan.Payer != nil {
		t.settle(*plan.Payer, plan.Ledger)
		if plan.Counted {
			bookingdb.CountBooking(t.Tx, t.in, plan.Payer.ID, f.Slot.LocalDate, +1)
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
	bookingdb.FindActiveBooking(&batch, caller.Tenant, r.Session, r.Member, &have)
	waitlistdb.FindActiveEntry(&batch, caller.Tenant, r.Session, r.Member, &waits)
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
