package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// RescheduleRequest moves a booking to another session.
type RescheduleRequest struct {
	ID        tenant.BookingID
	To        tenant.SessionID
	MoveItems bool
	Notify    bool
}

// Rescheduled is the result.
type Rescheduled struct {
	seats.Place
	Promoted int // from the waitlist into the seats that it left
}

// RescheduleBooking moves a booking in one transaction: the old seat is freed only if the new one is taken.
func (s *Service) RescheduleBooking(ctx context.Context, caller tenant.Caller, r RescheduleRequest) (Rescheduled, error) {
	moved, err := engine.Run(ctx, s.engine, caller, engine.Spec[Rescheduled]{
		Name: "booking.reschedule", Replay: true,
		Races: []engine.Race{seats.LostByItem, seats.LostByQueue, seats.LostByPromotion},
		Locate: func(ctx context.Context, read engine.Reader) (engine.Locks, func() engine.Operation[Rescheduled], error) {
			visit, locks, err := seats.Locator{ID: r.ID, Fills: true, Also: r.To}.Locate(ctx, caller.Tenant, read)
			return locks, func() engine.Operation[Rescheduled] {
				return &reschedule{
					app: s, RescheduleRequest: r, bookingState: bookingState{id: r.ID, visit: visit, frees: true},
				}
			}, err
		},
	})
	return moved, seats.Refusal(err)
}

// reschedule is one attempt at RescheduleBooking.
type reschedule struct {
	app *Service
	RescheduleRequest
	bookingState
	to *booking.Slot
}

// Load implements engine.Operation.
func (r *reschedule) Load(q *engine.Query) {
	r.bookingState.Load(q)
	seats.LoadFreedSlot(q, r.To, &r.to)
	seats.Request(q, r.To, seats.AnyParty)
}

// Run implements engine.Operation.
func (r *reschedule) Run(ctx context.Context, tx *engine.Tx) (Rescheduled, error) {
	b, err := r.findOpen(tx)
	if err != nil {
		return Rescheduled{}, err
	}
	move, err := r.decide(ctx, tx, b)
	if err != nil {
		return Rescheduled{}, err
	}
	moved := Rescheduled{Place: seats.Place{Booking: &move.Booking, Repeated: move.Already}}
	if move.Already {
		return moved, nil
	}
	if err := r.app.waitlists.UnlessAwaited(tx, r.slot, r.to); err != nil {
		return Rescheduled{}, err
	}
	if err := seats.MoveLines(ctx, tx, &move.Booking, *r.to, r.MoveItems); err != nil {
		return Rescheduled{}, err
	}
	r.move(tx, b, move.Booking)
	if moved.Promoted, err = r.app.waitlists.Fill(ctx, tx, r.slot, waitlist.ByReschedule); err != nil {
		return Rescheduled{}, err
	}
	_, err = r.app.waitlists.Fill(ctx, tx, r.to, waitlist.ByReschedule)
	return moved, err
}

// decide ends holds in the other session that have run out, and asks the rules.
func (r *reschedule) decide(ctx context.Context, tx *engine.Tx, b booking.Booking) (booking.RescheduleResult, error) {
	if r.to == nil {
		return booking.RescheduleResult{}, seats.NoSession
	}
	if r.slot.ID != r.to.ID {
		expired, err := seats.ExpiredHolds(ctx, tx, *r.to)
		if err == nil {
			err = r.app.waitlists.Lapse(ctx, tx, r.to, expired)
		}
		if err != nil {
			return booking.RescheduleResult{}, err
		}
	}
	entry, err := entryThere(ctx, tx, b, *r.to)
	if err != nil {
		return booking.RescheduleResult{}, err
	}
	payer, err := payerThere(ctx, tx, b, *r.to)
	if err != nil {
		return booking.RescheduleResult{}, err
	}
	return booking.Reschedule(b, *r.slot, *r.to, entry, payer, !tx.Caller.Own, tx.Now)
}

func (r *reschedule) move(tx *engine.Tx, before, after booking.Booking) {
	from, to := r.slot, r.to
	store.UpdateBooking(tx.Tx, tx.Tenant, after, tx.Now)
	store.MoveSeats(tx.Tx, tx.Tenant, from.ID, store.Seats{Taken: -before.Party})
	store.MoveSeats(tx.Tx, tx.Tenant, to.ID, store.Seats{Taken: before.Party})
	if before.Counted {
		store.CountBooking(tx.Tx, tx.Tenant, before.Subscription, from.LocalDate, -1)
		store.CountBooking(tx.Tx, tx.Tenant, before.Subscription, to.LocalDate, +1)
	}
	seats.BookingEvent(tx, outbox.BookingRescheduled, after, map[string]any{
		"from_session_id": from.ID.String(), "from_start_time": from.StartsAt.Format(time.RFC3339), "notify": r.Notify,
	})
	if !tx.Caller.Own {
		tx.Audit("booking.rescheduled", "booking", before.ID.UUID, "", map[string]any{
			"from_session_id": from.ID.String(), "to_session_id": to.ID.String(),
		})
	}
	from.SeatsTaken -= before.Party
	to.SeatsTaken += before.Party
}

// entryThere finds the waitlist entry that a booking's member has in another session; zero if there is none.
func entryThere(ctx context.Context, tx *engine.Tx, b booking.Booking, there booking.Slot) (tenant.EntryID, error) {
	if there.Waiting == 0 || b.Member.IsZero() {
		return tenant.EntryID{}, nil
	}
	var entry *waitlist.Entry
	var batch pg.Batch
	store.FindActiveEntry(&batch, tx.Tenant, there.ID, b.Member, &entry)
	if err := tx.Load(ctx, &batch); err != nil || entry == nil {
		return tenant.EntryID{}, err
	}
	return entry.ID, nil
}

// payerThere loads a booking's subscription with what is used on another session's day and in its week; nil if nothing
// is counted.
func payerThere(ctx context.Context, tx *engine.Tx, b booking.Booking, there booking.Slot) (*credit.Subscription, error) {
	if !b.Counted {
		return nil, nil
	}
	var payers []credit.Subscription
	var batch pg.Batch
	store.ListPayers(
		&batch, tx.Tenant, there.ID, []tenant.MemberID{b.Member}, []tenant.SubscriptionID{b.Subscription}, &payers)
	if err := tx.Load(ctx, &batch); err != nil || len(payers) == 0 {
		return nil, err
	}
	return &payers[0], nil
}
