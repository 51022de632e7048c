// Package pg is the way to Postgres: connection pools, the transaction runner,
// SQLSTATE classes, migrations, and a Postgres of one's own for development.
// It knows no table.
//
// A transaction has a tenant, always; row-level security shows it that tenant's
// rows and nothing else. Statements are sent in batches, because round trips
// are what a transaction costs: BEGIN and the tenant travel with the first
// batch, COMMIT travels with the last writes.
package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/tenant"
)

// DefaultRole is the runtime role that the migrations create. It owns no table
// and may not bypass row-level security.
const DefaultRole = "berth_app"

// Config says how to reach the database and how hard to lean on it. Zero values
// mean the defaults.
type Config struct {
	// URL is a connection URL or keyword list, as libpq takes it.
	URL string
	// Role is assumed by every connection right at its start. The role that
	// logs in must be it or a member of it. Default DefaultRole.
	Role string
	// ApplicationName shows in pg_stat_activity. Default "berth".
	ApplicationName string

	// CommandConns and ReadConns are the sizes of the pools that run
	// transactions and reads. Default 16 and 8: with more, connections fight
	// each other for the processor and for rows.
	CommandConns, ReadConns int32

	// StatementTimeout (default 10 s), LockTimeout (5 s) and IdleTimeout (15 s,
	// for a transaction whose client went silent) are enforced by the server.
	StatementTimeout, LockTimeout, IdleTimeout time.Duration

	// MaxAttempts is how often a transaction is run before it is given up as
	// contended. Default 10.
	MaxAttempts int

	// Registerer receives the metrics; nil keeps them private. Two databases in
	// one process need registerers that add a label.
	Registerer prometheus.Registerer
	// Logger hears of lost listening connections. Default: silence.
	Logger *slog.Logger
	// Tracer sees every statement.
	Tracer pgx.QueryTracer
	// Dial replaces the network, for tests.
	Dial pgconn.DialFunc
}

// Scope is where a transaction takes place. Row-level security holds it there.
type Scope struct{ Tenant tenant.TenantID }

// DB is one database, reached as the runtime role. It is safe for concurrent use.
type DB struct {
	config   Config
	commands *pgxpool.Pool
	reads    *pgxpool.Pool
	metrics  *metrics
}

// Open prepares the pools. Connections are made when they are first needed, or
// by Warm; Open itself fails only on a configuration that can never work.
func Open(ctx context.Context, config Config) (*DB, error) {
	config.Role = cmp.Or(config.Role, DefaultRole)
	config.ApplicationName = cmp.Or(config.ApplicationName, "berth")
	config.CommandConns = cmp.Or(config.CommandConns, 16)
	config.ReadConns = cmp.Or(config.ReadConns, 8)
	config.StatementTimeout = cmp.Or(config.StatementTimeout, 10*time.Second)
	config.LockTimeout = cmp.Or(config.LockTimeout, 5*time.Second)
	config.IdleTimeout = cmp.Or(config.IdleTimeout, 15*time.Second)
	config.MaxAttempts = cmp.Or(config.MaxAttempts, 10)
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))

	db := &DB{config: config}
	var err error
	if db.commands, err = db.openOwn(ctx, config.CommandConns, commandSettings); err != nil {
		return nil, err
	}
	if db.reads, err = db.openOwn(ctx, config.ReadConns, readSettings); err != nil {
		db.commands.Close()
		return nil, err
	}
	if db.metrics, err = newMetrics(config.Registerer, map[string]*pgxpool.Pool{"command": db.commands, "read": db.reads}); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// The command pool's planner may only follow indexes. A sequential scan takes a
// predicate lock on the whole relation, and on a small or unanalysed table the
// planner prefers one: every transaction would then conflict with every other.
// A generic plan spares planning at each execution.
var commandSettings = map[string]string{
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"plan_cache_mode":  "force_generic_plan",
}

// A page is built from one snapshot. As defaults of the session these hold for
// an implicit transaction too, which has no BEGIN to say so.
var readSettings = map[string]string{
	"default_transaction_isolation": "repeatable read",
	"default_transaction_read_only": "on",
}

// OpenPool makes one more pool as the runtime role, for a library that brings
// its own SQL, such as a job queue. It has no tenant, so row-level security
// hides every tenant's rows from it. Settings are server settings by name. The
// caller closes the pool.
func (db *DB) OpenPool(ctx context.Context, size int32, settings map[string]string) (*pgxpool.Pool, error) {
	config, err := db.poolConfig(size, settings)
	if err != nil {
		return nil, err
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// openOwn makes one of the two pools that this package runs statements on.
func (db *DB) openOwn(ctx context.Context, size int32, settings map[string]string) (*pgxpool.Pool, error) {
	config, err := db.poolConfig(size, settings)
	if err != nil {
		return nil, err
	}
	// A caller that leaves must not cost the connection with its prepared
	// statements: let a short statement end, ask the server to stop a long one,
	// and hang up only when it does not listen.
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, CancelRequestDelay: 100 * time.Millisecond, DeadlineDelay: 3 * time.Second}
	}
	return pgxpool.NewWithConfig(ctx, config)
}

func (db *DB) poolConfig(size int32, settings map[string]string) (*pgxpool.Config, error) {
	config, err := parseURL(db.config.URL)
	if err != nil {
		return nil, err
	}
	db.prepare(config.ConnConfig)
	maps.Copy(config.ConnConfig.RuntimeParams, settings)
	// Connections wait for the next rush; their age alone retires them, one by one.
	config.MaxConns = size
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = time.Hour, 15*time.Minute
	config.MaxConnIdleTime = config.MaxConnLifetime
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		registerTypes(conn)
		return nil
	}
	return config, nil
}

// parseURL understands the pool's own parameters too, so that a URL which has
// them means the same everywhere.
func parseURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	return config, nil
}

// prepare puts the role and the timeouts into the startup message, where they
// cost no round trip and cannot be forgotten by a reset.
func (db *DB) prepare(config *pgx.ConnConfig) {
	config.Tracer = db.config.Tracer
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	config.RuntimeParams["role"] = db.config.Role
	config.RuntimeParams["application_name"] = db.config.ApplicationName
	config.RuntimeParams["statement_timeout"] = milliseconds(db.config.StatementTimeout)
	config.RuntimeParams["lock_timeout"] = milliseconds(db.config.LockTimeout)
	config.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(db.config.IdleTimeout)
	if db.config.Dial != nil {
		config.DialFunc = db.config.Dial
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }

// Warm opens every connection of both pools. Do it before taking traffic: the
// first rush would otherwise pay for logging in and forking.
func (db *DB) Warm(ctx context.Context) error {
	for _, pool := range []*pgxpool.Pool{db.commands, db.reads} {
		errs := make(chan error)
		held := make(chan *pgxpool.Conn, pool.Config().MaxConns)
		for range cap(held) {
			go func() {
				conn, err := pool.Acquire(ctx)
				if err == nil {
					held <- conn
				}
				errs <- err
			}()
		}
		var failed error
		for range cap(held) {
			failed = errors.Join(failed, <-errs)
		}
		close(held)
		for conn := range held {
			conn.Release()
		}
		if failed != nil {
			return fmt.Errorf("warm the pools: %w", failed)
		}
	}
	return nil
}

// Close waits for running transactions and closes the connections.
func (db *DB) Close() {
	db.commands.Close()
	db.reads.Close()
	db.metrics.unregister()
}

// Ping asks the database for a sign of life.
func (db *DB) Ping(ctx context.Context) error { return db.reads.Ping(ctx) }
