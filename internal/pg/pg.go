// Package pg connects to Postgres: connection pools, transactions with retries, classes of SQLSTATE codes, and
// migrations. It knows no table.
//
// A transaction always has a tenant, and row-level security limits it to that tenant's rows. Statements are sent in
// batches, because the cost of a transaction is its round trips: BEGIN and the tenant are sent with the first batch,
// COMMIT with the last writes.
package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/tenant"
)

// DefaultRole is the runtime role that the migrations create. It owns no table
// and cannot bypass row-level security.
const DefaultRole = "berth_app"

// Config says how to connect to the database and which limits apply. Zero values mean the defaults.
type Config struct {
	// URL is a connection URL or keyword list in libpq's syntax.
	URL string
	// Role is set on every new connection. The role that logs in must be this role or a member of it.
	// Default DefaultRole.
	Role string
	// ApplicationName shows in pg_stat_activity. Default "berth".
	ApplicationName string

	// CommandConns and ReadConns are the pool sizes for transactions and reads. Default 16 and 8:
	// more connections compete for CPU and rows.
	CommandConns, ReadConns int32

	// The server enforces StatementTimeout (default 10 s), LockTimeout (5 s)
	// and IdleTimeout (15 s, for a transaction whose client went silent).
	StatementTimeout, LockTimeout, IdleTimeout time.Duration

	// MaxAttempts limits how often a transaction runs before it fails with CONTENTION. Default 20: their pauses add up
	// to almost two seconds on average.
	MaxAttempts int

	// Registerer receives the metrics; nil keeps them private. Two databases in
	// one process need registerers that add a label.
	Registerer prometheus.Registerer
	// Logger receives lost listening connections, and the names of transactions whose body ignores an error of the
	// database. The default discards them.
	Logger *slog.Logger
	// Tracer sees every statement.
	Tracer pgx.QueryTracer
	// Dial replaces the network, for tests.
	Dial pgconn.DialFunc
}

// TxTracer is a Tracer that also learns on which connection each attempt of a transaction begins.
type TxTracer interface {
	TraceTxStart(conn *pgx.Conn, name string)
}

// Scope is the tenant of a transaction. Row-level security enforces it.
type Scope struct{ Tenant tenant.TenantID }

// DB is a database, accessed as the runtime role. It is safe for concurrent use.
type DB struct {
	config   Config
	pool     *pgxpool.Config // as its URL says
	commands *pgxpool.Pool
	reads    *pgxpool.Pool
	metrics  *metrics
}

// Open prepares the pools. It fails only on an invalid configuration:
// connections are opened by Warm or when first needed.
func Open(ctx context.Context, config Config) (*DB, error) {
	config.Role = cmp.Or(config.Role, DefaultRole)
	config.ApplicationName = cmp.Or(config.ApplicationName, "berth")
	config.CommandConns = cmp.Or(config.CommandConns, 16)
	config.ReadConns = cmp.Or(config.ReadConns, 8)
	config.StatementTimeout = cmp.Or(config.StatementTimeout, 10*time.Second)
	config.LockTimeout = cmp.Or(config.LockTimeout, 5*time.Second)
	config.IdleTimeout = cmp.Or(config.IdleTimeout, 15*time.Second)
	config.MaxAttempts = cmp.Or(config.MaxAttempts, 20)
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))

	pool, err := parseURL(config.URL)
	if err != nil {
		return nil, err
	}
	db := &DB{config: config, pool: pool}
	if db.commands, err = db.openPool(ctx, config.CommandConns, commandSettings); err != nil {
		return nil, err
	}
	if db.reads, err = db.openPool(ctx, config.ReadConns, readSettings); err != nil {
		db.commands.Close()
		return nil, err
	}
	pools := map[string]*pgxpool.Pool{"command": db.commands, "read": db.reads}
	if db.metrics, err = newMetrics(config.Registerer, pools); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// The planner of the command pool may only use indexes. A sequential scan takes a predicate lock on the whole table,
// so every transaction would conflict with every other, and the planner prefers one on a small or unanalysed table.
// A generic plan saves planning on each execution.
var commandSettings = map[string]string{
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
	"plan_cache_mode":  "force_generic_plan",
}

// All statements of a read see one snapshot. Session defaults also apply to an implicit transaction, which has no
// BEGIN.
var readSettings = map[string]string{
	"default_transaction_isolation": "repeatable read",
	"default_transaction_read_only": "on",
}

// OpenPool opens another pool as the runtime role, for a caller with its own SQL. It has no tenant, so row-level
// security hides every tenant's rows from it. settings are server settings by name. The caller closes the pool.
func (db *DB) OpenPool(ctx context.Context, size int32, settings map[string]string) (*pgxpool.Pool, error) {
	return pgxpool.NewWithConfig(ctx, db.poolConfig(size, settings))
}

// openPool opens one of the two pools that this package runs statements on.
func (db *DB) openPool(ctx context.Context, size int32, settings map[string]string) (*pgxpool.Pool, error) {
	config := db.poolConfig(size, settings)
	// A cancelled caller must not cost a connection and its prepared statements: let a short statement end,
	// ask the server to cancel a long one, and close the connection only if the server does not react.
	config.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{
			Conn: conn, CancelRequestDelay: 100 * time.Millisecond, DeadlineDelay: 3 * time.Second,
		}
	}
	return pgxpool.NewWithConfig(ctx, config)
}

func (db *DB) poolConfig(size int32, settings map[string]string) *pgxpool.Config {
	config := db.pool.Copy()
	db.adapt(config.ConnConfig)
	all := db.settings(settings)
	// Idle connections stay open for the next burst. Only age closes them, one by one.
	config.MaxConns, config.MaxConnIdleTime = size, config.MaxConnLifetime
	config.MaxConnLifetimeJitter = config.MaxConnLifetime / 4
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := configure(ctx, conn, all); err != nil {
			return err
		}
		return registerTypes(conn)
	}
	return config
}

// dialer opens connections that end within half a minute if the peer is gone, also while they wait for notifications.
var dialer = net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
	Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3,
}}

// parseURL also accepts the parameters of pgxpool, so a URL that has them means the same everywhere.
func parseURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	config.ConnConfig.DialFunc = dialer.DialContext
	return config, nil
}

// adapt completes the configuration of a connection. Of the settings, only its name is in the startup message.
func (db *DB) adapt(config *pgx.ConnConfig) {
	config.Tracer = db.config.Tracer
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	config.RuntimeParams["application_name"] = db.config.ApplicationName
	if db.config.Dial != nil {
		config.DialFunc = db.config.Dial
	}
}

// Warm opens all connections of both pools. Call it before taking traffic:
// otherwise the first burst pays for logins and forks.
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
