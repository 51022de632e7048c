package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/berthhq/berth/internal/fault"
)

// Tx is a serializable transaction of one tenant. It has no InTx and no Begin,
// so transactions do not nest.
type Tx struct {
	session
	again []int64 // what to queue on if it is run again
	added int     // statements and rows
}

// QueueAgainOn is QueueOn for what is known only inside: if the transaction has to be run again it waits in line first, behind
// others that named one of the same keys.
func (tx *Tx) QueueAgainOn(keys ...int64) { tx.again = append(tx.again, keys...) }

// Write queues a statement that is sent, in order, together with COMMIT when
// the transaction's body returns, or ahead of the next Load, Query or Exec.
//
// Once COMMIT travels in the same pipeline nothing on this side can stop it, so
// a write that must be refused has to be refused by the database: by a
// constraint, or because the transaction has read the row that it updates, which
// SERIALIZABLE keeps as it was read. A body that wants to judge what a write
// returned calls Flush, for one more round trip, or Load.
//
// A reader of the returned statement runs when the transaction is durable, and
// not at all if it comes to nothing. If a Flush, Load, Query or Exec follows it
// runs then, before the commit.
func (tx *Tx) Write(sql string, args ...any) *Statement {
	tx.gather()
	s := &Statement{sql: sql, args: args}
	tx.pending = append(tx.pending, s)
	tx.added++
	return s
}

// Flush sends the queued writes now and runs their readers, so that their
// errors and results are known before the commit.
func (tx *Tx) Flush(ctx context.Context) error { return tx.send(ctx, nil) }

// Option changes how one transaction is run.
type Option func(*run)

// QueueOn lets the transaction wait in line, before it begins, behind others
// that named one of the same keys: on this node or any other. Its snapshot is
// then taken after theirs were committed. That is courtesy, for speed: nothing
// correct depends on it, and when the lock cannot be had the transaction goes ahead.
func QueueOn(keys ...int64) Option {
	sorted := slices.Clone(keys)
	slices.Sort(sorted) // everyone waits in the same order, so nobody waits in a circle
	return func(r *run) { r.queue = slices.Compact(sorted) }
}

// learn queues the next attempt on what the last one named.
func (r *run) learn(keys []int64) {
	if len(keys) > 0 {
		QueueOn(slices.Concat(r.queue, keys)...)(r)
	}
}

// run is one transaction over all its attempts.
type run struct {
	db    *DB
	scope Scope
	name  string
	queue []int64
	lost  bool // the last attempt lost its connection
}

// A commit gets this much more time than a statement may take.
const commitGrace = 5 * time.Second

// InTx runs fn in a SERIALIZABLE transaction of the scope's tenant and commits
// when fn returns nil. The name labels the metrics: "booking.book".
//
// When Postgres gives the transaction up for a concurrent one (SQLSTATE 40001
// or 40P01, at COMMIT too), or the connection breaks before COMMIT was sent, fn
// is run again after a random pause, until ctx ends or Config.MaxAttempts is
// reached. So fn may run several times: it contains SQL and values only, and
// takes the time and new ids from outside.
//
// Errors: what fn returned, after a rollback; CONTENTION (fault.Unavailable)
// when every attempt was in vain; ErrCommitUnknown; the error of ctx; otherwise
// what the database said, to be classified with IsUnique and its like.
func (db *DB) InTx(ctx context.Context, scope Scope, name string, fn func(ctx context.Context, tx *Tx) error, options ...Option) error {
	if scope.Tenant.IsZero() {
		return errNoTenant
	}
	r := &run{db: db, scope: scope, name: name}
	for _, option := range options {
		option(r)
	}
	start := time.Now()
	attempts, err := r.untilDone(ctx, fn)
	db.metrics.ran(name, attempts, time.Since(start), err)
	return err
}

var errNoTenant = fault.New(fault.Internal, fault.InternalError, "A transaction needs a tenant.")

func (r *run) untilDone(ctx context.Context, fn func(context.Context, *Tx) error) (attempts int, err error) {
	for attempts = 1; ; attempts++ {
		again, err := r.attempt(ctx, fn)
		if !again {
			return attempts, err
		}
		if attempts >= r.db.config.MaxAttempts {
			if connectionLost(err) {
				return attempts, err
			}
			return attempts, fault.New(fault.Unavailable, fault.Contention,
				"Too many others are changing the same things. Try again.").Because(err)
		}
		r.lost = connectionLost(err)
		r.db.metrics.retried(r.name, err)
		if stop := pause(ctx, attempts); stop != nil {
			return attempts, fmt.Errorf("%w, trying again after %w", stop, err)
		}
	}
}

// acquire takes a connection. After one was lost it makes sure of the next,
// because a server that was restarted has left a pool of dead ones.
func (r *run) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	for dead := int32(0); ; dead++ {
		conn, err := r.db.commands.Acquire(ctx)
		if err != nil || !r.lost || dead > r.db.config.CommandConns {
			return conn, err
		}
		if conn.Ping(ctx) == nil {
			return conn, nil
		}
		conn.Release()
	}
}

// attempt runs the transaction once and reports whether to run it again.
func (r *run) attempt(ctx context.Context, fn func(context.Context, *Tx) error) (again bool, err error) {
	conn, err := r.acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("%s: connect: %w", r.name, err)
	}
	// If fn panics the connection is released inside its transaction, and the pool closes it.
	defer conn.Release()

	line, err := r.waitInLine(ctx, conn.Conn())
	if err != nil {
		return connectionLost(err) && ctx.Err() == nil, fmt.Errorf("%s: wait in line: %w", r.name, err)
	}
	tx := &Tx{session: session{conn: conn.Conn(), pending: opening("begin isolation level serializable, read write", r.scope)}}
	defer func() { r.learn(tx.again) }()
	if err = fn(ctx, tx); err != nil || tx.failed != nil {
		tx.rollBack(ctx, line...)
		return r.judge(ctx, tx, err)
	}
	return r.commit(ctx, tx, line)
}

// judge decides what a failed body means.
func (r *run) judge(ctx context.Context, tx *Tx, err error) (again bool, _ error) {
	switch {
	case tx.failed == nil:
		return false, err // the body refused
	case ctx.Err() != nil:
		return false, fmt.Errorf("%s: %w", r.name, withContext(ctx, tx.failed))
	case contended(tx.failed) || connectionLost(tx.failed):
		// The body's own error, if it hid the database's, is void with the transaction.
		return true, fmt.Errorf("%s: %w", r.name, tx.failed)
	case err == nil:
		err = tx.failed // the body overlooked it, but nothing was committed
	}
	return false, fmt.Errorf("%s: %w", r.name, err)
}

// commit sends the last writes and COMMIT in one pipeline. An error of a write
// makes the server skip COMMIT.
func (r *run) commit(ctx context.Context, tx *Tx, line []*Statement) (again bool, _ error) {
	tx.gather()
	if !tx.begun && len(tx.pending) == openingLen {
		tx.rollBack(ctx, line...) // nothing was read, nothing is written
		return false, nil
	}
	if err := ctx.Err(); err != nil {
		tx.rollBack(ctx, line...)
		return false, fmt.Errorf("%s: %w", r.name, err)
	}
	var committed bool
	var read []func() error
	statements := make([]*Statement, 0, len(tx.pending)+2)
	for _, s := range tx.pending {
		if reader := s.read; reader != nil {
			rows := &heldRows{types: tx.conn.TypeMap()}
			read = append(read, func() error { return reader(rows) })
			s = &Statement{sql: s.sql, args: s.args, bind: s.bind, read: rows.hold}
		}
		statements = append(statements, s)
	}
	commit := &Statement{sql: "commit"}
	commit.Exec(func(tag pgconn.CommandTag) error {
		committed = tag.String() == "COMMIT"
		return nil
	})
	statements = append(append(statements, commit), line...)

	// From here on the caller may leave without making the outcome unknown.
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.db.config.StatementTimeout+commitGrace)
	defer cancel()
	done, failed, _ := send(sendCtx, tx.conn, statements)
	if committed {
		if failed != nil {
			_ = tx.conn.Close(sendCtx) // the locks end with the connection
		}
		for _, reader := range read {
			if err := reader(); err != nil {
				return false, fmt.Errorf("%s: %w: %w", r.name, ErrCommitted, err)
			}
		}
		return false, nil
	}
	if failed == nil {
		return false, fmt.Errorf("%s: %w", r.name, pgx.ErrTxCommitRollback)
	}
	if mayHaveCommitted(failed, done >= len(tx.pending)) {
		_ = tx.conn.Close(sendCtx)
		return false, fmt.Errorf("%s: %w: %w", r.name, ErrCommitUnknown, failed)
	}
	again = contended(failed) || (connectionLost(failed) && ctx.Err() == nil)
	tx.rollBack(ctx, line...)
	return again, fmt.Errorf("%s: %w", r.name, failed)
}

// mayHaveCommitted reports whether, after this error of a pipeline that ended in
// COMMIT, the server may have executed it. It has not if the pipeline was never
// sent, if it says so by an ERROR, or if it hung up with a FATAL before it came
// to COMMIT. Having come there it can hang up on a client whose transaction is
// durable; and a connection that just breaks tells nothing.
func mayHaveCommitted(err error, reached bool) bool {
	var unsent pgx.ErrPreprocessingBatch
	if errors.As(err, &unsent) || pgconn.SafeToRetry(err) {
		return false
	}
	var e *pgconn.PgError
	return !errors.As(err, &e) || (e.SeverityUnlocalized != "ERROR" && reached)
}

// waitInLine takes the locks of QueueOn and gives the statements that release
// them. It happens outside of a transaction, because a snapshot taken before the
// wait would be stale after it.
func (r *run) waitInLine(ctx context.Context, conn *pgx.Conn) (leave []*Statement, err error) {
	if len(r.queue) == 0 {
		return nil, nil
	}
	_, err = conn.Exec(ctx, "select pg_advisory_lock(key) from unnest($1::bigint[]) as key", r.queue)
	if err != nil && (ctx.Err() != nil || conn.IsClosed()) {
		_ = conn.Close(context.WithoutCancel(ctx)) // some locks may have been had
		return nil, withContext(ctx, err)
	}
	// After a lock timeout the transaction takes its chance.
	return []*Statement{{sql: "select pg_advisory_unlock_all()"}}, nil
}

// opening begins a transaction and scopes it to the tenant.
func opening(begin string, scope Scope) []*Statement {
	return []*Statement{{sql: begin}, setTenant(scope)}
}

const openingLen = 2

// setTenant scopes what follows in the same transaction to the tenant. The
// setting ends with the transaction, so that the next user of the connection
// inherits nothing.
func setTenant(scope Scope) *Statement {
	return &Statement{sql: "select set_config('app.tenant_id', $1, true)", args: []any{scope.Tenant.String()}}
}

// pause waits a random time that grows with the number of attempts, so that
// those who collided do not meet again.
func pause(ctx context.Context, attempts int) error {
	const first, longest = 2 * time.Millisecond, 250 * time.Millisecond
	timer := time.NewTimer(rand.N(min(first<<min(attempts, 16), longest)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
