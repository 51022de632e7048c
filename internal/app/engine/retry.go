package engine

import (
	"errors"
	"slices"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/pg"
)

// A Race reports whether an error of the database means that an operation lost a race to a constraint, rather than to a
// serialization failure. It runs again then. After a violation of any other constraint, a batched operation runs once
// more. Every attempt but its first is strict: see Query.Strict.
type Race func(error) bool

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

// isRetryable reports whether another attempt may succeed where the last one ended with err.
func (e *Engine) isRetryable(err error, key *idempotency.Key, races []Race) bool {
	if errors.Is(err, pg.ErrCommitUnknown) {
		return key != nil // the next attempt finds by the key whether the commit succeeded
	}
	lost := func(race Race) bool { return race(err) }
	return slices.ContainsFunc(e.races, lost) || slices.ContainsFunc(races, lost)
}

// violation reports whether a constraint rejected a write, because of something that the operation had not read.
func violation(err error) bool { return pg.IsUnique(err) || pg.IsExclusion(err) || pg.IsCheck(err) }
