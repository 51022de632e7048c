package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// An Operation runs inside one SERIALIZABLE transaction, alone or batched with others of its tenant. It cannot tell the
// difference. Every attempt gets a fresh value, so nothing has to be reset.
type Operation[R any] interface {
	// Load asks for facts. It does no I/O: all operations of a batch load in one round trip.
	Load(q *Query)
	// Run decides, then queues writes. It refuses before it writes. The result is complete when Run returns.
	Run(ctx context.Context, tx *Tx) (R, error)
}

// RunFunc is an Operation that loads nothing ahead and reads in Run. It has to be Solo.
type RunFunc[R any] func(ctx context.Context, tx *Tx) (R, error)

// Load implements Operation.
func (RunFunc[R]) Load(*Query) {}

// Run implements Operation.
func (f RunFunc[R]) Run(ctx context.Context, tx *Tx) (R, error) { return f(ctx, tx) }

// A Spec says how an operation is run.
type Spec[R any] struct {
	// Name labels the transaction's metrics: "booking.book".
	Name string
	// Locks say which operations it must not run with. Do ignores them.
	Locks Locks
	// Races are the constraints that guard what the operation has not read. If one of them rejects it, it runs again.
	Races []Race
	// Replay stores the answer under the caller's idempotency key. A repeated request gets that answer.
	Replay bool
	// Answer returns pointers to the parts of the result that are stored. Default: the whole result. Secrets have the tag
	// json:"-".
	Answer func(*R) []any
	// Quiet keeps the commit from being reported as a change. See Engine.NotifyChanged.
	Quiet bool
	// New makes a new operation for each attempt. Do ignores it.
	New func() Operation[R]

	// Locate replaces Locks and New if the keys to lock have to be read first. An operation that finds that they have
	// changed since returns ErrMoved, and is located again.
	Locate func(ctx context.Context, read Reader) (Locks, func() Operation[R], error)
}

// Reader is Engine.Read for one caller.
type Reader func(context.Context, *pg.Batch) error

// A Race reports whether an error of the database means that an operation lost a race to a constraint, rather than to a
// serialization failure.
type Race func(error) bool

// Key names something that operations lock: a session, a member, a waitlist.
type Key = tenant.UUID

// NameKey makes the key of something that has no id.
func NameKey(kind string, parts ...string) Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q", kind, parts))
	return Key(sum[:])
}

// Locks decide what may share a transaction, and what may run at the same time.
type Locks struct {
	Together []Key // never in two transactions at once, but several operations in one
	Single   []Key // one operation at a time
	// Changes says that the operation updates existing bookings. Their index entries share pages, and two transactions
	// that each write a new version there conflict. So a tenant has one batch with such operations at a time.
	Changes bool
	Solo    bool // never batched
}

// ErrMoved says that the keys of the operation are no longer those that Locate found.
var ErrMoved = errors.New("engine: moved since it was located")

// maxAttempts bounds how often an operation runs, if each attempt may succeed where the last one failed.
const maxAttempts = 5

// repeat makes attempts until one asks for no other, but at most maxAttempts.
func repeat[R any](try func(again bool) (result R, retry bool, err error)) (R, error) {
	for attempt := 1; ; attempt++ {
		result, retry, err := try(attempt > 1)
		if !retry || attempt == maxAttempts {
			return result, err
		}
	}
}

// Run queues an operation and waits for its result. If ctx ends while the operation is queued, it is dropped. Once it
// has started it finishes, and a retry with the same idempotency key returns its result.
func Run[R any](ctx context.Context, e *Engine, by tenant.Caller, s Spec[R]) (R, error) {
	return replayed(ctx, e, by, s, func(key *IdempotencyKey) (R, error) {
		return repeat(func(bool) (result R, retry bool, err error) {
			locks, fresh := s.Locks, s.New
			if s.Locate != nil {
				read := func(ctx context.Context, batch *pg.Batch) error { return e.Read(ctx, by, batch) }
				if locks, fresh, err = s.Locate(ctx, read); err != nil {
					return result, false, err
				}
			}
			result, err = enqueue(ctx, e, by, s, locks, fresh, key)
			return result, errors.Is(err, ErrMoved), err
		})
	})
}

// Do runs an operation that is never batched, on the caller's goroutine and under its context. There is no strict
// attempt, and Tx.Lock only affects the next attempt.
func Do[R any](
	ctx context.Context, e *Engine, by tenant.Caller, s Spec[R], run func(context.Context, *Tx) (R, error),
) (R, error) {
	grown := 0
	return replayed(ctx, e, by, s, func(key *IdempotencyKey) (R, error) {
		return repeat(func(bool) (R, bool, error) {
			var result, none R
			err := e.doOnce(ctx, by, s.Name, s.Quiet, key, func(ctx context.Context, tx *Tx) (answer []any, err error) {
				tx.grown = &grown
				result, err = run(ctx, tx)
				return s.stored(&result), err
			})
			if err != nil {
				return none, e.isRetryable(err, key, s.Races), err
			}
			return result, false, nil
		})
	})
}

// Exec is Do for operations without a result.
func Exec(
	ctx context.Context, e *Engine, by tenant.Caller, s Spec[struct{}], run func(context.Context, *Tx) error,
) error {
	s.Answer = func(*struct{}) []any { return []any{} }
	_, err := Do(ctx, e, by, s, func(ctx context.Context, tx *Tx) (struct{}, error) { return struct{}{}, run(ctx, tx) })
	return err
}

// doOnce runs one attempt of Do in a transaction. The function returns the parts of its result that are stored.
func (e *Engine) doOnce(
	ctx context.Context, by tenant.Caller, name string, quiet bool, key *IdempotencyKey,
	run func(context.Context, *Tx) ([]any, error),
) error {
	var tx *Tx
	now := e.now()
	ids := tenant.NewIDs(now)
	err := e.db.InTx(ctx, pg.Scope{Tenant: by.Tenant}, name, func(ctx context.Context, db *pg.Tx) error {
		tx = &Tx{
			Tx: db, Tenant: by.Tenant, Caller: by, Request: requestOf(ctx), Now: now, IDs: ids.Reset(), State: e.newState(),
			engine: e,
		}
		if key != nil {
			key.claimOnce(tx)
		}
		answer, err := run(ctx, tx)
		if err == nil && key != nil {
			key.store(tx, answer)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !quiet {
		e.committed(by.Tenant)
	}
	tx.committed(e)
	return nil
}

// isRetryable reports whether another attempt may succeed where the last one ended with err.
func (e *Engine) isRetryable(err error, key *IdempotencyKey, races []Race) bool {
	if errors.Is(err, pg.ErrCommitUnknown) {
		return key != nil // the next attempt finds by the key whether the commit succeeded
	}
	lost := func(race Race) bool { return race(err) }
	return slices.ContainsFunc(e.races, lost) || slices.ContainsFunc(races, lost)
}
