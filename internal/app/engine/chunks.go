package engine

import (
	"cmp"
	"context"
)

const (
	// SweepChunk bounds what is found at once, and what one transaction changes.
	SweepChunk = 100
)

// InChunks gives what find finds, behind the id given, to do, a chunk at a time. Going by id it comes to an end
// even where do leaves things as they are.
func InChunks[I comparable](ctx context.Context, find func(after I, into *[]I) error, do func(chunk []I) error) error {
	var failed error
	var after I
	for {
		var chunk []I
		if err := find(after, &chunk); err != nil {
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
