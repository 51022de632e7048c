package bookingdb

import (
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// Period selects what is counted: local days at the location of each session, locations and services.
type Period struct {
	From, To  civil.Date          // both included
	Locations []tenant.LocationID // empty: all
	Services  []tenant.ServiceID  // empty: all
}

// Instants returns a span that contains the period's days in every time zone. No zone is a day or more from UTC.
func (p Period) Instants() civil.Span {
	return civil.Span{Start: p.From.AddDays(-1).On(time.UTC), End: p.To.AddDays(2).On(time.UTC)}
}

// arguments returns $1 to $7 of the statements below. $2 and $3 are the ends of an index range.
func (p Period) arguments(in tenant.TenantID, from, until any) []any {
	locations, services := p.Locations, p.Services
	if locations == nil {
		locations = []tenant.LocationID{}
	}
	if services == nil {
		services = []tenant.ServiceID{}
	}
	return []any{in, from, until, p.From, p.To, locations, services}
}

// inLocations selects sessions `s` of the period's locations and services.
const inLocations = ` s.deleted_at is null
    and (cardinality($6::uuid[]) = 0 or s.location_id = any($6))
    and (cardinality($7::uuid[]) = 0 or s.service_id = any($7))`

// inPeriod also selects those that start on the period's days. It compares instants, too, because the index is on them.
const inPeriod = ` s.starts_at >= $2 and s.starts_at < $3 and s.local_date between $4 and $5 and` + inLocations

// ListZones reads the time zones of the period's locations.
func ListZones(b *pg.Batch, in tenant.TenantID, p Period, into *[]string) {
	pg.Collect(b.Queue(`
select distinct time_zone from locations
where tenant_id = $1 and (cardinality($2::uuid[]) = 0 or id = any($2)) order by time_zone`,
		in, append([]tenant.LocationID{}, p.Locations...)), into, pgx.RowTo[string])
}

// AttendanceDay counts the sessions of one day and their bookings, as the contract defines. The sum of several days has
// no date.
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

var attendanceDays = pg.NewReader(func(a *AttendanceDay) []pg.Column {
	return []pg.Column{
		pg.Read("s.local_date", &a.Date),
		pg.Read("count(*) filter (where s.state = 'PUBLISHED')", &a.Sessions),
		pg.Read("count(*) filter (where s.state = 'CANCELLED')", &a.SessionsCancelled),
		pg.Read("coalesce(sum(s.capacity) filter (where s.state = 'PUBLISHED'), 0)", &a.Capacity),
		pg.Read("sum(b.kept)", &a.Booked),
		pg.Read("coalesce(sum(b.kept) filter (where s.capacity is not null), 0)", &a.BookedLimited),
		pg.Read("sum(b.attended)", &a.Attended),
		pg.Read("sum(b.no_shows)", &a.NoShows),
		pg.Read("sum(b.cancelled)", &a.Cancelled),
		pg.Read("coalesce(sum(b.late) filter (where s.state = 'PUBLISHED'), 0)", &a.LateCancelled),
		pg.Read("sum(e.waitlisted)", &a.Waitlisted),
		pg.Read("sum(e.promoted)", &a.Promoted),
	}
})

// Bookings and entries are counted for each session by an index lookup. A join of both would count each row several
// times, and its speed would depend on the planner's guess about the period.
var countAttendanceDaily = pg.SQL(`
select ` + attendanceDays.Columns() + ` from sessions s
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
where s.tenant_id = $1 and s.state <> 'DRAFT' and` + inPeriod + `
group by s.local_date order by s.local_date`)

// CountAttendanceDaily counts each day with sessions. Holds, and bookings that were never more than a hold, are not
// counted: their hold_expires_at is set.
func CountAttendanceDaily(b *pg.Batch, in tenant.TenantID, p Period, into *[]AttendanceDay) {
	span := p.Instants()
	attendanceDays.List(b.Queue(countAttendanceDaily, p.arguments(in, span.Start, span.End)...), into)
}

// Made counts the bookings that were made on a day in a channel.
type Made struct {
	Date     civil.Date
	Channel  catalog.Channel
	Bookings int
	Seats    int
}

var made = pg.NewReader(func(m *Made) []pg.Column {
	return []pg.Column{
		pg.Read("on_date", &m.Date),
		pg.Read("channel", &m.Channel),
		pg.Read("count(*)", &m.Bookings),
		pg.Read("sum(party_size)", &m.Seats),
	}
})

// The range of ids uses the primary key: ids increase with the time at which they are made.
var countMade = pg.SQL(`
with made as materialized (
  select (` + coredb.LocalTime("b.created_at") + `)::date as on_date, b.channel, b.party_size
  from bookings b
  join sessions s on s.tenant_id = $1 and s.id = b.session_id
  join locations l on l.tenant_id = $1 and l.id = s.location_id
  where b.tenant_id = $1 and b.id >= $2 and b.id < $3 and b.hold_expires_at is null and s.state <> 'DRAFT'
    and` + inLocations + `
)
select ` + made.Columns() + ` from made where on_date between $4 and $5 group by on_date, channel`)

// CountMade counts bookings by channel and by the day on which they were made, in the time zone of their session's
// location, in no particular order. The clocks must cover the period's instants in all zones of its locations.
func CountMade(b *pg.Batch, in tenant.TenantID, p Period, clocks []coredb.Clock, into *[]Made) {
	span := p.Instants()
	arguments := append(p.arguments(in, firstID(span.Start), firstID(span.End)), coredb.ClockArguments(clocks)...)
	made.List(b.Queue(countMade, arguments...), into)
}

// firstID returns an id that is not greater than any that is made at an instant or later.
func firstID(t time.Time) tenant.UUID {
	var id tenant.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(max(t.UnixMilli(), 0))<<16|0x7000)
	return id
}

// UtilizationGroup says how sessions are grouped to count their use.
type UtilizationGroup string

// The kinds of groups.
const (
	ByService     UtilizationGroup = "SERVICE"
	ByLocation    UtilizationGroup = "LOCATION"
	ByResource    UtilizationGroup = "RESOURCE"
	ByWeekdayHour UtilizationGroup = "WEEKDAY_HOUR"
)

// Utilization counts the seats of a group of sessions, as the contract defines.
type Utilization struct {
	ID        tenant.UUID // of the service, location or resource; zero if there is none
	Name      string
	Weekday   int // 1 is Monday, 7 is Sunday; 0 if the group is not by weekday and hour
	Hour      int
	Sessions  int
	Unlimited int
	Offered   int
	Taken     int
}

// grouping has the SQL that groups sessions `s`: each group's id, name, weekday and hour, and the order of the groups.
type grouping struct{ id, name, weekday, hour, join, order string }

type useBy struct {
	use pg.Reader[Utilization]
	sql string
}

func (g grouping) statement() useBy {
	use := pg.NewReader(func(u *Utilization) []pg.Column {
		return []pg.Column{
			pg.Read(g.id, &u.ID),
			pg.Read(g.name, &u.Name),
			pg.Read(g.weekday, &u.Weekday),
			pg.Read(g.hour, &u.Hour),
			pg.Read("count(*) filter (where s.capacity is not null)", &u.Sessions),
			pg.Read("count(*) filter (where s.capacity is null)", &u.Unlimited),
			pg.Read("coalesce(sum(s.capacity), 0)", &u.Offered),
			pg.Read("coalesce(sum(b.kept) filter (where s.capacity is not null), 0)", &u.Taken),
		}
	})
	return useBy{use, pg.SQL(`
select ` + use.Columns() + ` from sessions s
` + g.join + `
cross join lateral (
  select coalesce(sum(party_size), 0) as kept
  from bookings where tenant_id = $1 and session_id = s.id and status in ('CONFIRMED', 'ATTENDED', 'NO_SHOW')
) b
where s.tenant_id = $1 and s.state = 'PUBLISHED' and` + inPeriod + `
group by 1, 2, 3, 4 order by ` + g.order)}
}

var countUse = map[UtilizationGroup]useBy{
	ByService: grouping{
		id: "v.id", name: "v.name", weekday: "0", hour: "0", order: "lower(v.name)",
		join: "join services v on v.tenant_id = $1 and v.id = s.service_id",
	}.statement(),
	ByLocation: grouping{
		id: "l.id", name: "l.name", weekday: "0", hour: "0", order: "lower(l.name)",
		join: "join locations l on l.tenant_id = $1 and l.id = s.location_id",
	}.statement(),
	ByResource: grouping{
		id: "r.id", name: "coalesce(r.name, '')", weekday: "0", hour: "0", order: "lower(coalesce(r.name, '')), r.id",
		join: "left join resources r on r.tenant_id = $1 and r.id = s.resource_id",
	}.statement(),
	ByWeekdayHour: grouping{
		id: "null::uuid", name: "''", order: "3, 4",
		weekday: "extract(isodow from s.local_date)::int",
		hour:    "extract(hour from " + coredb.LocalTime("s.starts_at") + ")::int",
		join:    "join locations l on l.tenant_id = $1 and l.id = s.location_id",
	}.statement(),
}

// CountUtilization counts the use of groups of sessions, ordered by name, or by weekday and hour. Resources of one name
// are ordered by id. It needs the clocks of CountMade only for weekdays and hours.
func CountUtilization(
	b *pg.Batch, in tenant.TenantID, p Period, group UtilizationGroup, clocks []coredb.Clock, into *[]Utilization,
) {
	by := countUse[group]
	span := p.Instants()
	arguments := p.arguments(in, span.Start, span.End)
	if group == ByWeekdayHour {
		arguments = append(arguments, coredb.ClockArguments(clocks)...)
	}
	by.use.List(b.Queue(by.sql, arguments...), into)
}
