// Package scheduledb holds the SQL of sessions, series and workouts. Functions with a pg.Batch queue a read, and
// functions with a pg.Tx queue a write.
package scheduledb

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

var sessions = pg.NewTable("s", func(s *session.Session) []pg.Column {
	return []pg.Column{
		pg.Key("id", &s.ID),
		pg.Col("service_id", &s.Service),
		pg.Col("location_id", &s.Location),
		pg.Col("resource_id", &s.Resource),
		pg.Col("coach_id", &s.Coach),
		pg.Col("series_id", &s.Series),
		pg.Col("occurs_on", &s.OccursOn),
		pg.Col("occurs_at", pg.Null(&s.OccursAt)),
		pg.Col("detached", &s.Detached),
		pg.Col("title", &s.Title),
		pg.Col("description", &s.Description),
		pg.Col("starts_at", &s.StartsAt),
		pg.Col("ends_at", &s.EndsAt),
		pg.Col("local_date", &s.LocalDate),
		pg.Col("capacity", &s.Capacity),
		pg.Col("waitlist_capacity", &s.WaitlistCapacity),
		pg.Col("state", (*string)(&s.State)),
		pg.Col("blocked", &s.Blocked),
		pg.Col("state_reason", &s.StateReason),
		pg.Col("version", &s.Version),
		pg.Fixed("created_at", &s.CreatedAt),
		pg.Col("updated_at", &s.UpdatedAt),
		pg.Read("s.seats_taken", &s.SeatsTaken),
		pg.Read("s.waiting", &s.Waiting),
		pg.Read("s.holds", &s.Holds),
	}
})

// Scheduled is a session with its slot.
type Scheduled struct {
	session.Session
	Slot booking.Slot
}

type scheduledRow struct {
	session.Session
	slot coredb.SlotRow
}

var (
	scheduled = pg.ReadAs(func(r *scheduledRow) []pg.Column {
		return append(append(sessions.Of(&r.Session), r.slot.Joined()...),
			pg.Read("s.deleted_at is not null", &r.Deleted),
			pg.Read(coredb.CoachName, &r.CoachName),
			pg.Read(`
  array(select w.workout_id from session_workouts w
    where w.tenant_id = s.tenant_id and w.session_id = s.id order by w.position)`, &r.Workouts),
		)
	}, func(r *scheduledRow) (Scheduled, error) {
		one, slot := r.Session, r.slot.Value()
		one.TimeZone, one.Delivery = slot.TimeZone, slot.Delivery
		slot.ID, slot.Service, slot.Location, slot.Title = one.ID, one.Service, one.Location, one.Title
		slot.StartsAt, slot.EndsAt, slot.LocalDate = one.StartsAt, one.EndsAt, one.LocalDate
		slot.Capacity, slot.SeatsTaken, slot.WaitlistCapacity = one.Capacity, one.SeatsTaken, one.WaitlistCapacity
		slot.Waiting, slot.Holds, slot.State, slot.Blocked = one.Waiting, one.Holds, one.State, one.Blocked
		return Scheduled{one, slot}, nil
	})
	// schedule reuses one value for all rows, so the reader has to copy it.
	schedule = pg.ReadAs(func(s *session.Session) []pg.Column {
		return append(sessions.Of(s),
			pg.Read("coalesce(m.name, '')", &s.CoachName),
			pg.Read(`
  case when s.has_workouts then array(select w.workout_id from session_workouts w
    where w.tenant_id = s.tenant_id and w.session_id = s.id order by w.position) end`, &s.Workouts),
		)
	}, func(s *session.Session) (*session.Session, error) { return s, nil })
)

// selectSessions reads sessions `s` with their slots.
var selectSessions = `select ` + scheduled.Columns() + ` from sessions s` + coredb.SlotJoins

var findSession = pg.SQL(selectSessions + `
where s.tenant_id = $1 and s.id = $2 and s.deleted_at is null`)

// FindSession reads a session; nil if it does not exist or is deleted.
func FindSession(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into **Scheduled) {
	scheduled.Find(b.Queue(findSession, in, id), into)
}

// SessionQuery selects sessions.
type SessionQuery struct {
	session.Filter
	Unbooked   bool      // only sessions without bookings, no-shows and waitlist entries
	EndAfter   time.Time // only sessions that end later; zero: no limit
	AfterStart time.Time // keyset: the last start and id of the page before
	AfterID    tenant.SessionID
	Limit      int
}

// filtered is a statement on the sessions `s` that a session.Filter selects: one version for filters without ids, and
// one for filters with ids.
type filtered struct{ all, named string }

// filter puts the condition of a session.Filter between the parts of a statement. Its parameters are those of queue.
// The condition on the span has no "or", so that the planner uses the index on the start.
func filter(before, after string) filtered {
	const condition = `
where s.tenant_id = $1 and s.deleted_at is null
  and s.starts_at >= $2 and s.starts_at < coalesce($3::timestamptz, 'infinity')
  and ($4::uuid[] is null or s.location_id = any($4)) and ($5::uuid[] is null or s.service_id = any($5))
  and ($6::uuid[] is null or s.resource_id = any($6)) and ($7::uuid[] is null or s.coach_id = any($7))
  and ($8::text[] is null or s.state = any($8)) and ($9::uuid is null or s.series_id = $9)`
	return filtered{
		all:   pg.SQL(before + condition + ` and $10::uuid[] is null` + after),
		named: pg.SQL(before + condition + ` and s.id = any($10)` + after),
	}
}

// queue queues the statement with the arguments of a filter, followed by more.
func (f filtered) queue(b *pg.Batch, in tenant.TenantID, by session.Filter, more ...any) *pg.Statement {
	sql := f.named
	if by.Sessions == nil {
		sql = f.all
	}
	return b.Queue(sql, append([]any{
		in, by.From, pg.OrNull(by.Until), by.Locations, by.Services, by.Resources, by.Coaches, by.States, by.Series,
		by.Sessions,
	}, more...)...)
}

// keptBookings counts the bookings of a session that are not over: active ones, and no-shows.
const keptBookings = `
  (select count(*) from bookings b where b.tenant_id = $1 and b.session_id = s.id
    and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED', 'NO_SHOW'))`

// isBooked is Session.Booked. No-shows have no counter: they take no seats.
const isBooked = `(s.seats_taken > 0 or s.waiting > 0 or exists (select from bookings n
    where n.tenant_id = $1 and n.session_id = s.id and n.status = 'NO_SHOW'))`

// selected is the rest of the condition of a SessionQuery.
const selected = `
  and (not $11 or not ` + isBooked + `) and ($12::timestamptz is null or s.ends_at > $12)`

var (
	listSessions = filter(selectSessions, `
`+selected+` and ($13::uuid is null or (s.starts_at, s.id) > ($2, $13))
order by s.starts_at, s.id limit $14`)
	listSchedule = filter(`
select `+schedule.Columns()+` from sessions s
left join members m on m.tenant_id = s.tenant_id and m.id = s.coach_id and m.status = 'ACTIVE'`, `
  and ($11::uuid is null or (s.starts_at, s.id) > ($2, $11))
order by s.starts_at, s.id limit $12`)
	previewSessions = filter(`
select count(*) filter (where wanted and not ended), count(*) filter (where booked),
  coalesce(sum(kept) filter (where wanted and not ended), 0)::bigint, count(*) filter (where wanted and ended)
from (
  select booked, kept, not (booked and $11) as wanted, ended from (
    select `+isBooked+` as booked, coalesce(s.ends_at <= $12::timestamptz, false) as ended,`+keptBookings+` as kept
    from sessions s`, `) y) x`)
	countEnded = filter(`
select count(*) from sessions s`, `
  and (not $11 or not `+isBooked+`) and s.ends_at <= $12`)
	sampleSessions = filter(`
select `+samples.Columns()+` from sessions s join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id`, `
`+selected+`
order by s.starts_at, s.id limit $13`)
	listMatches = filter(`
select `+matches.Columns()+` from sessions s`, `
`+selected+`
order by s.starts_at, s.id limit $13`)
)

// ListSessions reads sessions in order of start, then id.
func ListSessions(b *pg.Batch, in tenant.TenantID, q SessionQuery, into *[]Scheduled) {
	if q.AfterStart.After(q.From) {
		q.From = q.AfterStart
	}
	scheduled.List(listSessions.queue(b, in, q.Filter, q.Unbooked, pg.OrNull(q.EndAfter), q.AfterID, q.Limit), into)
}

// ListSchedule reads sessions in order of start, then id, without time zone and delivery. Those come from
// booking.Snapshot, so they are neither joined nor sent for each session. found has to copy the session.
func ListSchedule(b *pg.Batch, in tenant.TenantID, q SessionQuery, found func(*session.Session)) {
	if q.AfterStart.After(q.From) {
		q.From = q.AfterStart
	}
	schedule.Each(listSchedule.queue(b, in, q.Filter, q.AfterID, q.Limit), found)
}

// Preview counts the sessions that a filter finds.
type Preview struct {
	Matched  int
	Booked   int // sessions with bookings, no-shows or waitlist entries, even if they do not match
	Bookings int // active bookings and no-shows of the matching sessions
	Ended    int // sessions that do not match only because they have ended
	Samples  []Sample
}

// Sample is a session that a filter finds.
type Sample struct {
	catalog.SessionSummary

	State    catalog.SessionState
	Bookings int // active, and no-shows
}

var samples = pg.NewReader(func(s *Sample) []pg.Column {
	return append(summaries(&s.SessionSummary), pg.Read("s.state", &s.State), pg.Read(keptBookings, &s.Bookings))
})

// summaries returns the columns of what is shown of a session `s` at a location `l`.
func summaries(s *catalog.SessionSummary) []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &s.ID),
		pg.Read("s.title", &s.Title),
		pg.Read("s.starts_at", &s.StartsAt),
		pg.Read("s.ends_at", &s.EndsAt),
		pg.Read("l.time_zone", &s.TimeZone),
		pg.Read("l.id", &s.Location),
		pg.Read("l.name", &s.LocationName),
		pg.Read(coredb.CoachName, &s.CoachName),
		pg.Read("s.service_id", &s.Service),
	}
}

// PreviewSessions counts the sessions that a filter finds, and reads the first by start.
func PreviewSessions(b *pg.Batch, in tenant.TenantID, q SessionQuery, into *Preview) {
	after := pg.OrNull(q.EndAfter)
	previewSessions.queue(b, in, q.Filter, q.Unbooked, after).
		Scan(&into.Matched, &into.Booked, &into.Bookings, &into.Ended)
	samples.List(sampleSessions.queue(b, in, q.Filter, q.Unbooked, after, q.Limit), &into.Samples)
}

// CountEnded counts the sessions that a query leaves out only because they have ended.
func CountEnded(b *pg.Batch, in tenant.TenantID, q SessionQuery, into *int) {
	countEnded.queue(b, in, q.Filter, q.Unbooked, q.EndAfter).Scan(into)
}

// CountNoShows counts the no-shows of a session. Only acts that must not lose them ask: it reads a range of bookings,
// with which others conflict.
func CountNoShows(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into *int) {
	b.Queue(`select count(*) from bookings where tenant_id = $1 and session_id = $2 and status = 'NO_SHOW'`, in, id).
		Scan(into)
}

var matches = pg.NewReader(func(m *session.Match) []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &m.ID),
		pg.Read("s.version", &m.Version),
		pg.Read("s.seats_taken", &m.SeatsTaken),
		pg.Read("s.waiting", &m.Waiting),
	}
})

// ListMatches reads, of the sessions that a filter finds, what a bulk operation depends on, in the order of
// ListSessions.
func ListMatches(b *pg.Batch, in tenant.TenantID, q SessionQuery, into *[]session.Match) {
	matches.List(listMatches.queue(b, in, q.Filter, q.Unbooked, pg.OrNull(q.EndAfter), q.Limit), into)
}

var busySessions = pg.NewReader(func(busy *session.BusySpan) []pg.Column {
	return []pg.Column{
		pg.Read("s.resource_id", &busy.Resource),
		pg.Read("s.coach_id", &busy.Coach),
		pg.Read("s.starts_at", &busy.Span.Start),
		pg.Read("s.ends_at", &busy.Span.End),
	}
})

var listBusySpans = pg.SQL(`
select ` + busySessions.Columns() + ` from sessions s
where s.tenant_id = $1 and s.starts_at >= $2 and s.starts_at < $4 and s.ends_at > $3
  and s.deleted_at is null and s.state <> 'CANCELLED' and (s.resource_id = any($5) or s.coach_id = any($6))
order by s.starts_at, s.id`)

// ListBusySpans reads the sessions of resources and coaches that overlap a span.
func ListBusySpans(
	b *pg.Batch, in tenant.TenantID, resources []tenant.ResourceID, coaches []tenant.MemberID, span civil.Span,
	into *[]session.BusySpan,
) {
	busySessions.List(b.Queue(listBusySpans, in,
		span.Start.Add(-session.MaxLength), span.Start, span.End, resources, coaches), into)
}

var (
	insertSessions = pg.SQL(`
insert into sessions ` + sessions.Rows())
	// One statement, so that sessions can swap their resources, coaches or times: the exclusion constraints are checked at
	// its end.
	updateSessions = pg.SQL(`
update sessions s set ` + sessions.SetChanges() + ` from ` + sessions.Changes() + `
where s.tenant_id = $1 and s.id = x.id`)
)

func sessionRows(all []session.Session) []*session.Session {
	return pg.Array(all, func(s session.Session) *session.Session { return &s })
}

// InsertSessions inserts sessions.
func InsertSessions(tx *pg.Tx, in tenant.TenantID, all []session.Session) {
	if len(all) > 0 {
		tx.Write(insertSessions, sessions.InsertAll(in, sessionRows(all))...)
	}
}

// UpdateSessions writes edited sessions, without their counters and deletion.
func UpdateSessions(tx *pg.Tx, in tenant.TenantID, all []session.Session) {
	if len(all) > 0 {
		tx.Write(updateSessions, sessions.UpdateAll(in, sessionRows(all))...)
	}
}

// DeleteSessions marks sessions as deleted.
func DeleteSessions(tx *pg.Tx, in tenant.TenantID, ids []tenant.SessionID, batch tenant.BatchID, now time.Time) {
	tx.Write(`
update sessions set deleted_at = $3, batch_id = $4, version = version + 1, updated_at = $3
where tenant_id = $1 and id = any($2)`, in, ids, now, batch)
}
