package waitlistdb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var (
	roundRows = pg.NewTable("r", func(r *waitlist.Round) []pg.Column {
		return []pg.Column{
			pg.Key("id", &r.ID),
			pg.Fixed("session_id", &r.Session),
			pg.Col("freed", &r.Freed),
			pg.Fixed("opening", &r.Opening),
			pg.Col("keeps", &r.Keeps),
			pg.Col("gave_up", pg.List(&r.GaveUp)),
			pg.Fixed("opened_at", &r.Opened),
			pg.Later("closed_at", &r.Closed),
		}
	})
	// rounds reads a round with the entries that had an offer in it, except void offers.
	rounds = pg.NewReader(func(r *waitlist.Round) []pg.Column {
		return append(roundRows.Of(r),
			pg.Read(`
  array(select o.entry_id from waitlist_offers o
    where o.tenant_id = r.tenant_id and o.round_id = r.id and not o.void order by o.try)`, &r.Tried),
			pg.Read(`
  array(select distinct o.member_id from waitlist_offers o
    where o.tenant_id = r.tenant_id and o.round_id = r.id and not o.void)`, &r.Asked),
			pg.Read(`
  array(select distinct o.member_id from waitlist_offers o
    where o.tenant_id = r.tenant_id and o.round_id = r.id and o.status = 'DECLINED')`, &r.Declined),
			pg.Read(`
  coalesce((select max(o.try) from waitlist_offers o where o.tenant_id = r.tenant_id and o.round_id = r.id), 0)`,
				&r.Offers),
			pg.Read(`
  case when r.opening then r.keeps + coalesce((
    select sum(least(o.seats, b.party_size)) from waitlist_offers o
    left join bookings b on b.tenant_id = o.tenant_id and b.id = o.booking_id
    where o.tenant_id = r.tenant_id and o.round_id = r.id
      and (o.status = 'ACCEPTED' or o.status = 'LIVE' and not o.shared)
  ), 0) else 0 end`, &r.Given),
		)
	})
)

var (
	findRound     = pg.SQL(`select ` + rounds.Columns() + ` from waitlist_rounds r where r.tenant_id = $1 and r.id = $2`)
	findLastRound = pg.SQL(`select ` + rounds.Columns() + ` from waitlist_rounds r where r.tenant_id = $1 and r.id = (
  select d.round_id from waitlist_decisions d where d.tenant_id = $1 and d.session_id = $2 order by d.id desc limit 1)`)
	listKeepingRounds = pg.SQL(`select ` + roundRows.Columns() + ` from waitlist_rounds r
where r.tenant_id = $1 and r.session_id = any($2) and r.keeps > 0`)
	insertRound = pg.SQL(`insert into waitlist_rounds ` + roundRows.Values())
	updateRound = pg.SQL(`update waitlist_rounds set ` + roundRows.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindRound reads a round with the entries that had an offer in it; nil if there is none.
func FindRound(b *pg.Batch, in tenant.TenantID, id tenant.RoundID, into **waitlist.Round) {
	rounds.Find(b.Queue(findRound, in, id), into)
}

// FindLastRound reads the round of a session's last decision; nil if the decision has none.
func FindLastRound(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, into **waitlist.Round) {
	rounds.Find(b.Queue(findLastRound, in, session), into)
}

// ListKeepingRounds reads the rounds of sessions that reserve seats.
func ListKeepingRounds(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]waitlist.Round) {
	roundRows.List(b.Queue(listKeepingRounds, in, sessions), into)
}

// InsertRound writes a new round with the transaction.
func InsertRound(tx *pg.Tx, in tenant.TenantID, r waitlist.Round) {
	tx.Write(insertRound, roundRows.Insert(in, &r)...)
}

// UpdateRound writes the columns of a round that can change, with the transaction.
func UpdateRound(tx *pg.Tx, in tenant.TenantID, r waitlist.Round) {
	tx.Write(updateRound, roundRows.Update(in, &r)...)
}
