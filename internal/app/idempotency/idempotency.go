// Package idempotency makes a mutation happen once, however often its request is sent: every repetition gets the answer
// of the first. A key is claimed in the mutation's own transaction, and its answer is stored there: both are durable,
// or neither.
package idempotency

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

// Lifetime is how long the answer of a key is kept.
const Lifetime = 24 * time.Hour

// A Key is of one tenant and caller. After a refusal it can be used again. It is not safe for concurrent
// use.
type Key struct {
	Text string
	Hash []byte // SHA-256 of the request and its procedure; another with the same key is a conflict

	// Repeated is set if the answer is that of an earlier request.
	Repeated bool
}

type contextKey struct{}

// With makes a use case with Replay happen once under the key.
func With(ctx context.Context, key *Key) context.Context {
	return context.WithValue(ctx, contextKey{}, key)
}

// Of returns the key of a request, or nil if it has none.
func Of(ctx context.Context) *Key {
	key, _ := ctx.Value(contextKey{}).(*Key)
	return key
}

var (
	// ErrUsed says that the key was used before, and its answer is stored.
	ErrUsed = errors.New("idempotency: an earlier request had this key")
	// ErrForgotten says that no answer is stored: the key may have expired since an attempt to claim it.
	ErrForgotten = fault.New(fault.Unavailable, fault.Contention,
		"Too many others are changing the same things. Try again.")
)

// IsUsed reports whether a transaction failed because the key that it claimed had been used.
func IsUsed(err error) bool { return errors.Is(err, ErrUsed) || coredb.KeyUsed(err) }

// Recall reads the answer that is stored under a key.
func (k *Key) Recall(
	ctx context.Context, read func(context.Context, *pg.Batch) error, by tenant.Caller, now time.Time, into any,
) error {
	var kept *coredb.Answered
	var batch pg.Batch
	coredb.FindAnswer(&batch, by.Tenant, k.claim(by, now), &kept)
	switch err := read(ctx, &batch); {
	case err != nil:
		return err
	case kept == nil:
		return ErrForgotten
	case !bytes.Equal(kept.Hash, k.Hash):
		return fault.New(fault.AlreadyExists, fault.IdempotencyConflict,
			"The idempotency key was used for another request.")
	}
	if err := json.Unmarshal([]byte(kept.Answer), into); err != nil {
		return fmt.Errorf("idempotency: stored answer: %w", err)
	}
	k.Repeated = true
	return nil
}

func (k *Key) claim(by tenant.Caller, now time.Time) coredb.Claim {
	return coredb.Claim{
		Principal: by.Actor(), Key: k.Text, Hash: k.Hash, At: now, Since: now.Add(-Lifetime),
	}
}

// Name is unique among the keys of a tenant.
func (k *Key) Name(by tenant.Caller) [2]string { return k.claim(by, time.Time{}).Name() }

// Claim claims the key at the start of the transaction's next round trip. If the key was used, the transaction fails
// with an error for which IsUsed is true.
func (k *Key) Claim(tx *pg.Tx, by tenant.Caller, now time.Time) {
	coredb.ClaimKey(tx, by.Tenant, k.claim(by, now))
}

// Store writes the answer, as JSON.
func (k *Key) Store(tx *pg.Tx, by tenant.Caller, now time.Time, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("idempotency: answer not stored: %w", err)
	}
	coredb.AnswerKey(tx, by.Tenant, k.claim(by, now), string(text))
	return nil
}

// Claims are the claims of several requests of a tenant in one statement.
type Claims struct {
	now    time.Time
	asked  []coredb.Claim
	byName map[[2]string]*Claim
}

// A Claim is a claim on a key. Used says that an earlier request used it.
type Claim struct {
	coredb.Claim
	Used bool
}

// NewClaims makes claims at a time.
func NewClaims(now time.Time) *Claims { return &Claims{now: now, byName: make(map[[2]string]*Claim)} }

// Add adds a claim, or nil if the request has no key. No two may be of one key.
func (c *Claims) Add(key *Key, by tenant.Caller) *Claim {
	if key == nil {
		return nil
	}
	claim := &Claim{key.claim(by, c.now), true}
	c.byName[claim.Name()] = claim
	c.asked = append(c.asked, claim.Claim)
	return claim
}

// Ask claims the keys in a batch, which tells those that are Used.
func (c *Claims) Ask(b *pg.Batch, in tenant.TenantID) {
	coredb.ClaimKeys(b, in, c.asked, func(claimed coredb.Claim) { c.byName[claimed.Name()].Used = false })
}

// Release gives a key back.
func (c *Claim) Release(tx *pg.Tx, in tenant.TenantID) { coredb.GiveKeyBack(tx, in, c.Claim) }
