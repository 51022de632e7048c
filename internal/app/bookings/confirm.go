package bookings

import (
	"context"
	"errors"

	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ConfirmRequest confirms a hold.
type ConfirmRequest struct {
	ID           tenant.BookingID
	Paid         *payment.Facts // nil: the member's plan pays; guests pay later
	Subscription tenant.SubscriptionID
	ProviderCode string              // of a benefit provider
	Number       string              // of the membership there
	Keep         []tenant.ItemLineID // the items to keep; nil keeps all
}

// ConfirmBooking turns a hold into a confirmed booking. Repeated says that it was confirmed before, and that no line
// was added to its payment.
func (s *Service) ConfirmBooking(ctx context.Context, caller tenant.Caller, r ConfirmRequest) (seats.Result, error) {
	return s.confirm(ctx, caller, "booking.confirm", confirm{ConfirmRequest: r})
}

// RecordPayment adds a line to the payment of a booking in any of its states. A hold is confirmed, unless it has
// expired. Where nothing is ever due, the money must be meant. Repeated says that the facts were known.
func (s *Service) RecordPayment(
	ctx context.Context, caller tenant.Caller, id tenant.BookingID, f payment.Facts, beyondDue bool,
) (seats.Result, error) {
	return s.confirm(ctx, caller, "payment.record", confirm{
		ConfirmRequest: ConfirmRequest{ID: id, Paid: &f}, anyState: true, beyondDue: beyondDue,
	})
}

func (s *Service) confirm(ctx context.Context, caller tenant.Caller, name string, c confirm) (seats.Result, error) {
	result, err := engine.RunBatched(ctx, s.engine, caller, engine.Batched[seats.Result]{
		Name: name, Races: []engine.Race{paymentRace, benefitRace}, Replay: true,
		Locate: locate(caller.Tenant, seats.Locator{ID: c.ID},
			func(b bookingState) engine.Operation[seats.Result] {
				attempt := c
				attempt.service, attempt.bookingState = s, b
				return &attempt
			}),
	})
	return result, seats.ConstraintError(err)
}

// confirm is one attempt at ConfirmBooking or RecordPayment.
type confirm struct {
	service *Service
	ConfirmRequest
	bookingState
	anyState  bool // a booking that is not a hold is left in its state
	beyondDue bool // the money is meant, even if nothing is due
	payments  []payment.Line
	number    booking.BenefitNumber
	payers    []credit.Subscription
	member    *booking.Member // nil: a guest
	waits     waitlist.Standing
}

// Load implements engine.Operation.
func (c *confirm) Load(q *engine.Query) {
	c.bookingState.Load(q)
	bookingdb.FindBookingMember(q.Batch, q.Tenant, c.of.Member, &c.member)
	q.Then(c.loadStanding)
	if c.ProviderCode != "" {
		catalogdb.FindBenefitProvider(q.Batch, q.Tenant, c.ProviderCode, &c.number.Provider)
		catalogdb.FindBenefitNumber(
			q.Batch, q.Tenant, c.ProviderCode, booking.BenefitKey(c.Number), c.of.Member, &c.number)
	}
	if c.Paid != nil {
		bookingdb.ListPayments(q.Batch, q.Tenant, c.id, &c.payments)
	} else if !c.of.Member.IsZero() {
		seats.LoadPayers(q, &c.slot, c.of.Member, c.Subscription, &c.payers)
	}
}

// loadStanding reads how the member waits: the hold has paused their entries, and its confirmation ends them.
func (c *confirm) loadStanding(q *engine.Query) {
	if c.member != nil && c.booking != nil && c.booking.Status == booking.Pending {
		waitlists.LoadStanding(q.Batch, q.Tenant, c.of.Session, *c.member, &c.waits)
	}
}

// Run implements engine.Operation.
func (c *confirm) Run(ctx context.Context, tx *engine.Tx) (seats.Result, error) {
	b, err := c.find(tx)
	if err == nil && c.Paid != nil && !tx.Caller.CanSettle(b.Member) {
		err = errOwnPayment
	}
	if err != nil {
		return seats.Result{}, err
	}
	if c.anyState && (b.Status != booking.Pending || b.HoldExpired(tx.Now)) {
		return c.pay(tx, b)
	}
	if c.slot == nil {
		return seats.Result{}, errNoBooking
	}
	request := booking.ConfirmRequest{
		Request: booking.Request{
			ID: b.ID, Subscription: c.Subscription, Free: booking.IsFree(tx.Caller, b.Member), Actor: tx.Caller.Actor(),
		},
		Paid: c.Paid != nil,
	}
	if c.ProviderCode != "" && b.Status == booking.Pending {
		if request.Benefit, err = c.number.Check(c.Number, !tx.Caller.SelfOnly); err != nil {
			return seats.Result{}, ofMember(err, b)
		}
	}
	confirmed, err := booking.Confirm(b, booking.Facts{Slot: *c.slot, Subscriptions: c.payers}, request, tx.Now)
	if err != nil {
		return seats.Result{}, err
	}
	after := confirmed.Booking
	if confirmed.Repeated {
		return c.pay(tx, after)
	}
	if after.Items, err = booking.ConfirmItems(after.Items, c.Keep); err != nil {
		return seats.Result{}, err
	}
	if err := c.service.waitlists.PrepareSettle(tx, c.waits, nil); err != nil {
		return seats.Result{}, err
	}
	if c.Paid != nil {
		line, err := payment.Record(c.payments, *c.Paid, "", after.ID, tx.Caller.Actor(), tx.Now)
		if err != nil {
			return seats.Result{}, err
		}
		if line != nil {
			writePayment(tx, &after, c.payments, *line)
		}
	}
	c.write(tx, &after, confirmed)
	return seats.Result{Booking: &after}, c.service.waitlists.Settle(ctx, tx, c.waits, after, nil)
}

// pay records the payment of a booking that is not a hold, if there is one. A confirmation that is repeated adds no
// line: only RecordPayment records that another person paid the same.
func (c *confirm) pay(tx *engine.Tx, b booking.Booking) (seats.Result, error) {
	if c.Paid == nil || !c.anyState && payment.Known(c.payments, *c.Paid) {
		return seats.Result{Booking: &b, Repeated: true}, nil
	}
	never := b.NeverDue()
	if c.beyondDue {
		never = ""
	}
	line, err := payment.Record(c.payments, *c.Paid, never, b.ID, tx.Caller.Actor(), tx.Now)
	return changePayment(tx, b, c.payments, line, err)
}

func (c *confirm) write(tx *engine.Tx, after *booking.Booking, confirmed booking.ConfirmResult) {
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, after, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, after.Session, bookingdb.Seats{Holds: -1})
	seats.UpdateItemLines(tx, *after)
	if confirmed.Payer != nil {
		credits.Write(tx, *confirmed.Payer, confirmed.Ledger)
		if confirmed.Counted {
			bookingdb.CountBooking(tx.Tx, tx.Tenant, confirmed.Payer.ID, c.slot.LocalDate, +1)
		}
	}
	seats.BookingEvent(tx, *after, event.BookingConfirmed{Imported: false}, confirmed.Ledger...)
	if after.Benefit.Code != "" {
		if !after.Member.IsZero() {
			catalogdb.PutBenefitMembership(tx.Tx, tx.Tenant, c.number.Membership(after.Benefit, after.Member, tx.Now))
		}
		record.Audit(tx, "booking.benefit_applied", "booking", after.ID.UUID, "", map[string]any{
			"provider_code": after.Benefit.Code, "membership_number": after.Benefit.Number,
			"discount_percent": after.Benefit.Percent, "verified": after.Benefit.Verified,
		})
	}
}

// ofMember says whose benefit a refusal is about, so that those who type the numbers of others do not seem to guess.
func ofMember(err error, b booking.Booking) error {
	var f *fault.Error
	if errors.As(err, &f) && !b.Member.IsZero() {
		return f.OwnedBy(b.Member.String())
	}
	return err
}

// benefitRace is the race of two members for one membership number. The next attempt finds that it is in use.
func benefitRace(err error) bool { return pg.IsUnique(err, "benefit_memberships_one") }
