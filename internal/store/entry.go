package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// entryColumns and entryJoins read a waitlist entry `e` with what is shown beside it. For a wish that names several
// sessions, or none, the title and the zone are those of its service and location.
const entryColumns = `
  e.id, e.member_id, e.session_id, e.any_of, e.service_id, e.location_id, e.resource_id, e.first_date, e.last_date, e.earliest::text, e.latest::text,
  e.coach_id, e.party_size, e.status, e.join_key, e.flagged, e.score, e.tries, e.subscription_id, e.channel, e.by_staff, e.external_ref,
  e.request_hash, e.note, e.booking_id, e.passed_over_reason, e.created_by, e.created_at, e.closed_at,
  m.name, m.tier, m.tags, m.time_zone, m.status = 'ACTIVE', coalesce(s.title, v.name, ''), s.starts_at, coalesce(l.time_zone, '')`

const entryJoins = `
  cross join lateral (select * from members m where m.tenant_id = e.tenant_id and m.id = e.member_id offset 0) m
  left join sessions s on s.tenant_id = e.tenant_id and s.id = coalesce(e.session_id, e.any_of[1])
  left join locations l on l.tenant_id = e.tenant_id and l.id = coalesce(e.location_id, s.location_id)
  left join services v on v.tenant_id = e.tenant_id and v.id = e.service_id`

func scanEntry(row pgx.Row) (waitlist.Entry, error) {
	var e waitlist.Entry
	var w waitlist.Window
	var first, last, starts *time.Time
	var earliest, latest *string
	err := row.Scan(&e.ID, &e.Member, &e.Session, &e.AnyOf, &w.Service, &w.Location, &w.Resource, &first, &last, &earliest, &latest,
		&e.Coach, &e.Party, &e.Status, &e.Key, &e.Flagged, &e.Score, &e.Tries, &e.Subscription, &e.Channel, &e.ByStaff, &e.ExternalRef,
		&e.RequestHash, &e.Note, &e.Booking, &e.PassedOver, &e.CreatedBy, &e.CreatedAt, &e.ClosedAt,
		&e.MemberName, &e.MemberTier, &e.MemberTags, &e.MemberZone, &e.MemberActive, &e.SessionTitle, &starts, &e.TimeZone)
	if err != nil {
		return e, err
	}
	if starts != nil {
		e.SessionStarts = *starts
	}
	if first != nil && last != nil && earliest != nil && latest != nil {
		w.From, w.Until = day(*first), day(*last)
		if w.Earliest, err = civil.ParseTimeOfDay(*earliest); err == nil {
			w.Latest, err = civil.ParseTimeOfDay(*latest)
		}
		e.Window = &w
	}
	return e, err
}

func collectEntry(row pgx.CollectableRow) (waitlist.Entry, error) { return scanEntry(row) }

const openEntry = `e.status in ('WAITING', 'OFFERED')`

var (
	entriesByID = pg.Lookup[tenant.EntryID, waitlist.Entry]{
		SQL: `select` + entryColumns + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from waitlist_entries e where e.tenant_id = $1 and e.id = q.id offset 0) e` + entryJoins,
		Columns: func(ids []tenant.EntryID) []any { return []any{ids} },
		Scan:    scanEntry,
	}
	entriesByRef = pg.Lookup[string, waitlist.Entry]{
		SQL: `select` + entryColumns + `, q.n from unnest($2::text[]) with ordinality as q (ref, n)
cross join lateral (
  select * from waitlist_entries e where e.tenant_id = $1 and e.external_ref = q.ref and e.external_ref <> '' offset 0) e` + entryJoins,
		Columns: func(refs []string) []any { return []any{refs} },
		Scan:    scanEntry,
	}
)

// FindEntry reads an entry; nil where there is none.
func FindEntry(b *pg.Batch, in tenant.TenantID, id tenant.EntryID, into **waitlist.Entry) {
	one(b, in, &entriesByID, id, into)
}

// FindEntryFunc reads an entry, and hands it on.
func FindEntryFunc(b *pg.Batch, in tenant.TenantID, id tenant.EntryID, found func(waitlist.Entry)) {
	entriesByID.Find(b, in, id, found)
}

// FindEntryByRef reads the entry with an external reference; nil where there is none.
func FindEntryByRef(b *pg.Batch, in tenant.TenantID, ref string, into **waitlist.Entry) {
	one(b, in, &entriesByRef, ref, into)
}

// FindActiveEntry reads the entry with which a member waits for a session by name; nil where there is none.
func FindActiveEntry(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, member tenant.MemberID, into **waitlist.Entry) {
	b.Queue(`select`+entryColumns+` from waitlist_places p
  join waitlist_entries e on e.tenant_id = p.tenant_id and e.id = p.entry_id`+entryJoins+`
where p.tenant_id = $1 and p.session_id = $2 and p.member_id = $3`, in, session, member).QueryRow(func(row pgx.Row) error {
		e, err := scanEntry(row)
		return found(into, e, err)
	})
}

// ListWaiting reads the entries that wait for any of the sessions by name, in the order in which they joined.
func ListWaiting(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]waitlist.Entry) {
	pg.Collect(b.Queue(`select`+entryColumns+` from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1 and e.id in (select p.entry_id from waitlist_places p where p.tenant_id = $1 and p.session_id = any($2))
order by e.join_key, e.id`, in, sessions), into, collectEntry)
}

// ListWaitingElsewhere names those of the entries that wait for any of the sessions by name which wait for others, too.
func ListWaitingElsewhere(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]tenant.EntryID) {
	pg.Collect(b.Queue(`
select distinct p.entry_id from waitlist_places p
join waitlist_places o on o.tenant_id = p.tenant_id and o.entry_id = p.entry_id
where p.tenant_id = $1 and p.session_id = any($2) and not (o.session_id = any($2))`, in, sessions), into, pgx.RowTo[tenant.EntryID])
}

// ListWindows reads the open wishes of a member for windows of a service at a location.
func ListWindows(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, service tenant.ServiceID, location tenant.LocationID, into *[]waitlist.Entry) {
	pg.Collect(b.Queue(`select`+entryColumns+` from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1 and e.member_id = $2 and e.service_id = $3 and e.location_id = $4 and `+openEntry,
		in, member, service, location), into, collectEntry)
}

// ListMemberEntries reads the open entries of a member that wait for sessions that start in a span, or for windows that touch it;
// zero times are unbounded.
func ListMemberEntries(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, from, until, endsAfter time.Time, into *[]waitlist.Entry) {
	pg.Collect(b.Queue(`select`+entryColumns+` from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1 and e.member_id = $2 and `+openEntry+`
  and ($3::timestamptz is null or coalesce(s.starts_at >= $3, e.last_date >= ($3 at time zone 'UTC')::date))
  and ($4::timestamptz is null or coalesce(s.starts_at < $4, e.first_date <= ($4 at time zone 'UTC')::date))
  and ($5::timestamptz is null or coalesce(s.ends_at > $5, e.last_date >= ($5 at time zone 'UTC')::date))
order by coalesce(s.starts_at, e.first_date::timestamp at time zone 'UTC'), e.id`,
		in, member, optional(from), optional(until), optional(endsAfter)), into, collectEntry)
}

// EntryQuery picks entries. Zero values pick all.
type EntryQuery struct {
	Session  tenant.SessionID
	Location tenant.LocationID
	Service  tenant.ServiceID
	Resource tenant.ResourceID
	Member   tenant.MemberID
	Statuses []waitlist.Status
	From     time.Time // of what is desired
	Until    time.Time
	Newest   bool // first, by id; else in the order of joining
	AfterKey int64
	AfterID  tenant.EntryID
	Limit    int
}

// ListEntries reads the entries that it picks.
func ListEntries(b *pg.Batch, in tenant.TenantID, q EntryQuery, into *[]waitlist.Entry) {
	order, after := `e.join_key, e.id`, `($9::uuid is null or (e.join_key, e.id) > ($8, $9))`
	if q.Newest {
		order, after = `e.id desc`, `($9::uuid is null or e.id < $9) and $8::bigint is not null`
	}
	pg.Collect(b.Queue(`select`+entryColumns+` from waitlist_entries e`+entryJoins+`
where e.tenant_id = $1
  and ($2::uuid is null or e.session_id = $2 or e.any_of @> array[$2::uuid])
  and ($6::uuid is null or e.member_id = $6)
  and (coalesce(cardinality($7::text[]), 0) = 0 or e.status = any($7))
  and `+after+`
  and case when e.first_date is null
    then exists (
      select from sessions w where w.tenant_id = $1 and w.id = any(e.any_of || e.session_id)
        and ($3::uuid is null or w.location_id = $3) and ($4::uuid is null or w.service_id = $4) and ($5::uuid is null or w.resource_id = $5)
        and ($10::timestamptz is null or w.starts_at >= $10) and ($11::timestamptz is null or w.starts_at < $11))
    else ($3::uuid is null or e.location_id = $3) and ($4::uuid is null or e.service_id = $4) and ($5::uuid is null or e.resource_id = $5)
      and ($10::timestamptz is null or e.last_date >= ($10 at time zone 'UTC')::date)
      and ($11::timestamptz is null or e.first_date <= ($11 at time zone 'UTC')::date)
  end
order by `+order+` limit $12`, in, q.Session, q.Location, q.Service, q.Resource, q.Member, q.Statuses, q.AfterKey, q.AfterID,
		optional(q.From), optional(q.Until), q.Limit), into, collectEntry)
}

// InsertEntry writes a new entry with the transaction.
func InsertEntry(tx *pg.Tx, in tenant.TenantID, e waitlist.Entry) {
	var w waitlist.Window
	var first, last *time.Time
	var earliest, latest *string
	if e.Window != nil {
		w = *e.Window
		first, last = new(date(w.From)), new(date(w.Until))
		earliest, latest = new(w.Earliest.String()), new(w.Latest.String())
	}
	anyOf := e.AnyOf
	if anyOf == nil {
		anyOf = []tenant.SessionID{}
	}
	tx.Write(`
insert into waitlist_entries (tenant_id, id, member_id, session_id, any_of, service_id, location_id, resource_id, first_date, last_date, earliest, latest,
  coach_id, party_size, status, join_key, subscription_id, channel, by_staff, external_ref, request_hash, note, created_by, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::time, $12::text::time, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $24)`,
		in, e.ID, e.Member, e.Session, anyOf, w.Service, w.Location, w.Resource, first, last, earliest, latest,
		e.Coach, e.Party, e.Status, e.Key, e.Subscription, e.Channel, e.ByStaff, e.ExternalRef, e.RequestHash, e.Note, e.CreatedBy, e.CreatedAt)
}

// UpdateEntry writes what changes in an entry's life with the transaction, but for its standing in line: see SetOrder.
func UpdateEntry(tx *pg.Tx, in tenant.TenantID, e waitlist.Entry, now time.Time) {
	tx.Write(`
update waitlist_entries set status = $3, booking_id = $4, passed_over_reason = $5, updated_at = $6, closed_at = $7, tries = $8, score = $9
where tenant_id = $1 and id = $2`, in, e.ID, e.Status, e.Booking, e.PassedOver, now, e.ClosedAt, e.Tries, e.Score)
}

// SkipEntries notes for entries why they were passed over.
func SkipEntries(tx *pg.Tx, in tenant.TenantID, skipped []waitlist.Verdict, now time.Time) {
	if len(skipped) == 0 {
		return
	}
	tx.Write(`
update waitlist_entries e set passed_over_reason = p.reason, updated_at = $4
from unnest($2::uuid[], $3::text[]) as p (id, reason)
where e.tenant_id = $1 and e.id = p.id`, in,
		column(skipped, func(v waitlist.Verdict) tenant.EntryID { return v.Entry }),
		column(skipped, func(v waitlist.Verdict) string { return v.Reason }), now)
}

// SetOrder gives entries, with all their places, other standings in line: flags and keys.
func SetOrder(tx *pg.Tx, in tenant.TenantID, entries []waitlist.Entry, now time.Time) {
	ids, flags, keys := make([]tenant.EntryID, len(entries)), make([]bool, len(entries)), make([]int64, len(entries))
	for i, e := range entries {
		ids[i], flags[i], keys[i] = e.ID, e.Flagged, e.Key
	}
	const with = ` from unnest($2::uuid[], $3::boolean[], $4::bigint[]) as k (id, flagged, key) where `
	tx.Write(`update waitlist_entries e set flagged = k.flagged, join_key = k.key, updated_at = $5`+with+`e.tenant_id = $1 and e.id = k.id`,
		in, ids, flags, keys, now)
	tx.Write(`update waitlist_places p set flagged = k.flagged, join_key = k.key`+with+`p.tenant_id = $1 and p.entry_id = k.id`, in, ids, flags, keys)
	// Whoever joins later stands behind them.
	tx.Write(`
update waitlist_queues q set last_key = greatest(q.last_key, p.key)
from (
  select p.location_id, p.service_id, p.local_date, max(p.join_key) as key from waitlist_places p
  where p.tenant_id = $1 and p.entry_id = any($2) group by 1, 2, 3) p
where q.tenant_id = $1 and q.location_id = p.location_id and q.service_id = p.service_id and q.local_date = p.local_date and q.last_key < p.key`, in, ids)
}
