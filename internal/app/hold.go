package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
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
	var place Place
	err := a.write(ctx, caller, "booking.confirm", func(ctx context.Context, t *tx) (err error) {
		place, err = t.confirm(ctx, r)
		return err
	}, answers(&place))
	return place, refusal(err)
}

func (t *tx) confirm(ctx context.Context, r ConfirmRequest) (Place, error) {
	var provider *booking.Provider
	b, slot, err := t.held(ctx, r.ID, func(batch *pg.Batch) {
		store.FindBenefitProvider(batch, t.in, r.ProviderCode, &provider)
	})
	if err != nil {
		return Place{}, err
	}
	confirmation := booking.Confirmation{
		Command: booking.Command{ID: b.ID, Subscription: r.Subscription, Staff: t.caller.Staff(), Actor: t.caller.Actor()},
		Paid:    r.Paid,
	}
	if r.ProviderCode != "" && b.Status == booking.Pending {
		if confirmation.Benefit, err = provider.Check(r.Number); err != nil {
			return Place{}, err
		}
	}
	facts := booking.Facts{Slot: slot}
	if r.Paid == nil && !b.Member.IsZero() && b.Status == booking.Pending {
		var batch pg.Batch
		store.ListPayers(&batch, t.in, b.Session, []tenant.MemberID{b.Member}, []tenant.SubscriptionID{r.Subscription}, &facts.Subscriptions)
		if err := t.Load(ctx, &batch); err != nil {
			return Place{}, err
		}
	}
	c, err := booking.Confirm(b, facts, confirmation, t.now)
	if err != nil {
		return Place{}, err
	}
	after := c.Booking
	if c.Again {
		if r.Paid != nil {
			store.UpdateBooking(t.Tx, t.in, after, t.now)
			t.bookingEvent(outbox.BookingUpdated, after, nil)
		}
		return Place{Booking: &after, Repeated: true}, nil
	}
	if after.Items, err = booking.Keep(after.Items, r.Keep); err != nil {
		return Place{}, err
	}
	store.UpdateBooking(t.Tx, t.in, after, t.now)
	store.MoveSeats(t.Tx, t.in, after.Session, store.Seats{Holds: -1})
	t.settleLines(after)
	if c.Payer != nil {
		t.settle(*c.Payer, c.Ledger)
		if c.Counted {
			store.CountBooking(t.Tx, t.in, c.Payer.ID, slot.LocalDate, +1)
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

// held loads a booking that the caller may touch, with its session and items.
func (t *tx) held(ctx context.Context, id tenant.BookingID, more func(*pg.Batch)) (booking.Booking, booking.Slot, error) {
	var b *booking.Booking
	var slot *booking.Slot
	var lines []store.BookedLine
	var batch pg.Batch
	store.FindBooking(&batch, t.in, id, &b)
	store.FindSlotOf(&batch, t.in, id, &slot)
	store.ListLines(&batch, t.in, []tenant.BookingID{id}, &lines)
	if more != nil {
		more(&batch)
	}
	if err := t.Load(ctx, &batch); err != nil {
		return booking.Booking{}, booking.Slot{}, err
	}
	if b == nil || slot == nil || !t.caller.MayTouch(b.Member) {
		return booking.Booking{}, booking.Slot{}, fault.Missing(fault.BookingNotFound, "Booking")
	}
	for _, l := range lines {
		b.Items = append(b.Items, l.Line)
	}
	return *b, *slot, nil
}

// ReleaseHold gives a hold up; its seats go to whoever waits.
func (a *App) ReleaseHold(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (Place, error) {
	var place Place
	err := a.write(ctx, caller, "booking.release", func(ctx context.Context, t *tx) error {
		b, slot, err := t.held(ctx, id, nil)
		if err != nil {
			return err
		}
		after, changed, err := booking.Release(b, t.now)
		if err != nil {
			return err
		}
		place = Place{Booking: &after, Repeated: !changed}
		if !changed {
			return nil
		}
		what, why := outbox.BookingReleased, waitlist.ByRelease
		if after.Status == booking.Expired {
			what, why = outbox.BookingExpired, waitlist.ByExpiredHold
		}
		t.endHold(&after, what)
		slot.SeatsTaken -= after.Party
		slot.Holds--
		_, err = t.fill(ctx, &slot, why)
		return err
	}, answers(&place), losing(byPromotion))
	return place, err
}

// endHold writes the end of a hold: its seats and items are free.
func (t *tx) endHold(b *booking.Booking, what outbox.Type) {
	store.UpdateBooking(t.Tx, t.in, *b, t.now)
	store.MoveSeats(t.Tx, t.in, b.Session, store.Seats{Taken: -b.Party, Holds: -1})
	if b.HasItems {
		store.SetLines(t.Tx, t.in, b.ID, nil, booking.ItemCancelled)
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
	if t.table != nil {
		return t.table.due[slot.ID], nil
	}
	var due []booking.Booking
	var batch pg.Batch
	store.ListDueHolds(&batch, t.in, slot.ID, t.now, &due)
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
		store.ListDueSessions(&batch, id, a.now(), page, &sessions)
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
			return expired, a.awaitNextHold(ctx, id)
		}
	}
}

// awaitNextHold sets the alarm for the hold of a tenant that runs out next.
func (a *App) awaitNextHold(ctx context.Context, id tenant.TenantID) error {
	var next *time.Time
	var batch pg.Batch
	store.FindNextExpiry(&batch, id, &next)
	if err := a.read(ctx, tenant.System(id), &batch); err != nil {
		return err
	}
	if next != nil {
		a.alarms.set(id, *next)
	}
	return nil
}

// RunAlarms ends holds when they run out, on the moment, until ctx ends. It knows of the holds that
// this node made and of those that it found with ExpireHolds, which sweeps call, too.
func (a *App) RunAlarms(ctx context.Context, log *slog.Logger) {
	a.alarms.run(ctx, a.now, func(id tenant.TenantID) {
		if _, err := a.ExpireHolds(ctx, id); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "holds not ended; the next sweep will", slog.String("tenant_id", id.String()), slog.Any("error", err))
		}
	})
}

func (a *App) expireHolds(ctx context.Context, id tenant.TenantID, session tenant.SessionID) (int, error) {
	var due []booking.Booking
	err := a.write(ctx, tenant.System(id), "booking.expire", func(ctx context.Context, t *tx) error {
		due = nil
		var slot *booking.Slot
		var batch pg.Batch
		store.FindSlot(&batch, t.in, session, &slot)
		err := t.Load(ctx, &batch)
		if err != nil || slot == nil {
			return err
		}
		if due, err = t.dueHolds(ctx, *slot); err != nil {
			return err
		}
		return t.lapse(ctx, slot, due)
	}, losing(byPromotion))
	return len(due), err
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
	var moved Rescheduled
	err := a.write(ctx, caller, "booking.reschedule", func(ctx context.Context, t *tx) (err error) {
		moved, err = t.reschedule(ctx, r)
		return err
	}, answers(&moved), losing(byItem, byQueue))
	return moved, refusal(err)
}

func (t *tx) reschedule(ctx context.Context, r RescheduleRequest) (Rescheduled, error) {
	var to *booking.Slot
	b, from, err := t.held(ctx, r.ID, func(batch *pg.Batch) { store.FindSlot(batch, t.in, r.To, &to) })
	if err != nil {
		return Rescheduled{}, err
	}
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
	payer, err := t.payerThere(ctx, b, *to)
	if err != nil {
		return Rescheduled{}, err
	}
	move, err := booking.Reschedule(b, from, *to, payer, !t.caller.Own, t.now)
	if err != nil {
		return Rescheduled{}, err
	}
	moved := Rescheduled{Place: Place{Booking: &move.Booking, Repeated: move.Already}}
	if move.Already {
		return moved, nil
	}
	if err := t.moveLines(ctx, &move.Booking, *to, r.MoveItems); err != nil {
		return Rescheduled{}, err
	}
	store.UpdateBooking(t.Tx, t.in, move.Booking, t.now)
	// Both rows in one order, whoever moves which way: nobody waits in a circle.
	leave, enter := store.Seats{Taken: -b.Party}, store.Seats{Taken: b.Party}
	if from.ID.String() < to.ID.String() {
		store.MoveSeats(t.Tx, t.in, from.ID, leave)
		store.MoveSeats(t.Tx, t.in, to.ID, enter)
	} else {
		store.MoveSeats(t.Tx, t.in, to.ID, enter)
		store.MoveSeats(t.Tx, t.in, from.ID, leave)
	}
	if b.Counted {
		store.CountBooking(t.Tx, t.in, b.Subscription, from.LocalDate, -1)
		store.CountBooking(t.Tx, t.in, b.Subscription, to.LocalDate, +1)
	}
	t.bookingEvent(outbox.BookingRescheduled, move.Booking, map[string]any{
		"from_session_id": from.ID.String(), "from_start_time": from.StartsAt.Format(time.RFC3339), "notify": r.Notify,
	})
	if !t.caller.Own {
		t.audit("booking.rescheduled", "booking", b.ID.UUID, "", map[string]any{"from_session_id": from.ID.String(), "to_session_id": to.ID.String()})
	}
	from.SeatsTaken -= b.Party
	to.SeatsTaken += b.Party
	if moved.Promoted, err = t.fill(ctx, &from, waitlist.ByReschedule); err != nil {
		return Rescheduled{}, err
	}
	_, err = t.fill(ctx, to, waitlist.ByReschedule)
	return moved, err
}

// payerThere loads a booking's subscription with what is used on another session's day and in its week; nil
// where nothing is counted.
func (t *tx) payerThere(ctx context.Context, b booking.Booking, there booking.Slot) (*credit.Subscription, error) {
	if !b.Counted {
		return nil, nil
	}
	var payers []credit.Subscription
	var batch pg.Batch
	store.ListPayers(&batch, t.in, there.ID, []tenant.MemberID{b.Member}, []tenant.SubscriptionID{b.Subscription}, &payers)
	if err := t.Load(ctx, &batch); err != nil || len(payers) == 0 {
		return nil, err
	}
	return &payers[0], nil
}
