package engine

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Tx is the transaction of one attempt at a use case, with all that enters it from outside. If the database makes it
// run again, it has the same time and makes the same ids.
type Tx struct {
	*pg.Tx
	Tenant  tenant.TenantID
	Caller  tenant.Caller
	Request Request
	Now     time.Time
	IDs     *tenant.IDs
	State   State

	engine  *Engine
	task    *task // nil in Transact
	grown   *int  // how many rows Grow has counted, in an earlier attempt too
	shared  bool
	wakeAt  *time.Time
	effects []func()
}

// ErrSolo says that an operation cannot finish in a transaction that it shares. The engine runs it again alone.
var ErrSolo = errors.New("engine: this operation runs alone")

// Shared reports whether other operations share the transaction.
func (tx *Tx) Shared() bool { return tx.shared }

// Load reads more facts. In a shared transaction it returns ErrSolo.
func (tx *Tx) Load(ctx context.Context, batch *pg.Batch) error {
	if tx.shared {
		return ErrSolo
	}
	return tx.Tx.Load(ctx, batch)
}

// Lock adds keys that the operation found out while it runs. Two transactions that change the same things conflict. On
// one node the operation is queued again with these keys, behind the one that has them, and Lock returns ErrSolo. On
// another node it fails once and retries under an advisory lock.
func (tx *Tx) Lock(keys ...Key) error {
	for _, key := range keys {
		tx.LockOnRetry(advisoryLock(tx.Tenant, key))
		if t := tx.task; t != nil && !slices.Contains(t.Locks.Together, key) && !slices.Contains(t.Found, key) {
			t.Found = append(t.Found, key)
		}
	}
	if t := tx.task; t != nil && len(keys) > 0 && (tx.shared || len(t.Found) > 0) {
		return ErrSolo
	}
	return nil
}

// advisoryLock is the advisory lock for a key of a tenant. Transactions of different nodes wait for each other on it.
func advisoryLock(in tenant.TenantID, key Key) int64 {
	hash := fnv.New64a()
	hash.Write(in.UUID[:])
	hash.Write(key[:])
	return int64(hash.Sum64())
}

// WakeAt sets an alarm for the tenant if the transaction commits, because something that it made expires then.
func (tx *Tx) WakeAt(at time.Time) {
	if tx.wakeAt == nil || at.Before(*tx.wakeAt) {
		tx.wakeAt = &at
	}
}

// FillAt sets an alarm for the open seats of the tenant if the transaction commits.
func (tx *Tx) FillAt(at time.Time) {
	tx.OnCommit(func() { tx.engine.Fills.Set(tx.Tenant, at) })
}

// OnCommit runs fn after the commit, but not if the operation was refused. If the process ends between the two, fn does
// not run, so correctness must not depend on it.
func (tx *Tx) OnCommit(fn func()) { tx.effects = append(tx.effects, fn) }

// committed sets the alarm and runs the effects, after the commit.
func (tx *Tx) committed(e *Engine) {
	if tx.wakeAt != nil {
		e.Alarms.Set(tx.Tenant, *tx.wakeAt)
	}
	for _, effect := range tx.effects {
		effect()
	}
}
