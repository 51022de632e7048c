package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/migrations"
)

// The size of the benchmark's tenant.
const (
	benchSessions = 10_000
	benchMembers  = 20_000
)

// Tenants of the same size: one for bookings through the service, whose data must be sound afterwards; one for
// pgbench, which writes the same rows again and again without looking; and one for the naive way, which keeps no counters.
var (
	benchTenant   = tenant.MustParse[tenant.TenantID]("00000000-0000-7000-a000-000000000001")
	pgbenchTenant = tenant.MustParse[tenant.TenantID]("00000000-0000-7000-a000-000000000002")
	naiveTenant   = tenant.MustParse[tenant.TenantID]("00000000-0000-7000-a000-000000000003")
)

// benchHouse is a node on a durable Postgres of its own, in a folder that goes when it closes.
type benchHouse struct {
	*node
	folder   string
	postgres *pg.Development
	address  string
	stop     context.CancelFunc
	served   chan error
	others   []otherNode
	nextUser int                         // members that no run of its own has booked for yet
	nextStep int64                       // where pgbench's enumeration goes on
	nextHot  int                         // sessions that no run has crowded into
	visits   [benchSessions]atomic.Int32 // members that have booked a session in turn
}

func openBench(ctx context.Context, progress func(string)) (_ *benchHouse, err error) {
	folder, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		return nil, err
	}
	// Postgres's user may enter, so that everything is in the one folder that goes.
	if err := os.Chmod(folder, 0o711); err != nil { //nolint:gosec // what is secret in it is readable by its owner alone
		return nil, err
	}
	h := &benchHouse{folder: folder, served: make(chan error, 1), stop: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if h.postgres, err = pg.StartDevelopment(ctx, pg.DevConfig{DataDir: filepath.Join(folder, "postgres"), Progress: progress}); err != nil {
		return nil, err
	}
	if err = pg.Migrate(ctx, h.postgres.URL, migrations.FS, func(string) {}); err != nil {
		return nil, err
	}
	progress(fmt.Sprintf("filling: %d sessions, %d members", benchSessions, benchMembers))
	if err = h.fill(ctx); err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	if h.node, err = openNode(ctx, log, h.postgres.URL, keyConfig{Data: folder, Issuer: "berth", Audience: "berth"}, listenConfig{Drain: time.Second}); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.address = listener.Addr().String()
	serving, stop := context.WithCancel(ctx)
	h.stop = stop
	go func() { h.served <- h.serve(serving, listener, h.postgres.Done()) }()
	return h, nil
}

// otherNode is one more node on the same database, without a door to the network.
type otherNode struct {
	app     *app.App
	db      *pg.DB
	metrics *prometheus.Registry
}

// join adds nodes.
func (h *benchHouse) join(ctx context.Context, nodes int) error {
	for range nodes {
		other := otherNode{metrics: prometheus.NewRegistry()}
		var err error
		if other.db, err = pg.Open(ctx, pg.Config{URL: h.postgres.URL, Registerer: other.metrics}); err != nil {
			return err
		}
		other.app = app.New(app.Config{DB: other.db, Now: time.Now})
		h.others = append(h.others, other)
		if err := other.db.Warm(ctx); err != nil {
			return err
		}
	}
	return nil
}

// close ends what runs and removes what was written.
func (h *benchHouse) close() error {
	var err error
	if h.address != "" {
		h.stop()
		err = <-h.served
	}
	for _, other := range h.others {
		other.app.Drain()
		other.db.Close()
	}
	if h.node != nil {
		h.node.close()
	}
	if h.postgres != nil {
		err = errors.Join(err, h.postgres.Stop())
	}
	return errors.Join(err, os.RemoveAll(h.folder))
}

// fill writes, for each tenant, sessions for two weeks and members with an unlimited plan each. Their ids count up, so
// that pgbench can name them.
func (h *benchHouse) fill(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, h.postgres.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	now := time.Now().UTC()
	for _, sql := range []string{
		`insert into directory values ($1, $2)`,
		`insert into tenants (tenant_id, name, time_zone, locale, currency, takes_payments, created_at, updated_at) values ($1, 'Bench', 'UTC', 'en', 'EUR', true, $2, $2)`,
		`insert into roles (tenant_id, name, built_in, created_at, updated_at) select $1, r, true, $2, $2 from unnest('{owner,admin,coach,member,partner}'::text[]) r`,
		`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $1, 'Bench', 'UTC', $2, $2)`,
		`insert into services (tenant_id, id, name, duration_seconds, max_party, created_at, updated_at) values ($1, $1, 'Bench', 3600, 1, $2, $2)`,
		`insert into plans (tenant_id, id, name, kind, allow_overlap, created_at, updated_at) values ($1, $1, 'Unlimited', 'UNLIMITED', true, $2, $2)`,
		fmt.Sprintf(`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, capacity, state, created_at, updated_at)
		  select $1, %s, $1, $1, 'Bench', s, s + interval '1 hour', (s at time zone 'UTC')::date, 1000000, 'PUBLISHED', $2, $2
		  from generate_series(0, %d) n cross join lateral (select $2::timestamptz + interval '2 days' + n * interval '2 minutes' as s) x`, numbered("9000", "n"), benchSessions-1),
		fmt.Sprintf(`insert into members (tenant_id, id, subject, name, created_at, updated_at) select $1, %s, 'bench-' || n, 'Bench ' || n, $2, $2 from generate_series(0, %d) n`, numbered("b000", "n"), benchMembers-1),
		`insert into member_roles (tenant_id, member_id, role, created_at) select $1, id, 'member', $2 from members where tenant_id = $1`,
		fmt.Sprintf(`insert into subscriptions (tenant_id, id, member_id, plan_id, status, starts_at, created_at, updated_at)
		  select $1, %s, %s, $1, 'ACTIVE', $2, $2, $2 from generate_series(0, %d) n`, numbered("8000", "n"), numbered("b000", "n"), benchMembers-1),
	} {
		for _, id := range []tenant.TenantID{benchTenant, pgbenchTenant, naiveTenant} {
			if _, err := conn.Exec(ctx, sql, id.String(), now); err != nil {
				return fmt.Errorf("%w in %s", err, sql)
			}
		}
	}
	_, err = conn.Exec(ctx, "vacuum analyze")
	return err
}

// numbered is the SQL of a UUID that counts with an integer expression; the group tells kinds apart.
func numbered(group, n string) string {
	return fmt.Sprintf("('00000000-0000-7000-%s-' || lpad(to_hex((%s)::bigint), 12, '0'))::uuid", group, n)
}

func (h *benchHouse) verify(ctx context.Context, progress func(string)) error {
	violations, err := h.app.Verify(ctx, benchTenant)
	if err != nil {
		return err
	}
	for _, v := range violations {
		progress(fmt.Sprintf("%s: %s: %s", v.Check, v.Row, v.Detail))
	}
	if len(violations) > 0 {
		return errors.New("the data are not sound")
	}
	progress("every invariant holds")
	return nil
}
