package waitlistdb

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func queueColumns(q *waitlist.Queue) []pg.Column {
	return []pg.Column{
		pg.Key("location_id", &q.Location),
		pg.Key("service_id", &q.Service),
		pg.Key("local_date", &q.Date),
	}
}

var (
	queueSizes = pg.NewTable("q", func(s *waitlist.QueueSize) []pg.Column {
		return append(queueColumns(&s.Queue), pg.Col("waiting", &s.Waiting), pg.Col("last_key", &s.LastKey))
	})
	// sessionQueues are the queues of sessions `s`.
	sessionQueues = pg.NewTable("s", queueColumns)
)

// queueArrays returns the arguments of unnestQueues.
func queueArrays(queues []waitlist.Queue) []any {
	return []any{
		pg.Array(queues, func(q waitlist.Queue) tenant.LocationID { return q.Location }),
		pg.Array(queues, func(q waitlist.Queue) tenant.ServiceID { return q.Service }),
		pg.Array(queues, func(q waitlist.Queue) civil.Date { return q.Date }),
	}
}

// unnestQueues are queues `k`, as $2 to $4.
const unnestQueues = `unnest($2::uuid[], $3::uuid[], $4::date[]) as k (location_id, service_id, local_date)`

// withQueues returns the arguments of a statement with unnestQueues.
func withQueues(in tenant.TenantID, queues []waitlist.Queue, more ...any) []any {
	return slices.Concat([]any{in}, queueArrays(queues), more)
}

var listQueues = pg.SQL(`
select ` + queueSizes.Columns() + ` from ` + unnestQueues + `
join waitlist_queues q on q.tenant_id = $1
  and q.location_id = k.location_id and q.service_id = k.service_id and q.local_date = k.local_date`)

// ListQueues reads the sizes of queues. A queue without a row was never used.
func ListQueues(b *pg.Batch, in tenant.TenantID, queues []waitlist.Queue, into *[]waitlist.QueueSize) {
	queueSizes.List(b.Queue(listQueues, withQueues(in, queues)...), into)
}

var (
	addToQueues = pg.SQL(`
insert into waitlist_queues (tenant_id, location_id, service_id, local_date, waiting, last_key)
select distinct $1::uuid, k.location_id, k.service_id, k.local_date, 1, $5::bigint from ` + unnestQueues + `
on conflict (tenant_id, location_id, service_id, local_date) do update
set waiting = waitlist_queues.waiting + 1, last_key = greatest(waitlist_queues.last_key, excluded.last_key)`)
	addPlaces = pg.SQL(`
insert into waitlist_places (tenant_id, location_id, service_id, local_date, entry_id, member_id, join_key)
select $1, k.location_id, k.service_id, k.local_date, $5, $6, $7 from ` + unnestQueues)
)

// AddPlaces appends an entry to queues: those of the sessions that it names, or those of its time window. Constraints
// reject a second place of a member in a session, and more entries than the session's waitlist has room for.
func AddPlaces(
	tx *pg.Tx, in tenant.TenantID, e waitlist.Entry, sessions []tenant.SessionID, queues []waitlist.Queue,
) {
	tx.Write(addToQueues, withQueues(in, queues, e.Key)...)
	if len(sessions) == 0 {
		tx.Write(addPlaces, withQueues(in, queues, e.ID, e.Member, e.Key)...)
		return
	}
	tx.Write(`
insert into waitlist_places (tenant_id, location_id, service_id, local_date, entry_id, member_id, session_id, join_key)
select $1, k.location_id, k.service_id, k.local_date, $5, $6, k.session_id, $8
from unnest($2::uuid[], $3::uuid[], $4::date[], $7::uuid[]) as k (location_id, service_id, local_date, session_id)`,
		withQueues(in, queues, e.ID, e.Member, sessions, e.Key)...)
	tx.Write(`update sessions set waiting = waiting + 1 where tenant_id = $1 and id = any($2)`, in, sessions)
}

// RemovePlaces removes entries from all their queues.
func RemovePlaces(tx *pg.Tx, in tenant.TenantID, entries ...tenant.EntryID) {
	removePlaces(tx, in, entries, nil)
}

// RemovePlacesIn removes entries from the queues of some of the sessions that they name.
func RemovePlacesIn(tx *pg.Tx, in tenant.TenantID, entries []tenant.EntryID, sessions []tenant.SessionID) {
	removePlaces(tx, in, entries, sessions)
}

func removePlaces(tx *pg.Tx, in tenant.TenantID, entries []tenant.EntryID, sessions []tenant.SessionID) {
	if len(entries) == 0 {
		return
	}
	tx.Write(`
with gone as (
  delete from waitlist_places
  where tenant_id = $1 and entry_id = any($2) and ($3::uuid[] is null or session_id = any($3))
  returning entry_id, location_id, service_id, local_date, session_id),
left_in as (
  select location_id, service_id, local_date, count(*) as n from (
    select entry_id, location_id, service_id, local_date from gone
    except
    select p.entry_id, p.location_id, p.service_id, p.local_date from waitlist_places p
    where p.tenant_id = $1 and p.entry_id = any($2) and not (p.session_id = any($3))) g
  group by 1, 2, 3),
queues as (
  update waitlist_queues q set waiting = q.waiting - g.n from left_in g
  where q.tenant_id = $1
    and q.location_id = g.location_id and q.service_id = g.service_id and q.local_date = g.local_date)
update sessions s set waiting = s.waiting - g.n
from (select session_id, count(*) as n from gone group by 1) g
where s.tenant_id = $1 and s.id = g.session_id`, in, entries, sessions)
}

// movedPlaces are places of sessions that have moved, with the queues to which the sessions belong now.
const movedPlaces = `
  select p.entry_id, p.session_id, p.location_id, p.service_id, p.local_date,
    s.location_id as to_location, s.service_id as to_service, s.local_date as to_date, e.join_key
  from waitlist_places p
  join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id
  join waitlist_entries e on e.tenant_id = p.tenant_id and e.id = p.entry_id
  where p.tenant_id = $1 and p.session_id = any($2)
    and (p.location_id, p.service_id, p.local_date) is distinct from (s.location_id, s.service_id, s.local_date)`

var (
	addMovedQueues = pg.SQL(`
insert into waitlist_queues (tenant_id, location_id, service_id, local_date, waiting, last_key)
select $1::uuid, m.to_location, m.to_service, m.to_date, 0, max(m.join_key)
from (` + movedPlaces + `) m group by 2, 3, 4
on conflict (tenant_id, location_id, service_id, local_date) do update
set last_key = greatest(waitlist_queues.last_key, excluded.last_key)`)
	movePlaces = pg.SQL(`
update waitlist_places p set location_id = m.to_location, service_id = m.to_service, local_date = m.to_date
from (` + movedPlaces + `) m
where p.tenant_id = $1 and p.entry_id = m.entry_id and p.session_id = m.session_id`)
	recountQueues = pg.SQL(`
update waitlist_queues q set waiting = (
  select count(distinct p.entry_id) from waitlist_places p
  where p.tenant_id = $1
    and p.location_id = q.location_id and p.service_id = q.service_id and p.local_date = q.local_date)
from (select distinct * from ` + unnestQueues + `) as k
where q.tenant_id = $1
  and q.location_id = k.location_id and q.service_id = k.service_id and q.local_date = k.local_date`)
)

// MovePlaces moves the places of moved sessions to the queues to which the sessions belong now. Touched are the queues
// before and after.
func MovePlaces(tx *pg.Tx, in tenant.TenantID, sessions []tenant.SessionID, touched []waitlist.Queue) {
	if len(sessions) == 0 {
		return
	}
	tx.Write(addMovedQueues, in, sessions)
	tx.Write(movePlaces, in, sessions)
	// Count again instead of adding and subtracting: an entry may name several sessions of the day that one of them left.
	tx.Write(recountQueues, withQueues(in, touched)...)
}

var queuedFor = pg.Lookup[tenant.SessionID, int]{
	SQL: `
select coalesce(w.waiting, 0), q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.id offset 0) s
left join lateral (
  select * from waitlist_queues w where w.tenant_id = $1
    and w.location_id = s.location_id and w.service_id = s.service_id and w.local_date = s.local_date
  offset 0) w on true`,
	Reader: pg.NewReader(func(waiting *int) []pg.Column { return []pg.Column{pg.Read("waiting", waiting)} }),
}

// FindQueueSize counts the entries in the queue of a session.
func FindQueueSize(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, into *int) {
	*into = 0
	queuedFor.Find(b, in, session, func(waiting int) { *into = waiting })
}

// ListAwaited reads the ids of the sessions whose queues are not empty, in the order of their starts.
func ListAwaited(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]tenant.SessionID) {
	pg.Collect(b.Queue(`
select s.id from sessions s
join waitlist_queues q on q.tenant_id = s.tenant_id
  and q.location_id = s.location_id and q.service_id = s.service_id and q.local_date = s.local_date
where s.tenant_id = $1 and s.id = any($2) and q.waiting > 0
order by s.starts_at, s.id`, in, sessions), into, pgx.RowTo[tenant.SessionID])
}

// QueueQuery is a page of the entries that wait for a session.
type QueueQuery struct {
	Session      tenant.SessionID
	Queue        waitlist.Queue
	AfterFlagged bool
	AfterKey     int64
	AfterID      tenant.EntryID
	Limit        int // 0: all
}

var (
	listInLine      = inLine(``)
	listInLineAfter = inLine(` and (not flagged, join_key, entry_id) > ($7, $8, $9)`)
)

func inLine(after string) string {
	return pg.SQL(`select ` + entries.Columns() + ` from (
  select * from waitlist_places
  where tenant_id = $1 and location_id = $2 and service_id = $3 and local_date = $4
    and (session_id is null or session_id = $5)` + after + `
  order by (not flagged), join_key, entry_id limit nullif($6, 0)) p
  cross join lateral (
    select * from waitlist_entries e where e.tenant_id = $1 and e.id = p.entry_id offset 0) e` + entryJoins + `
order by (not p.flagged), p.join_key, p.entry_id`)
}

// ListQueued reads the entries of a queue that name a session or a time window, in the order of joining, flagged
// entries first. An entry has at most one such place in a queue.
func ListQueued(b *pg.Batch, in tenant.TenantID, q QueueQuery, into *[]waitlist.Entry) {
	sql, arguments := listInLine, []any{in, q.Queue.Location, q.Queue.Service, q.Queue.Date, q.Session, q.Limit}
	if !q.AfterID.IsZero() {
		sql, arguments = listInLineAfter, append(arguments, !q.AfterFlagged, q.AfterKey, q.AfterID)
	}
	entries.List(b.Queue(sql, arguments...), into)
}

// Rival is an entry in the same queue as another entry, whose position is asked for.
type Rival struct {
	Of tenant.EntryID // the other entry, or the same
	// Slot is the session for which both wait, without its seats. For a time window it is any session of the day, as if it
	// started with the day.
	Slot waitlist.Slot
	waitlist.Candidate
}

// RivalQuery selects entries whose positions are asked for: some entries, those of a member, or those that name a
// session. Only one field is set.
type RivalQuery struct {
	Entries []tenant.EntryID
	Member  tenant.MemberID
	Session tenant.SessionID
}

// rivalsOf has a statement for each field of RivalQuery, which is its $2.
type rivalsOf struct{ member, session, entries string }

func rivals(statement func(who string) string) rivalsOf {
	return rivalsOf{
		member:  statement(`member_id = $2`),
		session: statement(`session_id = $2`),
		entries: statement(`entry_id = any($2::uuid[])`),
	}
}

func (r rivalsOf) queue(b *pg.Batch, in tenant.TenantID, q RivalQuery) *pg.Statement {
	switch {
	case !q.Member.IsZero():
		return b.Queue(r.member, in, q.Member)
	case !q.Session.IsZero():
		return b.Queue(r.session, in, q.Session)
	default:
		return b.Queue(r.entries, in, q.Entries)
	}
}

type rivalRow struct {
	Rival
	window bool
}

var rivalry = pg.ReadAs(func(r *rivalRow) []pg.Column {
	return []pg.Column{
		pg.Read("a.entry_id", &r.Of),
		pg.Read("a.location_id", &r.Slot.Location),
		pg.Read("a.service_id", &r.Slot.Service),
		pg.Read("a.session_id", &r.Slot.Session),
		pg.Read("coalesce(s.starts_at, a.local_date::timestamp at time zone l.time_zone)", &r.Slot.StartsAt),
		pg.Read("l.time_zone", &r.Slot.Zone),
		pg.Read("v.name", &r.Slot.ServiceName),
		pg.Read("l.name", &r.Slot.LocationName),
		pg.Read("e.id", &r.Entry),
		pg.Read("e.member_id", &r.Member),
		pg.Read("e.party_size", &r.Party),
		pg.Read("e.first_date is not null", &r.window),
		pg.Read("m.tier", &r.Tier),
		pg.Read("m.tags", &r.Tags),
		pg.Read("e.created_at", &r.Joined),
		pg.Read("e.join_key", &r.Key),
		pg.Read("e.flagged", &r.Flagged),
		pg.Read("e.score", &r.Score),
		pg.Read("e.tries", &r.Tries),
	}
}, func(r *rivalRow) (Rival, error) {
	r.Window = nil
	if r.window {
		r.Window = new(waitlist.Window) // the position does not depend on its values
	}
	return r.Rival, nil
})

// The subqueries make the planner use indexes, whatever its statistics are.
var listRivals = rivals(func(who string) string {
	return pg.SQL(`
select ` + rivalry.Columns() + `
from (select * from waitlist_places where tenant_id = $1 and ` + who + ` offset 0) a
cross join lateral (
  select l.name, l.time_zone from locations l where l.tenant_id = $1 and l.id = a.location_id offset 0) l
cross join lateral (select v.name from services v where v.tenant_id = $1 and v.id = a.service_id offset 0) v
cross join lateral (
  select * from waitlist_places p
  where p.tenant_id = $1
    and p.location_id = a.location_id and p.service_id = a.service_id and p.local_date = a.local_date
    and (a.session_id is null or p.session_id is null or p.session_id = a.session_id) offset 0) p
cross join lateral (select * from waitlist_entries e where e.tenant_id = $1 and e.id = p.entry_id offset 0) e
cross join lateral (select * from members m where m.tenant_id = $1 and m.id = e.member_id offset 0) m
left join lateral (
  select s.starts_at from sessions s where s.tenant_id = $1 and s.id = a.session_id offset 0) s on true`)
})

// ListRivals reads, for each place of the selected entries, all entries that wait for the same.
func ListRivals(b *pg.Batch, in tenant.TenantID, q RivalQuery, into *[]Rival) {
	rivalry.List(listRivals.queue(b, in, q), into)
}

// PlaceFacts are what decides whether an entry can be promoted in one of its places.
type PlaceFacts struct {
	Entry   tenant.EntryID
	Session tenant.SessionID // zero: a day of a time window
	Policy  catalog.BookingPolicy
	waitlist.Check
}

type placeRow struct {
	PlaceFacts
	policy coredb.PolicyRow
}

var placeFacts = pg.ReadAs(func(r *placeRow) []pg.Column {
	return append([]pg.Column{
		pg.Read("s.entry_id", &r.Entry),
		pg.Read("s.session_id", &r.Session),
		pg.Read("coalesce(d.busy, false)", &r.Busy),
		pg.Read("coalesce(d.promoted, false)", &r.Promoted),
	}, r.policy.Columns()...)
}, func(r *placeRow) (PlaceFacts, error) {
	r.Policy = r.policy.Policy()
	return r.PlaceFacts, nil
})

var listPlaceFacts = rivals(func(who string) string {
	return pg.SQL(`
select ` + placeFacts.Columns() + `
from (select * from waitlist_places where tenant_id = $1 and ` + who + ` offset 0) s` + coredb.PolicyJoins + `
left join lateral (
  select x.starts_at, x.ends_at, x.local_date from sessions x where x.tenant_id = $1 and x.id = s.session_id offset 0) x
  on true
left join lateral (` + coredb.MemberDay("s.member_id", "s.session_id", "x") + `) d on true`)
})

// ListPlaceFacts reads, for each place of the selected entries, what decides whether it can be promoted there.
func ListPlaceFacts(b *pg.Batch, in tenant.TenantID, q RivalQuery, into *[]PlaceFacts) {
	placeFacts.List(listPlaceFacts.queue(b, in, q), into)
}

// waitSlotColumns are the columns of a waitlist.Slot without its seats, from a session `s` and its location `l`.
func waitSlotColumns(s *waitlist.Slot) []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &s.Session),
		pg.Read("s.service_id", &s.Service),
		pg.Read("s.location_id", &s.Location),
		pg.Read("s.resource_id", &s.Resource),
		pg.Read("s.coach_id", &s.Coach),
		pg.Read("s.starts_at", &s.StartsAt),
		pg.Read("s.ends_at", &s.EndsAt),
		pg.Read("l.time_zone", &s.Zone),
	}
}

// openSlotRow is a slot with the policy that says when it can be booked.
type openSlotRow struct {
	waitlist.Slot
	policy coredb.PolicyRow
}

var (
	waitSlots = pg.NewReader(waitSlotColumns)
	openSlots = pg.ReadAs(func(r *openSlotRow) []pg.Column {
		return append(waitSlotColumns(&r.Slot), r.policy.Columns()...)
	}, func(r *openSlotRow) (waitlist.Slot, error) {
		p := r.policy.Policy()
		r.Opens, r.Closes = r.StartsAt.Add(-p.AdvanceWindow), r.StartsAt.Add(-p.BookingClosesBefore)
		return r.Slot, nil
	})
	namedSlots = pg.NewReader(func(s *waitlist.Slot) []pg.Column {
		return append(waitSlotColumns(s), pg.Read("v.name", &s.ServiceName), pg.Read("l.name", &s.LocationName))
	})
)

var (
	findWaitSlot = pg.SQL(`
select ` + namedSlots.Columns() + ` from sessions s
join services v on v.tenant_id = s.tenant_id and v.id = s.service_id
join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
where s.tenant_id = $1 and s.id = $2`)
	heldSlots = pg.Lookup[tenant.MemberID, waitlist.Slot]{
		SQL: pg.SQL(`select ` + waitSlots.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (
  select * from bookings b where b.tenant_id = $1 and b.member_id = q.id and b.status = 'PENDING' offset 0) b
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = b.session_id offset 0) s
cross join lateral (select * from locations l where l.tenant_id = $1 and l.id = s.location_id offset 0) l`),
		Reader: waitSlots,
	}
	listOpenSlots = pg.SQL(`
select ` + openSlots.Columns() + ` from sessions s
join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id` + coredb.PolicyJoins + `
where s.tenant_id = $1 and s.location_id = $2 and s.service_id = $3 and s.starts_at >= $4 and s.starts_at < $5
  and s.deleted_at is null and s.state = 'PUBLISHED' and not s.blocked
  and (s.capacity is null or s.seats_taken + $6 <= s.capacity)
order by s.starts_at, s.id`)
	listSessionQueues = pg.SQL(`
select ` + sessionQueues.Columns() + ` from waitlist_entries e
join sessions s on s.tenant_id = e.tenant_id and (s.id = e.session_id or s.id = any(e.any_of))
where e.tenant_id = $1 and e.id = $2`)
)

// FindWaitSlot reads a session as a waitlist.Slot, without its seats.
func FindWaitSlot(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into *waitlist.Slot) {
	namedSlots.Scan(b.Queue(findWaitSlot, in, id), into)
}

// ListHeldSlots reads the sessions in which a member holds seats.
func ListHeldSlots(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, into *[]waitlist.Slot) {
	heldSlots.Many(b, in, member, into)
}

// ListOpenSlots reads the sessions of a service at a location that start in a span, are published and not blocked, and
// have open seats for a party, with the times between which members can book them.
func ListOpenSlots(
	b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, span civil.Span, party int,
	into *[]waitlist.Slot,
) {
	openSlots.List(b.Queue(listOpenSlots, in, location, service, span.Start, span.End, party), into)
}

// ListSessionQueues reads the queues of the sessions that an entry names, even if the entry has ended.
func ListSessionQueues(b *pg.Batch, in tenant.TenantID, entry tenant.EntryID, into *[]waitlist.Queue) {
	sessionQueues.List(b.Queue(listSessionQueues, in, entry), into)
}
