package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// KeyLifetime is how long an idempotency key stands for its first answer.
const KeyLifetime = 24 * time.Hour

// An IdempotencyKey makes a mutation happen once, however often it is sent, and gives every sending the answer of the
// first. It belongs to a tenant, one caller and one procedure. A refusal does not use it up. It is not safe for
// concurrent use.
type IdempotencyKey struct {
	Text      string
	Procedure string
	Hash      []byte // SHA-256 of the request: another request under the same key is a conflict

	// Repeated is set where the answer is that of an earlier request.
	Repeated bool
}

type idempotencyContext struct{}

// WithIdempotencyKey has an operation with Replay happen once under the key.
func WithIdempotencyKey(ctx context.Context, key *IdempotencyKey) context.Context {
	return context.WithValue(ctx, idempotencyContext{}, key)
}

var (
	// errKeyUsed: the key was used before; its answer is stored.
	errKeyUsed = errors.New("engine: an earlier request had this idempotency key")
	// errForgotten: the key expired between the attempt to use it and the look at what it was used for.
	errForgotten = fault.New(fault.Unavailable, fault.Contention,
		"Too many others are changing the same things. Try again.")
)

// replayed runs an operation under the caller's idempotency key, if it has one. Where the key was used before it gives
// the stored answer instead.
func replayed[R any](
	ctx context.Context, e *Engine, by tenant.Caller, s Spec[R], run func(*IdempotencyKey) (R, error),
) (R, error) {
	key, _ := ctx.Value(idempotencyContext{}).(*IdempotencyKey)
	if !s.Replay {
		key = nil
	}
	for attempt := 1; ; attempt++ {
		result, err := run(key)
		if key == nil || !errors.Is(err, errKeyUsed) && !store.KeyUsed(err) {
			return result, err
		}
		result, err = recall(ctx, e, by, s, key)
		if attempt == maxAttempts || !errors.Is(err, errForgotten) {
			return result, err
		}
	}
}

// stored is what of a result is stored: a list of values, in the order in which recall reads them.
func (s Spec[R]) stored(result *R) []any {
	if s.Answer != nil {
		return s.Answer(result)
	}
	return []any{result}
}

// recall reads the answer that is stored under a key.
func recall[R any](
	ctx context.Context, e *Engine, by tenant.Caller, s Spec[R], key *IdempotencyKey,
) (result R, err error) {
	var none R
	var kept *store.Answered
	var batch pg.Batch
	store.FindAnswer(&batch, by.Tenant, key.claim(by, e.now()), &kept)
	switch err := e.Read(ctx, by, &batch); {
	case err != nil:
		return none, err
	case kept == nil:
		return none, errForgotten
	case !bytes.Equal(kept.Hash, key.Hash):
		return none, fault.New(fault.AlreadyExists, fault.IdempotencyConflict,
			"The idempotency key was used for another request.")
	}
	var texts []json.RawMessage
	if err := json.Unmarshal([]byte(kept.Answer), &texts); err != nil {
		return none, fmt.Errorf("engine: stored answer: %w", err)
	}
	into := s.stored(&result)
	if len(texts) != len(into) {
		return none, fmt.Errorf("engine: stored answer: %d values, want %d", len(texts), len(into))
	}
	for i, value := range into {
		if err := json.Unmarshal(texts[i], value); err != nil {
			return none, fmt.Errorf("engine: stored answer: %w", err)
		}
	}
	key.Repeated = true
	return result, nil
}

func (k *IdempotencyKey) claim(by tenant.Caller, now time.Time) store.Claim {
	return store.Claim{
		Principal: by.Actor(), Procedure: k.Procedure, Key: k.Text, Hash: k.Hash, At: now, Since: now.Add(-KeyLifetime),
	}
}

// claimOnce claims the key ahead of what the transaction sends next. The transaction fails if the key was used: see
// store.KeyUsed.
func (k *IdempotencyKey) claimOnce(tx *Tx) {
	store.ClaimKey(tx.Tx, tx.Tenant, k.claim(tx.Caller, tx.Now))
}

// store writes the answer in the operation's own transaction: both are durable, or neither.
func (k *IdempotencyKey) store(tx *Tx, answer []any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("engine: answer not stored: %w", err)
	}
	store.AnswerKey(tx.Tx, tx.Tenant, k.claim(tx.Caller, tx.Now), string(text))
	return nil
}

// claim is a claim on an idempotency key; used says that an earlier request has it.
type claim struct {
	store.Claim
	used bool
}

// claimAll asks for the keys of a batch. The result has nil for tasks without one.
func claimAll(batch *pg.Batch, in tenant.TenantID, tasks []*task, now time.Time) []*claim {
	claims := make([]*claim, len(tasks))
	byName := make(map[string]*claim)
	var asked []store.Claim
	for i, t := range tasks {
		if t.key != nil {
			claims[i] = &claim{t.key.claim(t.caller, now), true}
			byName[claims[i].Name()] = claims[i]
			asked = append(asked, claims[i].Claim)
		}
	}
	store.ClaimKeys(batch, in, asked, func(c store.Claim) { byName[c.Name()].used = false })
	return claims
}

func (c *claim) giveBack(tx *pg.Tx, in tenant.TenantID) { store.GiveKeyBack(tx, in, c.Claim) }

// Recall gives the answer that is stored under the caller's idempotency key, for what judges a request before it runs
// the operation; false if there is none.
func Recall[R any](ctx context.Context, e *Engine, by tenant.Caller, s Spec[R]) (R, bool, error) {
	var none R
	key, _ := ctx.Value(idempotencyContext{}).(*IdempotencyKey)
	if key == nil {
		return none, false, nil
	}
	result, err := recall(ctx, e, by, s, key)
	if errors.Is(err, errForgotten) {
		return none, false, nil
	}
	return result, err == nil, err
}
