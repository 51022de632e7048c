package engine

import (
	"context"

	"github.com/berthhq/berth/internal/tenant"
)

// Option says more about how a use case is run.
type Option func(*Spec[struct{}])

// Answers lets a request's key work for the use case. The pointers lead to all that it sets in its transaction and
// gives afterwards; secrets, which are shown once, are not among that.
func Answers(pointers ...any) Option {
	return func(s *Spec[struct{}]) {
		s.Replay, s.Answer = true, func(*struct{}) []any { return append([]any{}, pointers...) }
	}
}

// Losing names races that the use case may lose to a constraint rather than to a serialization failure. It then looks
// again.
func Losing(races ...Race) Option {
	return func(s *Spec[struct{}]) { s.Races = append(s.Races, races...) }
}

// Write runs a use case in a serializable transaction of the caller's tenant. What it may lose a race
// over, and what it gives, the options say.
func (e *Engine) Write(ctx context.Context, caller tenant.Caller, name string, fn func(ctx context.Context, tx *Tx) error, options ...Option) error {
	s := Spec[struct{}]{Name: name}
	for _, option := range options {
		option(&s)
	}
	_, err := Do(ctx, e, caller, s, func(ctx context.Context, tx *Tx) (struct{}, error) { return struct{}{}, fn(ctx, tx) })
	return err
}
