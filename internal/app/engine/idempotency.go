package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// KeyLifetime is how long the answer of an idempotency key is kept.
const KeyLifetime = 24 * time.Hour

// An IdempotencyKey makes a mutation happen once, however often its request is sent: every repetition gets the answer
// of the first. A key is of one tenant, caller and procedure. After a refusal it can be used again. It is not safe for
// concurrent use.
type IdempotencyKey struct {
	Text      string
	Procedure string
	Hash      []byte // SHA-256 of the request; another request with the same key is a conflict

	// Repeated is set if the answer is that of an earlier request.
	Repeated bool
}

type idempotencyContext struct{}

// WithIdempotencyKey makes an operation with Replay happen once under the key.
func WithIdempotencyKey(ctx context.Context, key *IdempotencyKey) context.Context {
	return context.WithValue(ctx, idempotencyContext{}, key)
}

var (
	// errKeyUsed says that the key was used before, and its answer is stored.
	errKeyUsed = errors.New("engine: an earlier request had this idempotency key")
	// errForgotten says that the key expired between the attempt to claim it and the read of its answer.
	errForgotten = fault.New(fault.Unavailable, fault.Contention,
		"Too many others are changing the same things. Try again.")
)

// replayed runs an operation under the caller's idempotency key, if it has one. If the key was used before, it returns
// the stored answer instead.
func replayed[R any](
	ctx context.Context, e *Engine, by tenant.Caller, replay bool, run func(*IdempotencyKey) (R, error),
) (R, error) {
	key, _ := ctx.Value(idempotencyContext{}).(*IdempotencyKey)
	if !replay {
		key = nil
	}
	if key != nil {
		if full := e.grow(ctx, by, keys, 1); full != nil {
			// A repeated request needs no new row.
			if result, err := recall[R](ctx, e, by, key); !errors.Is(err, errForgotten) {
				return result, err
			}
			var none R
			return none, full
		}
	}
	return repeat(func(bool) (R, bool, error) {
		result, err := run(key)
		if !errors.Is(err, errKeyUsed) && !coredb.KeyUsed(err) {
			return result, false, err
		}
		result, err = recall[R](ctx, e, by, key)
		return result, errors.Is(err, errForgotten), err
	})
}

// recall reads the answer that is stored under a key.
func recall[R any](ctx context.Context, e *Engine, by tenant.Caller, key *IdempotencyKey) (R, error) {
	var result, none R
	if err := e.recall(ctx, by, key, &result); err != nil {
		return none, err
	}
	return result, nil
}

func (e *Engine) recall(ctx context.Context, by tenant.Caller, key *IdempotencyKey, into any) error {
	var kept *coredb.Answered
	var batch pg.Batch
	coredb.FindAnswer(&batch, by.Tenant, key.claim(by, e.now()), &kept)
	switch err := e.Read(ctx, by, &batch); {
	case err != nil:
		return err
	case kept == nil:
		return errForgotten
	case !bytes.Equal(kept.Hash, key.Hash):
		return fault.New(fault.AlreadyExists, fault.IdempotencyConflict,
			"The idempotency key was used for another request.")
	}
	if err := json.Unmarshal([]byte(kept.Answer), into); err != nil {
		return fmt.Errorf("engine: stored answer: %w", err)
	}
	key.Repeated = true
	return nil
}

func (k *IdempotencyKey) claim(by tenant.Caller, now time.Time) coredb.Claim {
	return coredb.Claim{
		Principal: by.Actor(), Procedure: k.Procedure, Key: k.Text, Hash: k.Hash, At: now, Since: now.Add(-KeyLifetime),
	}
}

// claimOnce claims the key at the start of the transaction's next round trip. If the key was used, the transaction
// fails with an error for which coredb.KeyUsed is true.
func (k *IdempotencyKey) claimOnce(tx *Tx) {
	coredb.ClaimKey(tx.Tx, tx.Tenant, k.claim(tx.Caller, tx.Now))
}

// store writes the answer in the operation's own transaction: both are durable, or neither.
func (k *IdempotencyKey) store(tx *Tx, answer any) {
	coredb.AnswerKey(tx.Tx, tx.Tenant, k.claim(tx.Caller, tx.Now), string(pg.Encode(answer)))
}

// claim is a claim on an idempotency key. Used says that an earlier request used it.
type claim struct {
	coredb.Claim
	used bool
}

// claimAll claims the keys of a batch. The result has nil for tasks without one.
func claimAll(batch *pg.Batch, in tenant.TenantID, tasks []*task, now time.Time) []*claim {
	claims := make([]*claim, len(tasks))
	byName := make(map[[3]string]*claim)
	var asked []coredb.Claim
	for i, t := range tasks {
		if t.key != nil {
			claims[i] = &claim{t.key.claim(t.caller, now), true}
			byName[claims[i].Name()] = claims[i]
			asked = append(asked, claims[i].Claim)
		}
	}
	coredb.ClaimKeys(batch, in, asked, func(c coredb.Claim) { byName[c.Name()].used = false })
	return claims
}

func (c *claim) release(tx *pg.Tx, in tenant.TenantID) { coredb.GiveKeyBack(tx, in, c.Claim) }

// Recall returns the answer that is stored under the caller's idempotency key, and false if there is none. It is for
// use cases that check a request before they run the operation.
func Recall[R any](ctx context.Context, e *Engine, by tenant.Caller) (R, bool, error) {
	var none R
	key, _ := ctx.Value(idempotencyContext{}).(*IdempotencyKey)
	if key == nil {
		return none, false, nil
	}
	result, err := recall[R](ctx, e, by, key)
	if errors.Is(err, errForgotten) {
		return none, false, nil
	}
	return result, err == nil, err
}
