package scheduledb

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// seriesRows also needs the location `l` of the series.
var seriesRows = pg.NewTable("r", func(s *session.Series) []pg.Column {
	return []pg.Column{
		pg.Key("id", &s.ID),
		pg.Col("service_id", &s.Service),
		pg.Col("location_id", &s.Location),
		pg.Col("resource_id", &s.Resource),
		pg.Col("coach_id", &s.Coach),
		pg.Col("title", &s.Title),
		pg.Col("description", &s.Description),
		pg.Col("capacity", &s.Capacity),
		pg.Col("waitlist_capacity", &s.WaitlistCapacity),
		pg.Col("rule", &s.Rule),
		pg.Col("start_date", &s.Date),
		pg.Col("start_time", &s.Time),
		pg.Col("duration_seconds", &s.Duration),
		pg.Col("excluded_dates", pg.List(&s.Excluded)),
		pg.Col("publish", &s.Publish),
		pg.Col("open_ended", &s.OpenEnded),
		pg.Col("materialized_until", &s.MaterializedUntil),
		pg.Col("version", &s.Version),
		pg.Fixed("created_at", &s.CreatedAt),
		pg.Col("updated_at", &s.UpdatedAt),
		pg.Read("l.time_zone", &s.TimeZone),
	}
})

var (
	findSeries = pg.SQL(`select ` + seriesRows.Columns() + ` from series r
  join locations l on l.tenant_id = r.tenant_id and l.id = r.location_id
where r.tenant_id = $1 and r.id = $2`)
	listSeries = pg.SQL(`select ` + seriesRows.Columns() + ` from series r
  join locations l on l.tenant_id = r.tenant_id and l.id = r.location_id
where r.tenant_id = $1
  and ($2::uuid[] is null or r.location_id = any($2)) and ($3::uuid[] is null or r.service_id = any($3))
  and ($4::uuid[] is null or r.resource_id = any($4)) and ($5::uuid[] is null or r.coach_id = any($5))
  and ($6::text[] is null or case
    when r.open_ended or r.materialized_until >= ($7::timestamptz at time zone l.time_zone)::date then 'ACTIVE'
    else 'ENDED' end = any($6))
  and ($9::uuid is null or (lower(r.title), r.id) > (lower($8), $9))
order by lower(r.title), r.id limit $10`)
	listSeriesSessions = pg.SQL(selectSessions + `
where s.tenant_id = $1 and s.series_id = $2 and s.occurs_at >= $3 and s.occurs_on >= $4
order by s.occurs_at`)
	insertSeries = pg.SQL(`insert into series ` + seriesRows.Values())
	updateSeries = pg.SQL(`update series set ` + seriesRows.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindSeries reads a series; nil if it does not exist.
func FindSeries(b *pg.Batch, in tenant.TenantID, id tenant.SeriesID, into **session.Series) {
	seriesRows.Find(b.Queue(findSeries, in, id), into)
}

// SeriesQuery selects series.
type SeriesQuery struct {
	session.SeriesFilter
	Now        time.Time // for the statuses
	AfterTitle string    // keyset: the last title and id of the page before
	AfterID    tenant.SeriesID
	Limit      int
}

// ListSeries reads series in order of title, ignoring case, then id.
func ListSeries(b *pg.Batch, in tenant.TenantID, q SeriesQuery, into *[]session.Series) {
	seriesRows.List(b.Queue(listSeries, in, q.Locations, q.Services, q.Resources, q.Coaches, q.Statuses, q.Now,
		q.AfterTitle, q.AfterID, q.Limit), into)
}

// ListSeriesToExtend reads the series without an end whose sessions exist only up to a date before the given one.
func ListSeriesToExtend(b *pg.Batch, in tenant.TenantID, before civil.Date, into *[]tenant.SeriesID) {
	pg.Collect(b.Queue(`
select r.id from series r where r.tenant_id = $1 and r.open_ended and r.materialized_until < $2
order by r.materialized_until, r.id`, in, before), into, pgx.RowTo[tenant.SeriesID])
}

// ListSeriesSessions reads the sessions of a series' occurrences from a local date on, in order. Cancelled and deleted
// sessions are included.
func ListSeriesSessions(
	b *pg.Batch, in tenant.TenantID, id tenant.SeriesID, from civil.Date, into *[]Scheduled,
) {
	scheduled.List(b.Queue(listSeriesSessions, in, id, from.AddDays(-2).On(time.UTC), from), into)
}

// InsertSeries inserts a series.
func InsertSeries(tx *pg.Tx, in tenant.TenantID, s session.Series) {
	tx.Write(insertSeries, seriesRows.Insert(in, &s)...)
}

// UpdateSeries writes an edited series.
func UpdateSeries(tx *pg.Tx, in tenant.TenantID, s session.Series) {
	tx.Write(updateSeries, seriesRows.Update(in, &s)...)
}
