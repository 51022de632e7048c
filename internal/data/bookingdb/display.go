package bookingdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Display is what a session's display shows in addition to the session.
type Display struct {
	Location string // the location's name
	Coach    string // the coach's name; empty without an active coach
	Expected int    // seats of confirmed and attended bookings
	Arrived  int    // seats of attended bookings
}

// Upcoming is one of the next sessions on a display.
type Upcoming struct {
	Title    string
	Coach    string // the coach's name; empty without an active coach
	StartsAt time.Time
}

// Arrival is a party that has checked in.
type Arrival struct {
	Name  string // the full name of the member or guest
	Party int
	At    time.Time
}

var (
	displays = pg.NewReader(func(d *Display) []pg.Column {
		return []pg.Column{
			pg.Read("l.name", &d.Location),
			pg.Read("coalesce(m.name, '')", &d.Coach),
			pg.Read("n.expected", &d.Expected),
			pg.Read("n.arrived", &d.Arrived),
		}
	})
	upcoming = pg.NewReader(func(u *Upcoming) []pg.Column {
		return []pg.Column{
			pg.Read("s.title", &u.Title),
			pg.Read("coalesce(m.name, '')", &u.Coach),
			pg.Read("s.starts_at", &u.StartsAt),
		}
	})
	arrivals = pg.NewReader(func(a *Arrival) []pg.Column {
		return []pg.Column{
			pg.Read("coalesce(m.name, b.contact_name)", &a.Name),
			pg.Read("b.party_size", &a.Party),
			pg.Read("b.checked_in_at", &a.At),
		}
	})
)

var (
	findDisplay = pg.SQL(`
select ` + displays.Columns() + ` from sessions s
  join locations l on l.tenant_id = s.tenant_id and l.id = s.location_id
  left join members m on m.tenant_id = s.tenant_id and m.id = s.coach_id and m.status = 'ACTIVE'
  cross join lateral (
    select coalesce(sum(b.party_size), 0) as expected,
      coalesce(sum(b.party_size) filter (where b.status = 'ATTENDED'), 0) as arrived
    from bookings b
    where b.tenant_id = s.tenant_id and b.session_id = s.id and b.status in ('CONFIRMED', 'ATTENDED')) n
where s.tenant_id = $1 and s.id = $2 and s.deleted_at is null`)
	listUpcoming = pg.SQL(`
select ` + upcoming.Columns() + ` from sessions now
  join sessions s on s.tenant_id = now.tenant_id and s.location_id = now.location_id and s.id <> now.id
    and s.starts_at >= now.starts_at and s.starts_at < now.starts_at + interval '12 hours' and s.starts_at > $3
  left join members m on m.tenant_id = s.tenant_id and m.id = s.coach_id and m.status = 'ACTIVE'
where now.tenant_id = $1 and now.id = $2 and s.state = 'PUBLISHED' and not s.blocked and s.deleted_at is null
order by s.starts_at, s.id limit $4`)
	listArrivals = pg.SQL(`
select ` + arrivals.Columns() + ` from bookings b
  left join members m on m.tenant_id = b.tenant_id and m.id = b.member_id
where b.tenant_id = $1 and b.session_id = $2 and b.status = 'ATTENDED'
order by b.checked_in_at desc, b.id desc limit $3`)
)

// FindDisplay reads what the display of a session shows; nil if the session does not exist or is deleted.
func FindDisplay(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, into **Display) {
	displays.Find(b.Queue(findDisplay, in, id), into)
}

// ListUpcoming reads other sessions at the session's location: those that start after a time, and within twelve hours
// after the session's start.
func ListUpcoming(
	b *pg.Batch, in tenant.TenantID, id tenant.SessionID, after time.Time, limit int, into *[]Upcoming,
) {
	upcoming.List(b.Queue(listUpcoming, in, id, after, limit), into)
}

// ListArrivals reads the parties that have checked in to a session, latest first.
func ListArrivals(b *pg.Batch, in tenant.TenantID, id tenant.SessionID, limit int, into *[]Arrival) {
	arrivals.List(b.Queue(listArrivals, in, id, limit), into)
}
