package bookingdb

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// subscriptions are read with the ids of their plans only.
var subscriptions = pg.NewTable("u", func(s *credit.Subscription) []pg.Column {
	return []pg.Column{
		pg.Key("id", &s.ID),
		pg.Fixed("member_id", &s.Member),
		pg.Fixed("plan_id", &s.Plan.ID),
		pg.Col("status", (*string)(&s.Status)),
		pg.Col("balance", &s.Balance),
		pg.Col("lines", &s.Lines),
		pg.Fixed("starts_at", &s.StartsAt),
		pg.Col("ends_at", &s.EndsAt),
		pg.Col("period_ends_at", &s.PeriodEndsAt),
		pg.Col("version", &s.Version),
		pg.Fixed("created_at", &s.CreatedAt),
		pg.Col("updated_at", &s.UpdatedAt),
	}
})

var (
	subscribed = pg.NewReader(func(s *credit.Subscription) []pg.Column {
		return append(subscriptions.Of(s), coredb.Plans.Of(&s.Plan)...)
	})
	withUsage = pg.NewReader(func(s *credit.Subscription) []pg.Column {
		return slices.Concat(subscriptions.Of(s), coredb.Plans.Of(&s.Plan), []pg.Column{
			pg.Read(`
  case when p.daily_limit is null then 0 else coalesce((select d.used from usage d
    where d.tenant_id = $1 and d.subscription_id = u.id and d.span = 'DAY' and d.starts_on = s.local_date), 0) end`,
				&s.UsedToday),
			pg.Read(`
  case when p.weekly_limit is null then 0 else coalesce((select w.used from usage w
    where w.tenant_id = $1 and w.subscription_id = u.id and w.span = 'WEEK'
      and w.starts_on = s.local_date - (extract(isodow from s.local_date)::int - 1)), 0) end`, &s.UsedThisWeek),
		})
	})
)

// selectSubscriptions reads subscriptions `u`.
var selectSubscriptions = `select ` + subscribed.Columns() + ` from subscriptions u
  join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id`

var (
	findSubscription  = pg.SQL(selectSubscriptions + ` where u.tenant_id = $1 and u.id = $2`)
	findSubscriptions = pg.SQL(selectSubscriptions + ` where u.tenant_id = $1 and u.id = any($2)`)
	listSubscriptions = pg.SQL(selectSubscriptions + `
where u.tenant_id = $1 and ($2::uuid is null or u.member_id = $2) and ($3::uuid is null or u.plan_id = $3)
  and case when u.status in ('ACTIVE', 'PAUSED', 'DEBT') and u.ends_at <= $5 then 'EXPIRED' else u.status end = any($4)
  and ($6::timestamptz is null or u.ends_at >= $6) and ($7::timestamptz is null or u.ends_at < $7)
  and ($8::uuid is null or u.id < $8)
order by u.id desc limit $9`)
	listMemberSubscriptions = pg.SQL(selectSubscriptions + ` where u.tenant_id = $1 and u.member_id = $2 order by u.id`)
)

// FindSubscription reads a subscription; nil if there is none.
func FindSubscription(b *pg.Batch, in tenant.TenantID, id tenant.SubscriptionID, into **credit.Subscription) {
	subscribed.Find(b.Queue(findSubscription, in, id), into)
}

// FindSubscriptions reads subscriptions by their ids, in no particular order.
func FindSubscriptions(b *pg.Batch, in tenant.TenantID, ids []tenant.SubscriptionID, into *[]credit.Subscription) {
	subscribed.List(b.Queue(findSubscriptions, in, ids), into)
}

// SubscriptionQuery selects subscriptions.
type SubscriptionQuery struct {
	Member              tenant.MemberID // zero: any
	Plan                tenant.PlanID   // zero: any
	Statuses            []credit.Status // as of Now
	EndsFrom, EndsUntil time.Time       // half-open; zero: with any end, or without one
	Now                 time.Time
	Before              tenant.SubscriptionID // keyset: the last one of the page before
	Limit               int
}

// ListSubscriptions reads subscriptions, the newest first. One whose term has ended counts as expired, even if that has
// not been written yet.
func ListSubscriptions(b *pg.Batch, in tenant.TenantID, q SubscriptionQuery, into *[]credit.Subscription) {
	statuses := pg.Array(q.Statuses, func(s credit.Status) string { return string(s) })
	subscribed.List(b.Queue(listSubscriptions, in, q.Member, q.Plan, statuses, q.Now,
		pg.OrNull(q.EndsFrom), pg.OrNull(q.EndsUntil), q.Before, q.Limit), into)
}

// ListMemberSubscriptions reads a member's subscriptions in the order in which they were made.
func ListMemberSubscriptions(
	b *pg.Batch, in tenant.TenantID, member tenant.MemberID, into *[]credit.Subscription,
) {
	subscribed.List(b.Queue(listMemberSubscriptions, in, member), into)
}

// ListDueSubscriptions reads the ids of subscriptions whose term or period has ended, in ascending order, starting
// after the given one. A subquery finds them by their index first: with the order, the planner would read all
// subscriptions.
func ListDueSubscriptions(
	b *pg.Batch, in tenant.TenantID, now time.Time, after tenant.SubscriptionID, limit int, into *[]tenant.SubscriptionID,
) {
	pg.Collect(b.Queue(`
with due as materialized (
  select id, plan_id, ends_at from subscriptions
  where tenant_id = $1 and status in ('ACTIVE', 'PAUSED', 'DEBT') and least(ends_at, period_ends_at) <= $2)
select u.id from due u join plans p on p.tenant_id = $1 and p.id = u.plan_id
where (u.ends_at <= $2 or p.period_seconds is not null) and ($3::uuid is null or u.id > $3)
order by u.id limit $4`, in, now, after, limit), into, pgx.RowTo[tenant.SubscriptionID])
}

var subscriptionsOfBookings = pg.Lookup[tenant.BookingID, credit.Subscription]{
	SQL: pg.SQL(`select ` + subscribed.Columns() + `, q.n from unnest($2::uuid[]) with ordinality as q (id, n)
cross join lateral (select * from bookings b where b.tenant_id = $1 and b.id = q.id offset 0) b
cross join lateral (select * from subscriptions u where u.tenant_id = $1 and u.id = b.subscription_id offset 0) u
cross join lateral (select * from plans p where p.tenant_id = $1 and p.id = u.plan_id offset 0) p`),
	Reader: subscribed,
}

// FindBookingSubscription reads the subscription that pays for a booking; nil if there is none.
func FindBookingSubscription(b *pg.Batch, in tenant.TenantID, id tenant.BookingID, into **credit.Subscription) {
	subscriptionsOfBookings.One(b, in, id, into)
}

// namedPayer is a member who pays for a booking in a session, and the subscription that they name, if any.
type namedPayer struct {
	SessionMember
	named tenant.SubscriptionID
}

// The subqueries make the planner use the indexes of members and subscriptions, whatever its statistics are. A scan
// over the tenant's subscriptions would take predicate locks on all of them, and bookings would conflict.
var payers = pg.Lookup[namedPayer, credit.Subscription]{
	SQL: pg.SQL(`
select ` + withUsage.Columns() + `, q.n
from unnest($2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as q (session_id, member_id, named, n)
cross join lateral (select * from sessions s where s.tenant_id = $1 and s.id = q.session_id offset 0) s
cross join lateral (
  select * from subscriptions u where u.tenant_id = $1 and u.member_id = q.member_id
    and (u.id = q.named or (q.named is null and u.status in ('ACTIVE', 'DEBT')))
  offset 0) u
cross join lateral (select * from plans p where p.tenant_id = $1 and p.id = u.plan_id offset 0) p
order by u.id`),
	Columns: func(keys []namedPayer) []any {
		return []any{
			pg.Array(keys, func(k namedPayer) tenant.SessionID { return k.Session }),
			pg.Array(keys, func(k namedPayer) tenant.MemberID { return k.Member }),
			pg.Array(keys, func(k namedPayer) tenant.SubscriptionID { return k.named }),
		}
	},
	Reader: withUsage,
}

// ListPayers reads the subscriptions that could pay for a member's booking in a session, with their use on the
// session's local day and in its week, if the plan limits it. If one is named, it reads that one only, whatever its
// status.
func ListPayers(
	b *pg.Batch, in tenant.TenantID, m SessionMember, named tenant.SubscriptionID, into *[]credit.Subscription,
) {
	payers.Many(b, in, namedPayer{m, named}, into)
}

// memberPayment is a member who pays, and the subscription that they name, if any.
type memberPayment struct {
	member tenant.MemberID
	named  tenant.SubscriptionID
}

var memberPayers = pg.Lookup[memberPayment, credit.Subscription]{
	SQL: pg.SQL(`
select ` + subscriptions.Columns() + `, q.n
from unnest($2::uuid[], $3::uuid[]) with ordinality as q (member_id, named, n)
cross join lateral (
  select * from subscriptions u where u.tenant_id = $1 and u.member_id = q.member_id
    and (u.id = q.named or (q.named is null and u.status in ('ACTIVE', 'DEBT')))
  offset 0) u
order by u.id`),
	Columns: func(keys []memberPayment) []any {
		return []any{
			pg.Array(keys, func(k memberPayment) tenant.MemberID { return k.member }),
			pg.Array(keys, func(k memberPayment) tenant.SubscriptionID { return k.named }),
		}
	},
	Reader: subscriptions.Reader,
}

// FindPayers reads the same subscriptions as ListPayers, with only the ids of their plans and without the use. The
// tenant's snapshot completes them.
func FindPayers(
	b *pg.Batch, in tenant.TenantID, member tenant.MemberID, named tenant.SubscriptionID, found func(credit.Subscription),
) {
	memberPayers.Find(b, in, memberPayment{member, named}, found)
}

var (
	insertSubscription  = pg.SQL(`insert into subscriptions ` + subscriptions.Values())
	updateSubscriptions = pg.SQL(`
update subscriptions u set ` + subscriptions.SetChanges() + `
from (select * from ` + subscriptions.Changes() + ` limit cardinality($2)) as x
where u.tenant_id = $1 and u.id = x.id`)
)

// InsertSubscription writes a new subscription with the transaction.
func InsertSubscription(tx *pg.Tx, in tenant.TenantID, s credit.Subscription) {
	tx.Write(insertSubscription, subscriptions.Insert(in, &s)...)
}

var subscriptionsChanged = pg.RowWriter[*credit.Subscription]{
	Rank: coredb.RankSubscriptions,
	Key:  func(s *credit.Subscription) any { return s.ID },
	Write: func(tx *pg.Tx, in tenant.TenantID, rows []*credit.Subscription) {
		tx.Write(updateSubscriptions, subscriptions.UpdateAll(in, rows)...)
	},
}

// UpdateSubscription writes a subscription's status, balance and period with the transaction. The last of several
// updates wins.
func UpdateSubscription(tx *pg.Tx, in tenant.TenantID, s credit.Subscription, now time.Time) {
	s.UpdatedAt = now
	subscriptionsChanged.Add(tx, in, &s)
}

var insertSubscriptions = pg.SQL(`insert into subscriptions ` + subscriptions.Rows())

// InsertSubscriptions writes new subscriptions with the transaction.
func InsertSubscriptions(tx *pg.Tx, in tenant.TenantID, all []credit.Subscription) {
	tx.Write(insertSubscriptions, subscriptions.InsertAll(in,
		pg.Array(all, func(s credit.Subscription) *credit.Subscription { return &s }))...)
}

var listHeldSubscriptions = pg.SQL(selectSubscriptions + `
where u.tenant_id = $1 and u.member_id = any($2) and u.plan_id = any($3) and u.status in ('ACTIVE', 'PAUSED', 'DEBT')`)

// ListHeldSubscriptions reads the subscriptions of members that have not ended, of some plans.
func ListHeldSubscriptions(
	b *pg.Batch, in tenant.TenantID, members []tenant.MemberID, plans []tenant.PlanID, into *[]credit.Subscription,
) {
	subscribed.List(b.Queue(listHeldSubscriptions, in, members, plans), into)
}
