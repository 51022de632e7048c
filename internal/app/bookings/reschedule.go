package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// RescheduleRequest moves a booking to another session.
type RescheduleRequest struct {
	ID        tenant.BookingID
	To        tenant.SessionID
	MoveItems bool
	Notify    bool
}

// RescheduleResult is the result.
type RescheduleResult struct {
	seats.Place
	Promoted int // from the waitlist into the seats that it left
}

// RescheduleBooking moves a booking in one transaction: the old seat is freed only if the new one is taken.
func (s *Service) RescheduleBooking(ctx context.Context, caller tenant.Caller, r RescheduleRequest) (RescheduleResult, error) {
	moved, err := engine.Run(ctx, s.engine, caller, engine.Spec[RescheduleResult]{
		Name: "booking.reschedule", Replay: true,
		Races: []engine.Race{seats.ItemRace, seats.QueueRace, seats.PromotionRace},
		Locate: func(ctx context.Context, read engine.Reader) (engine.Locks, func() engine.Operation[RescheduleResult], error) {
			visit, locks, err := seats.Locator{ID: r.ID, Fills: true, Also: r.To}.Locate(ctx, caller.Tenant, read)
			return locks, func() engine.Operation[RescheduleResult] {
				return &reschedule{
					app: s, RescheduleRequest: r, bookingState: bookingState{id: r.ID, visit: visit, frees: true},
				}
			}, err
		},
	})
	return moved, seats.ConstraintError(err)
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
	seats.RequestSeats(q, r.To, seats.UnknownParty)
}

// Run implements engine.Operation.
func (r *reschedule) Run(ctx context.Context, tx *engine.Tx) (RescheduleResult, error) {
	b, err := r.findOpen(tx)
	if err != nil {
		return RescheduleResult{}, err
	}
	move, err := r.decide(ctx, tx, b)
	if err != nil {
		return RescheduleResult{}, err
	}
	moved := RescheduleResult{Place: seats.Place{Booking: &move.Booking, Repeated: move.Unchanged}}
	if move.Unchanged {
		return moved, nil
	}
	if err := r.app.waitlists.SoloIfAwaited(tx, r.slot, r.to); err != nil {
		return RescheduleResult{}, err
	}
	if err := seats.MoveItemLines(ctx, tx, &move.Booking, *r.to, r.MoveItems); err != nil {
		return RescheduleResult{}, err
	}
	r.move(tx, b, move.Booking)
	if moved.Promoted, err = r.app.waitlists.Fill(ctx, tx, r.slot, waitlist.ByReschedule); err != nil {
		return RescheduleResult{}, err
	}
	_, err = r.app.waitlists.Fill(ctx, tx, r.to, waitlist.ByReschedule)
	return moved, err
}

// decide ends holds in the other session that have run out, and asks the rules.
func (r *reschedule) decide(ctx context.Context, tx *engine.Tx, b booking.Booking) (booking.RescheduleResult, error) {
	if r.to == nil {
		return booking.RescheduleResult{}, seats.ErrNoSession
	}
	if r.slot.ID != r.to.ID {
		expired, err := seats.ExpiredHolds(ctx, tx, *r.to)
		if err == nil {
			err = r.app.waitlists.EndExpiredHolds(ctx, tx, r.to, expired)
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
	return booking.Reschedule(b, *r.slot, *r.to, entry, payer, !tx.Caller.SelfOnly, tx.Now)
}

func (r *reschedule) move(tx *engine.Tx, before, after booking.Booking) {
	from, to := r.slot, r.to
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, after, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, from.ID, bookingdb.Seats{Taken: -before.Party})
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, to.ID, bookingdb.Seats{Taken: before.Party})
	if before.Counted {
		bookingdb.CountBooking(tx.Tx, tx.Tenant, before.Subscription, from.LocalDate, -1)
		bookingdb.CountBooking(tx.Tx, tx.Tenant, before.Subscription, to.LocalDate, +1)
	}
	seats.BookingEvent(tx, outbox.BookingRescheduled, after, map[string]any{
		"from_session_id": from.ID.String(), "from_start_time": from.StartsAt.Format(time.RFC3339), "notify": r.Notify,
	})
	if !tx.Caller.SelfOnly {
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
	waitlistdb.FindActiveEntry(&batch, tx.Tenant, there.ID, b.Member, &entry)
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
	bookingdb.ListPayers(
		&batch, tx.Tenant, there.ID, []tenant.MemberID{b.Member}, []tenant.SubscriptionID{b.Subscription}, &payers)
	if err := tx.Load(ctx, &batch); err != nil || len(payers) == 0 {
		return nil, err
	}
	return &payers[0], nil
}
