package bookings

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
)

// Permissions about payments. ConfirmAny lets service accounts record for bookings that they did not make.
const (
	RecordPayments = "payment.record"
	ConfirmAny     = "booking.confirm_any"
)

// RefundPayment adds a refund to the payment of a booking in any of its states. Repeated says that the refund was
// known.
func (s *Service) RefundPayment(
	ctx context.Context, caller tenant.Caller, id tenant.BookingID, f payment.Facts,
) (seats.Result, error) {
	return engine.RunBatched(ctx, s.engine, caller, engine.Batched[seats.Result]{
		Name: "payment.refund", Races: []engine.Race{paymentRace}, Replay: true,
		Locate: locate(caller.Tenant, seats.Locator{ID: id},
			func(b bookingState) engine.Operation[seats.Result] { return &refund{bookingState: b, facts: f} }),
	})
}

// paymentRace is the race of two lines of one booking. The next attempt follows the other's line.
func paymentRace(err error) bool { return pg.IsUnique(err, "payment_entries_line") }

// refund is one attempt at RefundPayment.
type refund struct {
	bookingState
	facts    payment.Facts
	payments []payment.Line
}

// Load implements engine.Operation.
func (r *refund) Load(q *engine.Query) {
	r.bookingState.Load(q)
	bookingdb.ListPayments(q.Batch, q.Tenant, r.id, &r.payments)
}

// Run implements engine.Operation.
func (r *refund) Run(_ context.Context, tx *engine.Tx) (seats.Result, error) {
	b, err := r.find(tx)
	if err == nil && !tx.Caller.CanSettle(b.Member) {
		err = errOwnPayment
	}
	if err != nil {
		return seats.Result{}, err
	}
	line, err := payment.Return(r.payments, r.facts, b.ID, tx.Caller.Actor(), tx.Now)
	return changePayment(tx, b, r.payments, line, err)
}

var errOwnPayment = fault.Own("Someone else records payments and refunds of your own bookings, or an owner does.")

// changePayment writes a new line with its booking and event. Without a line nothing changes.
func changePayment(
	tx *engine.Tx, b booking.Booking, before []payment.Line, l *payment.Line, err error,
) (seats.Result, error) {
	if err != nil || l == nil {
		return seats.Result{Booking: &b, Repeated: true}, err
	}
	writePayment(tx, &b, before, *l)
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, &b, tx.Now)
	seats.BookingEvent(tx, b, event.BookingUpdated{})
	return seats.Result{Booking: &b}, nil
}

// writePayment writes a new line, and derives the payment of the booking, which the caller writes.
func writePayment(tx *engine.Tx, b *booking.Booking, before []payment.Line, l payment.Line) {
	l.ID = tenant.NextID[tenant.PaymentLineID](tx.IDs)
	bookingdb.AppendPayment(tx.Tx, tx.Tenant, l)
	b.Payment = payment.Of(append(slices.Clip(before), l), b.EndedAt(tx.Now))
	action := "payment.recorded"
	if l.Kind == payment.Refund {
		action = "payment.refunded"
	}
	record.Audit(tx, action, "booking", b.ID.UUID, "", map[string]any{
		"kind": l.Kind, "line": l.Number, "method": l.Method, "reference": l.Reference,
		"amount": map[string]any{
			"currency_code": l.Amount.Currency, "units": l.Amount.Units, "nanos": l.Amount.Nanos,
		},
	})
}

// ListPaymentLines reads the lines of a booking's payment.
func (s *Service) ListPaymentLines(
	ctx context.Context, caller tenant.Caller, id tenant.BookingID,
) ([]payment.Line, error) {
	var b *booking.Booking
	var lines []payment.Line
	var batch pg.Batch
	bookingdb.FindBooking(&batch, caller.Tenant, id, &b)
	bookingdb.ListPayments(&batch, caller.Tenant, id, &lines)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	if b == nil || !caller.CanAccessCreated(b.Member, b.CreatedBy) {
		return nil, errNoBooking
	}
	return lines, nil
}
