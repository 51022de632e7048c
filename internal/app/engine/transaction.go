package engine

import (
	"context"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// A Transaction says how Transact and Exec run a function. Most use cases are one.
type Transaction struct {
	// Name labels the transaction's metrics: "location.create".
	Name string
	// Replay stores the result, as JSON, under the caller's idempotency key. A repeated request gets that result. Fields
	// that are not exported, and those with the tag json:"-", are not stored: secrets, for example.
	Replay bool
	// Races are the constraints that guard what the function has not read. If one of them rejects it, it runs again.
	Races []Race
	// Quiet keeps the commit from being reported as a change. See Engine.NotifyChanged.
	Quiet bool
}

// Transact runs a function in a transaction of its own, on the caller's goroutine and under its context. The function
// reads, decides, then queues writes. It may run several times, so all that it changes is in the database.
func Transact[R any](
	ctx context.Context, e *Engine, by tenant.Caller, t Transaction, run func(context.Context, *Tx) (R, error),
) (R, error) {
	grown := 0
	return replayed(ctx, e, by, t.Replay, func(key *idempotency.Key) (R, error) {
		return repeat(func(bool) (R, bool, error) {
			var result, none R
			err := e.transact(ctx, by, t, key, func(ctx context.Context, tx *Tx) (answer any, err error) {
				tx.grown = &grown
				result, err = run(ctx, tx)
				return result, err
			})
			if err != nil {
				return none, e.isRetryable(err, key, t.Races), err
			}
			return result, false, nil
		})
	})
}

// Exec is Transact for functions without a result.
func Exec(
	ctx context.Context, e *Engine, by tenant.Caller, t Transaction, run func(context.Context, *Tx) error,
) error {
	_, err := Transact(ctx, e, by, t, func(ctx context.Context, tx *Tx) (struct{}, error) {
		return struct{}{}, run(ctx, tx)
	})
	return err
}

// transact runs one attempt of Transact.
func (e *Engine) transact(
	ctx context.Context, by tenant.Caller, t Transaction, key *idempotency.Key,
	run func(context.Context, *Tx) (answer any, err error),
) error {
	var tx *Tx
	now := e.now()
	ids := tenant.NewIDs(now)
	err := e.db.InTx(ctx, pg.Scope{Tenant: by.Tenant}, t.Name, func(ctx context.Context, db *pg.Tx) error {
		tx = &Tx{
			Tx: db, Tenant: by.Tenant, Caller: by, Request: requestOf(ctx), Now: now, IDs: ids.Reset(), State: e.newState(),
			engine: e,
		}
		if key != nil {
			key.Claim(db, by, now)
		}
		answer, err := run(ctx, tx)
		if err == nil && key != nil {
			err = key.Store(db, by, now, answer)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !t.Quiet {
		e.committed(by.Tenant)
	}
	tx.committed(e)
	return nil
}
