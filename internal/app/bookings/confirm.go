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

// ConfirmRequest confirms a hold.
type ConfirmRequest struct {
	ID           tenant.BookingID
	Paid         *booking.Payment // nil: the member's plan pays; guests pay later
	Subscription tenant.SubscriptionID
	ProviderCode string          // of a benefit provider
	Number       string          // of the membership there
	Keep         []tenant.LineID // the items to keep; nil keeps all
}

// ConfirmBooking turns a hold into a confirmed booking. Repeated says that it was confirmed before.
func (s *Service) ConfirmBooking(ctx context.Context, caller tenant.Caller, r ConfirmRequest) (seats.Place, error) {
	place, err := engine.Run(ctx, s.engine, caller, engine.Spec[seats.Place]{
		Name: "booking.confirm", Replay: true,
		Locate: locate(caller.Tenant, seats.Locator{ID: r.ID},
			func(b bookingState) engine.Operation[seats.Place] {
				return &confirm{ConfirmRequest: r, bookingState: b}
			}),
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
	request := booking.ConfirmRequest{
		Request: booking.Request{
			ID: b.ID, Subscription: c.Subscription, Staff: tx.Caller.IsStaff(), Actor: tx.Caller.Actor(),
		},
		Payment: c.Paid,
	}
	if c.ProviderCode != "" && b.Status == booking.Pending {
		if request.Benefit, err = c.provider.Check(c.Number); err != nil {
			return seats.Place{}, err
		}
	}
	confirmed, err := booking.Confirm(b, booking.Facts{Slot: *c.slot, Subscriptions: c.payers}, request, tx.Now)
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
