package bookingdb

import (
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
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
select ` + ledger.Columns() + ` from credit_entries e
where e.tenant_id = $1 and e.subscription_id = $2 and ($3 = 0 or e.line < $3)
order by e.line desc limit $4`)
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

// ListLedger reads a subscription's lines, newest first, starting before the given line. With 0 it starts at the
// newest.
func ListLedger(
	b *pg.Batch, in tenant.TenantID, id tenant.SubscriptionID, before, limit int, into *[]credit.Line,
) {
	ledger.List(b.Queue(listLedger, in, id, before, limit), into)
}
