package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/internal/tenant"
)

// dbSize is how much data a database has before anything is measured.
type dbSize struct{ tenants, bookings int }

func (s dbSize) String() string {
	return fmt.Sprintf("%d tenants, %d bookings", s.tenants, s.bookings)
}

// The size of the main tenant. The callers are its members.
const (
	sessionCount = 10_000
	memberCount  = 20_000
)

// Three tenants have the same size: mainTenant for bookings through the service, which are verified afterwards;
// pgbenchTenant for pgbench, which writes the same rows again and again without a check; and naiveTenant for the naive
// way, which keeps no counters. All others are smaller and are numbered from firstOtherTenant.
const (
	mainTenant       = 1
	pgbenchTenant    = 2
	naiveTenant      = 3
	firstOtherTenant = 16
)

func tenantID(n int) tenant.TenantID {
	return tenant.MustParse[tenant.TenantID](numberedID("a000", n))
}

// others is how many sessions and members each of the other tenants has.
func (s dbSize) others() (sessions, members int) {
	return max(20, sessionCount/s.tenants), max(50, memberCount/s.tenants)
}

// fill writes tenants, each with members on an unlimited plan and sessions for two weeks, and the past bookings of the
// main tenant. Ids count up, so that pgbench can compute them.
func (b *testbed) fill(ctx context.Context, size dbSize, progress func(string)) error {
	now := time.Now().UTC()
	if err := b.fillTenants(ctx, now, mainTenant, naiveTenant, sessionCount, memberCount); err != nil {
		return err
	}
	const tenantsAtOnce, bookingsAtOnce = 500, 200_000
	sessions, members := size.others()
	for from := 0; from < size.tenants-1; from += tenantsAtOnce {
		until := min(from+tenantsAtOnce, size.tenants-1)
		if err := b.fillTenants(ctx, now, firstOtherTenant+from, firstOtherTenant+until-1, sessions, members); err != nil {
			return err
		}
		progress(fmt.Sprintf("filled: %d of %d tenants", until+1, size.tenants))
	}
	begun := time.Now()
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(2)
	for from := 0; from < size.bookings; from += bookingsAtOnce {
		until := min(from+bookingsAtOnce, size.bookings)
		work.Go(func() error {
			if err := b.fillBookings(ctx, now, from, until); err != nil {
				return err
			}
			left := time.Duration(float64(time.Since(begun)) / float64(until) * float64(size.bookings-until))
			progress(fmt.Sprintf("filled: %d of %d bookings, %s left", until, size.bookings, left.Round(time.Second)))
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	_, err := b.owner.Exec(context.WithoutCancel(ctx), "vacuum analyze")
	return err
}

// fillTenants writes the tenants from number first to last.
func (b *testbed) fillTenants(ctx context.Context, now time.Time, first, last, sessions, members int) error {
	return b.fillWith(ctx, now, strings.NewReplacer(
		"{tenants}",
		fmt.Sprintf("(select %s as tenant from generate_series(%d, %d) t) t", numbered("a000", "t"), first, last),
		"{sessions}", fmt.Sprintf("generate_series(0, %d) n", sessions-1),
		"{members}", fmt.Sprintf("generate_series(0, %d) n", members), // the last one is staff
		"{session}", numbered("9000", "n"), "{member}", numbered("b000", "n"),
		"{subscription}", numbered("8000", "n"),
		"{staff}", fmt.Sprint(members), "{minutes}", fmt.Sprint(max(2, 14*24*60/sessions)),
	),
		`insert into directory select tenant, $1 from {tenants}`,
		`insert into tenants (tenant_id, name, time_zone, locale, currency, takes_payments, created_at, updated_at)
		  select tenant, 'Bench', 'UTC', 'en', 'EUR', true, $1, $1 from {tenants}`,
		`insert into roles (tenant_id, name, built_in, created_at, updated_at)
		  select tenant, r, true, $1, $1 from {tenants}, unnest('{owner,admin,coach,member,partner}'::text[]) r`,
		`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at)
		  select tenant, tenant as id, 'Bench', 'UTC', $1, $1 from {tenants}`,
		`insert into services (tenant_id, id, name, duration_seconds, max_party, created_at, updated_at)
		  select tenant, tenant as id, 'Bench', 3600, 1, $1, $1 from {tenants}`,
		`insert into plans (tenant_id, id, name, kind, allow_overlap, created_at, updated_at)
		  select tenant, tenant as id, 'Unlimited', 'UNLIMITED', true, $1, $1 from {tenants}`,
		`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity,
		    state, created_at, updated_at)
		  select tenant, {session}, tenant as service, tenant as location, 'Bench', s, s + interval '1 hour',
		    (s at time zone 'UTC')::date, 1000000, 'PUBLISHED', $1, $1
		  from {tenants}, {sessions} cross join lateral
		    (select $1::timestamptz + interval '2 days' + n * {minutes} * interval '1 minute' as s) x`,
		`insert into members (tenant_id, id, subject, name, name_key, created_at, updated_at)
		  select tenant, {member}, 'bench-' || n, 'Bench ' || n, 'bench ' || n, $1, $1 from {tenants}, {members}`,
		`insert into member_roles (tenant_id, member_id, role, created_at)
		  select tenant, {member}, case n when {staff} then 'admin' else 'member' end, $1 from {tenants}, {members}`,
		`insert into subscriptions (tenant_id, id, member_id, plan_id, status, starts_at, created_at, updated_at)
		  select tenant, {subscription}, {member}, tenant, 'ACTIVE', $1, $1, $1 from {tenants}, {members}`,
	)
}

// pastSeats is the number of bookings of each past session.
const pastSeats = 20

// fillBookings writes past sessions with their bookings, those with the numbers first to end-1.
func (b *testbed) fillBookings(ctx context.Context, now time.Time, first, end int) error {
	return b.fillWith(ctx, now, strings.NewReplacer(
		"{tenant}", "'"+tenantID(mainTenant).String()+"'::uuid", "{seats}", fmt.Sprint(pastSeats),
		"{sessions}", fmt.Sprintf(`(
		  select n, $1::timestamptz - interval '1 day' - n * interval '2 minutes' as s
		  from generate_series(%d, %d) n) n`, first/pastSeats, (end-1)/pastSeats),
		"{session}", numbered("9100", "n"), "{booking}", numbered("c000", "n::bigint * 20 + seat"),
		"{member}", numbered("b000", pastMember), "{subscription}", numbered("8000", pastMember),
	),
		`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity,
		    seats_taken, state, created_at, updated_at)
		  select {tenant}, {session}, {tenant}, {tenant}, 'Bench', s, s + interval '1 hour',
		    (s at time zone 'UTC')::date, {seats}, {seats}, 'PUBLISHED', s, s
		  from {sessions}`,
		`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, subscription_id,
		    starts_at, ends_at, created_by, created_at, updated_at, confirmed_at, checked_in_at, check_in_method)
		  select {tenant}, {booking}, {session}, {member}, 1, 'ATTENDED', 'ONLINE', {subscription},
		    s, s + interval '1 hour', {member}::text, s as created, s as updated, s as confirmed, s as checked, 'MANUAL'
		  from {sessions}, generate_series(0, {seats} - 1) seat`,
	)
}

// pastMember is the SQL of the member who had a seat in a past session.
var pastMember = fmt.Sprintf("(n * 7 + seat * 991) %% %d", memberCount)

// fillWith runs statements on a connection that does not check foreign keys, to save time: these rows satisfy them.
func (b *testbed) fillWith(ctx context.Context, now time.Time, with *strings.Replacer, statements ...string) error {
	conn, err := pgx.Connect(ctx, b.postgres.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "set session_replication_role = replica; set synchronous_commit = off"); err != nil {
		return err
	}
	for _, sql := range statements {
		sql = with.Replace(sql)
		if _, err := conn.Exec(ctx, sql, now); err != nil {
			return fmt.Errorf("%w in %s", err, sql)
		}
	}
	return nil
}

// numbered is the SQL of the UUID for an integer expression. Each kind of row has a group of its own.
func numbered(group, n string) string {
	return fmt.Sprintf("('00000000-0000-7000-%s-' || lpad(to_hex((%s)::bigint), 12, '0'))::uuid", group, n)
}

// numberedID is the UUID that numbered computes, as text.
func numberedID(group string, n int) string {
	return fmt.Sprintf("00000000-0000-7000-%s-%012x", group, n)
}
