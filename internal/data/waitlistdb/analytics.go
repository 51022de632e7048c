package waitlistdb

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/rules/waitstats"
	"github.com/berthhq/berth/internal/tenant"
)

// WaitlistPart counts the entries and offers of a service at a location on a day.
type WaitlistPart struct {
	Location tenant.LocationID
	Service  tenant.ServiceID
	Day      civil.Date
	waitstats.Counts
	Promoted int         // entries that were booked without an offer
	Depths   map[int]int // accepted offers, by their number in the round
}

// WaitlistPeriod selects entries that joined and offers that were made in a span. Zero ids select all. Days are those
// of one time zone, whose clocks these are.
type WaitlistPeriod struct {
	Span     civil.Span
	Location tenant.LocationID
	Service  tenant.ServiceID
	Clocks   []coredb.Clock
}

// offerCount counts offers of one status and try.
type offerCount struct {
	WaitlistPart
	status   waitlist.OfferStatus
	try, n   int
	answered float64 // the sum of the seconds until each was answered
}

var (
	entryCounts = pg.NewReader(func(w *WaitlistPart) []pg.Column {
		return []pg.Column{
			pg.Read("coalesce(x.location_id, s.location_id)", &w.Location),
			pg.Read("coalesce(x.service_id, s.service_id)", &w.Service),
			pg.Read(localDay, &w.Day),
			pg.Read("count(*)", &w.Entries),
			pg.Read("count(*) filter (where x.status in ('WAITING', 'OFFERED'))", &w.Active),
			pg.Read("count(*) filter (where x.status = 'BOOKED')", &w.Booked),
			pg.Read(`
  count(*) filter (where x.status = 'BOOKED' and not exists (
    select from waitlist_offers o where o.tenant_id = $1 and o.entry_id = x.id and o.status = 'ACCEPTED'))`,
				&w.Promoted),
		}
	})
	offerCounts = pg.ReadAs(func(o *offerCount) []pg.Column {
		return []pg.Column{
			pg.Read("s.location_id", &o.Location),
			pg.Read("s.service_id", &o.Service),
			pg.Read(localDay, &o.Day),
			pg.Read("x.status", &o.status),
			pg.Read("x.try", &o.try),
			pg.Read("count(*)", &o.n),
			pg.Read(`
  coalesce(
    sum(extract(epoch from x.closed_at - x.created_at))
      filter (where x.status in ('ACCEPTED', 'DECLINED')), 0)::float8`,
				&o.answered),
		}
	}, func(o *offerCount) (WaitlistPart, error) {
		w := WaitlistPart{Location: o.Location, Service: o.Service, Day: o.Day}
		w.Offers, w.ResponseTime = o.n, time.Duration(o.answered*float64(time.Second))
		switch o.status {
		case waitlist.Accepted:
			w.Accepted, w.Tries, w.Depths = o.n, o.n*o.try, map[int]int{o.try: o.n}
		case waitlist.Declined:
			w.Declined = o.n
		case waitlist.RanOut:
			w.RanOut = o.n
		case waitlist.Withdrawn:
			w.Withdrawn = o.n
		case waitlist.Live:
			w.Live = o.n
		}
		return w, nil
	})
)

// localDay is the local day on which `x` was made, by the clocks `k`.
const (
	localDay   = `((x.created_at at time zone 'UTC') + k.ahead * interval '1 second')::date`
	joinClocks = ` x
join unnest($6::text[], $7::timestamptz[], $8::timestamptz[], $9::bigint[]) as k (zone, since, until, ahead)
  on x.created_at >= k.since and x.created_at < k.until`
)

var (
	countEntries = pg.SQL(`
select ` + entryCounts.Columns() + ` from waitlist_entries` + joinClocks + `
left join sessions s on s.tenant_id = x.tenant_id and s.id = coalesce(x.session_id, x.any_of[1])
where x.tenant_id = $1 and x.created_at >= $2 and x.created_at < $3
  and ($4::uuid is null or coalesce(x.location_id, s.location_id) = $4)
  and ($5::uuid is null or coalesce(x.service_id, s.service_id) = $5)
group by 1, 2, 3`)
	countOffers = pg.SQL(`
select ` + offerCounts.Columns() + ` from waitlist_offers` + joinClocks + `
join sessions s on s.tenant_id = x.tenant_id and s.id = x.session_id
where x.tenant_id = $1 and x.created_at >= $2 and x.created_at < $3
  and ($4::uuid is null or s.location_id = $4) and ($5::uuid is null or s.service_id = $5)
group by 1, 2, 3, 4, 5`)
)

// CountWaitlist counts entries and offers by service, location and day. There are no rows for zero counts.
func CountWaitlist(b *pg.Batch, in tenant.TenantID, p WaitlistPeriod, entries, offers *[]WaitlistPart) {
	arguments := append([]any{in, p.Span.Start, p.Span.End, p.Location, p.Service}, coredb.ClockArguments(p.Clocks)...)
	entryCounts.List(b.Queue(countEntries, arguments...), entries)
	offerCounts.List(b.Queue(countOffers, arguments...), offers)
}
