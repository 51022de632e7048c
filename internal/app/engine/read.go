package engine

import (
	"context"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Reader is Engine.Read for one caller.
type Reader func(context.Context, *pg.Batch) error

// Get reads one value outside a transaction. If ask finds none, it returns the zero value and the error missing.
func Get[T any](
	ctx context.Context, e *Engine, by tenant.Caller, missing error, ask func(b *pg.Batch, into **T),
) (T, error) {
	return one(ctx, e.reader(by), missing, ask)
}

// List reads a list of values outside a transaction.
func List[T any](ctx context.Context, e *Engine, by tenant.Caller, ask func(b *pg.Batch, into *[]T)) ([]T, error) {
	var found []T
	var batch pg.Batch
	ask(&batch, &found)
	err := e.Read(ctx, by, &batch)
	return found, err
}

// Find reads one value in a transaction. If ask finds none, it returns the zero value and the error missing.
func Find[T any](ctx context.Context, tx *Tx, missing error, ask func(b *pg.Batch, into **T)) (T, error) {
	return one(ctx, tx.Load, missing, ask)
}

func one[T any](ctx context.Context, read Reader, missing error, ask func(*pg.Batch, **T)) (T, error) {
	var none T
	var found *T
	var batch pg.Batch
	ask(&batch, &found)
	if err := read(ctx, &batch); err != nil {
		return none, err
	}
	if found == nil {
		return none, missing
	}
	return *found, nil
}
