package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Scheduled is a session with all that booking needs to know of it.
type Scheduled struct {
	session.Session
	Slot booking.Slot
}

// sessionColumns goes with slotJoins.
var sessionColumns = slotColumns + `,
  s.resource_id, s.coach_id, s.series_id, s.occurs_on, s.occurs_at, s.detached, s.description, s.state_reason, s.deleted_at is not null,
  s.version, s.created_at, s.updated_at,
  coalesce((select m.name from members m where m.tenant_id = s.tenant_id and m.id = s.coach_id), ''),
  array(select w.workout_id from session_workouts w where w.tenant_id = s.tenant_id and w.session_id = s.id order by w.position)`

func scanSession(row pgx.Row) (Scheduled, error) {
	var one session.Session
	var occursOn, occursAt *time.Time
	slot, err := scanSlot(row, &one.Resource, &one.Coach, &one.Series, &occursOn, &occursAt, &one.Detached, &one.Description,
		&one.StateReason, &one.Deleted, &one.Version, &one.CreatedAt, &one.UpdatedAt, &one.CoachName, &one.Workouts)
	one.ID, one.Service, one.Location, one.Title = slot.ID, slot.Service, slot.Location, slot.Title
	one.StartsAt, one.EndsAt, one.TimeZone, one.LocalDate = slot.StartsAt, slot.EndsAt, slot.TimeZone, slot.LocalDate
	one.Capacity, one.SeatsTaken, one.WaitlistCapacity, one.Waiting = slot.Capacity, slot.SeatsTaken, slot.WaitlistCapacity, slot.Waiting
	one.Holds, one.State, one.Blocked, one.Delivery = slot.Holds, slot.State, slot.Blocked, slot.Delivery
	if occursOn != nil && occursAt != nil {
		one.OccursOn, one.OccursAt = day(*occursOn), *occursAt
	}
	return Scheduled{one, slot}, err
}

func collectSession(row pgx.CollectableRow) (Scheduled, error) { return scanSession(row) }

// FindSession reads a session; nil where there is none that is not deleted.
func FindSession(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into **Scheduled) {
	b.Queue(`select`+sessionColumns+` from sessions s`+slotJoins+`
where s.tenant_id = $1 and s.id = $2 and s.deleted_at is null`, in, id).QueryRow(func(row pgx.Row) error {
		one, err := scanSession(row)
		return found(into, one, err)
	})
}

// SessionQuery chooses sessions.
type SessionQuery struct {
	session.Filter
	Unbooked   bool      // leaves out those in which anybody has a place or waits for one
	AfterStart time.Time // keyset: the last start and id of the page before
	AfterID    tenant.SessionID
	Limit      int
}

// chosen is the condition of a session.Filter on sessions `s`; args gives what it refers to.
// The span stands alone, without an "or", so that the index on the start is followed.
func chosen(f session.Filter) string {
	condition := `
where s.tenant_id = $1 and s.deleted_at is null and s.starts_at >= $2 and s.starts_at < $3
  and ($4::uuid[] is null or s.location_id = any($4)) and ($5::uuid[] is null or s.service_id = any($5))
  and ($6::uuid[] is null or s.resource_id = any($6)) and ($7::uuid[] is null or s.coach_id = any($7))
  and ($8::text[] is null or s.state = any($8)) and ($9::uuid is null or s.series_id = $9)`
	if f.Sessions == nil {
		return condition + ` and $10::uuid[] is null`
	}
	return condition + ` and s.id = any($10)`
}

func filterArgs(in tenant.TenantID, f session.Filter) []any {
	if f.Until.IsZero() {
		f.Until = endOfTime
	}
	var states []string
	if f.States != nil {
		states = column(f.States, func(s catalog.SessionState) string { return string(s) })
	}
	return []any{in, f.From, f.Until, f.Locations, f.Services, f.Resources, f.Coaches, states, f.Series, f.Sessions}
}

// endOfTime is beyond every session.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// activeBookings counts them, where the counter of seats says that there are any.
const activeBookings = `
  case when s.seats_taken = 0 then 0 else (
    select count(*) from bookings b where b.tenant_id = s.tenant_id and b.session_id = s.id
      and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')) end`

// ListSessions reads sessions by their start, then id.
func ListSessions(b *pg.Batch, in tenant.TenantID, q SessionQuery, into *[]Scheduled) {
	if q.AfterStart.After(q.From) {
		q.From = q.AfterStart
	}
	pg.Collect(b.Queue(`select`+sessionColumns+` from sessions s`+slotJoins+chosen(q.Filter)+`
  and ($11::uuid is null or (s.starts_at, s.id) > ($2, $11)) and (not $12 or (s.seats_taken = 0 and s.waiting = 0))
order by s.starts_at, s.id limit $13`, append(filterArgs(in, q.Filter), q.AfterID, q.Unbooked, q.Limit)...), into, collectSession)
}

// ListSchedule reads sessions by their start, then id, as far as their own rows go: without zone and delivery. The
// rest booking.House knows, so that it is neither joined nor sent once for each session. What found is given
// it has to copy.
func ListSchedule(b *pg.Batch, in tenant.TenantID, q SessionQuery, found func(*session.Session)) {
	if q.AfterStart.After(q.From) {
		q.From = q.AfterStart
	}
	b.Queue(`select
  s.id, s.service_id, s.location_id, s.resource_id, s.coach_id, s.series_id, s.title, s.description, s.starts_at, s.ends_at, s.local_date,
  s.occurs_on, s.occurs_at, s.detached, s.capacity, s.seats_taken, s.waitlist_capacity, s.waiting, s.holds, s.state, s.blocked, s.state_reason,
  s.version, s.created_at, s.updated_at, coalesce(m.name, ''),
  case when s.has_workouts then
    array(select w.workout_id from session_workouts w where w.tenant_id = s.tenant_id and w.session_id = s.id order by w.position) end
from sessions s left join members m on m.tenant_id = s.tenant_id and m.id = s.coach_id`+chosen(q.Filter)+`
  and ($11::uuid is null or (s.starts_at, s.id) > ($2, $11))
order by s.starts_at, s.id limit $12`, append(filterArgs(in, q.Filter), q.AfterID, q.Limit)...).Query(func(rows pgx.Rows) error {
		// One set of targets for all rows, which every row fills anew.
		var s session.Session
		var state string
		var localDate time.Time
		var occursOn, occursAt *time.Time
		targets := []any{
			&s.ID, &s.Service, &s.Location, &s.Resource, &s.Coach, &s.Series, &s.Title, &s.Description, &s.StartsAt, &s.EndsAt, &localDate,
			&occursOn, &occursAt, &s.Detached, &s.Capacity, &s.SeatsTaken, &s.WaitlistCapacity, &s.Waiting, &s.Holds, &state, &s.Blocked, &s.StateReason,
			&s.Version, &s.CreatedAt, &s.UpdatedAt, &s.CoachName, &s.Workouts,
		}
		for rows.Next() {
			if err := rows.Scan(targets...); err != nil {
				return err
			}
			s.State, s.LocalDate = catalog.SessionState(state), day(localDate)
			s.OccursOn, s.OccursAt = civil.Date{}, time.Time{}
			if occursOn != nil && occursAt != nil {
				s.OccursOn, s.OccursAt = day(*occursOn), *occursAt
			}
			found(&s)
		}
		return rows.Err()
	})
}

// Preview is what a filter finds.
type Preview struct {
	Matched  int
	Booked   int // sessions in which anybody has a place or waits for one, matched or not
	Bookings int // active ones, on those that match
	Samples  []Sample
}

// Sample is one session that a filter finds.
type Sample struct {
	ID       tenant.SessionID
	Title    string
	StartsAt time.Time
	State    catalog.SessionState
	Bookings int // active ones
}

// PreviewSessions counts what a filter finds, and reads the first of it by start.
func PreviewSessions(b *pg.Batch, in tenant.TenantID, q SessionQuery, into *Preview) {
	args := append(filterArgs(in, q.Filter), q.Unbooked)
	b.Queue(`
select count(*) filter (where not (booked and $11)), count(*) filter (where booked), coalesce(sum(active) filter (where not (booked and $11)), 0)::bigint
from (
  select s.seats_taken > 0 or s.waiting > 0 as booked,`+activeBookings+` as active from sessions s`+chosen(q.Filter)+`) x`, args...).
		Scan(&into.Matched, &into.Booked, &into.Bookings)
	pg.Collect(b.Queue(`
select s.id, s.title, s.starts_at, s.state,`+activeBookings+` from sessions s`+chosen(q.Filter)+`
  and (not $11 or (s.seats_taken = 0 and s.waiting = 0))
order by s.starts_at, s.id limit $12`, append(args, q.Limit)...), &into.Samples,
		func(row pgx.CollectableRow) (Sample, error) {
			var s Sample
			err := row.Scan(&s.ID, &s.Title, &s.StartsAt, &s.State, &s.Bookings)
			return s, err
		})
}

// ListBusySpans reads when any of the resources and staff members are taken, as far as it touches a span.
func ListBusySpans(b *pg.Batch, in tenant.TenantID, resources []tenant.ResourceID, coaches []tenant.MemberID, span civil.Span, into *[]session.Busy) {
	pg.Collect(b.Queue(`
select s.resource_id, s.coach_id, s.starts_at, s.ends_at from sessions s
where s.tenant_id = $1 and s.starts_at >= $2 and s.starts_at < $4 and s.ends_at > $3 and s.deleted_at is null and s.state <> 'CANCELLED'
  and (s.resource_id = any($5) or s.coach_id = any($6))
order by s.starts_at, s.id`, in, span.Start.Add(-session.MaxLength), span.Start, span.End, resources, coaches), into,
		func(row pgx.CollectableRow) (session.Busy, error) {
			var busy session.Busy
			err := row.Scan(&busy.Resource, &busy.Coach, &busy.Span.Start, &busy.Span.End)
			return busy, err
		})
}

// FindLeader tells a member's name, and whether they may lead sessions: an active owner, admin or coach.
func FindLeader(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into *session.CoachSetting) {
	b.Queue(`
select exists (
  select from members m join member_roles r on r.tenant_id = m.tenant_id and r.member_id = m.id
  where m.tenant_id = $1 and m.id = $2 and m.status = 'ACTIVE' and r.role in ('owner', 'admin', 'coach')),
  coalesce((select m.name from members m where m.tenant_id = $1 and m.id = $2), '')`, in, id).Scan(&into.Leads, &into.Name)
}

// sessionRows are whole sessions as columns: $2 and on of sessionArgs.
const sessionRows = `
unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::uuid[], $8::date[], $9::timestamptz[], $10::boolean[],
  $11::text[], $12::text[], $13::timestamptz[], $14::timestamptz[], $15::date[], $16::integer[], $17::integer[],
  $18::text[], $19::boolean[], $20::text[], $21::integer[], $22::timestamptz[], $23::timestamptz[])
as x (id, service_id, location_id, resource_id, coach_id, series_id, occurs_on, occurs_at, detached,
  title, description, starts_at, ends_at, local_date, capacity, waitlist_capacity,
  state, blocked, state_reason, version, created_at, updated_at)`

func sessionArgs(in tenant.TenantID, all []session.Session) []any {
	return []any{
		in,
		column(all, func(s session.Session) tenant.SessionID { return s.ID }),
		column(all, func(s session.Session) tenant.ServiceID { return s.Service }),
		column(all, func(s session.Session) tenant.LocationID { return s.Location }),
		column(all, func(s session.Session) tenant.ResourceID { return s.Resource }),
		column(all, func(s session.Session) tenant.MemberID { return s.Coach }),
		column(all, func(s session.Session) tenant.SeriesID { return s.Series }),
		column(all, func(s session.Session) *time.Time {
			if s.OccursOn.IsZero() {
				return nil
			}
			return new(date(s.OccursOn))
		}),
		column(all, func(s session.Session) *time.Time { return optional(s.OccursAt) }),
		column(all, func(s session.Session) bool { return s.Detached }),
		column(all, func(s session.Session) string { return s.Title }),
		column(all, func(s session.Session) string { return s.Description }),
		column(all, func(s session.Session) time.Time { return s.StartsAt }),
		column(all, func(s session.Session) time.Time { return s.EndsAt }),
		column(all, func(s session.Session) time.Time { return date(s.LocalDate) }),
		column(all, func(s session.Session) *int { return s.Capacity }),
		column(all, func(s session.Session) int { return s.WaitlistCapacity }),
		column(all, func(s session.Session) string { return string(s.State) }),
		column(all, func(s session.Session) bool { return s.Blocked }),
		column(all, func(s session.Session) string { return s.StateReason }),
		column(all, func(s session.Session) int { return s.Version }),
		column(all, func(s session.Session) time.Time { return s.CreatedAt }),
		column(all, func(s session.Session) time.Time { return s.UpdatedAt }),
	}
}

func column[S, T any](rows []S, value func(S) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

// InsertSessions writes new sessions with the transaction.
func InsertSessions(tx *pg.Tx, in tenant.TenantID, all []session.Session) {
	if len(all) == 0 {
		return
	}
	tx.Write(`
insert into sessions (tenant_id, id, service_id, location_id, resource_id, coach_id, series_id, occurs_on, occurs_at, detached,
  title, description, starts_at, ends_at, local_date, capacity, waitlist_capacity, state, blocked, state_reason, version, created_at, updated_at)
select $1, x.* from `+sessionRows, sessionArgs(in, all)...)
}

// UpdateSessions writes sessions' edits with the transaction. It is one statement, so that sessions
// may take each other's places; the counters and the deletion are not written.
func UpdateSessions(tx *pg.Tx, in tenant.TenantID, all []session.Session) {
	if len(all) == 0 {
		return
	}
	tx.Write(`
update sessions s set service_id = x.service_id, location_id = x.location_id, resource_id = x.resource_id, coach_id = x.coach_id,
  series_id = x.series_id, occurs_on = x.occurs_on, occurs_at = x.occurs_at, detached = x.detached,
  title = x.title, description = x.description, starts_at = x.starts_at, ends_at = x.ends_at, local_date = x.local_date,
  capacity = x.capacity, waitlist_capacity = x.waitlist_capacity,
  state = x.state, blocked = x.blocked, state_reason = x.state_reason, version = x.version, updated_at = x.updated_at
from `+sessionRows+`
where s.tenant_id = $1 and s.id = x.id`, sessionArgs(in, all)...)
}

// DeleteSessions marks sessions as deleted with the transaction.
func DeleteSessions(tx *pg.Tx, in tenant.TenantID, ids []tenant.SessionID, batch tenant.BatchID, now time.Time) {
	tx.Write(`
update sessions set deleted_at = $3, batch_id = $4, version = version + 1, updated_at = $3
where tenant_id = $1 and id = any($2)`, in, ids, now, batch)
}
