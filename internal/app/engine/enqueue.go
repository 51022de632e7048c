package engine

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine/batcher"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/tenant"
)

// task is an operation in the queue of its tenant.
type task = batcher.Task[*work]

// work is a queued operation, whatever the type of its result.
type work struct {
	caller     tenant.Caller
	request    Request
	name       string
	races      []Race
	key        *idempotency.Key
	newAttempt func() attempt
	done       func(error) // answers the caller, with the result of the latest attempt or an error

	grown int // see Tx.Grow
}

// attempt is one attempt at an operation.
type attempt interface {
	load(q *Query)
	run(ctx context.Context, tx *Tx) error
	answer() any
}

// typedAttempt is an attempt with its result.
type typedAttempt[R any] struct {
	Operation[R]
	result R
}

func (a *typedAttempt[R]) load(q *Query) { a.Load(q) }

func (a *typedAttempt[R]) run(ctx context.Context, tx *Tx) (err error) {
	a.result, err = a.Run(ctx, tx)
	return err
}

func (a *typedAttempt[R]) answer() any { return a.result }

// enqueue queues an operation and waits until it is done, or ctx ends. Results travel by channel: a caller that has
// left shares no memory with the runner.
func enqueue[R any](
	ctx context.Context, e *Engine, by tenant.Caller, b Batched[R], l Located[R], key *idempotency.Key,
) (R, error) {
	type outcome struct {
		result R
		err    error
	}
	done := make(chan outcome, 1)
	var last *typedAttempt[R] // the latest attempt; only the runner accesses it
	w := &work{
		caller: by, request: requestOf(ctx), name: b.Name, races: b.Races, key: key,
		newAttempt: func() attempt {
			last = &typedAttempt[R]{Operation: l.New()}
			return last
		},
		done: func(err error) {
			if err != nil {
				done <- outcome{err: err}
			} else {
				done <- outcome{result: last.result}
			}
		},
	}
	t := &task{Tenant: by.Tenant, Context: ctx, Locks: l.Locks, Work: w}
	if key != nil { // never two operations with one idempotency key in a batch
		name := key.Name(by)
		t.Locks.Single = append(slices.Clone(t.Locks.Single), NameKey("key", name[:]...))
	}
	var none R
	if err := e.batcher.Enqueue(t); err != nil {
		return none, err
	}
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		e.batcher.Leave(t)
		return none, ctx.Err()
	}
}
