package waitlistdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var listEndingEntries = pg.SQL(`
select e.id from waitlist_entries e
where e.tenant_id = $1 and e.status = 'WAITING' and ($4::uuid is null or e.id > $4) and (
  (e.created_at <= $3 and exists (
    select from policies p where p.tenant_id = $1 and p.waitlist_rules @> '{"expire_stale": true}'))
  or exists (
    select from waitlist_places p
    left join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id` + coredb.PolicyJoins + `
    where p.tenant_id = $1 and p.entry_id = e.id
      and coalesce(
        s.starts_at - coalesce(
          pv.booking_closes_before_seconds, pl.booking_closes_before_seconds, pt.booking_closes_before_seconds, $6
        ) * interval '1 second' <= $2 or s.state = 'CANCELLED' or s.deleted_at is not null,
        p.local_date <= ($2 at time zone 'UTC')::date)))
order by e.id limit $5`)

// ListEndingEntries reads the ids of entries that may have to end: those with a place whose time may have passed, and,
// if any rules expire stale entries, those that joined before a time. The rules and time zones decide.
func ListEndingEntries(
	b *pg.Batch, in tenant.TenantID, now, joinedBefore time.Time, after tenant.EntryID, limit int, into *[]tenant.EntryID,
) {
	pg.Collect(b.Queue(
		listEndingEntries, in, now, joinedBefore, after, limit, catalog.Defaults().BookingClosesBefore,
	), into, pgx.RowTo[tenant.EntryID])
}

// Ending is an entry with its places.
type Ending struct {
	Entry  waitlist.Entry
	Places []waitlist.Place
}

// entryPlace is a place with the id of its entry.
type entryPlace struct {
	waitlist.Place
	entry  tenant.EntryID
	policy coredb.PolicyRow
}

var places = pg.ReadAs(func(p *entryPlace) []pg.Column {
	return append([]pg.Column{
		pg.Read("p.entry_id", &p.entry),
		pg.Read("p.location_id", &p.Location),
		pg.Read("p.service_id", &p.Service),
		pg.Read("p.local_date", &p.Date),
		pg.Read("p.session_id", &p.Session),
		pg.Read("s.starts_at", pg.Null(&p.Starts)),
		pg.Read("s.ends_at", pg.Null(&p.Ends)),
		pg.Read("coalesce(s.capacity = 1, false)", &p.Single),
		pg.Read("coalesce(s.state = 'CANCELLED' or s.deleted_at is not null, false)", &p.Gone),
		pg.Read("l.time_zone", &p.Zone),
	}, p.policy.Columns()...)
}, func(p *entryPlace) (entryPlace, error) {
	p.BookingCloses = p.policy.Policy().BookingClosesBefore
	return *p, nil
})

var (
	listEnding = pg.SQL(selectEntries + ` where e.tenant_id = $1 and e.id = any($2) order by e.id`)
	listPlaces = pg.SQL(`
select ` + places.Columns() + ` from waitlist_places p
join locations l on l.tenant_id = p.tenant_id and l.id = p.location_id
left join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id` + coredb.PolicyJoins + `
where p.tenant_id = $1 and p.entry_id = any($2)`)
)

// ListEnding reads entries with their places, ordered by id.
func ListEnding(b *pg.Batch, in tenant.TenantID, ids []tenant.EntryID, into *[]Ending) {
	at := make(map[tenant.EntryID]int, len(ids))
	*into = nil
	entries.Each(b.Queue(listEnding, in, ids), func(e waitlist.Entry) {
		at[e.ID] = len(*into)
		*into = append(*into, Ending{Entry: e})
	})
	places.Each(b.Queue(listPlaces, in, ids), func(p entryPlace) {
		ending := &(*into)[at[p.entry]]
		ending.Places = append(ending.Places, p.Place)
	})
}

// ListOrphans reads the ids of entries that are OFFERED without a live offer, and of rounds that reserve seats without
// a live offer to claim them. There should be none.
func ListOrphans(b *pg.Batch, in tenant.TenantID, limit int, entries *[]tenant.EntryID, rounds *[]tenant.RoundID) {
	pg.Collect(b.Queue(`
select e.id from waitlist_entries e
where e.tenant_id = $1 and e.status = 'OFFERED' and not exists (
  select from waitlist_offers o where o.tenant_id = $1 and o.entry_id = e.id and o.status = 'LIVE')
order by e.id limit $2`, in, limit), entries, pgx.RowTo[tenant.EntryID])
	pg.Collect(b.Queue(`
select r.id from waitlist_rounds r
where r.tenant_id = $1 and r.keeps > 0 and not exists (
  select from waitlist_offers o where o.tenant_id = $1 and o.round_id = r.id and o.status = 'LIVE' and o.shared)
order by r.id limit $2`, in, limit), rounds, pgx.RowTo[tenant.RoundID])
}

// ListUnfilled reads the ids of sessions with open seats for an entry that names them, without a decision since the
// entry joined. There should be none: members can join only if there are no seats, and freeing seats makes a decision.
func ListUnfilled(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]tenant.SessionID) {
	pg.Collect(b.Queue(`
select s.id from sessions s
where s.tenant_id = $1 and s.starts_at > $2 and s.waiting > 0
  and s.state = 'PUBLISHED' and not s.blocked and s.deleted_at is null
  and (s.capacity is null or s.seats_taken < s.capacity)
  and exists (
    select from waitlist_places p join waitlist_entries e on e.tenant_id = p.tenant_id and e.id = p.entry_id
    where p.tenant_id = $1 and p.session_id = s.id and e.status = 'WAITING'
      and (s.capacity is null or s.seats_taken + e.party_size <= s.capacity)
      and not exists (
        select from waitlist_decisions d
        where d.tenant_id = $1 and d.session_id = s.id and d.decided_at >= e.created_at))
order by s.starts_at limit $3`, in, now, limit), into, pgx.RowTo[tenant.SessionID])
}
