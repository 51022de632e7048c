package testkit

import (
	"context"
	"crypto/sha256"
	"testing"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Under is a context in which what is asked for happens once.
func Under(t *testing.T, text, procedure, content string) (context.Context, *engine.IdempotencyKey) {
	t.Helper()
	sum := sha256.Sum256([]byte(content))
	key := &engine.IdempotencyKey{Text: text, Procedure: procedure, Hash: sum[:]}
	return engine.WithIdempotencyKey(t.Context(), key), key
}

// GrantOne asks for one credit.
func GrantOne(t *testing.T, h *House, by tenant.Caller, s credit.Subscription, text, procedure, content string) (credit.Entry, bool, error) {
	t.Helper()
	ctx, key := Under(t, text, procedure, content)
	line, _, err := h.App.Accounts.GrantCredits(ctx, by, s.ID, 1, "a gift")
	return line, key.Repeated, err
}
