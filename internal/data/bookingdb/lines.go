package bookingdb

import (
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// outingRow is one numbered item that is reserved for a line of a booking.
type reservationRow struct {
	id          tenant.UUID
	booking     tenant.BookingID
	line        booking.ItemLine
	reservation booking.ItemReservation
}

func reservationColumns(r *booking.ItemReservation) []pg.Column {
	return []pg.Column{
		pg.Fixed("item_id", &r.Item),
		pg.Fixed("number", &r.Number),
		pg.Fixed("out_from", &r.Span.Start),
		pg.Fixed("out_until", &r.Span.End),
	}
}

var (
	reservations    = pg.NewTable("r", reservationColumns)
	reservationRows = pg.NewTable("", func(r *reservationRow) []pg.Column {
		return append(reservationColumns(&r.reservation),
			pg.Fixed("id", &r.id),
			pg.Fixed("booking_id", &r.booking),
			pg.Fixed("line_id", &r.line.ID),
			pg.Fixed("status", &r.line.Status),
			pg.Fixed("price_currency", &r.line.Price.Currency),
			pg.Fixed("price_units", &r.line.Price.Units),
			pg.Fixed("price_nanos", &r.line.Price.Nanos),
		)
	})
)

var (
	listReservations = pg.SQL(`select ` + reservations.Columns() + ` from booking_items r
where r.tenant_id = $1 and r.item_id = any($2) and r.status <> 'CANCELLED' and r.out_from < $4 and r.out_until > $3`)
	insertReservation = pg.SQL(`insert into booking_items ` + reservationRows.Values())
)

// ListItemReservations reads which numbers of items are reserved at any time within a span.
func ListItemReservations(
	b *pg.Batch, in tenant.TenantID, items []tenant.ItemID, span civil.Span, into *[]booking.ItemReservation,
) {
	reservations.List(b.Queue(listReservations, in, items, span.Start, span.End), into)
}

// InsertItemReservation writes one numbered item that is reserved for a line of a booking, with the transaction.
func InsertItemReservation(
	tx *pg.Tx, in tenant.TenantID, id tenant.UUID, to tenant.BookingID, line booking.ItemLine, r booking.ItemReservation,
) {
	tx.Write(insertReservation, reservationRows.Insert(in, &reservationRow{id, to, line, r})...)
}

// SetLines sets the status of lines of a booking that are not cancelled, with the transaction. Nil means all lines.
func SetLines(
	tx *pg.Tx, in tenant.TenantID, of tenant.BookingID, lines []tenant.ItemLineID, to booking.ItemStatus,
) {
	tx.Write(`
update booking_items set status = $4
where tenant_id = $1 and booking_id = $2 and status <> 'CANCELLED' and ($3::uuid[] is null or line_id = any($3))`,
		in, of, lines, to)
}

// BookedLine is a line with its booking.
type BookedLine struct {
	Booking tenant.BookingID
	Line    booking.ItemLine
}

var bookedLine = pg.NewReader(func(l *BookedLine) []pg.Column {
	return []pg.Column{
		pg.Read("r.booking_id", &l.Booking),
		pg.Read("r.line_id", &l.Line.ID),
		pg.Read("r.item_id", &l.Line.Item),
		pg.Read("i.name", &l.Line.Name),
		pg.Read("count(*)", &l.Line.Quantity),
		pg.Read("r.price_currency", &l.Line.Price.Currency),
		pg.Read("r.price_units", &l.Line.Price.Units),
		pg.Read("r.price_nanos", &l.Line.Price.Nanos),
		pg.Read("r.status", &l.Line.Status),
	}
})

var linesOfBookings = pg.Lookup[tenant.BookingID, BookedLine]{
	SQL: pg.SQL(`
select ` + bookedLine.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from bookings b where b.tenant_id = $1 and b.id = q.id offset 0) b
cross join lateral (
  select * from booking_items r where b.has_items and r.tenant_id = $1 and r.booking_id = b.id offset 0) r
join items i on i.tenant_id = r.tenant_id and i.id = r.item_id
group by q.n, r.booking_id, r.line_id, r.item_id, i.name, r.price_currency, r.price_units, r.price_nanos, r.status
order by q.n, r.line_id`),
	Reader: bookedLine,
}

// ListLines reads the items of bookings, in the order in which they were asked for.
func ListLines(b *pg.Batch, in tenant.TenantID, of []tenant.BookingID, into *[]BookedLine) {
	*into = nil
	for _, id := range of {
		linesOfBookings.Find(b, in, id, func(l BookedLine) { *into = append(*into, l) })
	}
}
