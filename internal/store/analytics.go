package store

import (
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Period chooses what is counted: days, at the location of each session, and places and services.
type Period struct {
	From, To  civil.Date          // both included
	Locations []tenant.LocationID // any of them; empty: all
	Services  []tenant.ServiceID  // any of them; empty: all
}

// Instants gives a span that contains the period's days in every zone: none is a day away from UTC.
func (p Period) Instants() civil.Span {
	return civil.Span{Start: p.From.AddDays(-1).On(time.UTC), End: p.To.AddDays(2).On(time.UTC)}
}

// arguments are $1 to $7 of the statements below; $2 and $3 are the ends of an index's range.
func (p Period) arguments(in tenant.TenantID, from, until any) []any {
	locations, services := p.Locations, p.Services
	if locations == nil {
		locations = []tenant.LocationID{}
	}
	if services == nil {
		services = []tenant.ServiceID{}
	}
	return []any{in, from, until, date(p.From), date(p.To), locations, services}
}

// chosenPlaces narrows a statement down to the sessions `s` of the period's places and services.
const chosenPlaces = ` s.deleted_at is null
    and (cardinality($6::uuid[]) = 0 or s.location_id = any($6))
    and (cardinality($7::uuid[]) = 0 or s.service_id = any($7))`

// chosenSessions narrows it down to those that start on the period's days, as well. Instants come
// first: the index is on them.
const chosenSessions = ` s.starts_at >= $2 and s.starts_at < $3 and s.local_date between $4 and $5 and` + chosenPlaces

// ListZones reads the zones of the period's locations.
func ListZones(b *pg.Batch, in tenant.TenantID, p Period, into *[]string) {
	pg.Collect(b.Queue(`
select distinct time_zone from locations where tenant_id = $1 and (cardinality($2::uuid[]) = 0 or id = any($2)) order by time_zone`,
		in, append([]tenant.LocationID{}, p.Locations...)), into, pgx.RowTo[string])
}

// AttendanceDay counts what became of the sessions of one day, as the contract defines it. The sum of several has no date.
type AttendanceDay struct {
	Date              civil.Date
	Sessions          int
	SessionsCancelled int
	Capacity          int
	Booked            int
	BookedLimited     int
	Attended          int
	NoShows           int
	Cancelled         int
	LateCancelled     int
	Waitlisted        int
	Promoted          int
}

// CountAttendanceDaily counts day by day; days without sessions are left out.
//
// A hold that never became a booking counts for nothing; it still has its time to run out.
//
// Bookings and entries are summed up session by session, each by its index. Joined instead, a session that has both would
// count each several times, and what the planner thinks of a period that it does not know would decide how long it takes.
func CountAttendanceDaily(b *pg.Batch, in tenant.TenantID, p Period, into *[]AttendanceDay) {
	span := p.Instants()
	pg.Collect(b.Queue(`
select s.local_date, count(*) filter (where s.state = 'PUBLISHED'), count(*) filter (where s.state = 'CANCELLED'),
  coalesce(sum(s.capacity) filter (where s.state = 'PUBLISHED'), 0),
  sum(b.kept), coalesce(sum(b.kept) filter (where s.capacity is not null), 0), sum(b.attended), sum(b.no_shows),
  sum(b.cancelled), coalesce(sum(b.late) filter (where s.state = 'PUBLISHED'), 0), sum(e.waitlisted), sum(e.promoted)
from sessions s
cross join lateral (
  select coalesce(sum(party_size) filter (where status in ('CONFIRMED', 'ATTENDED', 'NO_SHOW')), 0) as kept,
    coalesce(sum(party_size) filter (where status = 'ATTENDED'), 0) as attended,
    coalesce(sum(party_size) filter (where status = 'NO_SHOW'), 0) as no_shows,
    coalesce(sum(party_size) filter (where status = 'CANCELLED'), 0) as cancelled,
    coalesce(sum(party_size) filter (where status = 'CANCELLED' and late_cancelled), 0) as late
  from bookings where tenant_id = $1 and session_id = s.id and hold_expires_at is null
) b
cross join lateral (
  select count(*) as waitlisted, count(*) filter (where status = 'BOOKED') as promoted
  from waitlist_entries where tenant_id = $1 and session_id = s.id
) e
where s.tenant_id = $1 and s.state <> 'DRAFT' and`+chosenSessions+`
group by s.local_date order by s.local_date`, p.arguments(in, span.Start, span.End)...), into, func(row pgx.CollectableRow) (AttendanceDay, error) {
		var a AttendanceDay
		var on time.Time
		err := row.Scan(&on, &a.Sessions, &a.SessionsCancelled, &a.Capacity, &a.Booked, &a.BookedLimited, &a.Attended, &a.NoShows,
			&a.Cancelled, &a.LateCancelled, &a.Waitlisted, &a.Promoted)
		a.Date = day(on)
		return a, err
	})
}

// Made counts the bookings that were made on a day through a channel.
type Made struct {
	Date     civil.Date
	Channel  catalog.Channel
	Bookings int
	Seats    int
}

// CountMade counts bookings by the day on which they were made, at the location of their session, and by channel, in no
// particular order. Clocks cover the period's instants in all zones of its locations.
//
// The index is that of the primary key: ids rise with the time at which they were made.
func CountMade(b *pg.Batch, in tenant.TenantID, p Period, clocks []Clock, into *[]Made) {
	zones, since, until, ahead := clockColumns(clocks)
	span := p.Instants()
	pg.Collect(b.Queue(`
with made as materialized (
  select (`+localTime("b.created_at")+`)::date as on_date, b.channel, b.party_size
  from bookings b
  join sessions s on s.tenant_id = $1 and s.id = b.session_id
  join locations l on l.tenant_id = $1 and l.id = s.location_id
  where b.tenant_id = $1 and b.id >= $2 and b.id < $3 and b.hold_expires_at is null and s.state <> 'DRAFT' and`+chosenPlaces+`
)
select on_date, channel, count(*), sum(party_size) from made where on_date between $4 and $5 group by on_date, channel`,
		append(p.arguments(in, firstID(span.Start), firstID(span.End)), zones, since, until, ahead)...), into,
		func(row pgx.CollectableRow) (Made, error) {
			var m Made
			var on time.Time
			err := row.Scan(&on, &m.Channel, &m.Bookings, &m.Seats)
			m.Date = day(on)
			return m, err
		})
}

// firstID is not above any id that is made at an instant or later.
func firstID(t time.Time) tenant.UUID {
	var id tenant.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(max(t.UnixMilli(), 0))<<16|0x7000)
	return id
}

// UseGroup is by what use is told.
type UseGroup string

// The groups.
const (
	ByService     UseGroup = "SERVICE"
	ByLocation    UseGroup = "LOCATION"
	ByResource    UseGroup = "RESOURCE"
	ByWeekdayHour UseGroup = "WEEKDAY_HOUR"
)

// Use tells how well a group of sessions was used, as the contract defines it.
type Use struct {
	ID        tenant.UUID // the service's, location's or resource's; zero where there is none
	Name      string
	Weekday   int // 1 is Monday, 7 is Sunday; 0 where it is no group of hours
	Hour      int
	Sessions  int
	Unlimited int
	Offered   int
	Taken     int
}

// grouping is how sessions `s` are put into groups.
type grouping struct{ columns, join, order string }

var groupings = map[UseGroup]grouping{
	ByService: {
		columns: `v.id, v.name, 0, 0`,
		join:    `join services v on v.tenant_id = $1 and v.id = s.service_id`,
		order:   `lower(v.name), v.id`,
	},
	ByLocation: {
		columns: `l.id, l.name, 0, 0`,
		join:    `join locations l on l.tenant_id = $1 and l.id = s.location_id`,
		order:   `lower(l.name), l.id`,
	},
	ByResource: {
		columns: `r.id, coalesce(r.name, ''), 0, 0`,
		join:    `left join resources r on r.tenant_id = $1 and r.id = s.resource_id`,
		order:   `lower(coalesce(r.name, '')), r.id`,
	},
	ByWeekdayHour: {
		columns: `null::uuid, '', extract(isodow from s.local_date)::int, extract(hour from ` + localTime("s.starts_at") + `)::int`,
		join:    `join locations l on l.tenant_id = $1 and l.id = s.location_id`,
		order:   `3, 4`,
	},
}

// CountUse tells how well groups of sessions were used, in order of name, then id, or of weekday and hour. Clocks
// are as for CountMade, and needed for hours alone.
func CountUse(b *pg.Batch, in tenant.TenantID, p Period, group UseGroup, clocks []Clock, into *[]Use) {
	by := groupings[group]
	span := p.Instants()
	arguments := p.arguments(in, span.Start, span.End)
	if group == ByWeekdayHour {
		zones, since, until, ahead := clockColumns(clocks)
		arguments = append(arguments, zones, since, until, ahead)
	}
	pg.Collect(b.Queue(`
select `+by.columns+`, count(*) filter (where s.capacity is not null), count(*) filter (where s.capacity is null),
  coalesce(sum(s.capacity), 0), coalesce(sum(b.kept) filter (where s.capacity is not null), 0)
from sessions s
`+by.join+`
cross join lateral (
  select coalesce(sum(party_size), 0) as kept
  from bookings where tenant_id = $1 and session_id = s.id and status in ('CONFIRMED', 'ATTENDED', 'NO_SHOW')
) b
where s.tenant_id = $1 and s.state = 'PUBLISHED' and`+chosenSessions+`
group by 1, 2, 3, 4 order by `+by.order, arguments...), into, func(row pgx.CollectableRow) (Use, error) {
		var u Use
		err := row.Scan(&u.ID, &u.Name, &u.Weekday, &u.Hour, &u.Sessions, &u.Unlimited, &u.Offered, &u.Taken)
		return u, err
	})
}
