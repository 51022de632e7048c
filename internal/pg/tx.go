package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/berthhq/berth/internal/fault"
)

// Tx is a serializable transaction of one tenant. It has no InTx and no Begin, so transactions do not nest.
type Tx struct {
	session
	retryLocks []int64 // for WithLocks, if it is retried
	added      int     // statements and rows
}

// LockOnRetry is like WithLocks for keys that are only known inside the transaction.
// It applies if the transaction is retried.
func (tx *Tx) LockOnRetry(keys ...int64) { tx.retryLocks = append(tx.retryLocks, keys...) }

// Write queues a statement. Queued statements are sent in order, together with COMMIT when
// the transaction's body returns, or before the next Load.
//
// Nothing on this side can stop a COMMIT that is in the same pipeline. So a write that must be
// rejected has to be rejected by the database: by a constraint, or because the transaction has read
// the row that it updates, which SERIALIZABLE keeps as it was read. A body that must see what
// a write returned calls Flush, which costs a round trip, or Load.
//
// A reader of the returned statement runs once the transaction is durable, and not at all if it
// fails. If a Flush or Load follows, it runs then, before the commit.
func (tx *Tx) Write(sql string, args ...any) *Statement {
	tx.writeRows()
	s := &Statement{sql: sql, args: args}
	tx.pending = append(tx.pending, s)
	tx.added++
	return s
}

// Flush sends the queued writes now and runs their readers, so their errors and results are known before the commit.
func (tx *Tx) Flush(ctx context.Context) error { return tx.send(ctx, nil) }

// Option changes how a transaction runs.
type Option func(*run)

// WithLocks makes the transaction take an advisory lock on each key before it begins. It waits for other transactions
// that named one of the keys, on any node, so its snapshot includes their commits. This only saves retries:
// nothing depends on it for correctness, and if it cannot get the locks the transaction runs without them.
func WithLocks(keys ...int64) Option {
	sorted := slices.Clone(keys)
	slices.Sort(sorted) // all transactions lock in the same order, so they cannot deadlock
	return func(r *run) { r.locks = slices.Compact(sorted) }
}

// run is one transaction with all its attempts.
type run struct {
	db    *DB
	scope Scope
	name  string
	locks []int64
	lost  bool // the last attempt lost its connection
}

const (
	// commitGrace is how much longer than a statement a commit may take.
	commitGrace = 5 * time.Second
	// firstPause and longestPause bound the pauses between attempts.
	firstPause, longestPause = 2 * time.Millisecond, 250 * time.Millisecond
)

// InTx runs fn in a SERIALIZABLE transaction of the tenant and commits when fn returns nil.
// The name labels the metrics: "booking.book".
//
// If Postgres aborts the transaction because of a concurrent one (SQLSTATE 40001 or 40P01, at COMMIT
// too), or the connection breaks before COMMIT was sent, InTx runs fn again after a random pause, until
// ctx ends or Config.MaxAttempts is reached. Since fn may run several times, it must contain only SQL and
// values, and take the time and new IDs from outside.
//
// Errors: what fn returned, after a rollback; CONTENTION (fault.Unavailable) if every attempt
// failed; ErrCommitUnknown; the error of ctx; otherwise the database's error, for IsUnique and
// similar functions.
func (db *DB) InTx(
	ctx context.Context, scope Scope, name string, fn func(ctx context.Context, tx *Tx) error, options ...Option,
) error {
	if scope.Tenant.IsZero() || name == "" {
		return errUnscoped
	}
	r := &run{db: db, scope: scope, name: name}
	for _, option := range options {
		option(r)
	}
	start := time.Now()
	attempts, err := r.runWithRetries(ctx, fn)
	db.metrics.ran(name, attempts, time.Since(start), err)
	return err
}

var errUnscoped = fault.New(fault.Internal, fault.InternalError, "A transaction needs a tenant and a name.")

func (r *run) runWithRetries(ctx context.Context, fn func(context.Context, *Tx) error) (attempts int, err error) {
	for attempts = 1; ; attempts++ {
		retry, err := r.attempt(ctx, fn)
		if !retry {
			return attempts, err
		}
		if attempts >= r.db.config.MaxAttempts {
			if connectionLost(err) {
				return attempts, err
			}
			return attempts, fault.New(fault.Unavailable, fault.Contention,
				"Too many others are changing the same things. Try again.").WithCause(err)
		}
		r.lost = connectionLost(err)
		r.db.metrics.retried(r.name, err)
		pause(ctx, attempts, firstPause, longestPause)
		if stop := ctx.Err(); stop != nil {
			return attempts, fmt.Errorf("%w, retrying after %w", stop, err)
		}
	}
}

// acquire takes a connection from the pool. After a lost connection it checks the next ones, because a server that
// restarted leaves a pool of dead ones; but no more than the pool has: if new ones die, too, the caller pauses.
func (r *run) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	for dead := int32(0); ; dead++ {
		conn, err := r.db.commands.Acquire(ctx)
		if err != nil || !r.lost || dead > r.db.config.CommandConns || conn.Ping(ctx) == nil {
			return conn, err
		}
		conn.Release()
	}
}

// attempt runs the transaction once and reports whether to retry it.
func (r *run) attempt(ctx context.Context, fn func(context.Context, *Tx) error) (retry bool, err error) {
	conn, err := r.acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("%s: connect: %w", r.name, err)
	}
	// If fn panics, the connection is released inside its transaction, and the pool closes it.
	defer conn.Release()

	unlock, err := r.takeLocks(ctx, conn.Conn())
	if err != nil {
		return ctx.Err() == nil, fmt.Errorf("%s: take advisory locks: %w", r.name, err)
	}
	if tracer, ok := r.db.config.Tracer.(TxTracer); ok {
		tracer.TraceTxStart(conn.Conn(), r.name)
	}
	tx := &Tx{session: session{conn: conn.Conn(), pending: opening(r.scope)}}
	defer func() { WithLocks(slices.Concat(r.locks, tx.retryLocks)...)(r) }()
	if err = cmp.Or(fn(ctx, tx), ctx.Err()); err != nil || tx.failed != nil {
		tx.rollBack(ctx, unlock...)
		return r.classify(ctx, tx, err)
	}
	return r.commit(ctx, tx, unlock)
}

// classify says what the error of a body means, and whether to retry.
func (r *run) classify(ctx context.Context, tx *Tx, err error) (retry bool, _ error) {
	if tx.ignoredFailure(err) {
		r.db.config.Logger.ErrorContext(ctx, "the body of a transaction went on after an error of the database",
			slog.String("name", r.name), slog.Any("failed", tx.failed), slog.Any("error", err))
	}
	switch {
	case tx.failed == nil:
		return false, err // the body refused, or its caller left
	case ctx.Err() != nil:
		return false, fmt.Errorf("%s: %w", r.name, withContext(ctx, tx.failed))
	case contended(tx.failed) || connectionLost(tx.failed):
		// The transaction is gone, and with it the body's own error, if it returned another one.
		return true, fmt.Errorf("%s: %w", r.name, tx.failed)
	case err == nil:
		err = tx.wentOn()
	}
	return false, fmt.Errorf("%s: %w", r.name, err)
}

// commit sends the last writes and COMMIT in one pipeline. If a write fails, the server skips COMMIT.
func (r *run) commit(ctx context.Context, tx *Tx, unlock []*Statement) (retry bool, _ error) {
	tx.writeRows()
	if !tx.begun && len(tx.pending) == openingLen {
		tx.rollBack(ctx, unlock...) // nothing was read and there is nothing to write
		return false, nil
	}
	var committed, rolledBack bool
	var read []func() error
	statements := make([]*Statement, 0, len(tx.pending)+2)
	for _, s := range tx.pending {
		if reader := s.read; reader != nil {
			rows := &bufferedRows{types: tx.conn.TypeMap()}
			read = append(read, func() error { return reader(rows) })
			s = &Statement{sql: s.sql, args: s.args, bind: s.bind, read: rows.buffer}
		}
		statements = append(statements, s)
	}
	commit := &Statement{sql: "commit", read: func(rows pgx.Rows) error {
		rows.Close()
		tag := rows.CommandTag().String()
		committed, rolledBack = tag == "COMMIT", tag == "ROLLBACK"
		return nil
	}}
	statements = append(append(statements, commit), unlock...)

	// From here on, cancelling ctx must not make the outcome unknown.
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.db.config.StatementTimeout+commitGrace)
	defer cancel()
	done, dbErr, readErr := send(sendCtx, tx.conn, statements)
	if committed {
		if dbErr != nil {
			_ = tx.conn.Close(sendCtx) // the locks end with the connection
		}
		for _, reader := range read {
			if err := reader(); err != nil {
				return false, fmt.Errorf("%s: %w: %w", r.name, ErrCommitted, err)
			}
		}
		return false, nil
	}
	if rolledBack && dbErr == nil {
		return false, fmt.Errorf("%s: %w", r.name, pgx.ErrTxCommitRollback)
	}
	dbErr = cmp.Or(dbErr, readErr, pgx.ErrTxCommitRollback)
	if mayHaveCommitted(dbErr, done >= len(tx.pending)) {
		_ = tx.conn.Close(sendCtx) // it is broken, or the server has closed it
		return false, fmt.Errorf("%s: %w: %w", r.name, ErrCommitUnknown, dbErr)
	}
	retry = contended(dbErr) || (connectionLost(dbErr) && ctx.Err() == nil)
	tx.rollBack(ctx, unlock...)
	return retry, fmt.Errorf("%s: %w", r.name, dbErr)
}

// mayHaveCommitted reports whether the server may have executed COMMIT although the pipeline failed. It has not if the
// pipeline was never sent, if the server reported an ERROR, or if it closed the connection with a FATAL before it
// reached COMMIT. After it reached COMMIT it may close the connection although the transaction is durable; and a
// connection that just breaks says nothing.
func mayHaveCommitted(err error, reached bool) bool {
	var unsent pgx.ErrPreprocessingBatch
	if errors.As(err, &unsent) || pgconn.SafeToRetry(err) {
		return false
	}
	var e *pgconn.PgError
	return !errors.As(err, &e) || (e.SeverityUnlocalized != "ERROR" && reached)
}

// takeLocks takes the advisory locks of WithLocks and returns the statements that release them. It runs before
// the transaction begins, because a snapshot from before the wait would be stale. It fails only if the context ends or
// the connection is lost.
func (r *run) takeLocks(ctx context.Context, conn *pgx.Conn) (unlock []*Statement, err error) {
	if len(r.locks) == 0 {
		return nil, nil
	}
	// In a transaction that has failed, nothing can be prepared.
	if _, err = conn.Prepare(ctx, unlockAll, unlockAll); err == nil {
		_, err = conn.Exec(ctx, "select pg_advisory_lock(key) from unnest($1::bigint[]) as key", r.locks)
	}
	if err != nil && (ctx.Err() != nil || conn.IsClosed()) {
		_ = conn.Close(context.WithoutCancel(ctx)) // it may hold some of the locks
		return nil, withContext(ctx, err)
	}
	// After a lock timeout the transaction runs without some of the locks.
	return []*Statement{{sql: unlockAll}}, nil
}

const unlockAll = "select pg_advisory_unlock_all()"

// opening begins a transaction and sets its tenant.
func opening(scope Scope) []*Statement {
	return []*Statement{{sql: "begin isolation level serializable, read write"}, setTenant(scope)}
}

const openingLen = 2

// setTenant sets the tenant of the current transaction. The setting ends with
// the transaction, so the next user of the connection does not inherit it.
func setTenant(scope Scope) *Statement {
	return &Statement{sql: "select set_config('app.tenant_id', $1, true)", args: []any{scope.Tenant.String()}}
}

// pause waits a random time that grows with the number of failures, so that those who failed together spread out. It
// ends with ctx.
func pause(ctx context.Context, failures int, first, longest time.Duration) {
	select {
	case <-time.After(rand.N(min(first<<min(failures, 16), longest))):
	case <-ctx.Done():
	}
}
