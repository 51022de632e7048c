package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

const offerColumns = `
  o.id, o.round_id, o.session_id, o.entry_id, o.member_id, o.seats, o.shared, o.status, o.try, o.by_hand, o.score, o.created_at, o.expires_at,
  o.closed_at, o.booking_id, o.reason, o.void, o.claim_hash, o.code,
  m.name, s.title, s.starts_at, s.ends_at, l.time_zone, l.name, v.name, s.location_id, s.service_id, s.local_date`

const offerJoins = `
  join sessions s on s.tenant_id = o.tenant_id and s.id = o.session_id
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
  join services v on v.tenant_id = s.tenant_id and v.id = s.service_id
  cross join lateral (select * from members m where m.tenant_id = o.tenant_id and m.id = o.member_id offset 0) m`

func scanOffer(row pgx.Row) (waitlist.Offer, error) {
	var o waitlist.Offer
	var on time.Time
	err := row.Scan(&o.ID, &o.Round, &o.Session, &o.Entry, &o.Member, &o.Seats, &o.Shared, &o.Status, &o.Try, &o.ByHand, &o.Score, &o.CreatedAt,
		&o.ExpiresAt, &o.ClosedAt, &o.Booking, &o.Reason, &o.Void, &o.ClaimHash, &o.Code,
		&o.MemberName, &o.SessionTitle, &o.SessionStarts, &o.SessionEnds, &o.TimeZone, &o.LocationName, &o.ServiceName,
		&o.Queue.Location, &o.Queue.Service, &on)
	o.Queue.Date = day(on)
	return o, err
}

func collectOffer(row pgx.CollectableRow) (waitlist.Offer, error) { return scanOffer(row) }

// FindOffer reads an offer; nil where there is none.
func FindOffer(b *pg.Batch, in tenant.TenantID, id tenant.OfferID, into **waitlist.Offer) {
	b.Queue(`select`+offerColumns+` from waitlist_offers o`+offerJoins+` where o.tenant_id = $1 and o.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		o, err := scanOffer(row)
		return found(into, o, err)
	})
}

// FindOfferByClaim reads the offer with the hash of the token in its link; nil where there is none.
func FindOfferByClaim(b *pg.Batch, in tenant.TenantID, hash []byte, into **waitlist.Offer) {
	b.Queue(`select`+offerColumns+` from waitlist_offers o`+offerJoins+` where o.tenant_id = $1 and o.claim_hash = $2`, in, hash).QueryRow(func(row pgx.Row) error {
		o, err := scanOffer(row)
		return found(into, o, err)
	})
}

// ListOffersByCode reads the offers to active members with a phone number that a text message with the code answers, the latest first.
func ListOffersByCode(b *pg.Batch, in tenant.TenantID, phone, code string, into *[]waitlist.Offer) {
	pg.Collect(b.Queue(`select`+offerColumns+` from waitlist_offers o`+offerJoins+`
where o.tenant_id = $1 and o.code = $3 and m.phone = $2 and m.phone <> '' and m.status = 'ACTIVE'
order by o.id desc limit 10`, in, phone, code), into, collectOffer)
}

// roundColumns are those of a round with all who were asked in it. Who was made a void offer was not.
const roundColumns = `
  r.id, r.session_id, r.freed, r.keeps, r.opened_at, r.closed_at,
  array(select o.entry_id from waitlist_offers o where o.tenant_id = r.tenant_id and o.round_id = r.id and not o.void order by o.try),
  coalesce((select max(o.try) from waitlist_offers o where o.tenant_id = r.tenant_id and o.round_id = r.id), 0)`

// FindRound reads a round with all who were asked in it; nil where there is none.
func FindRound(b *pg.Batch, in tenant.TenantID, id tenant.RoundID, into **waitlist.Round) {
	b.Queue(`select`+roundColumns+` from waitlist_rounds r where r.tenant_id = $1 and r.id = $2`, in, id).QueryRow(scanRound(into))
}

// FindLastRound reads the round of a session's last decision; nil where that belongs to none.
func FindLastRound(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, into **waitlist.Round) {
	b.Queue(`select`+roundColumns+` from waitlist_rounds r where r.tenant_id = $1 and r.id = (
  select d.round_id from waitlist_decisions d where d.tenant_id = $1 and d.session_id = $2 order by d.id desc limit 1)`, in, session).QueryRow(scanRound(into))
}

func scanRound(into **waitlist.Round) func(pgx.Row) error {
	return func(row pgx.Row) error {
		var r waitlist.Round
		err := row.Scan(&r.ID, &r.Session, &r.Freed, &r.Keeps, &r.Opened, &r.Closed, &r.Tried, &r.Offers)
		return found(into, r, err)
	}
}

// ListLiveOffers reads the live offers of sessions, the newest first.
func ListLiveOffers(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]waitlist.Offer) {
	// Step by step along the keys, whatever the planner takes the tables for.
	pg.Collect(b.Queue(`select`+offerColumns+` from unnest($2::uuid[]) as q (id)
cross join lateral (
  select * from waitlist_offers o where o.tenant_id = $1 and o.session_id = q.id and o.status = 'LIVE' offset 0) o`+offerJoins+`
order by o.id desc`, in, sessions), into, collectOffer)
}

// ListRivalOffers reads the live offers to those who ask for their places in line.
func ListRivalOffers(b *pg.Batch, in tenant.TenantID, q WhoseRivals, into *[]waitlist.Offer) {
	who, key := q.pick()
	pg.Collect(b.Queue(`select`+offerColumns+`
from (select * from waitlist_offers where tenant_id = $1 and `+who+` and status = 'LIVE' offset 0) o`+offerJoins, in, key), into, collectOffer)
}

// ListLiveOffersIn reads the live offers of a round.
func ListLiveOffersIn(b *pg.Batch, in tenant.TenantID, round tenant.RoundID, into *[]waitlist.Offer) {
	pg.Collect(b.Queue(`select`+offerColumns+` from waitlist_offers o`+offerJoins+`
where o.tenant_id = $1 and o.round_id = $2 and o.status = 'LIVE' order by o.try`, in, round), into, collectOffer)
}

// ListKeepingRounds reads the rounds of sessions that keep seats.
func ListKeepingRounds(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]waitlist.Round) {
	pg.Collect(b.Queue(`
select id, session_id, freed, keeps, opened_at, closed_at from waitlist_rounds where tenant_id = $1 and session_id = any($2) and keeps > 0`,
		in, sessions), into, func(row pgx.CollectableRow) (waitlist.Round, error) {
		var r waitlist.Round
		err := row.Scan(&r.ID, &r.Session, &r.Freed, &r.Keeps, &r.Opened, &r.Closed)
		return r, err
	})
}

// ListDueOffers names the live offers that have run out, those that did longest ago first.
func ListDueOffers(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.OfferID) {
	pg.Collect(b.Queue(`
select id from waitlist_offers where tenant_id = $1 and status = 'LIVE' and expires_at <= $2 order by expires_at, id limit $3`,
		in, now, limit), into, pgx.RowTo[tenant.OfferID])
}

// OfferQuery picks offers. Zero values pick all.
type OfferQuery struct {
	Session  tenant.SessionID
	Entry    tenant.EntryID
	Member   tenant.MemberID
	Statuses []waitlist.OfferStatus
	Oldest   bool // first; else the newest
	AfterID  tenant.OfferID
	Limit    int
}

// ListOffers reads the offers that it picks.
func ListOffers(b *pg.Batch, in tenant.TenantID, q OfferQuery, into *[]waitlist.Offer) {
	order, after := `o.id desc`, `o.id < $6`
	if q.Oldest {
		order, after = `o.id`, `o.id > $6`
	}
	pg.Collect(b.Queue(`select`+offerColumns+` from waitlist_offers o`+offerJoins+`
where o.tenant_id = $1 and ($2::uuid is null or o.session_id = $2) and ($3::uuid is null or o.entry_id = $3)
  and ($4::uuid is null or o.member_id = $4) and (coalesce(cardinality($5::text[]), 0) = 0 or o.status = any($5)) and ($6::uuid is null or `+after+`)
order by `+order+` limit $7`, in, q.Session, q.Entry, q.Member, q.Statuses, q.AfterID, q.Limit), into, collectOffer)
}

// InsertRound writes a new round with the transaction.
func InsertRound(tx *pg.Tx, in tenant.TenantID, r waitlist.Round) {
	tx.Write(`insert into waitlist_rounds (tenant_id, id, session_id, freed, keeps, opened_at) values ($1, $2, $3, $4, $5, $6)`,
		in, r.ID, r.Session, r.Freed, r.Keeps, r.Opened)
}

// UpdateRound writes what changes in a round's life with the transaction.
func UpdateRound(tx *pg.Tx, in tenant.TenantID, r waitlist.Round) {
	tx.Write(`update waitlist_rounds set keeps = $3, closed_at = $4, freed = $5 where tenant_id = $1 and id = $2`, in, r.ID, r.Keeps, r.Closed, r.Freed)
}

// InsertOffer writes a new offer with the transaction.
func InsertOffer(tx *pg.Tx, in tenant.TenantID, o waitlist.Offer) {
	tx.Write(`
insert into waitlist_offers (tenant_id, id, round_id, session_id, entry_id, member_id, seats, shared, status, try, by_hand, score, created_at, expires_at,
  claim_hash, code)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		in, o.ID, o.Round, o.Session, o.Entry, o.Member, o.Seats, o.Shared, o.Status, o.Try, o.ByHand, o.Score, o.CreatedAt, o.ExpiresAt, o.ClaimHash, o.Code)
}

// UpdateOffer writes what changes in an offer's life with the transaction.
func UpdateOffer(tx *pg.Tx, in tenant.TenantID, o waitlist.Offer) {
	tx.Write(`
update waitlist_offers set status = $3, closed_at = $4, booking_id = $5, reason = $6, expires_at = $7, void = $8 where tenant_id = $1 and id = $2`,
		in, o.ID, o.Status, o.ClosedAt, o.Booking, o.Reason, o.ExpiresAt, o.Void)
}

// KeepOffer moves the end of a live offer with the transaction.
func KeepOffer(tx *pg.Tx, in tenant.TenantID, id tenant.OfferID, until time.Time) {
	tx.Write(`update waitlist_offers set expires_at = $3 where tenant_id = $1 and id = $2 and status = 'LIVE'`, in, id, until)
}

// ListToldOffers hands on those of the offers of which their member was told, as far as anybody knows.
func ListToldOffers(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, each func(tenant.OfferID)) {
	b.Queue(`
select distinct offer_id from deliveries
where tenant_id = $1 and offer_id = any($2) and topic = 'OFFER' and status not in ('FAILED', 'DEFERRED', 'DROPPED')`, in, ids).Query(func(rows pgx.Rows) error {
		var id tenant.OfferID
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error { each(id); return nil })
		return err
	})
}

// ListOffersByID reads offers, and hands each on.
func ListOffersByID(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, each func(waitlist.Offer)) {
	b.Queue(`select`+offerColumns+` from waitlist_offers o`+offerJoins+` where o.tenant_id = $1 and o.id = any($2)`, in, ids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			o, err := scanOffer(rows)
			if err != nil {
				return err
			}
			each(o)
		}
		return rows.Err()
	})
}
