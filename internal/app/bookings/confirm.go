package bookings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// ConfirmRequest turns a hold into a booking.
type ConfirmRequest struct {
	ID           tenant.BookingID
	Paid         *booking.Payment // nil: the member's plan pays; guests pay later
	Subscription tenant.SubscriptionID
	ProviderCode string // of a benefit membership, with its number
	Number       string
	Keep         []tenant.LineID // of the items; nil keeps all
}

// ConfirmBooking turns a hold into a booking. Repeated says that it was one already.
func (s *Service) ConfirmBooking(ctx context.Context, caller tenant.Caller, r ConfirmRequest) (seats.Place, error) {
	place, err := engine.Run(ctx, s.engine, caller, engine.Spec[seats.Place]{
		Name: "booking.confirm", Replay: true,
		Locate: func(ctx context.Context, read engine.Reader) (engine.Locks, func() engine.Operation[seats.Place], error) {
			visit, locks, err := seats.Locator{ID: r.ID}.Locate(ctx, caller.Tenant, read)
			return locks, func() engine.Operation[seats.Place] {
				return &confirm{ConfirmRequest: r, bookingState: bookingState{id: r.ID, visit: visit}}
			}, err
		},
	})
	return place, seats.ConstraintError(err)
}

// confirm is one attempt at ConfirmBooking.
type confirm struct {
	ConfirmRequest
	bookingState
	provider *booking.BenefitProvider
	payers   []credit.Subscription
}

// Load implements engine.Operation.
func (c *confirm) Load(q *engine.Query) {
	c.bookingState.Load(q)
	if c.ProviderCode != "" {
		catalogdb.FindBenefitProvider(q.Batch, q.Tenant, c.ProviderCode, &c.provider)
	}
	if c.Paid == nil && !c.visit.Member.IsZero() {
		seats.LoadPayers(q, &c.slot, c.visit.Member, c.Subscription, &c.payers)
	}
}

// Run implements engine.Operation.
func (c *confirm) Run(_ context.Context, tx *engine.Tx) (seats.Place, error) {
	b, err := c.findOpen(tx)
	if err != nil {
		return seats.Place{}, err
	}
	confirmation := booking.ConfirmRequest{
		Request: booking.Request{
			ID: b.ID, Subscription: c.Subscription, Staff: tx.Caller.IsStaff(), Actor: tx.Caller.Actor(),
		},
		Payment: c.Paid,
	}
	if c.ProviderCode != "" && b.Status == booking.Pending {
		if confirmation.Benefit, err = c.provider.Check(c.Number); err != nil {
			return seats.Place{}, err
		}
	}
	confirmed, err := booking.Confirm(b, booking.Facts{Slot: *c.slot, Subscriptions: c.payers}, confirmation, tx.Now)
	if err != nil {
		return seats.Place{}, err
	}
	after := confirmed.Booking
	if confirmed.Repeated {
		if c.Paid != nil {
			bookingdb.UpdateBooking(tx.Tx, tx.Tenant, after, tx.Now)
			seats.BookingEvent(tx, outbox.BookingUpdated, after, nil)
		}
		return seats.Place{Booking: &after, Repeated: true}, nil
	}
	if after.Items, err = booking.ConfirmItems(after.Items, c.Keep); err != nil {
		return seats.Place{}, err
	}
	c.write(tx, after, confirmed)
	return seats.Place{Booking: &after}, nil
}

func (c *confirm) write(tx *engine.Tx, after booking.Booking, confirmed booking.ConfirmResult) {
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, after, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, after.Session, bookingdb.Seats{Holds: -1})
	c.slot.Holds--
	seats.UpdateItemLines(tx, after)
	if confirmed.Payer != nil {
		seats.WriteCredits(tx, *confirmed.Payer, confirmed.Ledger)
		if confirmed.Counted {
			bookingdb.CountBooking(tx.Tx, tx.Tenant, confirmed.Payer.ID, c.slot.LocalDate, +1)
		}
	}
	seats.BookingEvent(tx, outbox.BookingConfirmed, after, nil)
	if after.Benefit.Code != "" {
		tx.Audit("booking.benefit_applied", "booking", after.ID.UUID, "", map[string]any{
			"provider_code": after.Benefit.Code, "membership_number": after.Benefit.Number,
			"discount_percent": after.Benefit.Percent,
		})
	}
}
