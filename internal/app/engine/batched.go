package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/berthhq/berth/internal/app/engine/batcher"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/tenant"
)

// An Operation is one attempt at a use case, in one SERIALIZABLE transaction, alone or batched with others of its
// tenant. Every attempt gets a new value, so nothing has to be reset.
type Operation[R any] interface {
	// Load asks for facts. It does no I/O: all operations of a batch load in one round trip.
	Load(q *Query)
	// Run decides, then queues writes. It refuses before it writes. The result is complete when Run returns.
	Run(ctx context.Context, tx *Tx) (R, error)
}

// A Batched says how RunBatched runs an operation.
type Batched[R any] struct {
	// Name labels the transaction's metrics, unless it shares the transaction with others of another name.
	Name string
	// Replay stores the result under the caller's idempotency key. See Transaction.Replay.
	Replay bool
	// Races are the constraints that guard what the operation has not read. If one of them rejects it, it runs again.
	Races []Race
	// Locate finds out what the operation locks. Known is for those that know it from the request. An operation that
	// finds that its keys have changed since returns ErrMoved, and is located again.
	Locate func(ctx context.Context, read Reader) (Located[R], error)
}

// Located is an operation with what it locks.
type Located[R any] struct {
	Locks Locks
	// New makes a new operation for each attempt.
	New func() Operation[R]
}

// Known is Batched.Locate for an operation that knows what it locks without reading.
func Known[R any](
	locks Locks, newOperation func() Operation[R],
) func(context.Context, Reader) (Located[R], error) {
	return func(context.Context, Reader) (Located[R], error) { return Located[R]{locks, newOperation}, nil }
}

// Alone is an operation that is never batched. It loads nothing ahead, so it can read while it runs.
func Alone[R any](locks Locks, run func(ctx context.Context, tx *Tx) (R, error)) Located[R] {
	locks.Solo = true
	return Located[R]{locks, func() Operation[R] { return alone[R](run) }}
}

type alone[R any] func(ctx context.Context, tx *Tx) (R, error)

func (alone[R]) Load(*Query) {}

func (run alone[R]) Run(ctx context.Context, tx *Tx) (R, error) { return run(ctx, tx) }

// Key names something that operations lock.
type Key = batcher.Key

// NameKey makes the key of something that has no id.
func NameKey(kind string, parts ...string) Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q", kind, parts))
	return Key(sum[:16])
}

// Locks decide what may share a transaction, and what may run at the same time.
type Locks = batcher.Locks

// ErrMoved says that the keys of the operation are no longer those that Locate found.
var ErrMoved = errors.New("engine: moved since it was located")

// RunBatched queues an operation and waits for its result. If ctx ends while the operation is queued, it is dropped.
// Once it has started it finishes, and a retry with the same idempotency key returns its result.
func RunBatched[R any](ctx context.Context, e *Engine, by tenant.Caller, b Batched[R]) (R, error) {
	return replayed(ctx, e, by, b.Replay, func(key *idempotency.Key) (R, error) {
		return repeat(func(bool) (result R, retry bool, err error) {
			located, err := b.Locate(ctx, e.reader(by))
			if err != nil {
				return result, false, err
			}
			result, err = enqueue(ctx, e, by, b, located, key)
			return result, errors.Is(err, ErrMoved), err
		})
	})
}
