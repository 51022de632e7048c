package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

const seriesColumns = `
  r.id, r.service_id, r.location_id, r.resource_id, r.coach_id, r.title, r.description, r.capacity, r.waitlist_capacity,
  r.rule, r.start_date, r.start_time::text, r.duration_seconds, r.excluded_dates, r.publish, r.open_ended, r.materialized_until,
  r.version, r.created_at, r.updated_at, l.time_zone`

func scanSeries(row pgx.Row) (session.Series, error) {
	var s session.Series
	var starts, until time.Time
	var clock string
	var length int64
	var excluded []time.Time
	err := row.Scan(&s.ID, &s.Service, &s.Location, &s.Resource, &s.Coach, &s.Title, &s.Description, &s.Capacity, &s.WaitlistCapacity,
		&s.Rule, &starts, &clock, &length, &excluded, &s.Publish, &s.OpenEnded, &until, &s.Version, &s.CreatedAt, &s.UpdatedAt, &s.TimeZone)
	if err != nil {
		return s, err
	}
	s.Date, s.MaterializedUntil, s.Duration = day(starts), day(until), *duration(&length)
	s.Excluded = column(excluded, day)
	s.Time, err = civil.ParseTimeOfDay(clock)
	return s, err
}

// FindSeries reads a series; nil where there is none.
func FindSeries(b *pg.Batch, in tenant.TenantID, id tenant.SeriesID, into **session.Series) {
	b.Queue(`select`+seriesColumns+` from series r
  join locations l on l.tenant_id = r.tenant_id and l.id = r.location_id
where r.tenant_id = $1 and r.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		s, err := scanSeries(row)
		return found(into, s, err)
	})
}

// ListSeriesToExtend reads the series without end whose sessions have been made up to a day before the one given.
func ListSeriesToExtend(b *pg.Batch, in tenant.TenantID, before civil.Date, into *[]tenant.SeriesID) {
	pg.Collect(b.Queue(`
select r.id from series r where r.tenant_id = $1 and r.open_ended and r.materialized_until < $2
order by r.materialized_until, r.id`, in, date(before)), into, pgx.RowTo[tenant.SeriesID])
}

// ListSeriesSessions reads the sessions that stand for occurrences of a series from a local day on, whatever became of
// them: cancelled and deleted ones too. They come in order.
func ListSeriesSessions(b *pg.Batch, in tenant.TenantID, id tenant.SeriesID, from civil.Date, into *[]Scheduled) {
	pg.Collect(b.Queue(`select`+sessionColumns+` from sessions s`+slotJoins+`
where s.tenant_id = $1 and s.series_id = $2 and s.occurs_at >= $3 and s.occurs_on >= $4
order by s.occurs_at`, in, id, from.AddDays(-2).On(time.UTC), date(from)), into, collectSession)
}

// InsertSeries writes a new series with the transaction.
func InsertSeries(tx *pg.Tx, in tenant.TenantID, s session.Series) {
	tx.Write(`
insert into series (tenant_id, id, service_id, location_id, resource_id, coach_id, title, description, capacity, waitlist_capacity,
  rule, start_date, start_time, duration_seconds, excluded_dates, publish, open_ended, materialized_until, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text::time, $14, $15, $16, $17, $18, $19, $20, $21)`,
		in, s.ID, s.Service, s.Location, s.Resource, s.Coach, s.Title, s.Description, s.Capacity, s.WaitlistCapacity,
		s.Rule, date(s.Date), s.Time.String(), seconds(&s.Duration), column(s.Excluded, date), s.Publish, s.OpenEnded,
		date(s.MaterializedUntil), s.Version, s.CreatedAt, s.UpdatedAt)
}

// UpdateSeries writes a series' edit with the transaction.
func UpdateSeries(tx *pg.Tx, in tenant.TenantID, s session.Series) {
	tx.Write(`
update series set service_id = $3, location_id = $4, resource_id = $5, coach_id = $6, title = $7, description = $8, capacity = $9,
  waitlist_capacity = $10, rule = $11, start_date = $12, start_time = $13::text::time, duration_seconds = $14, excluded_dates = $15,
  publish = $16, open_ended = $17, materialized_until = $18, version = $19, updated_at = $20
where tenant_id = $1 and id = $2`,
		in, s.ID, s.Service, s.Location, s.Resource, s.Coach, s.Title, s.Description, s.Capacity, s.WaitlistCapacity,
		s.Rule, date(s.Date), s.Time.String(), seconds(&s.Duration), column(s.Excluded, date), s.Publish, s.OpenEnded,
		date(s.MaterializedUntil), s.Version, s.UpdatedAt)
}
