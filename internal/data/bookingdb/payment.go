package bookingdb

import (
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
)

// The amounts of a line have one currency.
var payments = pg.NewTable("e", func(e *payment.Line) []pg.Column {
	return []pg.Column{
		pg.Fixed("id", &e.ID),
		pg.Fixed("booking_id", &e.Booking),
		pg.Fixed("line", &e.Number),
		pg.Fixed("kind", (*string)(&e.Kind)),
		pg.Fixed("amount_currency", &e.Amount.Currency),
		pg.Fixed("amount_units", &e.Amount.Units),
		pg.Fixed("amount_nanos", &e.Amount.Nanos),
		pg.Fixed("captured_units", &e.Captured.Units),
		pg.Fixed("captured_nanos", &e.Captured.Nanos),
		pg.Fixed("refunded_units", &e.Refunded.Units),
		pg.Fixed("refunded_nanos", &e.Refunded.Nanos),
		pg.Fixed("method", &e.Method),
		pg.Fixed("reference", &e.Reference),
		pg.Fixed("actor", &e.Actor),
		pg.Fixed("created_at", &e.At),
	}
})

var paid = pg.ReadAs(payments.Of, func(e *payment.Line) (payment.Line, error) {
	e.Captured.Currency, e.Refunded.Currency = e.Amount.Currency, e.Amount.Currency
	return *e, nil
})

var (
	appendPayments = pg.SQL(`
insert into payment_entries ` + payments.Rows())
	paymentsOfBookings = pg.Lookup[tenant.BookingID, payment.Line]{
		SQL: pg.SQL(`
select ` + paid.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (
  select * from payment_entries e where e.tenant_id = $1 and e.booking_id = q.id offset 0) e
order by e.line`),
		Reader: paid,
	}
)

var paymentsMade = pg.RowWriter[*payment.Line]{
	Rank: coredb.RankPayments,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []*payment.Line) {
		tx.Write(appendPayments, payments.InsertAll(in, rows)...)
	},
}

// AppendPayment writes a line of a booking's payment with the transaction.
func AppendPayment(tx *pg.Tx, in tenant.TenantID, l payment.Line) { paymentsMade.Add(tx, in, &l) }

// ListPayments reads the lines of a booking's payment in their order.
func ListPayments(b *pg.Batch, in tenant.TenantID, of tenant.BookingID, into *[]payment.Line) {
	paymentsOfBookings.Many(b, in, of, into)
}
