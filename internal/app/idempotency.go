package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// keyLife is how long a key stands for its first answer.
const keyLife = 24 * time.Hour

// Key makes a mutation happen once, however often it is sent, and lets every sending have the answer of the
// first. A key is known by its text within a tenant, to one caller and one procedure. What is refused
// uses no key up. Not safe for concurrent use.
type Key struct {
	Text      string
	Procedure string
	Hash      []byte // SHA-256 of what is asked for: another one under the same key is a conflict

	// Repeated is set where the answer is that of an earlier request.
	Repeated bool
}

type keyKey struct{}

// WithKey makes the use case that is run with the context happen once.
func WithKey(ctx context.Context, key *Key) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}

func keyOf(ctx context.Context) *Key {
	key, _ := ctx.Value(keyKey{}).(*Key)
	return key
}

// option says more about how a use case is run.
type option func(*writing)

// writing is a use case on its way through one or more transactions.
type writing struct {
	races   []func(error) bool
	answers []any // pointers to what the use case gives; nil: no key makes it happen once
	key     *Key  // nil: none
	effects
}

// answers lets a request's key work for the use case. The pointers lead to all that it sets in its transaction and
// gives afterwards; secrets, which are shown once, are not among that.
func answers(pointers ...any) option {
	return func(w *writing) { w.answers = append([]any{}, pointers...) }
}

// losing names races that the use case may lose to a constraint rather than to a serialization failure. It then looks again.
func losing(races ...func(error) bool) option {
	return func(w *writing) { w.races = append(w.races, races...) }
}

// again reports whether a new attempt may end otherwise than the one that ended with err.
func (w *writing) again(err error) bool {
	switch {
	case errors.Is(err, errForgotten):
		return true
	case errors.Is(err, pg.ErrCommitUnknown):
		return w.key != nil // it tells what became of that commit
	}
	return slices.ContainsFunc(w.races, func(race func(error) bool) bool { return race(err) })
}

// errForgotten: a key ended between the attempt to use it and the look at what it was used for.
var errForgotten = fault.New(fault.Unavailable, fault.Contention, "Too many others are changing the same things. Try again.")

func (k *Key) claim(caller tenant.Caller, now time.Time) coredb.Claim {
	return coredb.Claim{
		Principal: caller.Actor(), Procedure: k.Procedure, Key: k.Text, Hash: k.Hash, At: now, Since: now.Add(-keyLife),
	}
}

// keep writes the answers of a use case in its own transaction: both are durable, or neither.
func (w *writing) keep(t *tx, claim coredb.Claim) error {
	text, err := json.Marshal(w.answers)
	if err != nil {
		return fmt.Errorf("app: answer not kept: %w", err)
	}
	coredb.AnswerKey(t.Tx, t.in, claim, string(text))
	return nil
}

// recall gives the answers that are kept under a key; false where there are none.
func (a *App) recall(ctx context.Context, caller tenant.Caller, key *Key, into ...any) (bool, error) {
	var kept *coredb.Answered
	var batch pg.Batch
	coredb.FindAnswer(&batch, caller.Tenant, key.claim(caller, a.now()), &kept)
	if err := a.read(ctx, caller, &batch); err != nil || kept == nil {
		return false, err
	}
	if !bytes.Equal(kept.Hash, key.Hash) {
		return false, fault.New(fault.AlreadyExists, fault.IdempotencyConflict, "The idempotency key was used for another request.")
	}
	var texts []json.RawMessage
	if err := json.Unmarshal([]byte(kept.Answer), &texts); err != nil {
		return false, fmt.Errorf("app: answer not recalled: %w", err)
	}
	if len(texts) != len(into) {
		return false, fmt.Errorf("app: answer not recalled: %d values kept, %d wanted", len(texts), len(into))
	}
	for i, pointer := range into {
		reflect.ValueOf(pointer).Elem().SetZero() // an attempt may have left something there
		if err := json.Unmarshal(texts[i], pointer); err != nil {
			return false, fmt.Errorf("app: answer not recalled: %w", err)
		}
	}
	key.Repeated = true
	return true, nil
}

// sweepKeys forgets the keys that no longer stand for anything.
func (a *App) sweepKeys(ctx context.Context, caller tenant.Caller, _ *Swept) error {
	until := a.now().Add(-keyLife)
	for {
		var old bool
		var batch pg.Batch
		coredb.HasOldKeys(&batch, caller.Tenant, until, &old)
		if err := a.read(ctx, caller, &batch); err != nil || !old {
			return err
		}
		err := a.write(ctx, caller, "sweep.keys", func(_ context.Context, t *tx) error {
			coredb.DeleteOldKeys(t.Tx, t.in, until, 10*sweepChunk)
			return nil
		})
		if err != nil {
			return err
		}
	}
}
