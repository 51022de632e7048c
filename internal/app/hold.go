package app

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ConfirmRequest makes a hold a booking.
type ConfirmRequest struct {
	ID           tenant.BookingID
	Paid         *booking.Payment // nil: the member's plan pays; guests pay later
	Subscription tenant.SubscriptionID
	ProviderCode string // of a benefit membership, with its number
	Number       string
	Keep         []tenant.LineID // of the items; nil keeps all
}

// ConfirmBooking makes a hold a booking. Repeated tells that it was one already.
func (a *App) ConfirmBooking(ctx context.Context, caller tenant.Caller, r ConfirmRequest) (Place, error) {
	c := &confirming{ConfirmRequest: r}
	if err := a.dealAt(ctx, caller, "booking.confirm", r.ID, c.at, answers(&c.done)); err != nil {
		return Place{}, refusal(err)
	}
	return c.done, nil
}

// confirming is ConfirmBooking on its way through a transaction.
type confirming struct {
	ConfirmRequest
	booked
	provider *booking.Provider
	payers
	done Place
}

func (c *confirming) at(place bookingdb.Visit) deal {
	c.booked = booked{place: place}
	return c
}

func (c *confirming) load(t *tx, batch *pg.Batch) {
	c.payers, c.provider = nil, nil
	c.booked.load(t, batch, c.ID)
	if c.ProviderCode != "" {
		catalogdb.FindBenefitProvider(batch, t.in, c.ProviderCode, &c.provider)
	}
	if c.Paid == nil && !c.place.Member.IsZero() {
		c.payers.load(t, batch, c.place.Member, c.Subscription)
	}
}

func (c *confirming) more(t *tx, batch *pg.Batch) {
	if c.slot != nil {
		c.payers.more(t, batch, c.slot.LocalDate)
	}
}

func (c *confirming) settle(_ context.Context, t *tx) (err error) {
	c.done, err = c.confirm(t)
	return err
}

func (c *confirming) confirm(t *tx) (Place, error) {
	b, err := c.findOpen(t)
	if err != nil {
		return Place{}, err
	}
	confirmation := booking.Confirmation{
		Command: booking.Command{ID: b.ID, Subscription: c.Subscription, Staff: t.caller.Staff(), Actor: t.caller.Actor()},
		Paid:    c.Paid,
	}
	if c.ProviderCode != "" && b.Status == booking.Pending {
		if confirmation.Benefit, err = c.provider.Check(c.Number); err != nil {
			return Place{}, err
		}
	}
	converted, err := booking.Confirm(b, booking.Facts{Slot: *c.slot, Subscriptions: c.payers}, confirmation, t.now)
	if err != nil {
		return Place{}, err
	}
	after := converted.Booking
	if converted.Again {
		if c.Paid != nil {
			bookingdb.UpdateBooking(t.Tx, t.in, after, t.now)
			t.bookingEvent(outbox.BookingUpdated, after, nil)
		}
		return Place{Booking: &after, Repeated: true}, nil
	}
	if after.Items, err = booking.Keep(after.Items, c.Keep); err != nil {
		return Place{}, err
	}
	bookingdb.UpdateBooking(t.Tx, t.in, after, t.now)
	bookingdb.MoveSeats(t.Tx, t.in, after.Session, bookingdb.Seats{Holds: -1})
	c.slot.Holds--
	t.settleLines(after)
	if converted.Payer != nil {
		t.settle(*converted.Payer, converted.Ledger)
		if converted.Counted {
			bookingdb.CountBooking(t.Tx, t.in, converted.Payer.ID, c.slot.LocalDate, +1)
		}
	}
	t.bookingEvent(outbox.BookingConfirmed, after, nil)
	if after.Benefit.Code != "" {
		t.audit("booking.benefit_applied", "booking", after.ID.UUID, "", map[string]any{
			"provider_code": after.Benefit.Code, "membership_number": after.Benefit.Number, "discount_percent": after.Benefit.Percent,
		})
	}
	return Place{Booking: &after}, nil
}

// ReleaseHold gives a hold up; its seats go to whoever waits.
func (a *App) ReleaseHold(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (Place, error) {
	r := &releasing{id: id}
	if err := a.dealAt(ctx, caller, "booking.release", id, r.at, answers(&r.done), losing(byPromotion)); err != nil {
		return Place{}, err
	}
	return r.done, nil
}

// releasing is ReleaseHold on its way through a transaction.
type releasing struct {
	id tenant.BookingID
	booked
	done Place
}

func (r *releasing) at(place bookingdb.Visit) deal {
	r.booked = booked{place: place, frees: true}
	return r
}

func (r *releasing) load(t *tx, batch *pg.Batch) { r.booked.load(t, batch, r.id) }

func (r *releasing) settle(ctx context.Context, t *tx) error {
	b, err := r.findOpen(t)
	if err != nil {
		return err
	}
	after, changed, err := booking.Release(b, t.now)
	if err != nil {
		return err
	}
	r.done = Place{Booking: &after, Repeated: !changed}
	if !changed {
		return nil
	}
	if err := t.unlessAwaited(r.slot); err != nil {
		return err
	}
	what, why := outbox.BookingReleased, waitlist.ByRelease
	if after.Status == booking.Expired {
		what, why = outbox.BookingExpired, waitlist.ByExpiredHold
	}
	t.endHold(&after, what)
	r.slot.SeatsTaken -= after.Party
	r.slot.Holds--
	_, err = t.fill(ctx, r.slot, why)
	return err
}

// endHold writes the end of a hold: its seats and items are free.
func (t *tx) endHold(b *booking.Booking, what outbox.Type) {
	bookingdb.UpdateBooking(t.Tx, t.in, *b, t.now)
	bookingdb.MoveSeats(t.Tx, t.in, b.Session, bookingdb.Seats{Taken: -b.Party, Holds: -1})
	if b.HasItems {
		bookingdb.SetLines(t.Tx, t.in, b.ID, nil, booking.ItemCancelled)
	}
	for i := range b.Items {
		b.Items[i].Status = booking.ItemCancelled
	}
	t.bookingEvent(what, *b, nil)
}

// dueHolds reads the holds of a session that have run out and still stand as PENDING. Most sessions count
// no holds, and cost nothing.
func (t *tx) dueHolds(ctx context.Context, slot booking.Slot) ([]booking.Booking, error) {
	if slot.Holds == 0 {
		return nil, nil
	}
	if t.table != nil && t.table.slots[slot.ID] != nil {
		return t.table.due[slot.ID], nil
	}
	var due []booking.Booking
	var batch pg.Batch
	bookingdb.ListDueHolds(&batch, t.in, slot.ID, t.now, &due)
	err := t.Load(ctx, &batch)
	return due, err
}

// lapse ends holds of a session that have run out, and lets whoever waits have their seats.
func (t *tx) lapse(ctx context.Context, slot *booking.Slot, due []booking.Booking) error {
	switch {
	case len(due) == 0:
		return nil
	case t.together():
		return errAlone
	}
	for _, b := range due {
		b = booking.Expire(b, t.now)
		t.endHold(&b, outbox.BookingExpired)
		slot.SeatsTaken -= b.Party
		slot.Holds--
	}
	_, err := t.fill(ctx, slot, waitlist.ByExpiredHold)
	return err
}

// ExpireHolds ends the holds of a tenant that have run out by now, session by session, and tells how many there were. It
// may run on several nodes at once: each hold ends once.
func (a *App) ExpireHolds(ctx context.Context, id tenant.TenantID) (int, error) {
	const page = 50
	expired := 0
	for {
		var sessions []tenant.SessionID
		var batch pg.Batch
		bookingdb.ListDueSessions(&batch, id, a.now(), page, &sessions)
		if err := a.read(ctx, tenant.System(id), &batch); err != nil {
			return expired, err
		}
		for _, session := range sessions {
			n, err := a.expireHolds(ctx, id, session)
			if err != nil {
				return expired, err
			}
			expired += n
		}
		if len(sessions) < page {
			return expired, nil
		}
	}
}

func (a *App) expireHolds(ctx context.Context, id tenant.TenantID, session tenant.SessionID) (int, error) {
	var due []booking.Booking
	err := a.deal(ctx, tenant.System(id), "booking.expire", whole(func(ctx context.Context, t *tx) error {
		due = nil
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, t.in, session, &slot)
		err := t.Load(ctx, &batch)
		if err != nil || slot == nil {
			return err
		}
		if due, err = t.dueHolds(ctx, *slot); err != nil {
			return err
		}
		return t.lapse(ctx, slot, due)
	}), subjects{shared: []tenant.UUID{session.UUID}}, losing(byPromotion))
	if err != nil {
		return 0, err
	}
	return len(due), nil
}

// bookingEvent tells what became of a booking.
func (t *tx) bookingEvent(what outbox.Type, b booking.Booking, data map[string]any) {
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: what, Session: b.Session, Booking: b.ID, Member: b.Member,
		Actor: t.caller.Actor(), Data: data, At: t.now,
	})
}

// RescheduleRequest moves a booking to another session.
type RescheduleRequest struct {
	ID        tenant.BookingID
	To        tenant.SessionID
	MoveItems bool
	Notify    bool
}

// Rescheduled is what came of it.
type Rescheduled struct {
	Place
	Promoted int // from the waitlist into the seats that it left
}

// RescheduleBooking moves a booking in one transaction: the old seat is freed only if the new one is got.
func (a *App) RescheduleBooking(ctx context.Context, caller tenant.Caller, r RescheduleRequest) (Rescheduled, error) {
	m := &moving{RescheduleRequest: r}
	if err := a.dealAt(ctx, caller, "booking.reschedule", r.ID, m.at, answers(&m.moved), losing(byItem, byQueue, byPromotion)); err != nil {
		return Rescheduled{}, refusal(err)
	}
	return m.moved, nil
}

// moving is RescheduleBooking on its way through a transaction.
type moving struct {
	RescheduleRequest
	booked
	to    *booking.Slot
	moved Rescheduled
}

func (m *moving) at(place bookingdb.Visit) deal {
	m.booked = booked{place: place, frees: true}
	return m
}

// anyParty stands for a party whose size is not known yet.
const anyParty = 1 << 20

func (m *moving) also() tenant.SessionID { return m.To }

func (m *moving) load(t *tx, batch *pg.Batch) {
	m.booked.load(t, batch, m.ID)
	t.findAwaited(batch, m.To, &m.to)
	t.table.wanted[m.To] += anyParty
}

func (m *moving) settle(ctx context.Context, t *tx) (err error) {
	m.moved, err = m.reschedule(ctx, t)
	return err
}

func (m *moving) reschedule(ctx context.Context, t *tx) (Rescheduled, error) {
	b, err := m.findOpen(t)
	if err != nil {
		return Rescheduled{}, err
	}
	from, to := m.slot, m.to
	if to == nil {
		return Rescheduled{}, fault.Missing(fault.SessionNotFound, "Session")
	}
	if from.ID != to.ID {
		due, err := t.dueHolds(ctx, *to)
		if err == nil {
			err = t.lapse(ctx, to, due)
		}
		if err != nil {
			return Rescheduled{}, err
		}
	}
	waits, err := t.waitsThere(ctx, b, *to)
	if err != nil {
		return Rescheduled{}, err
	}
	payer, err := t.payerThere(ctx, b, *to)
	if err != nil {
		return Rescheduled{}, err
	}
	move, err := booking.Reschedule(b, *from, *to, waits, payer, !t.caller.Own, t.now)
	if err != nil {
		return Rescheduled{}, err
	}
	moved := Rescheduled{Place: Place{Booking: &move.Booking, Repeated: move.Already}}
	if move.Already {
		return moved, nil
	}
	if err := t.unlessAwaited(from, to); err != nil {
		return Rescheduled{}, err
	}
	if err := t.moveLines(ctx, &move.Booking, *to, m.MoveItems); err != nil {
		return Rescheduled{}, err
	}
	bookingdb.UpdateBooking(t.Tx, t.in, move.Booking, t.now)
	bookingdb.MoveSeats(t.Tx, t.in, from.ID, bookingdb.Seats{Taken: -b.Party})
	bookingdb.MoveSeats(t.Tx, t.in, to.ID, bookingdb.Seats{Taken: b.Party})
	if b.Counted {
		bookingdb.CountBooking(t.Tx, t.in, b.Subscription, from.LocalDate, -1)
		bookingdb.CountBooking(t.Tx, t.in, b.Subscription, to.LocalDate, +1)
	}
	t.bookingEvent(outbox.BookingRescheduled, move.Booking, map[string]any{
		"from_session_id": from.ID.String(), "from_start_time": from.StartsAt.Format(time.RFC3339), "notify": m.Notify,
	})
	if !t.caller.Own {
		t.audit("booking.rescheduled", "booking", b.ID.UUID, "", map[string]any{"from_session_id": from.ID.String(), "to_session_id": to.ID.String()})
	}
	from.SeatsTaken -= b.Party
	to.SeatsTaken += b.Party
	if moved.Promoted, err = t.fill(ctx, from, waitlist.ByReschedule); err != nil {
		return Rescheduled{}, err
	}
	_, err = t.fill(ctx, to, waitlist.ByReschedule)
	return moved, err
}

// waitsThere finds the entry with which a booking's member waits for another session; zero where there is none.
func (t *tx) waitsThere(ctx context.Context, b booking.Booking, there booking.Slot) (tenant.EntryID, error) {
	if there.Waiting == 0 || b.Member.IsZero() {
		return tenant.EntryID{}, nil
	}
	var waits *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindActiveEntry(&batch, t.in, there.ID, b.Member, &waits)
	if err := t.Load(ctx, &batch); err != nil || waits == nil {
		return tenant.EntryID{}, err
	}
	return waits.ID, nil
}

// payerThere loads a booking's subscription with what is used on another session's day and in its week; nil
// where nothing is counted.
func (t *tx) payerThere(ctx context.Context, b booking.Booking, there booking.Slot) (*credit.Subscription, error) {
	if !b.Counted {
		return nil, nil
	}
	var payers []credit.Subscription
	var batch pg.Batch
	bookingdb.ListPayers(&batch, t.in, there.ID, []tenant.MemberID{b.Member}, []tenant.SubscriptionID{b.Subscription}, &payers)
	if err := t.Load(ctx, &batch); err != nil || len(payers) == 0 {
		return nil, err
	}
	return &payers[0], nil
}
