package bookingdb

import (
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
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
		pg.Read("m.waiting > 0", &m.Waits),
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

// SessionMember is a member and a session.
type SessionMember struct {
	Session tenant.SessionID
	Member  tenant.MemberID
	Waits   bool // FindSessionMember found an entry; otherwise a booking
}

type sessionMemberRow struct {
	SessionMember
	queue waitlist.Queue
}

var sessionMembers = pg.NewReader(func(v *sessionMemberRow) []pg.Column {
	return []pg.Column{
		pg.Read("v.session_id", &v.Session),
		pg.Read("v.member_id", &v.Member),
		pg.Read("v.waits", &v.Waits),
		pg.Read("q.location_id", &v.queue.Location),
		pg.Read("q.service_id", &v.queue.Service),
		pg.Read("q.local_date", &v.queue.Date),
	}
})

var findSessionMember = pg.SQL(`
select ` + sessionMembers.Columns() + ` from (
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

// FindSessionMember reads the member and session of a booking or an entry; nil if there is none. An entry for several
// sessions has the first one, and an entry for a time window has none. The queue is that of the session, or of the
// window's first day; nil if it is empty.
func FindSessionMember(
	b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **SessionMember, queue **waitlist.Queue,
) {
	*into, *queue = nil, nil
	sessionMembers.Each(b.Queue(findSessionMember, in, id), func(m sessionMemberRow) {
		*into = &m.SessionMember
		if !m.queue.Date.IsZero() {
			*queue = &m.queue
		}
	})
}

func sessionMemberColumns(members []SessionMember) []any {
	return []any{
		pg.Array(members, func(m SessionMember) tenant.SessionID { return m.Session }),
		pg.Array(members, func(m SessionMember) tenant.MemberID { return m.Member }),
	}
}

// ActiveIDs has a member's active booking and entry in a session; zero if there is none.
type ActiveIDs struct {
	Booking tenant.BookingID
	Entry   tenant.EntryID
}

var activeIDs = pg.Lookup[SessionMember, ActiveIDs]{
	SQL: `
select
  (select b.id from bookings b where b.tenant_id = $1 and b.session_id = q.session_id and b.member_id = q.member_id
    and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')),
  (select p.entry_id from waitlist_places p
    where p.tenant_id = $1 and p.session_id = q.session_id and p.member_id = q.member_id),
  q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (session_id, member_id, n)`,
	Columns: sessionMemberColumns,
	Reader: pg.NewReader(func(d *ActiveIDs) []pg.Column {
		return []pg.Column{pg.Read("booking", &d.Booking), pg.Read("entry", &d.Entry)}
	}),
}

// FindActiveIDs reads a member's active booking and entry in a session.
func FindActiveIDs(b *pg.Batch, in tenant.TenantID, m SessionMember, found func(ActiveIDs)) {
	activeIDs.Find(b, in, m, found)
}

var span = pg.NewReader(func(s *civil.Span) []pg.Column {
	return []pg.Column{pg.Read("b.starts_at", &s.Start), pg.Read("b.ends_at", &s.End)}
})

var busyAround = pg.Lookup[SessionMember, civil.Span]{
	SQL: pg.SQL(`
select ` + span.Columns() + `, q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (session_id, member_id, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.session_id offset 0) s
cross join lateral (
  select * from bookings b
  where b.tenant_id = $1 and b.member_id = q.member_id and b.starts_at < s.ends_at and b.ends_at > s.starts_at
    and b.exclusive and b.status in ` + active + ` offset 0) b`),
	Columns: sessionMemberColumns,
	Reader:  span,
}

// MemberDay is what else a member has booked around a session.
type MemberDay struct {
	Busy     bool // an active booking that overlaps the session, whether or not it tolerates that
	Promoted bool // a booking of another session on the same local day, made by the waitlist without an offer
}

var memberDays = pg.Lookup[SessionMember, MemberDay]{
	SQL: `
select d.busy, d.promoted, q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (session_id, member_id, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.session_id offset 0) s
cross join lateral (` + coredb.MemberDay("q.member_id", "q.session_id", "s") + `) d`,
	Columns: sessionMemberColumns,
	Reader: pg.NewReader(func(d *MemberDay) []pg.Column {
		return []pg.Column{pg.Read("busy", &d.Busy), pg.Read("promoted", &d.Promoted)}
	}),
}

// FindMemberDay reads what else a member has booked around a session.
func FindMemberDay(b *pg.Batch, in tenant.TenantID, m SessionMember, into *MemberDay) {
	memberDays.Find(b, in, m, func(d MemberDay) { *into = d })
}

// ListBusy reads the spans of a member's bookings that tolerate no overlap and overlap a session.
func ListBusy(b *pg.Batch, in tenant.TenantID, m SessionMember, into *[]civil.Span) {
	busyAround.Many(b, in, m, into)
}
