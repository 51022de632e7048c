package bookingdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// PastFilter selects a member's bookings. All conditions that are set must match.
type PastFilter struct {
	Member      tenant.MemberID
	Statuses    []booking.Status // of the booking
	From, Until time.Time        // of the session's start; zero From: any
	Service     tenant.ServiceID
	Location    tenant.LocationID
}

// past are the conditions of a PastFilter. Sessions are looked up only if a condition asks for them.
const past = `
where b.tenant_id = $1 and b.member_id = $2 and b.status = any($3)
  and ($4::timestamptz is null or b.starts_at >= $4) and b.starts_at < $5
  and ($6::uuid is null and $7::uuid is null or exists (select from sessions d where d.tenant_id = $1
    and d.id = b.session_id and ($6 is null or d.service_id = $6) and ($7 is null or d.location_id = $7)))`

func (f PastFilter) arguments(in tenant.TenantID) []any {
	return []any{in, f.Member, f.Statuses, pg.OrNull(f.From), f.Until, f.Service, f.Location}
}

var (
	listPast = pg.SQL(selectBookings + past + `
  and ($8::timestamptz is null or (b.starts_at, b.id) < ($8, $9::uuid))
order by b.starts_at desc, b.id desc limit $10`)
	countPast = pg.SQL(`
select count(*) filter (where b.status = 'ATTENDED'), count(*) filter (where b.status = 'NO_SHOW'),
  count(*) filter (where b.status = 'CANCELLED' and b.late_cancelled)
from bookings b` + past)
)

// PastQuery selects a page of a member's past bookings.
type PastQuery struct {
	PastFilter
	BeforeStart time.Time // with BeforeID, the last booking of the previous page
	BeforeID    tenant.BookingID
	Limit       int
}

// ListPastBookings reads bookings by the session's start, the latest first.
func ListPastBookings(b *pg.Batch, in tenant.TenantID, q PastQuery, into *[]booking.Booking) {
	booked.List(b.Queue(listPast, append(q.arguments(in), pg.OrNull(q.BeforeStart), q.BeforeID, q.Limit)...), into)
}

// Attendance counts a member's past bookings.
type Attendance struct{ Attended, NoShows, LateCancelled int }

// CountAttendance counts all bookings that a filter selects.
func CountAttendance(b *pg.Batch, in tenant.TenantID, f PastFilter, into *Attendance) {
	b.Queue(countPast, f.arguments(in)...).Scan(&into.Attended, &into.NoShows, &into.LateCancelled)
}

// NoShowQuery selects sessions whose absent parties are due to be marked as no-shows.
type NoShowQuery struct {
	// Since and Until bound when they are due. Both are included.
	Since, Until time.Time
	// StartsFrom is no later than the start of any such session.
	StartsFrom time.Time
	// The defaults, for sessions whose policies do not set them.
	Mark          bool
	After, Closes time.Duration
	AfterStart    time.Duration
	AfterID       tenant.SessionID // the last session of the previous chunk
	Limit         int
}

// absent selects the bookings about which booking.MarkAbsent decides, and leaves out most that it would not mark.
const absent = `b.status = 'CONFIRMED' and (b.auto_no_show_at is null or b.auto_no_show_at < b.starts_at)`

var (
	// For tenants that leave marking to staff it only reads their policies.
	listAbsences = pg.SQL(`
select s.id from sessions s` + coredb.PolicyJoins + `
cross join lateral (select
  s.starts_at + nullif(coalesce(pv.auto_no_show_after_start_seconds, pl.auto_no_show_after_start_seconds,
    pt.auto_no_show_after_start_seconds, $10), 0) * interval '1 second' as by_start,
  s.ends_at + greatest(
    coalesce(pv.auto_no_show_after_seconds, pl.auto_no_show_after_seconds, pt.auto_no_show_after_seconds, $6),
    coalesce(pv.check_in_closes_after_end_seconds, pl.check_in_closes_after_end_seconds,
      pt.check_in_closes_after_end_seconds, $7)
  ) * interval '1 second' as by_end) d
where ($5 or exists (select from policies p where p.tenant_id = $1 and p.auto_no_show))
  and s.tenant_id = $1 and s.deleted_at is null and s.starts_at >= $2 and s.starts_at < $4 and s.seats_taken > 0
  and coalesce(pv.auto_no_show, pl.auto_no_show, pt.auto_no_show, $5)
  and (d.by_start between $3 and $4 or d.by_end between $3 and $4)
  and exists (
    select from bookings b where b.tenant_id = $1 and b.session_id = s.id and ` + absent + `
      and case when b.created_at < s.starts_at then coalesce(d.by_start, d.by_end) else d.by_end end between $3 and $4)
  and ($8::uuid is null or s.id > $8)
order by s.id limit $9`)
	listAbsent = pg.SQL(`select ` + absences.Columns() + ` from bookings b` + bookingJoins + `
where b.tenant_id = $1 and b.session_id = $2 and ` + absent + `
order by b.id limit $3`)
)

// ListNoShowSessions reads the ids of such sessions, in ascending order.
func ListNoShowSessions(b *pg.Batch, in tenant.TenantID, q NoShowQuery, into *[]tenant.SessionID) {
	pg.Collect(b.Queue(listAbsences,
		in, q.StartsFrom, q.Since, q.Until, q.Mark, q.After, q.Closes, q.AfterID, q.Limit, q.AfterStart,
	), into, pgx.RowTo[tenant.SessionID])
}

// absenceRow is a booking with the time of its mark.
type absenceRow struct {
	bookingRow
	markedAt *time.Time
}

var absences = pg.ReadAs(func(r *absenceRow) []pg.Column {
	return append(bookedColumns(&r.bookingRow), pg.Read("b.auto_no_show_at", &r.markedAt))
}, func(r *absenceRow) (booking.Absence, error) {
	b, err := r.booking()
	return booking.Absence{Booking: b, MarkedAt: r.markedAt}, err
})

// ListNoShows reads those of a session's bookings whose party may not have come.
func ListNoShows(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, limit int, into *[]booking.Absence) {
	absences.List(b.Queue(listAbsent, in, session, limit), into)
}

// MarkNoShows marks such bookings as no-shows with the transaction.
func MarkNoShows(tx *pg.Tx, in tenant.TenantID, ids []tenant.BookingID, now time.Time) {
	tx.Write(`
update bookings set status = 'NO_SHOW', auto_no_show_at = $3, updated_at = $3, version = version + 1
where tenant_id = $1 and id = any($2)`, in, ids, now)
}
