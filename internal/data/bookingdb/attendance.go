package bookingdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// Attendance counts a member's past bookings.
type Attendance struct{ Attended, NoShows, LateCancelled int }

// CountAttendance counts a member's bookings in sessions that start before a time.
func CountAttendance(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, until time.Time, into *Attendance) {
	b.Queue(`
select count(*) filter (where status = 'ATTENDED'), count(*) filter (where status = 'NO_SHOW'),
  count(*) filter (where status = 'CANCELLED' and late_cancelled)
from bookings where tenant_id = $1 and member_id = $2 and starts_at < $3`, in, member, until).
		Scan(&into.Attended, &into.NoShows, &into.LateCancelled)
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
	AfterID       tenant.SessionID // the last session of the previous chunk
	Limit         int
}

// absent selects the bookings about which booking.MarkAbsent decides, and leaves out most that it would not mark.
const absent = `b.status = 'CONFIRMED' and (b.auto_no_show_at is null or b.auto_no_show_at < b.ends_at)`

var (
	// For tenants that leave marking to staff it only reads their policies.
	listAbsences = pg.SQL(`
select s.id from sessions s` + coredb.PolicyJoins + `
where ($5 or exists (select from policies p where p.tenant_id = $1 and p.auto_no_show))
  and s.tenant_id = $1 and s.deleted_at is null and s.starts_at >= $2 and s.starts_at < $4 and s.seats_taken > 0
  and coalesce(pv.auto_no_show, pl.auto_no_show, pt.auto_no_show, $5)
  and s.ends_at + greatest(
    coalesce(pv.auto_no_show_after_seconds, pl.auto_no_show_after_seconds, pt.auto_no_show_after_seconds, $6),
    coalesce(pv.check_in_closes_after_end_seconds, pl.check_in_closes_after_end_seconds,
      pt.check_in_closes_after_end_seconds, $7)
  ) * interval '1 second' between $3 and $4
  and exists (select from bookings b where b.tenant_id = $1 and b.session_id = s.id and ` + absent + `)
  and ($8::uuid is null or s.id > $8)
order by s.id limit $9`)
	listAbsent = pg.SQL(`select ` + absences.Columns() + ` from bookings b` + bookingJoins + `
where b.tenant_id = $1 and b.session_id = $2 and ` + absent + `
order by b.id limit $3`)
)

// ListNoShowSessions reads the ids of such sessions, in ascending order.
func ListNoShowSessions(b *pg.Batch, in tenant.TenantID, q NoShowQuery, into *[]tenant.SessionID) {
	pg.Collect(b.Queue(listAbsences,
		in, q.StartsFrom, q.Since, q.Until, q.Mark, q.After, q.Closes, q.AfterID, q.Limit), into, pgx.RowTo[tenant.SessionID])
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
