package waitlistdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var offerRows = pg.NewTable("o", func(o *waitlist.Offer) []pg.Column {
	return []pg.Column{
		pg.Key("id", &o.ID),
		pg.Fixed("round_id", &o.Round),
		pg.Fixed("session_id", &o.Session),
		pg.Fixed("entry_id", &o.Entry),
		pg.Fixed("member_id", &o.Member),
		pg.Fixed("seats", &o.Seats),
		pg.Fixed("shared", &o.Shared),
		pg.Col("status", &o.Status),
		pg.Fixed("try", &o.Try),
		pg.Fixed("by_hand", &o.ByHand),
		pg.Fixed("score", &o.Score),
		pg.Fixed("created_at", &o.CreatedAt),
		pg.Col("expires_at", &o.ExpiresAt),
		pg.Later("closed_at", &o.ClosedAt),
		pg.Later("booking_id", &o.Booking),
		pg.Later("withdraw_cause", &o.Cause),
		pg.Later("reason", &o.Reason),
		pg.Later("void", &o.Void),
		pg.Fixed("claim_hash", &o.ClaimHash),
		pg.Fixed("code_hash", &o.CodeHash),
	}
})

// offersShown reads offers `o` with what is shown with them.
var offersShown = pg.NewReader(func(o *waitlist.Offer) []pg.Column {
	return append(offerRows.Of(o),
		pg.Read("m.name", &o.MemberName),
		pg.Read("s.title", &o.SessionTitle),
		pg.Read("s.starts_at", &o.SessionStarts),
		pg.Read("s.ends_at", &o.SessionEnds),
		pg.Read("l.time_zone", &o.TimeZone),
		pg.Read("l.name", &o.LocationName),
		pg.Read(coredb.CoachName, &o.CoachName),
		pg.Read("v.name", &o.ServiceName),
		pg.Read("s.location_id", &o.Queue.Location),
		pg.Read("s.service_id", &o.Queue.Service),
		pg.Read("s.local_date", &o.Queue.Date),
	)
})

const offerJoins = `
  join sessions s on s.tenant_id = o.tenant_id and s.id = o.session_id
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
  join services v on v.tenant_id = s.tenant_id and v.id = s.service_id
  cross join lateral (select * from members m where m.tenant_id = o.tenant_id and m.id = o.member_id offset 0) m`

// selectOffers reads offers `o`.
var selectOffers = `select ` + offersShown.Columns() + ` from waitlist_offers o` + offerJoins

var (
	findOffer        = pg.SQL(selectOffers + ` where o.tenant_id = $1 and o.id = $2`)
	findOfferByClaim = pg.SQL(selectOffers + ` where o.tenant_id = $1 and o.claim_hash = $2`)
	listOffersByID   = pg.SQL(selectOffers + ` where o.tenant_id = $1 and o.id = any($2)`)
	listOffersByCode = pg.SQL(selectOffers + `
where o.tenant_id = $1 and o.code_hash = any($3) and m.phone = $2 and m.phone <> '' and m.status = 'ACTIVE'
order by o.id desc limit 10`)
	// The subquery makes the planner use the index of each session, whatever its statistics are.
	listLiveOffers = pg.SQL(`select ` + offersShown.Columns() + ` from unnest($2::uuid[]) as q (id)
cross join lateral (
  select * from waitlist_offers o
  where o.tenant_id = $1 and o.session_id = q.id and o.status = 'LIVE' offset 0) o` + offerJoins + `
order by o.id desc`)
	listLiveOffersIn = pg.SQL(selectOffers + `
where o.tenant_id = $1 and o.round_id = $2 and o.status = 'LIVE' order by o.try`)
	listOffers       = offersBy(`o.id < $10`, `o.id desc`)
	listOffersOldest = offersBy(`o.id > $10`, `o.id`)
	listRivalOffers  = rivals(func(who string) string {
		return pg.SQL(`
select ` + offersShown.Columns() + ` from (
  select * from waitlist_offers where tenant_id = $1 and ` + who + ` and status = 'LIVE' offset 0) o` + offerJoins)
	})
	insertOffer = pg.SQL(`insert into waitlist_offers ` + offerRows.Values())
	updateOffer = pg.SQL(`update waitlist_offers set ` + offerRows.Set() + ` where tenant_id = $1 and id = $2`)
)

func offersBy(after, order string) string {
	return pg.SQL(selectOffers + `
where o.tenant_id = $1 and ($2::uuid is null or o.session_id = $2) and ($3::uuid is null or o.entry_id = $3)
  and ($4::uuid is null or o.member_id = $4) and (coalesce(cardinality($5::text[]), 0) = 0 or o.status = any($5))
  and ($6::uuid is null or s.location_id = $6) and ($7::uuid is null or s.service_id = $7)
  and ($8::timestamptz is null or o.created_at >= $8) and ($9::timestamptz is null or o.created_at < $9)
  and ($12::timestamptz is null or s.starts_at >= $12) and ($13::timestamptz is null or s.starts_at < $13)
  and ($10::uuid is null or ` + after + `)
order by ` + order + ` limit $11`)
}

// FindOffer reads an offer; nil if there is none.
func FindOffer(b *pg.Batch, in tenant.TenantID, id tenant.OfferID, into **waitlist.Offer) {
	offersShown.Find(b.Queue(findOffer, in, id), into)
}

// FindOfferByClaim reads the offer with the hash of the token in its link; nil if there is none.
func FindOfferByClaim(b *pg.Batch, in tenant.TenantID, hash []byte, into **waitlist.Offer) {
	offersShown.Find(b.Queue(findOfferByClaim, in, hash), into)
}

// ListOffersByCode reads the offers with a code to active members with a phone number, the latest first. The code is
// given by its keyed hashes.
func ListOffersByCode(b *pg.Batch, in tenant.TenantID, phone string, hashes [][]byte, into *[]waitlist.Offer) {
	offersShown.List(b.Queue(listOffersByCode, in, phone, hashes), into)
}

// ListLiveOffers reads the live offers of sessions, the newest first.
func ListLiveOffers(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]waitlist.Offer) {
	offersShown.List(b.Queue(listLiveOffers, in, sessions), into)
}

// ListRivalOffers reads the live offers of the entries that q selects.
func ListRivalOffers(b *pg.Batch, in tenant.TenantID, q RivalQuery, into *[]waitlist.Offer) {
	offersShown.List(listRivalOffers.queue(b, in, q), into)
}

// ListLiveOffersIn reads the live offers of a round.
func ListLiveOffersIn(b *pg.Batch, in tenant.TenantID, round tenant.RoundID, into *[]waitlist.Offer) {
	offersShown.List(b.Queue(listLiveOffersIn, in, round), into)
}

// ListDueOffers reads the ids of live offers that have expired, the longest expired first.
func ListDueOffers(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.OfferID) {
	pg.Collect(b.Queue(`
select id from waitlist_offers
where tenant_id = $1 and status = 'LIVE' and expires_at <= $2 order by expires_at, id limit $3`, in, now, limit), into,
		pgx.RowTo[tenant.OfferID])
}

// OfferQuery selects offers. Zero values select all.
type OfferQuery struct {
	Session  tenant.SessionID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Entry    tenant.EntryID
	Member   tenant.MemberID
	Statuses []waitlist.OfferStatus
	From     time.Time // From and Until bound when they were made
	Until    time.Time
	Starts   civil.Span // when the session starts
	Oldest   bool       // oldest first; otherwise newest first
	AfterID  tenant.OfferID
	Limit    int
}

// ListOffers reads offers.
func ListOffers(b *pg.Batch, in tenant.TenantID, q OfferQuery, into *[]waitlist.Offer) {
	sql := listOffers
	if q.Oldest {
		sql = listOffersOldest
	}
	offersShown.List(b.Queue(sql, in, q.Session, q.Entry, q.Member, q.Statuses, q.Location, q.Service,
		pg.OrNull(q.From), pg.OrNull(q.Until), q.AfterID, q.Limit,
		pg.OrNull(q.Starts.Start), pg.OrNull(q.Starts.End)), into)
}

// ListOffersByID reads offers, and calls each with them.
func ListOffersByID(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, each func(waitlist.Offer)) {
	offersShown.Each(b.Queue(listOffersByID, in, ids), each)
}

// ListNotifiedOffers calls each with the ids of the offers for which a message was or may have been sent to the member.
func ListNotifiedOffers(b *pg.Batch, in tenant.TenantID, ids []tenant.OfferID, each func(tenant.OfferID)) {
	var id tenant.OfferID
	b.Queue(`
select distinct offer_id from deliveries
where tenant_id = $1 and offer_id = any($2) and topic = 'OFFER' and status not in ('FAILED', 'DEFERRED', 'DROPPED')`,
		in, ids).Each(func() { each(id) }, &id)
}

// FindPromotionTold reads whether a message about a promotion was or may have been sent to the member.
func FindPromotionTold(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into *bool) {
	b.Queue(`
select exists (select from deliveries
  where tenant_id = $1 and booking_id = $2 and topic = 'PROMOTED' and status not in ('FAILED', 'DEFERRED', 'DROPPED'))`,
		in, id).Each(func() {}, into)
}

// InsertOffer writes a new offer with the transaction.
func InsertOffer(tx *pg.Tx, in tenant.TenantID, o waitlist.Offer) {
	tx.Write(insertOffer, offerRows.Insert(in, &o)...)
}

// UpdateOffer writes the columns of an offer that can change, with the transaction.
func UpdateOffer(tx *pg.Tx, in tenant.TenantID, o waitlist.Offer) {
	tx.Write(updateOffer, offerRows.Update(in, &o)...)
}

// ExtendOffer changes when a live offer expires, with the transaction.
func ExtendOffer(tx *pg.Tx, in tenant.TenantID, id tenant.OfferID, until time.Time) {
	tx.Write(`update waitlist_offers set expires_at = $3 where tenant_id = $1 and id = $2 and status = 'LIVE'`,
		in, id, until)
}
