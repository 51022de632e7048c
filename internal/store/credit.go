package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

const planColumns = `
  p.id, p.name, p.description, p.kind, p.credits, p.period_seconds, p.term_seconds, p.daily_limit, p.weekly_limit,
  p.allow_overlap, p.price_currency, p.price_units, p.price_nanos, p.active, p.version, p.created_at, p.updated_at`

// planTargets receives planColumns.
type planTargets struct {
	plan         credit.Plan
	period, term *int64
}

func (t *planTargets) list() []any {
	p := &t.plan
	return []any{
		&p.ID, &p.Name, &p.Description, &p.Kind, &p.Credits, &t.period, &t.term, &p.DailyLimit, &p.WeeklyLimit,
		&p.AllowOverlap, &p.Price.Currency, &p.Price.Units, &p.Price.Nanos, &p.Active, &p.Version, &p.CreatedAt, &p.UpdatedAt,
	}
}

func (t *planTargets) value() credit.Plan {
	t.plan.Period, t.plan.Term = duration(t.period), duration(t.term)
	return t.plan
}

func scanPlan(row pgx.CollectableRow) (credit.Plan, error) {
	var t planTargets
	err := row.Scan(t.list()...)
	return t.value(), err
}

// FindPlan reads a plan; nil where there is none.
func FindPlan(b *pg.Batch, in tenant.TenantID, id tenant.PlanID, into **credit.Plan) {
	b.Queue(`select`+planColumns+` from plans p where p.tenant_id = $1 and p.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		var t planTargets
		err := row.Scan(t.list()...)
		return found(into, t.value(), err)
	})
}

// ListPlans reads plans by name, from behind the one given.
func ListPlans(b *pg.Batch, in tenant.TenantID, inactive bool, afterName string, afterID tenant.PlanID, limit int, into *[]credit.Plan) {
	pg.Collect(b.Queue(`select`+planColumns+` from plans p
where p.tenant_id = $1 and (p.active or $2) and ($4::uuid is null or (lower(p.name), p.id) > (lower($3), $4))
order by lower(p.name), p.id limit $5`, in, inactive, afterName, afterID, limit), into, scanPlan)
}

// InsertPlan writes a new plan with the transaction.
func InsertPlan(tx *pg.Tx, in tenant.TenantID, p credit.Plan) {
	tx.Write(`
insert into plans (tenant_id, id, name, description, kind, credits, period_seconds, term_seconds, daily_limit, weekly_limit,
  allow_overlap, price_currency, price_units, price_nanos, active, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		in, p.ID, p.Name, p.Description, p.Kind, p.Credits, seconds(p.Period), seconds(p.Term), p.DailyLimit, p.WeeklyLimit,
		p.AllowOverlap, p.Price.Currency, p.Price.Units, p.Price.Nanos, p.Active, p.Version, p.CreatedAt, p.UpdatedAt)
	renewHouse(tx, in)
}

// UpdatePlan writes a plan's edit with the transaction. Its kind never changes.
func UpdatePlan(tx *pg.Tx, in tenant.TenantID, p credit.Plan) {
	tx.Write(`
update plans set name = $3, description = $4, credits = $5, period_seconds = $6, term_seconds = $7, daily_limit = $8, weekly_limit = $9,
  allow_overlap = $10, price_currency = $11, price_units = $12, price_nanos = $13, active = $14, version = $15, updated_at = $16
where tenant_id = $1 and id = $2`,
		in, p.ID, p.Name, p.Description, p.Credits, seconds(p.Period), seconds(p.Term), p.DailyLimit, p.WeeklyLimit,
		p.AllowOverlap, p.Price.Currency, p.Price.Units, p.Price.Nanos, p.Active, p.Version, p.UpdatedAt)
	renewHouse(tx, in)
}

// CountUsage counts afresh, from the bookings, what the subscriptions of a plan have used on every
// day and in every week that is not over. It is for a plan whose limits have just been set: until
// then nothing was counted.
func CountUsage(tx *pg.Tx, in tenant.TenantID, plan tenant.PlanID, from civil.Date) {
	tx.Write(`
delete from usage u using subscriptions s
where u.tenant_id = $1 and s.tenant_id = $1 and s.plan_id = $2 and u.subscription_id = s.id and u.starts_on >= $3`,
		in, plan, date(from.WeekStart()))
	tx.Write(`
update bookings b set counted = true from subscriptions u, sessions s
where b.tenant_id = $1 and u.tenant_id = $1 and u.plan_id = $2 and b.subscription_id = u.id
  and s.tenant_id = $1 and s.id = b.session_id and s.local_date >= $3
  and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED', 'NO_SHOW') and not b.counted`, in, plan, date(from.WeekStart()))
	tx.Write(`
insert into usage (tenant_id, subscription_id, span, starts_on, used)
select $1, b.subscription_id, x.span, x.starts_on, count(*)
from subscriptions u
join bookings b on b.tenant_id = $1 and b.subscription_id = u.id and b.counted
join sessions s on s.tenant_id = $1 and s.id = b.session_id and s.local_date >= $3
cross join lateral (values ('DAY', s.local_date), ('WEEK', s.local_date - (extract(isodow from s.local_date)::int - 1))) x (span, starts_on)
where u.tenant_id = $1 and u.plan_id = $2
group by b.subscription_id, x.span, x.starts_on`, in, plan, date(from.WeekStart()))
}

const subscriptionColumns = `
  u.id, u.member_id, u.status, u.balance, u.lines, u.starts_at, u.ends_at, u.period_ends_at, u.version, u.created_at, u.updated_at,` + planColumns

func scanSubscription(row pgx.Row, more ...any) (credit.Subscription, error) {
	var s credit.Subscription
	var plan planTargets
	targets := append([]any{
		&s.ID, &s.Member, &s.Status, &s.Balance, &s.Lines, &s.StartsAt, &s.EndsAt, &s.PeriodEndsAt, &s.Version, &s.CreatedAt, &s.UpdatedAt,
	}, plan.list()...)
	err := row.Scan(append(targets, more...)...)
	s.Plan = plan.value()
	return s, err
}

// FindSubscription reads a subscription; nil where there is none.
func FindSubscription(b *pg.Batch, in tenant.TenantID, id tenant.SubscriptionID, into **credit.Subscription) {
	b.Queue(`select`+subscriptionColumns+` from subscriptions u
  join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.id = $2`, in, id).QueryRow(func(row pgx.Row) error {
		s, err := scanSubscription(row)
		return found(into, s, err)
	})
}

// ListSubscriptions reads subscriptions by their ids, in no particular order.
func ListSubscriptions(b *pg.Batch, in tenant.TenantID, ids []tenant.SubscriptionID, into *[]credit.Subscription) {
	pg.Collect(b.Queue(`select`+subscriptionColumns+` from subscriptions u
  join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.id = any($2)`, in, ids), into,
		func(row pgx.CollectableRow) (credit.Subscription, error) { return scanSubscription(row) })
}

// ListDueSubscriptions reads, by id from behind the one given, the subscriptions whose term or period has ended. What is
// due is found first, by its index: the order would lead through all subscriptions there ever were.
func ListDueSubscriptions(b *pg.Batch, in tenant.TenantID, now time.Time, after tenant.SubscriptionID, limit int, into *[]tenant.SubscriptionID) {
	pg.Collect(b.Queue(`
with due as materialized (
  select id, plan_id, ends_at from subscriptions
  where tenant_id = $1 and status in ('ACTIVE', 'PAUSED', 'DEBT') and least(ends_at, period_ends_at) <= $2)
select u.id from due u join plans p on p.tenant_id = $1 and p.id = u.plan_id
where (u.ends_at <= $2 or p.period_seconds is not null) and ($3::uuid is null or u.id > $3)
order by u.id limit $4`, in, now, after, limit), into, pgx.RowTo[tenant.SubscriptionID])
}

// FindBookingSubscription reads the subscription that a booking was made on; nil where there is none.
func FindBookingSubscription(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **credit.Subscription) {
	b.Queue(`select`+subscriptionColumns+` from`+theBooking+`
  cross join lateral (select * from subscriptions u where u.tenant_id = $1 and u.id = b.subscription_id offset 0) u
  cross join lateral (select * from plans p where p.tenant_id = $1 and p.id = u.plan_id offset 0) p`, in, id).QueryRow(func(row pgx.Row) error {
		s, err := scanSubscription(row)
		return found(into, s, err)
	})
}

// ListMemberSubscriptions reads a member's subscriptions in the order in which they were made.
func ListMemberSubscriptions(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, into *[]credit.Subscription) {
	pg.Collect(b.Queue(`select`+subscriptionColumns+` from subscriptions u
  join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.member_id = $2 order by u.id`, in, member), into,
		func(row pgx.CollectableRow) (credit.Subscription, error) { return scanSubscription(row) })
}

// ListPayers reads the subscriptions that could pay for the members' bookings in a session, with what was
// used on its local day and in its week. Whoever names one (zero: none named) gets
// that one, whatever its status.
//
// The subqueries keep the planner on the indexes of member and subscription, whatever it thinks
// of the tables: a scan over the tenant's subscriptions would lock them all against each other.
func ListPayers(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, members []tenant.MemberID, named []tenant.SubscriptionID, into *[]credit.Subscription) {
	pg.Collect(b.Queue(`
select`+subscriptionColumns+`,
  coalesce((select d.used from usage d
    where d.tenant_id = $1 and d.subscription_id = u.id and d.span = 'DAY' and d.starts_on = s.local_date), 0),
  coalesce((select w.used from usage w
    where w.tenant_id = $1 and w.subscription_id = u.id and w.span = 'WEEK'
      and w.starts_on = s.local_date - (extract(isodow from s.local_date)::int - 1)), 0)
from sessions s
cross join unnest($3::uuid[], $4::uuid[]) as q (member_id, named)
cross join lateral (
  select * from subscriptions u where u.tenant_id = $1 and u.member_id = q.member_id
    and (u.id = q.named or (q.named is null and u.status in ('ACTIVE', 'DEBT')))
  offset 0) u
cross join lateral (select * from plans p where p.tenant_id = $1 and p.id = u.plan_id offset 0) p
where s.tenant_id = $1 and s.id = $2
order by u.id`, in, session, members, named), into,
		func(row pgx.CollectableRow) (credit.Subscription, error) {
			var today, week int
			s, err := scanSubscription(row, &today, &week)
			s.UsedToday, s.UsedThisWeek = today, week
			return s, err
		})
}

// InsertSubscription writes a new subscription with the transaction.
func InsertSubscription(tx *pg.Tx, in tenant.TenantID, s credit.Subscription) {
	tx.Write(`
insert into subscriptions (tenant_id, id, member_id, plan_id, status, balance, lines, starts_at, ends_at, period_ends_at, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		in, s.ID, s.Member, s.Plan.ID, s.Status, s.Balance, s.Lines, s.StartsAt, s.EndsAt, s.PeriodEndsAt, s.Version, s.CreatedAt, s.UpdatedAt)
}

// UpdateSubscription writes status, balance and period with the transaction.
func UpdateSubscription(tx *pg.Tx, in tenant.TenantID, s credit.Subscription, now time.Time) {
	tx.Write(`
update subscriptions set status = $3, balance = $4, lines = $5, ends_at = $6, period_ends_at = $7, version = $8, updated_at = $9
where tenant_id = $1 and id = $2`, in, s.ID, s.Status, s.Balance, s.Lines, s.EndsAt, s.PeriodEndsAt, s.Version, now)
}

// AppendLedger writes lines with the transaction, in order. Their ids must be set.
func AppendLedger(tx *pg.Tx, in tenant.TenantID, entries []credit.Entry) {
	for _, e := range entries {
		tx.Write(`
insert into credit_entries (tenant_id, id, subscription_id, line, kind, amount, balance, booking_id, actor, reason, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			in, e.ID, e.Subscription, e.Line, e.Kind, e.Amount, e.Balance, e.Booking, e.Actor, e.Reason, e.At)
	}
}

// ListLedger reads a subscription's lines, newest first, those before the given one; 0 is after the last.
func ListLedger(b *pg.Batch, in tenant.TenantID, id tenant.SubscriptionID, before, limit int, into *[]credit.Entry) {
	pg.Collect(b.Queue(`
select id, subscription_id, line, kind, amount, balance, booking_id, actor, reason, created_at from credit_entries
where tenant_id = $1 and subscription_id = $2 and ($3 = 0 or line < $3)
order by line desc limit $4`, in, id, before, limit), into, func(row pgx.CollectableRow) (credit.Entry, error) {
		var e credit.Entry
		err := row.Scan(&e.ID, &e.Subscription, &e.Line, &e.Kind, &e.Amount, &e.Balance, &e.Booking, &e.Actor, &e.Reason, &e.At)
		return e, err
	})
}

// CountBooking changes by one, up or down, what a subscription has used on a local day and in its week.
func CountBooking(tx *pg.Tx, in tenant.TenantID, id tenant.SubscriptionID, on civil.Date, by int) {
	if by > 0 {
		tx.Write(`
insert into usage (tenant_id, subscription_id, span, starts_on, used)
values ($1, $2, 'DAY', $3, $5), ($1, $2, 'WEEK', $4, $5)
on conflict (tenant_id, subscription_id, span, starts_on) do update set used = usage.used + excluded.used`,
			in, id, date(on), date(on.WeekStart()), by)
		return
	}
	tx.Write(`
update usage set used = used + $5
where tenant_id = $1 and subscription_id = $2 and ((span = 'DAY' and starts_on = $3) or (span = 'WEEK' and starts_on = $4))`,
		in, id, date(on), date(on.WeekStart()), by)
}
