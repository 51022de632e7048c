// Package waitlistdb has the SQL of waitlists: entries, queues, offers, decisions and rules.
package waitlistdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// entryRow is a row of waitlist_entries.
type entryRow struct {
	waitlist.Entry
	window           waitlist.Window
	earliest, latest *civil.TimeOfDay
	updatedAt        time.Time
	// What is shown of the one session that it names, and of any of several.
	session catalog.SessionSummary
	anyOf   []catalog.SessionSummary
}

var entryRows = pg.NewTable("e", func(e *entryRow) []pg.Column {
	return []pg.Column{
		pg.Key("id", &e.ID),
		pg.Fixed("member_id", &e.Member),
		pg.Fixed("session_id", &e.Session),
		pg.Fixed("any_of", pg.List(&e.AnyOf)),
		pg.Fixed("service_id", &e.window.Service),
		pg.Fixed("location_id", &e.window.Location),
		pg.Fixed("resource_id", &e.window.Resource),
		pg.Fixed("first_date", &e.window.From),
		pg.Fixed("last_date", &e.window.Until),
		pg.Fixed("earliest", &e.earliest),
		pg.Fixed("latest", &e.latest),
		pg.Fixed("coach_id", &e.Coach),
		pg.Fixed("party_size", &e.Party),
		pg.Col("status", &e.Status),
		pg.Fixed("join_key", &e.Key),
		pg.Read("e.flagged", &e.Flagged),
		pg.Later("score", &e.Score),
		pg.Later("tries", &e.Tries),
		pg.Fixed("subscription_id", &e.Subscription),
		pg.Fixed("channel", &e.Channel),
		pg.Fixed("by_staff", &e.ByStaff),
		pg.Fixed("external_ref", &e.ExternalRef),
		pg.Fixed("request_hash", &e.RequestHash),
		pg.Fixed("note", &e.Note),
		pg.Later("booking_id", &e.Booking),
		pg.Later("passed_over_reason", (*string)(&e.PassedOver)),
		pg.Fixed("created_by", &e.CreatedBy),
		pg.Fixed("created_at", &e.CreatedAt),
		pg.Later("closed_at", &e.ClosedAt),
		pg.Col("updated_at", &e.updatedAt),
	}
})

// entries reads a waitlist entry `e` with what is shown with it. The sessions of one that names several are read only
// for these.
var entries = pg.ReadAs(func(e *entryRow) []pg.Column {
	return append(entryRows.Of(e),
		pg.Read("m.name", &e.MemberName),
		pg.Read("m.tier", &e.MemberTier),
		pg.Read("m.tags", &e.MemberTags),
		pg.Read("m.time_zone", &e.MemberZone),
		pg.Read("m.status = 'ACTIVE'", &e.MemberActive),
		pg.Read("s.title", pg.Null(&e.session.Title)),
		pg.Read("s.starts_at", pg.Null(&e.session.StartsAt)),
		pg.Read("s.ends_at", pg.Null(&e.session.EndsAt)),
		pg.Read("l.time_zone", pg.Null(&e.session.TimeZone)),
		pg.Read("s.location_id", &e.session.Location),
		pg.Read("l.name", pg.Null(&e.session.LocationName)),
		pg.Read(coredb.CoachName, &e.session.CoachName),
		pg.Read("s.service_id", &e.session.Service),
		pg.Read(anyOfSessions, pg.JSON(&e.anyOf)),
	)
}, func(e *entryRow) (waitlist.Entry, error) {
	e.Window = nil
	if e.earliest != nil && e.latest != nil {
		w := e.window
		w.Earliest, w.Latest = *e.earliest, *e.latest
		e.Window = &w
	}
	e.Sessions = e.anyOf
	if !e.Session.IsZero() {
		e.session.ID = e.Session
		e.Sessions = []catalog.SessionSummary{e.session}
	}
	return e.Entry, nil
})

const anyOfSessions = `
case when e.any_of = '{}' then 'null'::jsonb else (
  select jsonb_agg(jsonb_build_object(
    'ID', s.id, 'Title', s.title, 'StartsAt', s.starts_at, 'EndsAt', s.ends_at, 'TimeZone', l.time_zone,
    'Location', l.id, 'LocationName', l.name, 'CoachName', ` + coredb.CoachName + `,
    'Service', s.service_id) order by q.n)
  from unnest(e.any_of) with ordinality as q (id, n)
  join sessions s on s.tenant_id = e.tenant_id and s.id = q.id
  join locations l on l.tenant_id = e.tenant_id and l.id = s.location_id)
end`

const entryJoins = `
  cross join lateral (select * from members m where m.tenant_id = e.tenant_id and m.id = e.member_id offset 0) m
  left join sessions s on s.tenant_id = e.tenant_id and s.id = coalesce(e.session_id, e.any_of[1])
  left join locations l on l.tenant_id = e.tenant_id and l.id = s.location_id`

// selectEntries reads entries `e`.
var selectEntries = `select ` + entries.Columns() + ` from waitlist_entries e` + entryJoins

const openEntry = `e.status in ('WAITING', 'OFFERED')`

var (
	entriesByID = pg.Lookup[tenant.EntryID, waitlist.Entry]{
		SQL: pg.SQL(`select ` + entries.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from waitlist_entries e where e.tenant_id = $1 and e.id = q.id offset 0) e` + entryJoins),
		Reader: entries,
	}
	entriesByRef = pg.Lookup[string, waitlist.Entry]{
		SQL: pg.SQL(`select ` + entries.Columns() + `, q.n from unnest($2::text[]) with ordinality as q (ref, n)
cross join lateral (
  select * from waitlist_entries e
  where e.tenant_id = $1 and e.external_ref = q.ref and e.external_ref <> '' offset 0) e` + entryJoins),
		Reader: entries,
	}
)

// FindEntry reads an entry; nil if there is none.
func FindEntry(b *pg.Batch, in tenant.TenantID, id tenant.EntryID, into **waitlist.Entry) {
	entriesByID.One(b, in, id, into)
}

// FindEntryFunc reads an entry, and calls found with it.
func FindEntryFunc(b *pg.Batch, in tenant.TenantID, id tenant.EntryID, found func(waitlist.Entry)) {
	entriesByID.Find(b, in, id, found)
}

// FindEntryByRef reads the entry with an external reference; nil if there is none.
func FindEntryByRef(b *pg.Batch, in tenant.TenantID, ref string, into **waitlist.Entry) {
	entriesByRef.One(b, in, ref, into)
}

var (
	findActiveEntry = pg.SQL(`select ` + entries.Columns() + ` from waitlist_places p
  join waitlist_entries e on e.tenant_id = p.tenant_id and e.id = p.entry_id` + entryJoins + `
where p.tenant_id = $1 and p.session_id = $2 and p.member_id = $3`)
	listWaiting = pg.SQL(selectEntries + `
where e.tenant_id = $1
  and e.id in (select p.entry_id from waitlist_places p where p.tenant_id = $1 and p.session_id = any($2))
order by e.join_key, e.id`)
	listOwn = pg.SQL(selectEntries + `
where e.tenant_id = $1
  and e.id in (select p.entry_id from waitlist_places p where p.tenant_id = $1 and p.member_id = $2)
order by e.id`)
	listWindows = pg.SQL(selectEntries + `
where e.tenant_id = $1 and e.member_id = $2 and e.service_id = $3 and e.location_id = $4 and ` + openEntry)
	listEntries = pg.SQL(selectEntries + `
where e.tenant_id = $1
  and ($2::uuid is null or e.session_id = $2 or e.any_of @> array[$2::uuid])
  and ($6::uuid is null or e.member_id = $6)
  and (coalesce(cardinality($7::text[]), 0) = 0 or e.status = any($7))
  and ($9::uuid is null or (e.join_key, e.id) > ($8, $9))
  and case when e.first_date is null
    then exists (
      select from sessions w where w.tenant_id = $1 and w.id = any(e.any_of || e.session_id)
        and ($3::uuid is null or w.location_id = $3) and ($4::uuid is null or w.service_id = $4)
        and ($5::uuid is null or w.resource_id = $5)
        and ($10::timestamptz is null or w.starts_at >= $10) and ($11::timestamptz is null or w.starts_at < $11))
    else ($3::uuid is null or e.location_id = $3) and ($4::uuid is null or e.service_id = $4)
      and ($5::uuid is null or e.resource_id = $5)
      and ($10::timestamptz is null or e.last_date >= ($10 at time zone 'UTC')::date)
      and ($11::timestamptz is null or e.first_date <= ($11 at time zone 'UTC')::date)
  end
order by e.join_key, e.id limit $12`)
)

// FindActiveEntry reads a member's active entry that names a session; nil if there is none.
func FindActiveEntry(
	b *pg.Batch, in tenant.TenantID, session tenant.SessionID, member tenant.MemberID, into **waitlist.Entry,
) {
	entries.Find(b.Queue(findActiveEntry, in, session, member), into)
}

// ListWaiting reads the active entries that name any of the sessions, in the order in which they joined.
func ListWaiting(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]waitlist.Entry) {
	entries.List(b.Queue(listWaiting, in, sessions), into)
}

// ListOwn reads the active entries of a member.
func ListOwn(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, into *[]waitlist.Entry) {
	entries.List(b.Queue(listOwn, in, member), into)
}

// ListOtherEntries reads the ids of the active entries that name any of the sessions and others, too.
func ListOtherEntries(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]tenant.EntryID) {
	pg.Collect(b.Queue(`
select distinct p.entry_id from waitlist_places p
join waitlist_places o on o.tenant_id = p.tenant_id and o.entry_id = p.entry_id
where p.tenant_id = $1 and p.session_id = any($2) and not (o.session_id = any($2))`, in, sessions), into,
		pgx.RowTo[tenant.EntryID])
}

// ListWindows reads a member's active entries for time windows of a service at a location.
func ListWindows(
	b *pg.Batch, in tenant.TenantID, member tenant.MemberID, service tenant.ServiceID, location tenant.LocationID,
	into *[]waitlist.Entry,
) {
	entries.List(b.Queue(listWindows, in, member, service, location), into)
}

// EntryQuery selects entries. Zero values select all.
type EntryQuery struct {
	Session  tenant.SessionID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Resource tenant.ResourceID
	Member   tenant.MemberID
	Statuses []waitlist.Status
	From     time.Time // From and Until bound the sessions or time windows of the entries
	Until    time.Time
	AfterKey int64
	AfterID  tenant.EntryID
	Limit    int
}

// ListEntries reads entries in order of joining.
func ListEntries(b *pg.Batch, in tenant.TenantID, q EntryQuery, into *[]waitlist.Entry) {
	entries.List(b.Queue(listEntries, in, q.Session, q.Location, q.Service, q.Resource, q.Member, q.Statuses,
		q.AfterKey, q.AfterID, pg.OrNull(q.From), pg.OrNull(q.Until), q.Limit), into)
}

var (
	insertEntry = pg.SQL(`insert into waitlist_entries ` + entryRows.Values())
	updateEntry = pg.SQL(`update waitlist_entries set ` + entryRows.Set() + ` where tenant_id = $1 and id = $2`)
)

// InsertEntry writes a new entry with the transaction.
func InsertEntry(tx *pg.Tx, in tenant.TenantID, e waitlist.Entry) {
	row := entryRow{Entry: e, updatedAt: e.CreatedAt}
	if e.Window != nil {
		row.window, row.earliest, row.latest = *e.Window, &e.Window.Earliest, &e.Window.Latest
	}
	tx.Write(insertEntry, entryRows.Insert(in, &row)...)
}

// CountWaiting adds to the number of a member's active entries, with the transaction. Bookings read it with the member,
// so that they look for entries only if there are any.
func CountWaiting(tx *pg.Tx, in tenant.TenantID, member tenant.MemberID, by int) {
	tx.Write(`update members set waiting = waiting + $3 where tenant_id = $1 and id = $2`, in, member, by)
}

// UpdateEntry writes the columns of an entry that can change, with the transaction, except its order. See SetOrder.
func UpdateEntry(tx *pg.Tx, in tenant.TenantID, e waitlist.Entry, now time.Time) {
	tx.Write(updateEntry, entryRows.Update(in, &entryRow{Entry: e, updatedAt: now})...)
}

// SkipEntries writes why entries were skipped, with the transaction.
func SkipEntries(tx *pg.Tx, in tenant.TenantID, skipped []waitlist.Verdict, now time.Time) {
	if len(skipped) == 0 {
		return
	}
	entries, reasons := make([]tenant.EntryID, len(skipped)), make([]string, len(skipped))
	for i, v := range skipped {
		entries[i], reasons[i] = v.Entry, string(v.Reason)
	}
	tx.Write(`
update waitlist_entries e set passed_over_reason = p.reason, updated_at = $4
from unnest($2::uuid[], $3::text[]) as p (id, reason)
where e.tenant_id = $1 and e.id = p.id`, in, entries, reasons, now)
}

// SetOrder writes the flags and keys of entries and of their places, which set their order, with the transaction.
func SetOrder(tx *pg.Tx, in tenant.TenantID, entries []waitlist.Entry, now time.Time) {
	ids := pg.Array(entries, func(e waitlist.Entry) tenant.EntryID { return e.ID })
	flags := pg.Array(entries, func(e waitlist.Entry) bool { return e.Flagged })
	keys := pg.Array(entries, func(e waitlist.Entry) int64 { return e.Key })
	tx.Write(`
update waitlist_entries e set flagged = k.flagged, join_key = k.key, updated_at = $5
from unnest($2::uuid[], $3::boolean[], $4::bigint[]) as k (id, flagged, key)
where e.tenant_id = $1 and e.id = k.id`,
		in, ids, flags, keys, now)
	tx.Write(`
update waitlist_places p set flagged = k.flagged, join_key = k.key
from unnest($2::uuid[], $3::boolean[], $4::bigint[]) as k (id, flagged, key)
where p.tenant_id = $1 and p.entry_id = k.id`,
		in, ids, flags, keys)
	// An entry that joins later gets a greater key.
	tx.Write(`
update waitlist_queues q set last_key = p.key
from (
  select p.location_id, p.service_id, p.local_date, max(p.join_key) as key from waitlist_places p
  where p.tenant_id = $1 and p.entry_id = any($2) group by 1, 2, 3) p
where q.tenant_id = $1 and q.location_id = p.location_id and q.service_id = p.service_id and q.local_date = p.local_date
  and q.last_key < p.key`, in, ids)
}
