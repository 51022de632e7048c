package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// WaitlistPart counts what happened to the waitlist of a service at a location on a day.
type WaitlistPart struct {
	Location tenant.LocationID
	Service  tenant.ServiceID
	Day      civil.Date
	waitlist.Tally
	Promoted int         // entries that were booked without an offer
	Depths   map[int]int // accepted offers, by how many of their round there had been
}

// WaitlistPeriod picks entries that joined and offers that were made in a span. Zero ids pick all. The clocks are those of one zone:
// days are its days.
type WaitlistPeriod struct {
	Span     civil.Span
	Location tenant.LocationID
	Service  tenant.ServiceID
	Clocks   []Clock
}

// CountWaitlist reads the counts of entries and those of offers, a row each for what there is any of.
func CountWaitlist(b *pg.Batch, in tenant.TenantID, p WaitlistPeriod, entries, offers *[]WaitlistPart) {
	_, since, until, ahead := clockColumns(p.Clocks)
	arguments := []any{in, p.Span.Start, p.Span.End, p.Location, p.Service, since, until, ahead}
	const days = ` join unnest($6::timestamptz[], $7::timestamptz[], $8::bigint[]) as k (since, until, ahead) on x.created_at >= k.since and x.created_at < k.until`
	const on = `((x.created_at at time zone 'UTC') + k.ahead * interval '1 second')::date`
	pg.Collect(b.Queue(`
select coalesce(x.location_id, s.location_id), coalesce(x.service_id, s.service_id), `+on+`, count(*),
  count(*) filter (where x.status in ('WAITING', 'OFFERED')), count(*) filter (where x.status = 'BOOKED'),
  count(*) filter (where x.status = 'BOOKED' and not exists (
    select from waitlist_offers o where o.tenant_id = $1 and o.entry_id = x.id and o.status = 'ACCEPTED'))
from waitlist_entries x`+days+`
left join sessions s on s.tenant_id = x.tenant_id and s.id = coalesce(x.session_id, x.any_of[1])
where x.tenant_id = $1 and x.created_at >= $2 and x.created_at < $3
  and ($4::uuid is null or coalesce(x.location_id, s.location_id) = $4) and ($5::uuid is null or coalesce(x.service_id, s.service_id) = $5)
group by 1, 2, 3`, arguments...), entries, func(row pgx.CollectableRow) (WaitlistPart, error) {
		var w WaitlistPart
		var at time.Time
		err := row.Scan(&w.Location, &w.Service, &at, &w.Entries, &w.Active, &w.Booked, &w.Promoted)
		w.Day = day(at)
		return w, err
	})
	pg.Collect(b.Queue(`
select s.location_id, s.service_id, `+on+`, x.status, x.try, count(*),
  coalesce(sum(extract(epoch from x.closed_at - x.created_at)) filter (where x.status in ('ACCEPTED', 'DECLINED')), 0)::float8
from waitlist_offers x`+days+`
join sessions s on s.tenant_id = x.tenant_id and s.id = x.session_id
where x.tenant_id = $1 and x.created_at >= $2 and x.created_at < $3 and ($4::uuid is null or s.location_id = $4) and ($5::uuid is null or s.service_id = $5)
group by 1, 2, 3, 4, 5`, arguments...), offers, func(row pgx.CollectableRow) (WaitlistPart, error) {
		var w WaitlistPart
		var at time.Time
		var status waitlist.OfferStatus
		var try, n int
		var answered float64
		err := row.Scan(&w.Location, &w.Service, &at, &status, &try, &n, &answered)
		w.Day, w.Offers, w.ResponseTime = day(at), n, time.Duration(answered*float64(time.Second))
		switch status {
		case waitlist.Accepted:
			w.Accepted, w.Tries, w.Depths = n, n*try, map[int]int{try: n}
		case waitlist.Declined:
			w.Declined = n
		case waitlist.RanOut:
			w.RanOut = n
		case waitlist.Withdrawn:
			w.Withdrawn = n
		case waitlist.Live:
			w.Live = n
		}
		return w, err
	})
}
