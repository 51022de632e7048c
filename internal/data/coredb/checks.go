package coredb

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Check is an invariant that all rows of a tenant must fulfil at all times.
type Check struct {
	// Name states the invariant.
	Name string
	// Invariant is the promise of the product that the check belongs to.
	Invariant string
	// sql selects the violations: the row's id and what is wrong with it. The tenant is $1.
	sql string
}

// The promises of the product that are checked.
const (
	NeverOversold      = "never one seat too many"
	OnePlace           = "one place for each member and session"
	CreditsAddUp       = "never a credit lost"
	PaymentsAddUp      = "never more refunded than paid"
	SeatsHaveDecisions = "every freed seat has one decision"
	FlagsMatch         = "stored flags match their rows"
	SecretsAreSealed   = "what only the service may read is sealed"
)

// Checks has all checks.
var Checks = []Check{
	{
		Name: "seats taken are those of bookings and offers", Invariant: NeverOversold, sql: `
select s.id::text, format(
  'seats_taken is %s, its bookings take %s, its live offers %s, its rounds keep %s',
  s.seats_taken, b.seats, o.seats, r.seats)
from sessions s cross join lateral (
  select coalesce(sum(party_size), 0) as seats from bookings b
  where b.tenant_id = $1 and b.session_id = s.id and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')) b
cross join lateral (
  select coalesce(sum(seats), 0) as seats from waitlist_offers o
  where o.tenant_id = $1 and o.session_id = s.id and o.status = 'LIVE' and not o.shared) o
cross join lateral (
  select coalesce(sum(keeps), 0) as seats from waitlist_rounds r
  where r.tenant_id = $1 and r.session_id = s.id and r.keeps > 0) r
where s.tenant_id = $1 and s.seats_taken <> b.seats + o.seats + r.seats`,
	},
	{
		Name: "no session has more seats taken than its capacity", Invariant: NeverOversold, sql: `
select id::text, format('seats_taken is %s of %s', seats_taken, capacity) from sessions
where tenant_id = $1 and seats_taken > capacity`,
	},
	{
		// Attendance stays if the session was cancelled or deleted after its end. A cancelled session is not edited.
		Name: "no active booking is in a session that is cancelled or deleted", Invariant: NeverOversold, sql: `
select b.id::text, format('it is %s in session %s', b.status, s.id)
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id
where b.tenant_id = $1 and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')
  and (s.state = 'CANCELLED' or s.deleted_at is not null)
  and not (b.status = 'ATTENDED' and coalesce(s.deleted_at, s.updated_at) >= s.ends_at)`,
	},
	{
		Name: "holds counts the pending bookings", Invariant: NeverOversold, sql: `
select s.id::text, format('holds is %s, pending are %s', s.holds, b.n)
from sessions s cross join lateral (
  select count(*) as n from bookings b where b.tenant_id = $1 and b.session_id = s.id and b.status = 'PENDING') b
where s.tenant_id = $1 and s.holds <> b.n`,
	},
	{
		Name: "item reservations match the status of their bookings", Invariant: NeverOversold, sql: `
select r.id::text, format('it is %s with booking %s, which is %s', r.status, b.id, b.status)
from booking_items r join bookings b on b.tenant_id = r.tenant_id and b.id = r.booking_id
where r.tenant_id = $1 and r.status <> 'CANCELLED'
  and (b.status in ('CANCELLED', 'EXPIRED') or (r.status = 'PENDING') <> (b.status = 'PENDING'))`,
	},
	{
		Name: "no unit of an item is reserved twice at once", Invariant: NeverOversold, sql: `
select id::text,
  format('number %s of item %s is reserved until %s, and again from %s', number, item_id, back, out_from)
from (
  select *, max(out_until) over (
    partition by item_id, number order by out_from, id rows between unbounded preceding and 1 preceding) as back
  from booking_items where tenant_id = $1 and status <> 'CANCELLED') r
where back > out_from`,
	},
	{
		Name: "no member has two active bookings in one session", Invariant: OnePlace, sql: `
select min(id::text), format('member %s has %s bookings in session %s', member_id, count(*), session_id)
from bookings where tenant_id = $1 and member_id is not null and status in ('PENDING', 'CONFIRMED', 'ATTENDED')
group by session_id, member_id having count(*) > 1`,
	},
	{
		Name: "bookings that allow no overlap have none", Invariant: OnePlace, sql: `
select id::text, format('it starts at %s, when member %s is booked until %s', starts_at, member_id, busy)
from (
  select *, max(ends_at) over (
    partition by member_id order by starts_at, id rows between unbounded preceding and 1 preceding) as busy
  from bookings where tenant_id = $1 and exclusive and status in ('PENDING', 'CONFIRMED', 'ATTENDED')) b
where busy > starts_at`,
	},
	{
		Name: "no resource and no coach is in two sessions at once", Invariant: NeverOversold, sql: `
select id::text, format('it starts at %s, when %s is busy until %s', starts_at, who, busy)
from (
  select s.id, s.starts_at, x.who, max(s.ends_at) over (
    partition by x.who order by s.starts_at, s.id rows between unbounded preceding and 1 preceding) as busy
  from sessions s cross join lateral unnest(array[s.resource_id, s.coach_id]) as x (who)
  where s.tenant_id = $1 and s.state <> 'CANCELLED' and s.deleted_at is null and x.who is not null) s
where busy > starts_at`,
	},
	{
		Name: "the span of a booking is that of its session", Invariant: NeverOversold, sql: `
select b.id::text, format('%s to %s, its session %s to %s', b.starts_at, b.ends_at, s.starts_at, s.ends_at)
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id
where b.tenant_id = $1 and (b.starts_at, b.ends_at) is distinct from (s.starts_at, s.ends_at)`,
	},
	{
		Name: "waiting counts the entries that name the session", Invariant: OnePlace, sql: `
select s.id::text, format('waiting is %s, places are %s', s.waiting, p.n)
from sessions s cross join lateral (
  select count(*) as n from waitlist_places p where p.tenant_id = $1 and p.session_id = s.id) p
where s.tenant_id = $1 and s.waiting <> p.n`,
	},
	{
		Name: "queues count their entries", Invariant: OnePlace, sql: `
select format('%s %s %s', q.location_id, q.service_id, q.local_date),
  format('waiting is %s, entries are %s', q.waiting, p.n)
from waitlist_queues q cross join lateral (
  select count(distinct p.entry_id) as n from waitlist_places p
  where p.tenant_id = $1
    and p.location_id = q.location_id and p.service_id = q.service_id and p.local_date = q.local_date) p
where q.tenant_id = $1 and q.waiting <> p.n`,
	},
	{
		Name: "entries have places while they are waiting or offered", Invariant: OnePlace, sql: `
select e.id::text, format('it is %s and has %s places', e.status, p.n)
from waitlist_entries e cross join lateral (
  select count(*) as n from waitlist_places p where p.tenant_id = $1 and p.entry_id = e.id) p
where e.tenant_id = $1 and (e.status in ('WAITING', 'OFFERED')) <> (p.n > 0)`,
	},
	{
		Name: "places are in the queues of their sessions", Invariant: OnePlace, sql: `
select p.entry_id::text, format('it is in the queue of %s for session %s of %s', p.local_date, s.id, s.local_date)
from waitlist_places p join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id
where p.tenant_id = $1
  and (p.location_id, p.service_id, p.local_date) is distinct from (s.location_id, s.service_id, s.local_date)`,
	},
	{
		Name: "waiting counts the active entries of the member", Invariant: OnePlace, sql: `
select m.id::text, format('waiting is %s, entries are %s', m.waiting, e.n)
from members m left join (
  select member_id, count(*) as n from waitlist_entries
  where tenant_id = $1 and status in ('WAITING', 'OFFERED') group by member_id) e on e.member_id = m.id
where m.tenant_id = $1 and m.waiting <> coalesce(e.n, 0)`,
	},
	{
		Name: "an entry is offered exactly if it has a live offer", Invariant: OnePlace, sql: `
select e.id::text, format('it is %s, its live offers are %s', e.status, o.n)
from waitlist_entries e cross join lateral (
  select count(*) as n from waitlist_offers o where o.tenant_id = $1 and o.entry_id = e.id and o.status = 'LIVE') o
where e.tenant_id = $1 and (e.status = 'OFFERED') <> (o.n = 1)`,
	},
	{
		Name: "live offers are for bookable sessions", Invariant: OnePlace, sql: `
select o.id::text, format('its session %s is %s', s.id,
  case when s.deleted_at is not null then 'deleted' when s.blocked then 'blocked' else s.state end)
from waitlist_offers o join sessions s on s.tenant_id = o.tenant_id and s.id = o.session_id
where o.tenant_id = $1 and o.status = 'LIVE' and (s.state <> 'PUBLISHED' or s.blocked or s.deleted_at is not null)`,
	},
	{
		Name: "no live offer outlives its session", Invariant: OnePlace, sql: `
select o.id::text,
  format('it ends at %s, its session at %s', o.expires_at at time zone 'UTC', s.ends_at at time zone 'UTC')
from waitlist_offers o join sessions s on s.tenant_id = o.tenant_id and s.id = o.session_id
where o.tenant_id = $1 and o.status = 'LIVE' and not o.by_hand and o.expires_at > s.ends_at`,
	},
	{
		Name: "no round offers more seats than were freed", Invariant: SeatsHaveDecisions, sql: `
select r.id::text, format('%s were freed, %s are on offer, %s are kept', r.freed, o.seats, r.keeps)
from waitlist_rounds r cross join lateral (
  select coalesce(sum(seats), 0) as seats from waitlist_offers o
  where o.tenant_id = $1 and o.round_id = r.id and o.status = 'LIVE' and not o.shared) o
where r.tenant_id = $1 and o.seats + r.keeps > r.freed`,
	},
	{
		Name: "a round keeps seats only while it has a shared offer", Invariant: SeatsHaveDecisions, sql: `
select r.id::text, format('it keeps %s without a live shared offer', r.keeps)
from waitlist_rounds r
where r.tenant_id = $1 and r.keeps > 0 and not exists (
  select from waitlist_offers o where o.tenant_id = $1 and o.round_id = r.id and o.status = 'LIVE' and o.shared)`,
	},
	{
		Name: "every accepted offer has a booking", Invariant: SeatsHaveDecisions, sql: `
select o.id::text, format('its booking is %s', coalesce(b.id::text, 'missing'))
from waitlist_offers o left join bookings b on b.tenant_id = o.tenant_id and b.id = o.booking_id
where o.tenant_id = $1 and o.status = 'ACCEPTED' and (b.id is null or b.member_id <> o.member_id)`,
	},
	{
		Name: "no member has two bookings or entries in one session", Invariant: OnePlace, sql: `
select session_id::text, format('member %s has %s places', member_id, count(*)) from (
  select session_id, member_id from bookings
  where tenant_id = $1 and status in ('CONFIRMED', 'ATTENDED') and member_id is not null -- a hold pauses an entry
  union all
  select session_id, member_id from waitlist_places where tenant_id = $1 and session_id is not null) x
group by session_id, member_id having count(*) > 1`,
	},
	{
		Name: "balances are the sums of their ledgers", Invariant: CreditsAddUp, sql: `
select u.id::text, format('balance is %s, its ledger sums to %s', u.balance, e.total)
from subscriptions u cross join lateral (
  select coalesce(sum(amount), 0) as total from credit_entries e where e.tenant_id = $1 and e.subscription_id = u.id) e
where u.tenant_id = $1 and u.balance <> e.total`,
	},
	{
		Name: "the balance of a ledger line is the sum of all lines up to it", Invariant: CreditsAddUp, sql: `
select id::text, format('line %s says %s; it is line %s and makes %s', line, balance, n, total) from (
  select id, line, balance, row_number() over w as n, sum(amount) over w as total
  from credit_entries where tenant_id = $1
  window w as (partition by subscription_id order by line)) x
where balance <> total or line <> n`,
	},
	{
		Name: "a booking holds the credits that its ledger lines charged", Invariant: CreditsAddUp, sql: `
select b.id::text, format('it holds %s, its lines say %s', b.credits, e.held)
from bookings b cross join lateral (
  select coalesce(-sum(amount), 0) as held from credit_entries e where e.tenant_id = $1 and e.booking_id = b.id) e
where b.tenant_id = $1 and b.credits <> e.held`,
	},
	{
		Name: "the totals of a payment line are the sums of all lines up to it", Invariant: PaymentsAddUp, sql: `
select id::text, format('line %s says %s captured and %s refunded; it is line %s and makes %s and %s',
  line, captured, refunded, n, captures, refunds)
from (
  select id, line, captured_units * 1e9 + captured_nanos as captured, refunded_units * 1e9 + refunded_nanos as refunded,
    row_number() over w as n, first_value(amount_currency) over w <> amount_currency as mixed,
    coalesce(sum(amount_units * 1e9 + amount_nanos) filter (where kind = 'CAPTURE') over w, 0) as captures,
    coalesce(sum(amount_units * 1e9 + amount_nanos) filter (where kind = 'REFUND') over w, 0) as refunds
  from payment_entries where tenant_id = $1
  window w as (partition by booking_id order by line)) x
where captured <> captures or refunded <> refunds or line <> n or mixed or refunds > captures`,
	},
	{
		Name: "the payment of a booking is what its lines say", Invariant: PaymentsAddUp, sql: `
select b.id::text, format('it is %s, its lines say %s', b.payment_status, e.status)
from bookings b
left join (
  select booking_id, max(captured_units * 1e9 + captured_nanos) as captured,
    max(refunded_units * 1e9 + refunded_nanos) as refunded,
    case
      when bool_or(kind = 'CAPTURE') then
        case when bool_or(kind = 'REFUND')
          and max(captured_units * 1e9 + captured_nanos) = max(refunded_units * 1e9 + refunded_nanos)
          then 'REFUNDED' else 'CAPTURED' end
      else (array_agg(case kind when 'AUTHORIZATION' then 'AUTHORIZED' when 'WRITE_OFF' then 'WRITTEN_OFF' end
        order by line desc))[1]
    end as status
  from payment_entries where tenant_id = $1 group by booking_id) e on e.booking_id = b.id
where b.tenant_id = $1 and (b.payment_status <> coalesce(e.status, 'UNPAID')
  or b.refunded_units * 1e9 + b.refunded_nanos <> coalesce(e.refunded, 0)
  or e.status in ('CAPTURED', 'REFUNDED') and b.amount_units * 1e9 + b.amount_nanos <> e.captured)`,
	},
	{
		Name: "unlimited and course plans move no credits", Invariant: CreditsAddUp, sql: `
select e.id::text, format('%s credits moved on a plan of the kind %s', e.amount, p.kind)
from credit_entries e
join subscriptions u on u.tenant_id = e.tenant_id and u.id = e.subscription_id
join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where e.tenant_id = $1 and p.kind <> 'CREDITS'`,
	},
	{
		Name: "no booking is on a course plan", Invariant: CreditsAddUp, sql: `
select b.id::text, 'it is on a plan of the kind COURSE'
from bookings b
join subscriptions u on u.tenant_id = b.tenant_id and u.id = b.subscription_id
join plans p on p.tenant_id = u.tenant_id and p.id = u.plan_id
where b.tenant_id = $1 and p.kind = 'COURSE'`,
	},
	{
		Name: "a cancellation in time has refunded its credits", Invariant: CreditsAddUp, sql: `
select id::text, format('it was cancelled in time and holds %s', credits) from bookings
where tenant_id = $1 and status = 'CANCELLED' and not late_cancelled and credits > 0`,
	},
	{
		Name: "quotas count the bookings that count against them", Invariant: CreditsAddUp, sql: `
select u.subscription_id::text, format('%s of %s: used is %s, counted are %s', u.span, u.starts_on, u.used, b.n)
from usage u cross join lateral (
  select count(*) as n from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id
  where b.tenant_id = $1 and b.subscription_id = u.subscription_id and b.counted
    and u.starts_on = case u.span
      when 'DAY' then s.local_date else s.local_date - (extract(isodow from s.local_date)::int - 1) end) b
where u.tenant_id = $1 and u.used <> b.n`,
	},
	{
		Name: "no entry gets seats before booking opens", Invariant: SeatsHaveDecisions, sql: `
select d.id::text, format('it gave %s at %s, before %s', d.given, d.decided_at at time zone 'UTC', o.opens)
from waitlist_decisions d cross join lateral (select d.facts -> 'slot' ->> 'opens' as opens) o
where d.tenant_id = $1 and d.trigger <> 'BY_HAND' and d.given > 0 and d.decided_at < o.opens::timestamptz`,
	},
	{
		Name: "at most half of the seats are given when booking opens", Invariant: SeatsHaveDecisions, sql: `
select d.id::text, format('it gave %s of %s', d.given, o.open)
from waitlist_decisions d cross join lateral (select (d.facts -> 'slot' ->> 'open')::integer as open) o
where d.tenant_id = $1 and d.trigger = 'BOOKING_OPENED' and d.seats is not null
  and 2 * d.given > coalesce(o.open, 0) + 1`,
	},
	{
		// A booking can end several entries: it was made for one of them.
		Name: "every booking from the waitlist has a decision", Invariant: SeatsHaveDecisions, sql: `
select min(e.id::text), format('it became booking %s without one', e.booking_id)
from waitlist_entries e
join bookings b on b.tenant_id = e.tenant_id and b.id = e.booking_id and b.promoted
left join waitlist_offers o on o.tenant_id = e.tenant_id and o.entry_id = e.id and o.status = 'ACCEPTED'
where e.tenant_id = $1 and e.status = 'BOOKED'
group by e.booking_id having not bool_or(exists (
  select from waitlist_decisions d
  where d.tenant_id = $1 and d.decided_at = coalesce(o.created_at, e.closed_at) and d.verdicts @> jsonb_build_array(
    jsonb_build_object('entry_id', e.id, 'reason', case when o.id is null then 'PROMOTED' else 'OFFERED' end))))`,
	},
	{
		Name: "every booked entry has a booking", Invariant: SeatsHaveDecisions, sql: `
select e.id::text, format('it is %s, its booking %s', e.status, coalesce(b.id::text, 'is missing'))
from waitlist_entries e left join bookings b on b.tenant_id = e.tenant_id and b.id = e.booking_id
where e.tenant_id = $1 and e.status = 'BOOKED' and (b.id is null or b.member_id <> e.member_id)`,
	},
	{
		Name: "has_workouts says whether a session has workouts", Invariant: FlagsMatch, sql: `
select s.id::text, format('has_workouts is %s, attached are %s', s.has_workouts, w.n)
from sessions s cross join lateral (
  select count(*) as n from session_workouts w where w.tenant_id = $1 and w.session_id = s.id) w
where s.tenant_id = $1 and s.has_workouts <> (w.n > 0)`,
	},
	{
		Name: "the tokens of devices are sealed", Invariant: SecretsAreSealed, sql: `
select id::text, 'its token is not sealed; nodes seal such tokens within a minute'
from devices where tenant_id = $1 and sealed is null`,
	},
}

// Violation is a row that violates a check.
type Violation struct {
	Row    string // the row's id
	Detail string
}

// FindViolations reads the violations of a check in one tenant.
func FindViolations(b *pg.Batch, in tenant.TenantID, c Check, into *[]Violation) {
	pg.Collect(b.Queue(c.sql, in), into, pgx.RowToStructByPos[Violation])
}

// ListTenants reads the directory. In an operator's transaction it finds all tenants, in a tenant's only that one.
func ListTenants(b *pg.Batch, into *[]tenant.TenantID) {
	pg.Collect(b.Queue(`select tenant_id from directory order by tenant_id`), into, pgx.RowTo[tenant.TenantID])
}
