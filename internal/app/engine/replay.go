package engine

import (
	"context"
	"errors"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/tenant"
)

// replayed runs an operation under the caller's idempotency key, if it has one. If the key was used before, it returns
// the stored answer instead.
func replayed[R any](
	ctx context.Context, e *Engine, by tenant.Caller, replay bool, run func(*idempotency.Key) (R, error),
) (R, error) {
	var key *idempotency.Key
	if replay {
		key = idempotency.Of(ctx)
	}
	if key != nil {
		if full := e.growKeys(ctx, by); full != nil {
			// A repeated request needs no new row.
			if result, err := recall[R](ctx, e, by, key); !errors.Is(err, idempotency.ErrForgotten) {
				return result, err
			}
			var none R
			return none, full
		}
	}
	return repeat(func(bool) (R, bool, error) {
		result, err := run(key)
		if key == nil || !idempotency.IsUsed(err) {
			return result, false, err
		}
		result, err = recall[R](ctx, e, by, key)
		return result, errors.Is(err, idempotency.ErrForgotten), err
	})
}

// recall reads the answer that is stored under a key.
func recall[R any](ctx context.Context, e *Engine, by tenant.Caller, key *idempotency.Key) (R, error) {
	var result, none R
	if err := key.Recall(ctx, e.reader(by), by, e.now(), &result); err != nil {
		return none, err
	}
	return result, nil
}
