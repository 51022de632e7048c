package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
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

// RescheduleResult is a booking that has moved to another session.
type RescheduleResult struct {
	seats.Result
	Promoted int // entries booked into the seats that it left
}

// RescheduleBooking moves a booking in one transaction: the old seat is freed only if the new one is taken.
func (s *Service) RescheduleBooking(
	ctx context.Context, caller tenant.Caller, r RescheduleRequest,
) (RescheduleResult, error) {
	moved, err := engine.RunBatched(ctx, s.engine, caller, engine.Batched[RescheduleResult]{
		Name: "booking.reschedule", Replay: true,
		Races: []engine.Race{seats.ItemRace, seats.QueueRace},
		Locate: locate(caller.Tenant, seats.Locator{ID: r.ID, Fills: true, Also: r.To},
			func(b bookingState) engine.Operation[RescheduleResult] {
				return &reschedule{service: s, RescheduleRequest: r, bookingState: b}
			}),
	})
	return moved, seats.ConstraintError(err)
}

// reschedule is one attempt at RescheduleBooking.
type reschedule struct {
	service *Service
	RescheduleRequest
	bookingState
	to     *booking.Slot
	member *booking.Member // nil: a guest
	waits  waitlist.Standing
	offer  *waitlist.Offer // that the move accepts; nil if none
	facts  booking.Facts   // of the other session
}

// Load implements engine.Operation.
func (r *reschedule) Load(q *engine.Query) {
	r.bookingState.Load(q)
	seats.LoadFreedSlot(q, r.To, &r.to)
	seats.RequestSeats(q, r.To, seats.UnknownParty)
	bookingdb.FindBookingMember(q.Batch, q.Tenant, r.of.Member, &r.member)
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
	moved := RescheduleResult{Result: seats.Result{Booking: &move.Booking, Repeated: move.Unchanged}}
	if move.Unchanged {
		return moved, nil
	}
	if err := r.service.waitlists.SoloIfAwaited(tx, r.slot, r.to); err != nil {
		return RescheduleResult{}, err
	}
	if err := r.service.waitlists.PrepareSettle(tx, r.waits, r.offer); err != nil {
		return RescheduleResult{}, err
	}
	if err := seats.MoveItemLines(ctx, tx, &move.Booking, *r.to, r.MoveItems); err != nil {
		return RescheduleResult{}, err
	}
	r.move(tx, b, &move.Booking)
	if err := r.service.waitlists.Settle(ctx, tx, r.waits, move.Booking, r.offer); err != nil {
		return RescheduleResult{}, err
	}
	moved.Promoted, err = r.service.waitlists.Fill(ctx, tx, r.slot, waitlist.ByReschedule, b.Member)
	return moved, err
}

// decide ends expired holds in the other session and fills it for who waited for its opening, then applies the rules.
func (r *reschedule) decide(ctx context.Context, tx *engine.Tx, b booking.Booking) (booking.RescheduleResult, error) {
	if r.to == nil {
		return booking.RescheduleResult{}, seats.ErrNoSession
	}
	if r.slot.ID != r.to.ID {
		if _, err := r.service.waitlists.EndExpiredHolds(ctx, tx, r.to); err != nil {
			return booking.RescheduleResult{}, err
		}
		if _, err := r.service.waitlists.FillOpening(ctx, tx, r.to); err != nil {
			return booking.RescheduleResult{}, err
		}
	}
	r.facts = booking.Facts{Slot: *r.to}
	if r.member != nil {
		var err error
		if r.waits, err = r.service.waitlists.Standing(ctx, tx, r.To, *r.member); err != nil {
			return booking.RescheduleResult{}, err
		}
		r.offer = r.waits.Offer(tx.Now)
		r.facts.Entry, r.facts.Offer = r.waits.Named(), waitlists.OfferedSeats(r.offer)
	}
	payer, err := findPayer(ctx, tx, b, *r.to)
	if err != nil {
		return booking.RescheduleResult{}, err
	}
	return booking.Reschedule(b, *r.slot, r.facts, payer, !tx.Caller.SelfOnly, tx.Now)
}

// move moves the booking's seats, its quota and the booking itself.
func (r *reschedule) move(tx *engine.Tx, before booking.Booking, after *booking.Booking) {
	from, to := r.slot, r.to
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, after, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, from.ID, bookingdb.Seats{Taken: -before.Party})
	waitlists.TakeOffered(tx, to, r.facts.Offer, before.Party)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, to.ID, bookingdb.Seats{Taken: before.Party})
	if before.Counted {
		bookingdb.CountBooking(tx.Tx, tx.Tenant, before.Subscription, from.LocalDate, -1)
		bookingdb.CountBooking(tx.Tx, tx.Tenant, before.Subscription, to.LocalDate, +1)
	}
	seats.BookingEvent(tx, *after, event.BookingRescheduled{
		FromSession: from.ID, FromStart: from.StartsAt.Truncate(time.Second), Notify: r.Notify,
	})
	record.Recheck(tx, before.Member)
	if !tx.Caller.SelfOnly {
		record.Audit(tx, "booking.rescheduled", "booking", before.ID.UUID, "", map[string]any{
			"from_session_id": from.ID.String(), "to_session_id": to.ID.String(),
		})
	}
	from.SeatsTaken -= before.Party
	to.SeatsTaken += before.Party
}

// findPayer loads a booking's subscription, with its use on the day and in the week of another session. It returns nil
// if the booking counts against no quota.
func findPayer(ctx context.Context, tx *engine.Tx, b booking.Booking, to booking.Slot) (*credit.Subscription, error) {
	if !b.Counted {
		return nil, nil
	}
	var payers []credit.Subscription
	var batch pg.Batch
	key := bookingdb.SessionMember{Session: to.ID, Member: b.Member}
	bookingdb.ListPayers(&batch, tx.Tenant, key, b.Subscription, &payers)
	if err := tx.Load(ctx, &batch); err != nil || len(payers) == 0 {
		return nil, err
	}
	return &payers[0], nil
}
