package bookingdb

import (
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var bookingMember = pg.NewReader(func(m *booking.Member) []pg.Column {
	return []pg.Column{
		pg.Read("m.id", &m.ID),
		pg.Read("m.name", &m.Name),
		pg.Read("m.tier", &m.Tier),
		pg.Read("m.status = 'ACTIVE'", &m.Active),
	}
})

var bookingMembers = pg.Lookup[tenant.MemberID, booking.Member]{
	SQL: pg.SQL(`select ` + bookingMember.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from members m where m.tenant_id = $1 and m.id = q.id offset 0) m`),
	Reader: bookingMember,
}

// FindBookingMember reads what the booking rules need to know about a member; nil if there is none.
func FindBookingMember(b *pg.Batch, in tenant.TenantID, id tenant.MemberID, into **booking.Member) {
	bookingMembers.One(b, in, id, into)
}

// Visit is a member and a session.
type Visit struct {
	Session tenant.SessionID
	Member  tenant.MemberID
	Waits   bool // FindVisit found an entry; otherwise a booking
}

type visitRow struct {
	Visit
	queue waitlist.Queue
}

var visits = pg.NewReader(func(v *visitRow) []pg.Column {
	return []pg.Column{
		pg.Read("v.session_id", &v.Session),
		pg.Read("v.member_id", &v.Member),
		pg.Read("v.waits", &v.Waits),
		pg.Read("q.location_id", &v.queue.Location),
		pg.Read("q.service_id", &v.queue.Service),
		pg.Read("q.local_date", &v.queue.Date),
	}
})

var findVisit = pg.SQL(`
select ` + visits.Columns() + ` from (
  select session_id, member_id, false as waits,
    null::uuid as location_id, null::uuid as service_id, null::date as local_date
  from bookings where tenant_id = $1 and id = $2
  union all
  select coalesce(session_id, any_of[1]), member_id, true, location_id, service_id, first_date
  from waitlist_entries where tenant_id = $1 and id = $2) v
left join sessions s on s.tenant_id = $1 and s.id = v.session_id
left join waitlist_queues q on q.tenant_id = $1 and q.location_id = coalesce(v.location_id, s.location_id)
  and q.service_id = coalesce(v.service_id, s.service_id) and q.local_date = coalesce(v.local_date, s.local_date)
  and q.waiting > 0`)

// FindVisit reads the member and session of a booking or an entry; nil if there is none. An entry for several sessions
// has the first one, and an entry for a time window has none. The queue is that of the session, or of the window's
// first day; nil if it is empty.
func FindVisit(
	b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **Visit, queue **waitlist.Queue,
) {
	*into, *queue = nil, nil
	visits.Each(b.Queue(findVisit, in, id), func(v visitRow) {
		*into = &v.Visit
		if !v.queue.Date.IsZero() {
			*queue = &v.queue
		}
	})
}

func visitColumns(visits []Visit) []any {
	return []any{
		pg.Array(visits, func(v Visit) tenant.SessionID { return v.Session }),
		pg.Array(visits, func(v Visit) tenant.MemberID { return v.Member }),
	}
}

// Double has a member's active booking and entry in a session; zero if there is none.
type Double struct {
	Booking tenant.BookingID
	Entry   tenant.EntryID
}

var doubles = pg.Lookup[Visit, Double]{
	SQL: `
select
  (select b.id from bookings b where b.tenant_id = $1 and b.session_id = q.session_id and b.member_id = q.member_id
    and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')),
  (select p.entry_id from waitlist_places p
    where p.tenant_id = $1 and p.session_id = q.session_id and p.member_id = q.member_id),
  q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (session_id, member_id, n)`,
	Columns: visitColumns,
	Reader: pg.NewReader(func(d *Double) []pg.Column {
		return []pg.Column{pg.Read("booking", &d.Booking), pg.Read("entry", &d.Entry)}
	}),
}

// FindDouble reads a member's active booking and entry in a session.
func FindDouble(b *pg.Batch, in tenant.TenantID, v Visit, found func(Double)) {
	doubles.Find(b, in, v, found)
}

var span = pg.NewReader(func(s *civil.Span) []pg.Column {
	return []pg.Column{pg.Read("b.starts_at", &s.Start), pg.Read("b.ends_at", &s.End)}
})

var busyAround = pg.Lookup[Visit, civil.Span]{
	SQL: pg.SQL(`
select ` + span.Columns() + `, q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (session_id, member_id, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.session_id offset 0) s
cross join lateral (
  select * from bookings b
  where b.tenant_id = $1 and b.member_id = q.member_id and b.starts_at < s.ends_at and b.ends_at > s.starts_at
    and b.exclusive and b.status in ` + active + ` offset 0) b`),
	Columns: visitColumns,
	Reader:  span,
}

// ListBusy reads the spans of a member's bookings that tolerate no overlap and overlap a session.
func ListBusy(b *pg.Batch, in tenant.TenantID, v Visit, into *[]civil.Span) {
	busyAround.Many(b, in, v, into)
}
