package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Check is one thing that must hold for all rows of a tenant at every instant.
type Check struct {
	// Name says what must hold.
	Name string
	// Invariant is the promise of the product that it belongs to.
	Invariant string
	// sql finds what breaks it, with $1 for the tenant: which row, and what is wrong with it.
	sql string
}

// The promises that Checks look after.
const (
	NeverOversold  = "never one seat too many"
	OnePlace       = "one place for each member and session"
	CreditsAddUp   = "never a credit lost"
	SeatsFindMoves = "every freed seat ends in one move"
)

// Checks are all of them.
var Checks = []Check{
	{
		Name: "seats taken are those of the bookings", Invariant: NeverOversold, sql: `
select s.id::text, format('seats_taken is %s, its bookings take %s', s.seats_taken, b.seats)
from sessions s cross join lateral (
  select coalesce(sum(party_size), 0) as seats from bookings b
  where b.tenant_id = $1 and b.session_id = s.id and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED')) b
where s.tenant_id = $1 and s.seats_taken <> b.seats`,
	},
	{
		Name: "no session has more seats taken than it has", Invariant: NeverOversold, sql: `
select id::text, format('seats_taken is %s of %s', seats_taken, capacity) from sessions
where tenant_id = $1 and seats_taken > capacity`,
	},
	{
		Name: "no active booking is in a session that is cancelled or deleted", Invariant: NeverOversold, sql: `
select b.id::text, format('it is %s in session %s', b.status, s.id)
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id
where b.tenant_id = $1 and b.status in ('PENDING', 'CONFIRMED', 'ATTENDED') and (s.state = 'CANCELLED' or s.deleted_at is not null)`,
	},
	{
		Name: "holds are the bookings that are pending", Invariant: NeverOversold, sql: `
select s.id::text, format('holds is %s, pending are %s', s.holds, b.n)
from sessions s cross join lateral (
  select count(*) as n from bookings b where b.tenant_id = $1 and b.session_id = s.id and b.status = 'PENDING') b
where s.tenant_id = $1 and s.holds <> b.n`,
	},
	{
		Name: "items are out with bookings that are on", Invariant: NeverOversold, sql: `
select r.id::text, format('it is %s with booking %s, which is %s', r.status, b.id, b.status)
from booking_items r join bookings b on b.tenant_id = r.tenant_id and b.id = r.booking_id
where r.tenant_id = $1 and r.status <> 'CANCELLED'
  and (b.status in ('CANCELLED', 'EXPIRED') or (r.status = 'PENDING') <> (b.status = 'PENDING'))`,
	},
	{
		Name: "the span of a booking is that of its session", Invariant: NeverOversold, sql: `
select b.id::text, format('%s to %s, its session %s to %s', b.starts_at, b.ends_at, s.starts_at, s.ends_at)
from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id
where b.tenant_id = $1 and (b.starts_at, b.ends_at) is distinct from (s.starts_at, s.ends_at)`,
	},
	{
		Name: "waiting entries are those of the queue", Invariant: OnePlace, sql: `
select s.id::text, format('waiting is %s, its queue has %s', s.waiting, e.n)
from sessions s cross join lateral (
  select count(*) as n from waitlist_entries e
  where e.tenant_id = $1 and e.session_id = s.id and e.status in ('WAITING', 'OFFERED')) e
where s.tenant_id = $1 and s.waiting <> e.n`,
	},
	{
		Name: "nobody has two places in one session", Invariant: OnePlace, sql: `
select session_id::text, format('member %s has %s places', member_id, count(*)) from (
  select session_id, member_id from bookings
  where tenant_id = $1 and status in ('PENDING', 'CONFIRMED', 'ATTENDED') and member_id is not null
  union all
  select session_id, member_id from waitlist_entries where tenant_id = $1 and status in ('WAITING', 'OFFERED')) x
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
		Name: "each line's balance is that of the line before plus its amount", Invariant: CreditsAddUp, sql: `
select id::text, format('line %s says %s; it is line %s and makes %s', line, balance, n, total) from (
  select id, line, balance, row_number() over w as n, sum(amount) over w as total
  from credit_entries where tenant_id = $1
  window w as (partition by subscription_id order by line)) x
where balance <> total or line <> n`,
	},
	{
		Name: "a booking holds what its lines moved", Invariant: CreditsAddUp, sql: `
select b.id::text, format('it holds %s, its lines say %s', b.credits, e.held)
from bookings b cross join lateral (
  select coalesce(-sum(amount), 0) as held from credit_entries e where e.tenant_id = $1 and e.booking_id = b.id) e
where b.tenant_id = $1 and b.credits <> e.held`,
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
		Name: "a cancellation in time has given its credits back", Invariant: CreditsAddUp, sql: `
select id::text, format('it was cancelled in time and holds %s', credits) from bookings
where tenant_id = $1 and status = 'CANCELLED' and not late_cancelled and credits > 0`,
	},
	{
		Name: "quotas count the bookings that count against them", Invariant: CreditsAddUp, sql: `
select u.subscription_id::text, format('%s of %s: used is %s, counted are %s', u.span, u.starts_on, u.used, b.n)
from usage u cross join lateral (
  select count(*) as n from bookings b join sessions s on s.tenant_id = b.tenant_id and s.id = b.session_id
  where b.tenant_id = $1 and b.subscription_id = u.subscription_id and b.counted
    and u.starts_on = case u.span when 'DAY' then s.local_date else s.local_date - (extract(isodow from s.local_date)::int - 1) end) b
where u.tenant_id = $1 and u.used <> b.n`,
	},
	{
		Name: "every promotion stands in a decision", Invariant: SeatsFindMoves, sql: `
select e.id::text, format('it became booking %s without one', e.booking_id)
from waitlist_entries e
where e.tenant_id = $1 and e.status = 'BOOKED' and not exists (
  select from decisions d
  where d.tenant_id = $1 and d.session_id = e.session_id
    and d.verdicts @> jsonb_build_array(jsonb_build_object('entry_id', e.id, 'reason', 'PROMOTED')))`,
	},
	{
		Name: "whoever was promoted has a booking", Invariant: SeatsFindMoves, sql: `
select e.id::text, format('it is %s, its booking %s', e.status, coalesce(b.id::text, 'is missing'))
from waitlist_entries e left join bookings b on b.tenant_id = e.tenant_id and b.id = e.booking_id
where e.tenant_id = $1 and e.status = 'BOOKED' and (b.id is null or b.member_id <> e.member_id or b.session_id <> e.session_id)`,
	},
}

// Violation is a row that breaks a check.
type Violation struct {
	Row    string // its id
	Detail string
}

// FindViolations reads what breaks a check in one tenant.
func FindViolations(b *pg.Batch, in tenant.TenantID, c Check, into *[]Violation) {
	pg.Collect(b.Queue(c.sql, in), into, pgx.RowToStructByPos[Violation])
}

// ListTenants reads the directory. It wants an operator's transaction, or a tenant's, which then sees itself.
func ListTenants(b *pg.Batch, into *[]tenant.TenantID) {
	pg.Collect(b.Queue(`select tenant_id from directory order by tenant_id`), into, pgx.RowTo[tenant.TenantID])
}
