package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

const itemColumns = `
  i.id, i.location_id, i.name, i.kind, i.stock, i.price_currency, i.price_units, i.price_nanos, i.out_seconds, i.active,
  i.version, i.created_at, i.updated_at`

func scanItem(row pgx.Row) (booking.Item, error) {
	var i booking.Item
	var out *int64
	err := row.Scan(&i.ID, &i.Location, &i.Name, &i.Kind, &i.Stock, &i.Price.Currency, &i.Price.Units, &i.Price.Nanos, &out, &i.Active,
		&i.Version, &i.CreatedAt, &i.UpdatedAt)
	i.Out = duration(out)
	return i, err
}

func collectItem(row pgx.CollectableRow) (booking.Item, error) { return scanItem(row) }

// FindItem reads an item; nil where there is none.
func FindItem(b *pg.Batch, in tenant.TenantID, id tenant.ItemID, into **booking.Item) {
	b.Queue(`select`+itemColumns+` from items i where i.tenant_id = $1 and i.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		i, err := scanItem(row)
		return found(into, i, err)
	})
}

// FindItems reads items by their ids, in no particular order.
func FindItems(b *pg.Batch, in tenant.TenantID, ids []tenant.ItemID, into *[]booking.Item) {
	pg.Collect(b.Queue(`select`+itemColumns+` from items i where i.tenant_id = $1 and i.id = any($2)`, in, ids), into, collectItem)
}

// ItemQuery chooses items. A zero location means all.
type ItemQuery struct {
	Location  tenant.LocationID
	Inactive  bool // also those that are not to be had
	AfterName string
	AfterID   tenant.ItemID
	Limit     int
}

// ListItems reads items by name, then id.
func ListItems(b *pg.Batch, in tenant.TenantID, q ItemQuery, into *[]booking.Item) {
	pg.Collect(b.Queue(`select`+itemColumns+` from items i
where i.tenant_id = $1 and ($2::uuid is null or i.location_id = $2) and (i.active or $3)
  and ($5::uuid is null or (lower(i.name), i.id) > (lower($4), $5))
order by lower(i.name), i.id limit $6`, in, q.Location, q.Inactive, q.AfterName, q.AfterID, q.Limit), into, collectItem)
}

// InsertItem writes a new item with the transaction.
func InsertItem(tx *pg.Tx, in tenant.TenantID, i booking.Item) {
	tx.Write(`
insert into items (tenant_id, id, location_id, name, kind, stock, price_currency, price_units, price_nanos, out_seconds, active,
  version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		in, i.ID, i.Location, i.Name, i.Kind, i.Stock, i.Price.Currency, i.Price.Units, i.Price.Nanos, seconds(i.Out), i.Active,
		i.Version, i.CreatedAt, i.UpdatedAt)
}

// UpdateItem writes an item's edit with the transaction. Its location never changes.
func UpdateItem(tx *pg.Tx, in tenant.TenantID, i booking.Item) {
	tx.Write(`
update items set name = $3, kind = $4, stock = $5, price_currency = $6, price_units = $7, price_nanos = $8, out_seconds = $9,
  active = $10, version = $11, updated_at = $12
where tenant_id = $1 and id = $2`,
		in, i.ID, i.Name, i.Kind, i.Stock, i.Price.Currency, i.Price.Units, i.Price.Nanos, seconds(i.Out), i.Active, i.Version, i.UpdatedAt)
}

// ListOutings reads which numbers of items are out at some time within a span.
func ListOutings(b *pg.Batch, in tenant.TenantID, items []tenant.ItemID, span civil.Span, into *[]booking.Outing) {
	pg.Collect(b.Queue(`select item_id, number, out_from, out_until from booking_items
where tenant_id = $1 and item_id = any($2) and status <> 'CANCELLED' and out_from < $4 and out_until > $3`,
		in, items, span.Start, span.End), into,
		func(row pgx.CollectableRow) (booking.Outing, error) {
			var o booking.Outing
			err := row.Scan(&o.Item, &o.Number, &o.Span.Start, &o.Span.End)
			return o, err
		})
}

// InsertOuting writes one thing that goes with a line of a booking, with the transaction.
func InsertOuting(tx *pg.Tx, in tenant.TenantID, id tenant.UUID, to tenant.BookingID, line booking.Line, o booking.Outing) {
	tx.Write(`
insert into booking_items (tenant_id, id, booking_id, line_id, item_id, number, status, price_currency, price_units, price_nanos, out_from, out_until)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		in, id, to, line.ID, o.Item, o.Number, line.Status, line.Price.Currency, line.Price.Units, line.Price.Nanos, o.Span.Start, o.Span.End)
}

// SetLines moves lines of a booking that are not cancelled to a status, with the transaction: those named, or all for nil.
func SetLines(tx *pg.Tx, in tenant.TenantID, of tenant.BookingID, lines []tenant.LineID, to booking.ItemStatus) {
	tx.Write(`
update booking_items set status = $4
where tenant_id = $1 and booking_id = $2 and status <> 'CANCELLED' and ($3::uuid[] is null or line_id = any($3))`, in, of, lines, to)
}

// BookedLine is a line with the booking that it belongs to.
type BookedLine struct {
	Booking tenant.BookingID
	Line    booking.Line
}

var linesOfBookings = pg.Lookup[tenant.BookingID, BookedLine]{
	SQL: `
select r.booking_id, r.line_id, r.item_id, i.name, count(*), r.price_currency, r.price_units, r.price_nanos, r.status, q.n
from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from bookings b where b.tenant_id = $1 and b.id = q.id offset 0) b
cross join lateral (
  select * from booking_items r where b.has_items and r.tenant_id = $1 and r.booking_id = b.id offset 0) r
join items i on i.tenant_id = r.tenant_id and i.id = r.item_id
group by q.n, r.booking_id, r.line_id, r.item_id, i.name, r.price_currency, r.price_units, r.price_nanos, r.status
order by q.n, r.line_id`,
	Columns: func(ids []tenant.BookingID) []any { return []any{ids} },
	Scan: func(row pgx.Row) (BookedLine, error) {
		var l BookedLine
		err := row.Scan(&l.Booking, &l.Line.ID, &l.Line.Item, &l.Line.Name, &l.Line.Quantity,
			&l.Line.Price.Currency, &l.Line.Price.Units, &l.Line.Price.Nanos, &l.Line.Status)
		return l, err
	},
}

// ListLines reads the items of bookings, in the order in which they were asked for.
func ListLines(b *pg.Batch, in tenant.TenantID, of []tenant.BookingID, into *[]BookedLine) {
	*into = nil
	for _, id := range of {
		linesOfBookings.Find(b, in, id, func(l BookedLine) { *into = append(*into, l) })
	}
}

var providersByCode = pg.Lookup[string, booking.Provider]{
	SQL: `select` + providerColumns + `, q.n from unnest($2::text[]) with ordinality as q (code, n)
cross join lateral (select * from benefit_providers p where p.tenant_id = $1 and p.code = q.code offset 0) p`,
	Columns: func(codes []string) []any { return []any{codes} },
	Scan:    scanProvider,
}

// FindBenefitProvider reads a provider; nil where there is none.
func FindBenefitProvider(b *pg.Batch, in tenant.TenantID, code string, into **booking.Provider) {
	one(b, in, &providersByCode, code, into)
}

const providerColumns = ` p.code, p.name, p.number_pattern, p.discount_percent, p.active, p.version, p.created_at, p.updated_at`

func scanProvider(row pgx.Row) (booking.Provider, error) {
	var p booking.Provider
	err := row.Scan(&p.Code, &p.Name, &p.Pattern, &p.Percent, &p.Active, &p.Version, &p.CreatedAt, &p.UpdatedAt)
	return p, err
}

// ListBenefitProviders reads a tenant's providers by code.
func ListBenefitProviders(b *pg.Batch, in tenant.TenantID, into *[]booking.Provider) {
	pg.Collect(b.Queue(`select`+providerColumns+` from benefit_providers p where p.tenant_id = $1 order by p.code`, in), into,
		func(row pgx.CollectableRow) (booking.Provider, error) { return scanProvider(row) })
}

// PutBenefitProvider writes a provider with the transaction, whether it is there or not.
func PutBenefitProvider(tx *pg.Tx, in tenant.TenantID, p booking.Provider) {
	tx.Write(`
insert into benefit_providers (tenant_id, code, name, number_pattern, discount_percent, active, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (tenant_id, code) do update set name = excluded.name, number_pattern = excluded.number_pattern,
  discount_percent = excluded.discount_percent, active = excluded.active, version = excluded.version, updated_at = excluded.updated_at`,
		in, p.Code, p.Name, p.Pattern, p.Percent, p.Active, p.Version, p.CreatedAt, p.UpdatedAt)
}
