package bookingdb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// ImportSite is an active location that a file of bookings can name.
type ImportSite struct {
	ID       tenant.LocationID
	Name     string
	TimeZone string
}

// ListImportSites reads the active locations.
func ListImportSites(b *pg.Batch, in tenant.TenantID, into *[]ImportSite) {
	pg.Collect(b.Queue(`select id, name, time_zone from locations where tenant_id = $1 and active order by id`, in),
		into, pgx.RowToStructByPos[ImportSite])
}

var importSlots = pg.NewReader(func(s *booking.ImportSlot) []pg.Column {
	return []pg.Column{
		pg.Read("s.id", &s.ID),
		pg.Read("s.service_id", &s.Service),
		pg.Read("s.location_id", &s.Location),
		pg.Read("s.title", &s.Title),
		pg.Read("s.starts_at", &s.StartsAt),
		pg.Read("s.ends_at", &s.EndsAt),
		pg.Read("s.local_date", &s.LocalDate),
		pg.Read("s.capacity", &s.Capacity),
		pg.Read("s.seats_taken", &s.SeatsTaken),
		pg.Read("s.state", (*string)(&s.State)),
		pg.Read("s.blocked", &s.Blocked),
		pg.Read("v.name", &s.ServiceName),
		pg.Read("coalesce(r.name, '')", &s.ResourceName),
	}
})

// The subquery makes the planner use the index of starts, whatever its statistics are.
var listImportSlots = pg.SQL(`select ` + importSlots.Columns() + ` from unnest($2::timestamptz[]) as q (starts_at)
cross join lateral (
  select * from sessions s where s.tenant_id = $1 and s.starts_at = q.starts_at and s.deleted_at is null offset 0) s
join services v on v.tenant_id = $1 and v.id = s.service_id
left join resources r on r.tenant_id = $1 and r.id = s.resource_id
where s.state <> 'CANCELLED'`)

// ListImportSlots reads the sessions that start at one of the times, and are not cancelled.
func ListImportSlots(b *pg.Batch, in tenant.TenantID, starts []time.Time, into *[]booking.ImportSlot) {
	importSlots.List(b.Queue(listImportSlots, in, starts), into)
}

// ListPlaces reads who has a place in sessions: members with active bookings and on the waitlist, and guests, whose
// names are in lower case.
func ListPlaces(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]booking.Place) {
	pg.Collect(b.Queue(`
select session_id, member_id, case when member_id is null then lower(contact_name) else '' end from bookings
where tenant_id = $1 and session_id = any($2) and status in ('PENDING', 'CONFIRMED', 'ATTENDED')
union all
select session_id, member_id, '' from waitlist_places where tenant_id = $1 and session_id = any($2)`, in, sessions),
		into, func(row pgx.CollectableRow) (place booking.Place, err error) {
			var member *tenant.MemberID
			if err = row.Scan(&place.Session, &member, &place.Guest); member != nil {
				place.Member = *member
			}
			return place, err
		})
}

var listOpenSubscriptions = pg.SQL(selectSubscriptions + `
where u.tenant_id = $1 and u.member_id = any($2) and u.status in ('ACTIVE', 'PAUSED', 'DEBT') order by u.id`)

// ListOpenSubscriptions reads the subscriptions of members that have not ended.
func ListOpenSubscriptions(
	b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, into *[]credit.Subscription,
) {
	subscribed.List(b.Queue(listOpenSubscriptions, in, members), into)
}

// BusyMember is a span in which a member has a booking that must not overlap others.
type BusyMember struct {
	Member tenant.MemberID
	Span   civil.Span
}

// ListBusyMembers reads when members have bookings that must not overlap others, and that end after a time.
func ListBusyMembers(
	b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, after time.Time, into *[]BusyMember,
) {
	pg.Collect(b.Queue(`
select member_id, starts_at, ends_at from bookings
where tenant_id = $1 and member_id = any($2) and exclusive and ends_at > $3
  and status in ('PENDING', 'CONFIRMED', 'ATTENDED')`, in, members, after),
		into, func(row pgx.CollectableRow) (busy BusyMember, err error) {
			err = row.Scan(&busy.Member, &busy.Span.Start, &busy.Span.End)
			return busy, err
		})
}

// SessionSeats is how many seats of a session are taken.
type SessionSeats struct {
	Session tenant.SessionID
	Taken   int
}

// ListSeatsTaken reads how many seats of sessions are taken.
func ListSeatsTaken(b *pg.Batch, in tenant.TenantID, sessions []tenant.SessionID, into *[]SessionSeats) {
	pg.Collect(b.Queue(`select id, seats_taken from sessions where tenant_id = $1 and id = any($2)`, in, sessions),
		into, pgx.RowToStructByPos[SessionSeats])
}
