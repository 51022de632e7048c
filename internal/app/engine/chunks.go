package engine

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// SweepChunk bounds how many ids a sweep reads at once, and how many one transaction changes.
const SweepChunk = 100

// InChunks finds ids in ascending order and passes them to do, SweepChunk at a time. Ask returns the ids after the
// given one, so the loop ends even if do changes nothing. An error of one chunk does not stop the others; it returns
// the first.
func InChunks[I comparable](
	ctx context.Context, e *Engine, by tenant.Caller, ask func(b *pg.Batch, after I, into *[]I), do func(chunk []I) error,
) error {
	var failed error
	var after I
	for {
		chunk, err := List(ctx, e, by, func(b *pg.Batch, into *[]I) { ask(b, after, into) })
		if err != nil {
			return cmp.Or(failed, err)
		}
		if len(chunk) > 0 {
			failed = cmp.Or(failed, do(chunk))
		}
		if len(chunk) < SweepChunk || ctx.Err() != nil {
			return failed
		}
		after = chunk[len(chunk)-1]
	}
}
