package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ListQueues reads those of the queues that exist.
func ListQueues(b *pg.Batch, in tenant.TenantID, queues []waitlist.Queue, into *[]waitlist.QueueSize) {
	locations, services, dates := queueColumns(queues)
	pg.Collect(b.Queue(`
select q.location_id, q.service_id, q.local_date, q.waiting, q.last_key
from unnest($2::uuid[], $3::uuid[], $4::date[]) as k (location_id, service_id, local_date)
join waitlist_queues q on q.tenant_id = $1 and q.location_id = k.location_id and q.service_id = k.service_id and q.local_date = k.local_date`,
		in, locations, services, dates), into, func(row pgx.CollectableRow) (waitlist.QueueSize, error) {
		var s waitlist.QueueSize
		var on time.Time
		err := row.Scan(&s.Queue.Location, &s.Queue.Service, &on, &s.Waiting, &s.LastKey)
		s.Queue.Date = day(on)
		return s, err
	})
}

func queueColumns(queues []waitlist.Queue) ([]tenant.LocationID, []tenant.ServiceID, []time.Time) {
	locations, services, dates := make([]tenant.LocationID, len(queues)), make([]tenant.ServiceID, len(queues)), make([]time.Time, len(queues))
	for i, q := range queues {
		locations[i], services[i], dates[i] = q.Location, q.Service, date(q.Date)
	}
	return locations, services, dates
}

// AddPlaces puts an entry in line: in the queues of the sessions that it names, or in those of its window. The
// database refuses a second place of a member in a session, and a session that takes no more.
func AddPlaces(tx *pg.Tx, in tenant.TenantID, e waitlist.Entry, sessions []tenant.SessionID, queues []waitlist.Queue) {
	locations, services, dates := queueColumns(queues)
	tx.Write(`
insert into waitlist_queues (tenant_id, location_id, service_id, local_date, waiting, last_key)
select distinct $1::uuid, k.location_id, k.service_id, k.local_date, 1, $5::bigint
from unnest($2::uuid[], $3::uuid[], $4::date[]) as k (location_id, service_id, local_date)
on conflict (tenant_id, location_id, service_id, local_date) do update
set waiting = waitlist_queues.waiting + 1, last_key = greatest(waitlist_queues.last_key, excluded.last_key)`,
		in, locations, services, dates, e.Key)
	if len(sessions) == 0 {
		tx.Write(`
insert into waitlist_places (tenant_id, location_id, service_id, local_date, entry_id, member_id, join_key)
select $1, k.location_id, k.service_id, k.local_date, $5, $6, $7
from unnest($2::uuid[], $3::uuid[], $4::date[]) as k (location_id, service_id, local_date)`,
			in, locations, services, dates, e.ID, e.Member, e.Key)
		return
	}
	tx.Write(`
insert into waitlist_places (tenant_id, location_id, service_id, local_date, entry_id, member_id, session_id, join_key)
select $1, k.location_id, k.service_id, k.local_date, $5, $6, k.session_id, $8
from unnest($2::uuid[], $3::uuid[], $4::date[], $7::uuid[]) as k (location_id, service_id, local_date, session_id)`,
		in, locations, services, dates, e.ID, e.Member, sessions, e.Key)
	tx.Write(`update sessions set waiting = waiting + 1 where tenant_id = $1 and id = any($2)`, in, sessions)
}

// RemovePlaces takes entries out of line.
func RemovePlaces(tx *pg.Tx, in tenant.TenantID, entries ...tenant.EntryID) {
	removePlaces(tx, in, entries, nil)
}

// RemovePlacesIn takes entries out of line for some of the sessions that they name.
func RemovePlacesIn(tx *pg.Tx, in tenant.TenantID, entries []tenant.EntryID, sessions []tenant.SessionID) {
	removePlaces(tx, in, entries, sessions)
}

func removePlaces(tx *pg.Tx, in tenant.TenantID, entries []tenant.EntryID, sessions []tenant.SessionID) {
	if len(entries) == 0 {
		return
	}
	tx.Write(`
with gone as (
  delete from waitlist_places where tenant_id = $1 and entry_id = any($2) and ($3::uuid[] is null or session_id = any($3))
  returning entry_id, location_id, service_id, local_date, session_id),
left_in as (
  select location_id, service_id, local_date, count(*) as n from (
    select entry_id, location_id, service_id, local_date from gone
    except
    select p.entry_id, p.location_id, p.service_id, p.local_date from waitlist_places p
    where p.tenant_id = $1 and p.entry_id = any($2) and $3::uuid[] is not null and not (p.session_id = any($3))) g
  group by 1, 2, 3),
queues as (
  update waitlist_queues q set waiting = q.waiting - g.n from left_in g
  where q.tenant_id = $1 and q.location_id = g.location_id and q.service_id = g.service_id and q.local_date = g.local_date)
update sessions s set waiting = s.waiting - g.n
from (select session_id, count(*) as n from gone where session_id is not null group by 1) g
where s.tenant_id = $1 and s.id = g.session_id`, in, entries, sessions)
}

// MovePlaces puts the places of sessions that have moved in the queues where these are now. Touched are the queues where they
// were and are.
func MovePlaces(tx *pg.Tx, in tenant.TenantID, sessions []tenant.SessionID, touched []waitlist.Queue) {
	if len(sessions) == 0 {
		return
	}
	const moved = `
  select p.entry_id, p.session_id, p.location_id, p.service_id, p.local_date, s.location_id as to_location, s.service_id as to_service,
    s.local_date as to_date, e.join_key
  from waitlist_places p
  join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id
  join waitlist_entries e on e.tenant_id = p.tenant_id and e.id = p.entry_id
  where p.tenant_id = $1 and p.session_id = any($2)
    and (p.location_id, p.service_id, p.local_date) is distinct from (s.location_id, s.service_id, s.local_date)`
	tx.Write(`
insert into waitlist_queues (tenant_id, location_id, service_id, local_date, waiting, last_key)
select $1::uuid, m.to_location, m.to_service, m.to_date, 0, max(m.join_key) from (`+moved+`) m group by 2, 3, 4
on conflict (tenant_id, location_id, service_id, local_date) do update set last_key = greatest(waitlist_queues.last_key, excluded.last_key)`,
		in, sessions)
	tx.Write(`
update waitlist_places p set location_id = m.to_location, service_id = m.to_service, local_date = m.to_date from (`+moved+`) m
where p.tenant_id = $1 and p.entry_id = m.entry_id and p.session_id = m.session_id`, in, sessions)
	// An entry may name several sessions of the day that one of them left: count again rather than up and down.
	locations, services, dates := queueColumns(touched)
	tx.Write(`
update waitlist_queues q set waiting = (
  select count(distinct p.entry_id) from waitlist_places p
  where p.tenant_id = $1 and p.location_id = q.location_id and p.service_id = q.service_id and p.local_date = q.local_date)
from (select distinct * from unnest($2::uuid[], $3::uuid[], $4::date[])) as k (location_id, service_id, local_date)
where q.tenant_id = $1 and q.location_id = k.location_id and q.service_id = k.service_id and q.local_date = k.local_date`,
		in, locations, services, dates)
}

var queueSizes = pg.Lookup[tenant.SessionID, int]{
	SQL: `
select coalesce(w.waiting, 0), q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.id offset 0) s
left join lateral (
  select * from waitlist_queues w
  where w.tenant_id = $1 and w.location_id = s.location_id and w.service_id = s.service_id and w.local_date = s.local_date offset 0) w on true`,
	Columns: func(ids []tenant.SessionID) []any { return []any{ids} },
	Scan: func(row pgx.Row) (waiting int, err error) {
		err = row.Scan(&waiting)
		return waiting, err
	},
}

// FindQueueSize tells how many stand in the queue of a session.
func FindQueueSize(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, into *int) {
	*into = 0
	queueSizes.Find(b, in, session, func(waiting int) { *into = waiting })
}

// ListAwaited names those of the sessions in whose queues somebody stands, in the order of their starts.
func ListAwaited(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]tenant.SessionID) {
	pg.Collect(b.Queue(`
select s.id from sessions s
join waitlist_queues q on q.tenant_id = s.tenant_id and q.location_id = s.location_id and q.service_id = s.service_id and q.local_date = s.local_date
where s.tenant_id = $1 and s.id = any($2) and q.waiting > 0
order by s.starts_at, s.id`, in, sessions), into, pgx.RowTo[tenant.SessionID])
}

// InLine is a page of those who would take a seat in a session.
type InLine struct {
	Session      tenant.SessionID
	Queue        waitlist.Queue
	AfterFlagged bool
	AfterKey     int64
	AfterID      tenant.EntryID
	Limit        int // 0: all
}

// ListInLine reads, in the order of joining, the entries of a queue that name a session or a window; those that staff
// flagged come first. An entry has one such place in a queue at most.
func ListInLine(b *pg.Batch, in tenant.TenantID, q InLine, into *[]waitlist.Entry) {
	after := ``
	arguments := []any{in, q.Queue.Location, q.Queue.Service, date(q.Queue.Date), q.Session, q.Limit}
	if !q.AfterID.IsZero() {
		after = ` and (not flagged, join_key, entry_id) > ($7, $8, $9)`
		arguments = append(arguments, !q.AfterFlagged, q.AfterKey, q.AfterID)
	}
	pg.Collect(b.Queue(`select`+entryColumns+` from (
  select * from waitlist_places
  where tenant_id = $1 and location_id = $2 and service_id = $3 and local_date = $4 and (session_id is null or session_id = $5)`+after+`
  order by tenant_id, location_id, service_id, local_date, (not flagged), join_key, entry_id limit nullif($6, 0)) p
  cross join lateral (select * from waitlist_entries e where e.tenant_id = $1 and e.id = p.entry_id offset 0) e`+entryJoins+`
order by (not p.flagged), p.join_key, p.entry_id`, arguments...), into, collectEntry)
}

// Rival is somebody who stands in line with somebody else, whose place in it is asked for.
type Rival struct {
	Of   tenant.EntryID // who asks; may be the same
	Slot waitlist.Slot  // what both would take, without its seats; of a window any session of the day, as if it began with it
	waitlist.Candidate
}

// WhoseRivals says whose places are asked for: of entries, of a member, or of all who wait for a session. One of them.
type WhoseRivals struct {
	Entries []tenant.EntryID
	Member  tenant.MemberID
	Session tenant.SessionID
}

// pick is the condition that picks their rows, with its argument $2.
func (q WhoseRivals) pick() (condition string, argument any) {
	switch {
	case !q.Member.IsZero():
		return `member_id = $2`, q.Member
	case !q.Session.IsZero():
		return `session_id = $2`, q.Session
	default:
		return `entry_id = any($2::uuid[])`, q.Entries
	}
}

// ListRivals reads, for each place of those who ask, everybody who stands in line for the same.
func ListRivals(b *pg.Batch, in tenant.TenantID, q WhoseRivals, into *[]Rival) {
	who, key := q.pick()
	// Step by step along the keys, whatever the planner takes the tables for.
	pg.Collect(b.Queue(`
select a.entry_id, a.location_id, a.service_id, a.session_id, coalesce(s.starts_at, a.local_date::timestamp at time zone l.time_zone), l.time_zone,
  v.name, l.name, e.id, e.member_id, e.party_size, e.first_date is not null, m.tier, m.tags, e.created_at, e.join_key, e.flagged, e.score, e.tries
from (select * from waitlist_places where tenant_id = $1 and `+who+` offset 0) a
cross join lateral (select l.name, l.time_zone from locations l where l.tenant_id = $1 and l.id = a.location_id offset 0) l
cross join lateral (select v.name from services v where v.tenant_id = $1 and v.id = a.service_id offset 0) v
cross join lateral (
  select * from waitlist_places p
  where p.tenant_id = $1 and p.location_id = a.location_id and p.service_id = a.service_id and p.local_date = a.local_date
    and (a.session_id is null or p.session_id is null or p.session_id = a.session_id) offset 0) p
cross join lateral (select * from waitlist_entries e where e.tenant_id = $1 and e.id = p.entry_id offset 0) e
cross join lateral (select * from members m where m.tenant_id = $1 and m.id = e.member_id offset 0) m
left join lateral (select s.starts_at from sessions s where s.tenant_id = $1 and s.id = a.session_id offset 0) s on true`, in, key), into,
		func(row pgx.CollectableRow) (Rival, error) {
			var r Rival
			var window bool
			err := row.Scan(&r.Of, &r.Slot.Location, &r.Slot.Service, &r.Slot.Session, &r.Slot.StartsAt, &r.Slot.Zone, &r.Slot.ServiceName, &r.Slot.LocationName,
				&r.Entry, &r.Member, &r.Party, &window, &r.Tier, &r.Tags, &r.Joined, &r.Key, &r.Flagged, &r.Score, &r.Tries)
			if window {
				r.Candidate.Window = new(waitlist.Window) // which one does not say where it stands
			}
			return r, err
		})
}

// ListOpenSlots reads the sessions of a service at a location that start in a span, are on sale and have seats for a party.
func ListOpenSlots(b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, span civil.Span, party int, into *[]waitlist.Slot) {
	pg.Collect(b.Queue(`
select s.id, s.service_id, s.location_id, s.resource_id, s.coach_id, s.starts_at, s.ends_at, l.time_zone from sessions s
join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
where s.tenant_id = $1 and s.location_id = $2 and s.service_id = $3 and s.starts_at >= $4 and s.starts_at < $5 and s.deleted_at is null
  and s.state = 'PUBLISHED' and not s.blocked and (s.capacity is null or s.seats_taken + $6 <= s.capacity)
order by s.starts_at, s.id`, in, location, service, span.Start, span.End, party), into, func(row pgx.CollectableRow) (waitlist.Slot, error) {
		var s waitlist.Slot
		err := row.Scan(&s.Session, &s.Service, &s.Location, &s.Resource, &s.Coach, &s.StartsAt, &s.EndsAt, &s.Zone)
		return s, err
	})
}

// ListSessionQueues names the queues of the sessions that an entry names, whether or not it still waits.
func ListSessionQueues(b *pg.Batch, in tenant.TenantID, entry tenant.EntryID, into *[]waitlist.Queue) {
	pg.Collect(b.Queue(`
select s.location_id, s.service_id, s.local_date from waitlist_entries e
join sessions s on s.tenant_id = e.tenant_id and (s.id = e.session_id or s.id = any(e.any_of))
where e.tenant_id = $1 and e.id = $2`, in, entry), into, func(row pgx.CollectableRow) (waitlist.Queue, error) {
		var q waitlist.Queue
		var on time.Time
		err := row.Scan(&q.Location, &q.Service, &on)
		q.Date = day(on)
		return q, err
	})
}
