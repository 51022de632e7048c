package housekeeping_test

import (
	"context"
	"slices"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Each check finds what it is there for: a studio without violations is damaged in one way at a time.
func TestVerify_FindsEachKindOfDamage(t *testing.T) {
	t.Parallel()
	// Leo, who waits, has an offer of a second seat.
	const offered = `
update sessions set capacity = 2, seats_taken = 2;
insert into waitlist_rounds (tenant_id, id, session_id, freed, opened_at)
select tenant_id, id, session_id, 1, created_at from waitlist_entries where status = 'WAITING';
insert into waitlist_offers (tenant_id, id, round_id, session_id, entry_id, member_id, seats, status, try, created_at,
expires_at, claim_hash, code)
select tenant_id, id, id as round, session_id, id as entry, member_id, 1, 'LIVE', 1, created_at,
created_at + interval '1 hour', '', '' from waitlist_entries where status = 'WAITING';
update waitlist_entries set status = 'OFFERED' where status = 'WAITING'`
	damages := map[string][]string{
		"seats taken are those of bookings and offers": {`update sessions set seats_taken = 0`},
		"no session has more seats taken than its capacity": {
			`alter table sessions drop constraint sessions_capacity`, `update sessions set seats_taken = 11`,
		},
		"no active booking is in a session that is cancelled or deleted": {`update sessions set state = 'CANCELLED'`},
		"the span of a booking is that of its session": {
			`update bookings set ends_at = ends_at + interval '1 hour'`,
		},
		"holds counts the pending bookings": {`update sessions set holds = 1`},
		"item reservations match the status of their bookings": {
			`insert into items (tenant_id, id, location_id, name, stock, created_at, updated_at)
			 select tenant_id, id, id as location, 'Cart', 1, created_at, updated_at from locations`,
			`insert into booking_items (tenant_id, id, booking_id, line_id, item_id, number, status, out_from, out_until)
			 select b.tenant_id, b.id, b.id as booking, b.id as line, i.id, 1, 'CONFIRMED', b.starts_at, b.ends_at
			from bookings b, items i where b.status = 'CANCELLED'`,
		},
		"no unit of an item is reserved twice at once": {
			`insert into items (tenant_id, id, location_id, name, stock, created_at, updated_at)
			 select tenant_id, id, id as location, 'Cart', 1, created_at, updated_at from locations`,
			`alter table booking_items drop constraint booking_items_out`,
			`insert into booking_items (tenant_id, id, booking_id, line_id, item_id, number, status, out_from, out_until)
			 select b.tenant_id, gen_random_uuid(), b.id as booking, b.id as line, i.id, 1, 'CONFIRMED', b.starts_at, b.ends_at
			 from bookings b, items i, generate_series(1, 2) where b.status = 'CONFIRMED'`,
		},
		"no member has two active bookings in one session": {
			`drop index bookings_active`,
			`update bookings set status = 'CONFIRMED', member_id = (select min(member_id::text)::uuid from bookings)`,
		},
		"bookings that allow no overlap have none": {
			`alter table bookings drop constraint bookings_overlap`, `drop index bookings_active`,
			`update bookings set status = 'CONFIRMED', exclusive = true, member_id = (select min(member_id::text)::uuid
				from bookings)`,
		},
		"no resource and no coach is in two sessions at once": {
			`alter table sessions drop constraint sessions_staff_busy`,
			`update sessions set coach_id = (select min(id::text)::uuid from members)`,
			`insert into sessions (tenant_id, id, service_id, location_id, coach_id, title, starts_at, ends_at, local_date,
				capacity, state, created_at, updated_at)
			 select tenant_id, gen_random_uuid(), service_id, location_id, coach_id, title, starts_at, ends_at, local_date,
			capacity, state, created_at, updated_at from sessions`,
		},
		"waiting counts the entries that name the session": {`update sessions set waiting = 2`},
		"queues count their entries":                       {`update waitlist_queues set waiting = 2`},
		"entries have places while they are waiting or offered": {
			`update waitlist_entries set status = 'EXPIRED', closed_at = created_at where status = 'WAITING'`,
		},
		"places are in the queues of their sessions": {`update sessions set local_date = local_date + 1`},
		"an entry is offered exactly if it has a live offer": {
			`update waitlist_entries set status = 'OFFERED' where status = 'WAITING'`,
		},
		"live offers are for bookable sessions":      {offered, `update sessions set blocked = true`},
		"no round offers more seats than were freed": {offered, `update waitlist_offers set seats = 2`},
		"a round keeps seats only while it has a shared offer": {
			offered, `update waitlist_rounds set keeps = 1`,
			`update waitlist_offers set status = 'DECLINED', closed_at = created_at`,
		},
		"every accepted offer has a booking": {
			offered,
			`update waitlist_offers o set status = 'ACCEPTED', closed_at = o.created_at, booking_id = b.id from bookings b
				where b.status = 'CANCELLED'`,
		},
		"no member has two bookings or entries in one session": {
			`update waitlist_places p set member_id = b.member_id from bookings b where b.session_id = p.session_id
				and b.status = 'CONFIRMED'`,
		},
		"balances are the sums of their ledgers":                        {`update subscriptions set balance = balance + 1`},
		"the balance of a ledger line is the sum of all lines up to it": {`update credit_entries set balance = balance + 1`},
		"a booking holds the credits that its ledger lines charged": {
			`update bookings set credits = 3 where credits = 1`,
		},
		"the totals of a payment line are the sums of all lines up to it": {
			`insert into payment_entries (tenant_id, id, booking_id, line, kind, amount_currency, amount_units, amount_nanos,
				captured_units, captured_nanos, refunded_units, refunded_nanos, actor, created_at)
			 select tenant_id, gen_random_uuid(), id, 1, 'CAPTURED', 'EUR', 5, 0, 6, 0, 0, 0, 'ana', created_at from bookings`,
		},
		"the payment of a booking is what its lines say": {`update bookings set payment_status = 'CAPTURED'`},
		"unlimited and course plans move no credits":     {`update plans set kind = 'UNLIMITED', credits = 0`},
		"no booking is on a course plan":                 {`update plans set kind = 'COURSE', credits = 0`},
		"a cancellation in time has refunded its credits": {
			`update bookings set status = 'CANCELLED', cancelled_at = created_at where credits = 1`,
		},
		"quotas count the bookings that count against them": {`update usage set used = used + 1`},
		"every booked entry has a decision":                 {`delete from waitlist_decisions`},
		"every booked entry has a booking": {
			`update waitlist_entries e set booking_id = b.id from bookings b where e.status = 'BOOKED'
				and b.status = 'CANCELLED'`,
		},
		"has_workouts says whether a session has workouts": {`update sessions set has_workouts = true`},
		"the tokens of devices are sealed": {
			`insert into devices (tenant_id, id, member_id, kind, token, token_hash, created_at, seen_at)
			 select tenant_id, gen_random_uuid(), id, 'IOS', 'token', sha256(id::text::bytea), created_at, created_at
			 from members`,
		},
	}
	for check, damage := range damages {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			mia, noa, leo := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Leo")
			studio.Subscribe(noa, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, WeeklyLimit: new(5)}))
			class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 3})
			place := studio.MustBook(mia, class)
			studio.MustWaitlist(noa, class)
			studio.MustWaitlist(leo, class)
			expect.OK(t)(studio.Cancel(mia, place))
			studio.WantSound()
			for _, sql := range damage {
				studio.Exec(sql)
			}
			violations := expect.Value(studio.App.Housekeeping.Verify(context.Background(), studio.Tenant))(t)
			test.True(t, slices.ContainsFunc(violations, func(v housekeeping.Violation) bool { return v.Check == check }),
				test.Sprintf("not found among %+v", violations))
		})
	}
	test.EqOp(t, len(damages), len(coredb.Checks), test.Sprintf("there are checks, and damage for %d", len(damages)))
}
