package bookingdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

var ledger = pg.NewTable("e", func(e *credit.Line) []pg.Column {
	return []pg.Column{
		pg.Fixed("id", &e.ID),
		pg.Fixed("subscription_id", &e.Subscription),
		pg.Fixed("line", &e.Number),
		pg.Fixed("kind", (*string)(&e.Kind)),
		pg.Fixed("amount", &e.Amount),
		pg.Fixed("balance", &e.Balance),
		pg.Fixed("booking_id", &e.Booking),
		pg.Fixed("actor", &e.Actor),
		pg.Fixed("reason", &e.Reason),
		pg.Fixed("created_at", &e.At),
	}
})

var (
	appendLedger = pg.SQL(`
insert into credit_entries ` + ledger.Rows())
	listLedger = pg.SQL(`
select ` + listedLines.Columns() + ` from credit_entries e
  left join bookings b on b.tenant_id = e.tenant_id and b.id = e.booking_id
  left join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id
  left join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
where e.tenant_id = $1 and e.subscription_id = $2 and (cardinality($3::text[]) = 0 or e.kind = any($3))
  and ($4::timestamptz is null or e.created_at >= $4) and ($5::timestamptz is null or e.created_at < $5)
  and ($6 = 0 or e.line < $6)
order by e.line desc limit $7`)
)

var linesMade = pg.RowWriter[*credit.Line]{
	Rank: coredb.RankLedger,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []*credit.Line) {
		tx.Write(appendLedger, ledger.InsertAll(in, rows)...)
	},
}

// AppendLedger writes lines with the transaction, in order. Their ids must be set.
func AppendLedger(tx *pg.Tx, in tenant.TenantID, lines []credit.Line) {
	linesMade.Add(tx, in, pg.Array(lines, func(l credit.Line) *credit.Line { return &l })...)
}

// ListedLine is a line with what is shown of the session of its booking.
type ListedLine struct {
	credit.Line
	Session catalog.SessionSummary // zero without a booking
}

var listedLines = pg.NewReader(func(l *ListedLine) []pg.Column {
	return append(ledger.Of(&l.Line), summaryColumns(&l.Session)...)
})

// summaryColumns are what is shown of the session `s` of a booking `b`, at the location `l`. All are null without one.
func summaryColumns(s *catalog.SessionSummary) []pg.Column {
	return []pg.Column{
		pg.Read("b.session_id", &s.ID),
		pg.Read("coalesce(s.title, '')", &s.Title),
		pg.Read("b.starts_at", pg.Null(&s.StartsAt)),
		pg.Read("b.ends_at", pg.Null(&s.EndsAt)),
		pg.Read(coredb.CoachName, &s.CoachName),
		pg.Read("s.service_id", &s.Service),
		pg.Read("l.id", &s.Location),
		pg.Read("coalesce(l.name, '')", &s.LocationName),
		pg.Read("coalesce(l.time_zone, '')", &s.TimeZone),
	}
}

// LineQuery selects lines of a ledger.
type LineQuery struct {
	Kinds       []credit.LineKind // empty: all
	From, Until time.Time         // half-open; zero: at any time
	Before      int               // keyset: the number of the last line of the page before
	Limit       int
}

// ListCreditLines reads a subscription's lines, newest first.
func ListCreditLines(b *pg.Batch, in tenant.TenantID, id tenant.SubscriptionID, q LineQuery, into *[]ListedLine) {
	kinds := pg.Array(q.Kinds, func(k credit.LineKind) string { return string(k) })
	listedLines.List(b.Queue(
		listLedger, in, id, kinds, pg.OrNull(q.From), pg.OrNull(q.Until), q.Before, q.Limit), into)
}

// ListLedgerSums reads the sum of the lines of each subscription, in the order of the ids: 0 without lines.
func ListLedgerSums(b *pg.Batch, in tenant.TenantID, ids []tenant.SubscriptionID, into *[]int) {
	pg.Collect(b.Queue(`
select e.total from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (
  select coalesce(sum(amount), 0)::bigint as total from credit_entries e
  where e.tenant_id = $1 and e.subscription_id = q.id) e
order by q.n`, in, ids), into, pgx.RowTo[int])
}
