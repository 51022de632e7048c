package bookingdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// BookingFilter selects bookings. All conditions that are set must match.
type BookingFilter struct {
	Session   tenant.SessionID
	Service   tenant.ServiceID
	Location  tenant.LocationID
	Member    tenant.MemberID
	CreatedBy string           // the id of a member or a service account
	Statuses  []booking.Status // empty: all
	// From and Until bound the session's start.
	From, Until time.Time
}

// BookingQuery selects a page of bookings. What is most selective leads: those of one member, of one service account,
// of one session, or of the sessions that start in a period.
type BookingQuery struct {
	BookingFilter
	Account   string          // "sa:<id>": those that the service account made
	Owner     tenant.MemberID // those of the member, in addition to the filter
	EndsAfter time.Time       // leaves out sessions that ended before
	// The last booking of the previous page.
	AfterStart   time.Time
	AfterSession tenant.SessionID
	AfterID      tenant.BookingID
	Limit        int
}

// ofSession has what the conditions need to know about the session of a booking.
const ofSession = ` cross join lateral (
    select d.service_id, d.location_id from sessions d where d.tenant_id = $1 and d.id = b.session_id offset 0) d`

// sessionsOfPeriod are the sessions that start in the period, in order. Each of the two indexes has a part of them.
const sessionsOfPeriod = `(
    select d.id, d.starts_at, d.service_id, d.location_id from sessions d
    where d.tenant_id = $1 and d.deleted_at is null and d.starts_at >= $2 and d.starts_at < $3
    union all
    select d.id, d.starts_at, d.service_id, d.location_id from sessions d
    where d.tenant_id = $1 and d.deleted_at is not null and d.starts_at >= $2 and d.starts_at < $3
    order by starts_at, id) d
  cross join lateral (select * from bookings b where b.tenant_id = $1 and b.session_id = d.id offset 0) b`

var (
	listMemberBookings = listBookings(`bookings b`+ofSession, `b.member_id = $14`, "b.starts_at, b.session_id, b.id")
	// The condition on the prefix lets the planner use the index of service accounts' bookings.
	listAccountBookings = listBookings(
		`bookings b`+ofSession, `b.created_by = $14 and b.created_by like 'sa:%'`, "b.starts_at, b.session_id, b.id")
	listBookingsOfSession = listBookings(`bookings b`+ofSession, `b.session_id = $14`, "b.starts_at, b.session_id, b.id")
	listPeriodBookings    = listBookings(sessionsOfPeriod, `$14::text is null`, "d.starts_at, d.id, b.id")
)

// listBookings picks the bookings of a page before it reads what belongs to them.
func listBookings(from, whose, order string) string {
	return pg.SQL(`select ` + booked.Columns() + ` from (
  select b.* from ` + from + `
  where b.tenant_id = $1 and b.starts_at >= $2 and b.starts_at < $3 and ` + whose + `
    and ($4::timestamptz is null or b.ends_at > $4) and (cardinality($5::text[]) = 0 or b.status = any($5))
    and ($6::uuid is null or b.session_id = $6) and ($7::uuid is null or b.member_id = $7)
    and ($8::uuid is null or d.service_id = $8) and ($9::uuid is null or d.location_id = $9)
    and (cardinality($10::text[]) = 0 or b.created_by = any($10))
    and ($11::timestamptz is null or (b.starts_at, b.session_id, b.id) > ($11, $12::uuid, $13::uuid))
  order by ` + order + ` limit $15) b` + bookingJoins + `
order by b.starts_at, b.session_id, b.id`)
}

// ListBookings reads bookings ordered by the session's start, then session and booking.
func ListBookings(b *pg.Batch, in tenant.TenantID, q BookingQuery, into *[]booking.Booking) {
	sql, whose := listPeriodBookings, any(nil)
	switch {
	case !q.Owner.IsZero():
		sql, whose = listMemberBookings, q.Owner
	case q.Account != "":
		sql, whose = listAccountBookings, q.Account
	case !q.Session.IsZero():
		sql, whose = listBookingsOfSession, q.Session
	case !q.Member.IsZero():
		sql, whose = listMemberBookings, q.Member
	}
	creators := []string{}
	if q.CreatedBy != "" {
		creators = append(creators, q.CreatedBy, tenant.AccountPrefix+q.CreatedBy)
	}
	booked.List(b.Queue(sql, in, q.from(), q.until(), pg.OrNull(q.EndsAfter), append([]booking.Status{}, q.Statuses...),
		q.Session, q.Member, q.Service, q.Location, creators,
		pg.OrNull(q.AfterStart), q.AfterSession, q.AfterID, whose, q.Limit), into)
}

// from is where to begin to read. No session is longer than session.MaxLength, so what ended long before is not read.
func (q BookingQuery) from() time.Time {
	from := q.From
	for _, at := range []time.Time{q.AfterStart, started(q.EndsAfter)} {
		if at.After(from) {
			from = at
		}
	}
	return from
}

func started(endsAfter time.Time) time.Time {
	if endsAfter.IsZero() {
		return endsAfter
	}
	return endsAfter.Add(-session.MaxLength)
}

// endOfTime is after every session.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func (q BookingQuery) until() time.Time {
	if q.Until.IsZero() {
		return endOfTime
	}
	return q.Until
}
