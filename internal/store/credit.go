package store

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
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

var subscriptionsOfBookings = pg.Lookup[tenant.BookingID, credit.Subscription]{
	SQL: `select` + subscriptionColumns + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from bookings b where b.tenant_id = $1 and b.id = q.id offset 0) b
cross join lateral (select * from subscriptions u where u.tenant_id = $1 and u.id = b.subscription_id offset 0) u
cross join lateral (select * from plans p where p.tenant_id = $1 and p.id = u.plan_id offset 0) p`,
	Columns: func(ids []tenant.BookingID) []any { return []any{ids} },
	Scan:    func(row pgx.Row) (credit.Subscription, error) { return scanSubscription(row) },
}

// FindBookingSubscription reads the subscription that a booking was made on; nil where there is none.
func FindBookingSubscription(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **credit.Subscription) {
	one(b, in, &subscriptionsOfBookings, id, into)
}

// ListMemberSubscriptions reads a member's subscriptions in the order in which they were made.
func ListMemberSubscriptions(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, into *[]credit.Subscription) {
	pg.Collect(b.Queue(`select`+subscriptionColumns+` from subscriptions u
  join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where u.tenant_id = $1 and u.member_id = $2 order by u.id`, in, member), into,
		func(row pgx.CollectableRow) (credit.Subscription, error) { return scanSubscription(row) })
}

// payment is who pays for a place in a session, and with what if they say so.
type payment struct {
	Visit
	named tenant.SubscriptionID
}

// The subqueries keep the planner on the indexes of member and subscription, whatever it thinks
// of the tables: a scan over the tenant's subscriptions would lock them all against each other.
var payers = pg.Lookup[payment, credit.Subscription]{
	SQL: `
select` + subscriptionColumns + `,
  case when p.daily_limit is null then 0 else coalesce((select d.used from usage d
    where d.tenant_id = $1 and d.subscription_id = u.id and d.span = 'DAY' and d.starts_on = s.local_date), 0) end,
  case when p.weekly_limit is null then 0 else coalesce((select w.used from usage w
    where w.tenant_id = $1 and w.subscription_id = u.id and w.span = 'WEEK'
      and w.starts_on = s.local_date - (extract(isodow from s.local_date)::int - 1)), 0) end,
  q.n
from unnest($2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as q (session_id, member_id, named, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.session_id offset 0) s
cross join lateral (
  select * from subscriptions u where u.tenant_id = $1 and u.member_id = q.member_id
    and (u.id = q.named or (q.named is null and u.status in ('ACTIVE', 'DEBT')))
  offset 0) u
cross join lateral (select * from plans p where p.tenant_id = $1 and p.id = u.plan_id offset 0) p
order by q.n, u.id`,
	Columns: func(keys []payment) []any {
		return []any{
			column(keys, func(k payment) tenant.SessionID { return k.Session }),
			column(keys, func(k payment) tenant.MemberID { return k.Member }),
			column(keys, func(k payment) tenant.SubscriptionID { return k.named }),
		}
	},
	Scan: func(row pgx.Row) (credit.Subscription, error) {
		var today, week int
		s, err := scanSubscription(row, &today, &week)
		s.UsedToday, s.UsedThisWeek = today, week
		return s, err
	},
}

// ListPayers reads the subscriptions that could pay for the members' bookings in a session, with what was
// used on its local day and in its week where the plan limits that. Whoever names one (zero: none named) gets
// that one, whatever its status.
func ListPayers(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, members []tenant.MemberID, named []tenant.SubscriptionID, into *[]credit.Subscription) {
	*into = nil
	for i, member := range members {
		payers.Find(b, in, payment{Visit{Session: session, Member: member}, named[i]}, func(s credit.Subscription) {
			// Somebody may be among the members twice, with and without naming one.
			if !slices.ContainsFunc(*into, func(other credit.Subscription) bool { return other.ID == s.ID }) {
				*into = append(*into, s)
			}
		})
	}
}

// wallet is whose subscriptions, and which if they say so.
type wallet struct {
	member tenant.MemberID
	named  tenant.SubscriptionID
}

var walletContents = pg.Lookup[wallet, credit.Subscription]{
	SQL: `
select u.id, u.member_id, u.plan_id, u.status, u.balance, u.lines, u.starts_at, u.ends_at, u.period_ends_at, u.version, u.created_at, u.updated_at, q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (member_id, named, n)
cross join lateral (
  select * from subscriptions u where u.tenant_id = $1 and u.member_id = q.member_id
    and (u.id = q.named or (q.named is null and u.status in ('ACTIVE', 'DEBT')))
  order by u.id offset 0) u`,
	Columns: func(keys []wallet) []any {
		return []any{
			column(keys, func(k wallet) tenant.MemberID { return k.member }),
			column(keys, func(k wallet) tenant.SubscriptionID { return k.named }),
		}
	},
	Scan: func(row pgx.Row) (credit.Subscription, error) {
		var s credit.Subscription
		err := row.Scan(&s.ID, &s.Member, &s.Plan.ID, &s.Status, &s.Balance, &s.Lines, &s.StartsAt, &s.EndsAt, &s.PeriodEndsAt,
			&s.Version, &s.CreatedAt, &s.UpdatedAt)
		return s, err
	},
}

// FindPayers is ListPayers for one member, without the usage, and with no more of the plans than their ids: the rest
// booking.House knows.
func FindPayers(b *pg.Batch, in tenant.TenantID, member tenant.MemberID, named tenant.SubscriptionID, found func(credit.Subscription)) {
	walletContents.Find(b, in, wallet{member, named}, found)
}

var usageRows = pg.Lookup[Usage, int]{
	SQL: `
select g.used, q.n from unnest($2::uuid[], $3::text[], $4::date[], $5::integer[]) with ordinality as q (subscription_id, span, starts_on, used, n)
cross join lateral (
  select * from usage g where g.tenant_id = $1 and g.subscription_id = q.subscription_id and g.span = q.span and g.starts_on = q.starts_on
  offset 0) g`,
	Columns: func(keys []Usage) []any { return usageColumns(tenant.TenantID{}, keys)[1:] },
	Scan: func(row pgx.Row) (int, error) {
		var used int
		err := row.Scan(&used)
		return used, err
	},
}

// FindUsage reads how much of a subscription counts on a local day or in a local week, as named by the rest of the value.
func FindUsage(b *pg.Batch, in tenant.TenantID, of Usage, found func(int)) {
	usageRows.Find(b, in, of, found)
}

// InsertSubscription writes a new subscription with the transaction.
func InsertSubscription(tx *pg.Tx, in tenant.TenantID, s credit.Subscription) {
	tx.Write(`
insert into subscriptions (tenant_id, id, member_id, plan_id, status, balance, lines, starts_at, ends_at, period_ends_at, version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		in, s.ID, s.Member, s.Plan.ID, s.Status, s.Balance, s.Lines, s.StartsAt, s.EndsAt, s.PeriodEndsAt, s.Version, s.CreatedAt, s.UpdatedAt)
}

type settled struct {
	*credit.Subscription
	at time.Time
}

var subscriptionsChanged = pg.Rows[settled]{
	Rank: rankSubscriptions,
	Key:  func(s settled) any { return s.ID },
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []settled) {
		tx.Write(`
update subscriptions u set status = x.status, balance = x.balance, lines = x.lines, ends_at = x.ends_at, period_ends_at = x.period_ends_at,
  version = x.version, updated_at = x.updated_at
from (select * from unnest($2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::timestamptz[], $7::timestamptz[], $8::integer[], $9::timestamptz[])
  as x (id, status, balance, lines, ends_at, period_ends_at, version, updated_at) limit cardinality($2)) as x
where u.tenant_id = $1 and u.id = x.id`, in,
			column(rows, func(s settled) tenant.SubscriptionID { return s.ID }),
			column(rows, func(s settled) string { return string(s.Status) }),
			column(rows, func(s settled) int32 { return int32(s.Balance) }),
			column(rows, func(s settled) int32 { return int32(s.Lines) }),
			column(rows, func(s settled) *time.Time { return s.EndsAt }),
			column(rows, func(s settled) *time.Time { return s.PeriodEndsAt }),
			column(rows, func(s settled) int32 { return int32(s.Version) }),
			column(rows, func(s settled) time.Time { return s.at }))
	},
}

// UpdateSubscription writes status, balance and period with the transaction. Of several changes to one the last holds.
func UpdateSubscription(tx *pg.Tx, in tenant.TenantID, s credit.Subscription, now time.Time) {
	subscriptionsChanged.Add(tx, in, settled{&s, now})
}

type line = credit.Entry

var linesMade = pg.Rows[line]{
	Rank: rankLedger,
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []line) {
		tx.Write(`
insert into credit_entries (tenant_id, id, subscription_id, line, kind, amount, balance, booking_id, actor, reason, created_at)
select $1, x.id, x.subscription_id, x.line, x.kind, x.amount, x.balance, x.booking_id, x.actor, x.reason, x.created_at
from unnest($2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::integer[], $7::integer[], $8::uuid[], $9::text[], $10::text[], $11::timestamptz[])
  as x (id, subscription_id, line, kind, amount, balance, booking_id, actor, reason, created_at)`, in,
			column(rows, func(e line) tenant.CreditEntryID { return e.ID }),
			column(rows, func(e line) tenant.SubscriptionID { return e.Subscription }),
			column(rows, func(e line) int32 { return int32(e.Line) }),
			column(rows, func(e line) string { return string(e.Kind) }),
			column(rows, func(e line) int32 { return int32(e.Amount) }),
			column(rows, func(e line) int32 { return int32(e.Balance) }),
			column(rows, func(e line) tenant.BookingID { return e.Booking }),
			column(rows, func(e line) string { return e.Actor }),
			column(rows, func(e line) string { return e.Reason }),
			column(rows, func(e line) time.Time { return e.At }))
	},
}

// AppendLedger writes lines with the transaction, in order. Their ids must be set.
func AppendLedger(tx *pg.Tx, in tenant.TenantID, entries []credit.Entry) {
	linesMade.Add(tx, in, entries...)
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

var usageCounted = pg.Rows[Usage]{
	Rank: rankUsage,
	Key: func(u Usage) any {
		u.Used = 0
		return u
	},
	Merge: func(before *Usage, u Usage) { before.Used += u.Used },
	Write: MoveUsage,
}

// CountBooking changes by one, up or down, what a subscription has used on a local day and in its week.
func CountBooking(tx *pg.Tx, in tenant.TenantID, id tenant.SubscriptionID, on civil.Date, by int) {
	for _, u := range UsageOn(id, on) {
		u.Used = by
		usageCounted.Add(tx, in, u)
	}
}
