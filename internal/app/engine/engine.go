// Package engine runs use cases, each in one SERIALIZABLE transaction: alone, or batched with others of its tenant.
// It claims idempotency keys and replays stored answers, retries operations that lost a race, and reports commits.
// It knows nothing of what they do.
package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/app/engine/batcher"
	"github.com/berthhq/berth/internal/app/quota"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what an Engine needs.
type Config struct {
	DB *pg.DB
	// Now is the clock. The engine reads it once for each attempt, outside the transaction.
	Now func() time.Time
	// NewState makes what the operations of one attempt share. Optional.
	NewState func() State
	// Races are those of every operation, in addition to its own. Optional.
	Races []Race
	// Committed is called after each commit that changed data of a tenant. Optional.
	Committed func(tenant.TenantID)
	// Width is how many batches of one tenant run at a time. Default 2, which is best on 2 cores.
	Width int
	// Widest is how many batches of all tenants run at a time while they are small. It must leave some of the command
	// pool's connections to Transact. Default 12.
	Widest int
	// MaxKeys is how many idempotency keys a caller may use within idempotency.Lifetime. Default: any number.
	MaxKeys int
	// QueueDepth is how many operations of one tenant may wait. Default 4096.
	QueueDepth int
}

// An Engine runs transactions and operations. It is safe for concurrent use.
type Engine struct {
	// Alarms go off when something of a tenant expires. Tx.WakeAt sets them.
	Alarms alarm.Clock
	// Fills go off when open seats may have to be given to a waitlist, without anything that frees them. Tx.FillAt sets
	// them.
	Fills alarm.Clock

	db        *pg.DB
	now       func() time.Time
	newState  func() State
	races     []Race
	committed func(tenant.TenantID)
	batcher   *batcher.Batcher[*work]
	contended contention
	counts    *quota.Counts
	maxKeys   int
}

// New makes an Engine.
func New(c Config) *Engine {
	e := &Engine{
		db: c.DB, newState: c.NewState, races: c.Races, committed: c.Committed, counts: quota.NewCounts(), maxKeys: c.MaxKeys,
	}
	// Postgres keeps microseconds. Truncating here makes the times in an answer equal to those that a later read returns.
	e.now = func() time.Time { return c.Now().UTC().Truncate(time.Microsecond) }
	if e.newState == nil {
		e.newState = func() State { return noState{} }
	}
	if e.committed == nil {
		e.committed = func(tenant.TenantID) {}
	}
	width := cmp.Or(c.Width, 2)
	e.batcher = batcher.New(
		batcher.Config{Width: width, Widest: max(width, cmp.Or(c.Widest, 12)), Depth: cmp.Or(c.QueueDepth, 4096)}, e.runBatch,
	)
	return e
}

// Now is the time, in UTC and to the microsecond.
func (e *Engine) Now() time.Time { return e.now() }

// Read sends a batch whose statements do not depend on each other as one snapshot, in one round trip.
func (e *Engine) Read(ctx context.Context, by tenant.Caller, batch *pg.Batch) error {
	return e.db.ReadBatch(ctx, pg.Scope{Tenant: by.Tenant}, batch)
}

// reader is Read for one caller.
func (e *Engine) reader(by tenant.Caller) Reader {
	return func(ctx context.Context, batch *pg.Batch) error { return e.Read(ctx, by, batch) }
}

// Snapshot reads several times from one snapshot.
func (e *Engine) Snapshot(ctx context.Context, by tenant.Caller, fn func(context.Context, *pg.ReadTx) error) error {
	return e.db.Read(ctx, pg.Scope{Tenant: by.Tenant}, fn)
}

// ReadAsOperator reads the data of all tenants.
func (e *Engine) ReadAsOperator(ctx context.Context, fn func(context.Context, *pg.ReadTx) error) error {
	return e.db.ReadAsOperator(ctx, fn)
}

// NotifyChanged reports that data of a tenant changed in a transaction that was Quiet.
func (e *Engine) NotifyChanged(id tenant.TenantID) { e.committed(id) }

// Drain rejects new operations and waits for the accepted ones. Call it when no more requests arrive, before the
// database is closed.
func (e *Engine) Drain() { e.batcher.Drain() }

// Queued counts a tenant's batches in progress and the operations that wait for one.
func (e *Engine) Queued(id tenant.TenantID) (running, waiting int) { return e.batcher.Queued(id) }
