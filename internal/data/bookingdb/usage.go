package bookingdb

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Usage is how many bookings of a subscription count on a local day or in a local week.
type Usage struct {
	Subscription tenant.SubscriptionID
	Week         bool       // a week; otherwise a day
	On           civil.Date // the day, or the week's Monday
	Used         int
}

// UsageOn returns the rows in which a booking on a local day counts.
func UsageOn(id tenant.SubscriptionID, on civil.Date) [2]Usage {
	return [2]Usage{{Subscription: id, On: on}, {Subscription: id, Week: true, On: on.WeekStart()}}
}

var usage = pg.NewTable("g", func(u *Usage) []pg.Column {
	return []pg.Column{
		pg.Key("subscription_id", &u.Subscription),
		pg.Key("span", usageSpan{&u.Week}),
		pg.Key("starts_on", &u.On),
		pg.Col("used", &u.Used),
	}
})

// usageSpan is the column usage.span.
type usageSpan struct{ week *bool }

// Target implements pg.Field.
func (s usageSpan) Target() any { return s }

// ScanText implements pgtype.TextScanner.
func (s usageSpan) ScanText(v pgtype.Text) error {
	*s.week = v.String == "WEEK"
	return nil
}

// Value implements pg.Field.
func (s usageSpan) Value() any {
	if *s.week {
		return "WEEK"
	}
	return "DAY"
}

func usageRows(of []Usage) []*Usage { return pg.Array(of, func(u Usage) *Usage { return &u }) }

var (
	addUsage = pg.SQL(`insert into usage ` + usage.Rows() + `
on conflict (tenant_id, subscription_id, span, starts_on) do update set used = usage.used + excluded.used`)
	subtractUsage = pg.SQL(`
update usage u set used = u.used + x.used from ` + usage.Changes() + `
where u.tenant_id = $1 and u.subscription_id = any($2) and u.subscription_id = x.subscription_id and u.span = x.span
  and u.starts_on = x.starts_on`)
)

var usageFound = pg.Lookup[Usage, Usage]{
	SQL: pg.SQL(`
select ` + usage.Columns() + `, q.n
from unnest($2::uuid[], $3::text[], $4::date[]) with ordinality as q (subscription_id, span, starts_on, n)
cross join lateral (
  select * from usage g where g.tenant_id = $1
    and g.subscription_id = q.subscription_id and g.span = q.span and g.starts_on = q.starts_on
  offset 0) g`),
	Columns: func(keys []Usage) []any { return usage.UpdateAll(tenant.TenantID{}, usageRows(keys))[1:4] },
	Reader:  usage.Reader,
}

// FindUsage reads how many bookings count on the subscription's day or week that the value names.
func FindUsage(b *pg.Batch, in tenant.TenantID, of Usage, found func(int)) {
	usageFound.Find(b, in, of, func(u Usage) { found(u.Used) })
}

// MoveUsage adds to the counters of days and weeks, with the transaction. Used is the number to add. Each subscription,
// span and day must occur only once.
func MoveUsage(tx *pg.Tx, in tenant.TenantID, changes []Usage) {
	var more, less []*Usage
	for _, u := range usageRows(changes) {
		switch {
		case u.Used > 0:
			more = append(more, u)
		case u.Used < 0:
			less = append(less, u)
		}
	}
	if len(less) > 0 {
		tx.Write(subtractUsage, usage.UpdateAll(in, less)...)
	}
	if len(more) > 0 {
		tx.Write(addUsage, usage.InsertAll(in, more)...)
	}
}

var usageCounted = pg.RowWriter[Usage]{
	Rank: coredb.RankUsage,
	Key: func(u Usage) any {
		u.Used = 0
		return u
	},
	Merge: func(before *Usage, u Usage) { before.Used += u.Used },
	Write: MoveUsage,
}

// CountBooking adds to the counters of a subscription on a local day and in its week: 1, or -1.
func CountBooking(tx *pg.Tx, in tenant.TenantID, id tenant.SubscriptionID, on civil.Date, by int) {
	for _, u := range UsageOn(id, on) {
		u.Used = by
		usageCounted.Add(tx, in, u)
	}
}

// CountUsage counts the bookings of a plan's subscriptions again, for every day and week that is not over. It is for a
// plan whose limits have just been set: until then nothing was counted.
func CountUsage(tx *pg.Tx, in tenant.TenantID, plan tenant.PlanID, from civil.Date) {
	tx.Write(`
delete from usage u using subscriptions s
where u.tenant_id = $1 and s.tenant_id = $1 and s.plan_id = $2 and u.subscription_id = s.id and u.starts_on >= $3`,
		in, plan, from.WeekStart())
	tx.Write(`
update bookings b set counted = true from subscriptions u, sessions s
where b.tenant_id = $1 and u.tenant_id = $1 and u.plan_id = $2 and b.subscription_id = u.id
  and s.tenant_id = $1 and s.id = b.session_id and s.local_date >= $3
  and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED', 'NO_SHOW') and not b.counted`, in, plan, from.WeekStart())
	tx.Write(`
insert into usage (tenant_id, subscription_id, span, starts_on, used)
select $1, b.subscription_id, x.span, x.starts_on, count(*)
from subscriptions u
join bookings b on b.tenant_id = $1 and b.subscription_id = u.id and b.counted
join sessions s on s.tenant_id = $1 and s.id = b.session_id and s.local_date >= $3
cross join lateral (values
  ('DAY', s.local_date), ('WEEK', s.local_date - (extract(isodow from s.local_date)::int - 1))) x (span, starts_on)
where u.tenant_id = $1 and u.plan_id = $2
group by b.subscription_id, x.span, x.starts_on`, in, plan, from.WeekStart())
}
