package testkit

import (
	"context"
	"crypto/sha256"
	"testing"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// WithKey returns a context with an idempotency key for a request of a procedure with this content.
func WithKey(t testing.TB, text, procedure, content string) (context.Context, *idempotency.Key) {
	t.Helper()
	sum := sha256.Sum256([]byte(procedure + "\n" + content))
	key := &idempotency.Key{Text: text, Hash: sum[:]}
	return idempotency.With(t.Context(), key), key
}

// GrantOne grants one credit under an idempotency key, and reports whether the answer is a repetition.
func GrantOne(
	t testing.TB, s *Studio, by tenant.Caller, to credit.Subscription, text, procedure, content string,
) (credit.Line, bool, error) {
	t.Helper()
	ctx, key := WithKey(t, text, procedure, content)
	line, _, err := s.App.Accounts.GrantCredits(ctx, by, to.ID, 1, "a gift")
	return line.Line, key.Repeated, err
}
