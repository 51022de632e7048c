package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine/batcher"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// maxSplits bounds how often a batch runs again without one of its operations. Each run costs as much as a batch.
const maxSplits = 3

// runBatch runs the tasks that the batcher took from a queue, and answers their callers. It returns, in order of
// arrival, the tasks that have to run alone.
func (e *Engine) runBatch(all []*task) (requeue []*task) {
	if len(all) == 1 {
		err := e.runSolo(all[0])
		if errors.Is(err, ErrSolo) {
			return all // Tx.Lock found keys that it has to wait for
		}
		all[0].Work.done(err)
		return nil
	}
	batch := all
	back := make(map[*task]bool)
	sendBack := func(some ...*task) {
		for _, t := range some {
			back[t] = true
		}
	}
	for strict, splits := false, 0; len(batch) > 0; {
		outcomes, err := e.runOnce(batch, strict)
		var failed *operationError
		switch {
		case errors.As(err, &failed) && splits < maxSplits:
			// Run the batch again without it, and without later operations that share its keys.
			splits++
			var without []*task
			batch, without = splitBatch(batch, failed.index)
			sendBack(without...)
			continue
		case violation(err) && !strict:
			strict = true // as a rule, the strict attempt finds the operation that caused it
			continue
		case failed != nil, pg.Code(err) != "":
			sendBack(batch...) // run each alone: an error of one must not fail the others
		default:
			for i, t := range batch {
				switch {
				case err == nil && errors.Is(outcomes[i], ErrSolo), err != nil && e.isRetryable(err, t.Work.key, t.Work.races),
					errors.Is(err, ErrSolo): // the others have left, and Tx.Lock found keys
					sendBack(t)
				case err == nil:
					t.Work.done(outcomes[i])
				default:
					t.Work.done(err)
				}
			}
		}
		break
	}
	return slices.DeleteFunc(slices.Clone(all), func(t *task) bool { return !back[t] })
}

// splitBatch removes an operation from a batch, and all later operations that share its keys.
func splitBatch(batch []*task, failedIndex int) (stay, back []*task) {
	keys := make(batcher.KeySet)
	for i, t := range batch {
		if i == failedIndex || keys.HasAny(t.Locks) {
			keys.Add(t.Locks)
			back = append(back, t)
		} else {
			stay = append(stay, t)
		}
	}
	return stay, back
}

// runSolo runs one operation alone. If it loses a listed race it runs again, and if any other constraint rejects it,
// once more. Every attempt after the first is strict.
func (e *Engine) runSolo(t *task) error {
	_, err := repeat(func(again bool) ([]error, bool, error) {
		outcomes, err := e.runOnce([]*task{t}, again)
		return outcomes, e.isRetryable(err, t.Work.key, t.Work.races) || violation(err) && !again, err
	})
	return err
}

// operationError ends a batch's transaction because one operation failed after it had queued writes.
type operationError struct {
	index int
	cause error
}

func (e *operationError) Error() string {
	return "engine: an operation failed after it wrote: " + e.cause.Error()
}

// runOnce runs a batch in one transaction. The outcomes of the operations are valid only if the error is nil. The
// outcome of a single operation is that of the transaction.
func (e *Engine) runOnce(batch []*task, strict bool) ([]error, error) {
	ctx, cancel := batchContext(batch)
	defer cancel()
	id, now := batch[0].Tenant, e.now()
	ids := tenant.NewIDs(now)
	outcomes := make([]error, len(batch))
	var run *batchRun
	transactions := 0
	err := e.db.InTx(ctx, pg.Scope{Tenant: id}, nameOf(batch), func(ctx context.Context, db *pg.Tx) error {
		transactions++
		run = &batchRun{
			engine: e, batch: batch, db: db, tenant: id, now: now, ids: ids.Reset(), strict: strict, state: e.newState(),
		}
		return run.do(ctx, outcomes)
	}, e.lockOptions(batch)...)
	if transactions > 1 {
		e.contended.mark(id, now)
	}
	if err != nil {
		return outcomes, err
	}
	e.committed(id)
	for i, tx := range run.txs {
		if outcomes[i] == nil {
			tx.committed(e)
		}
	}
	return outcomes, nil
}

// batchRun is one run of the transaction's body for a batch. The database may ask for several.
type batchRun struct {
	engine *Engine
	batch  []*task
	db     *pg.Tx
	tenant tenant.TenantID
	now    time.Time
	ids    *tenant.IDs
	strict bool
	state  State

	txs      []*Tx
	attempts []attempt
	claims   []*idempotency.Claim
}

// do loads the facts of all operations, then runs one after the other.
func (r *batchRun) do(ctx context.Context, outcomes []error) error {
	clear(outcomes)
	if err := r.load(ctx, outcomes); err != nil {
		return err
	}
	alone := len(r.batch) == 1
	held := make(batcher.KeySet) // keys of operations that run again alone; later ones with these keys follow them
	for i, t := range r.batch {
		claim, before := r.claims[i], r.db.WriteCount()
		switch {
		case claim != nil && claim.Used:
			outcomes[i] = idempotency.ErrUsed
			continue
		case outcomes[i] != nil: // Load or a Then failed
		case held.HasAny(t.Locks):
			outcomes[i] = ErrSolo
		default:
			outcomes[i] = recovered(func() error {
				err := r.attempts[i].run(ctx, r.txs[i])
				if err == nil && claim != nil {
					err = t.Work.key.Store(r.db, t.Work.caller, r.now, r.attempts[i].answer())
				}
				return err
			})
		}
		switch {
		case outcomes[i] != nil && r.db.WriteCount() > before && !alone:
			return &operationError{i, outcomes[i]}
		case outcomes[i] != nil && claim != nil:
			claim.Release(r.db, r.tenant) // a refused request may use its key again
		}
		if errors.Is(outcomes[i], ErrSolo) {
			held.Add(t.Locks)
		}
	}
	if alone {
		return outcomes[0]
	}
	return nil
}

// load reads what the operations ask for in one round trip, and what depends on the answers in a second. Idempotency
// keys are claimed at the start of the first.
func (r *batchRun) load(ctx context.Context, outcomes []error) error {
	var first, second pg.Batch
	claims := idempotency.NewClaims(r.now)
	r.claims = pg.Array(r.batch, func(t *task) *idempotency.Claim { return claims.Add(t.Work.key, t.Work.caller) })
	claims.Ask(&first, r.tenant)
	query := func(caller tenant.Caller) *Query {
		return &Query{Batch: &first, Tenant: r.tenant, Caller: caller, Now: r.now, Strict: r.strict, State: r.state}
	}
	shared := query(r.batch[0].Work.caller)
	r.state.Load(shared)
	queries := make([]*Query, len(r.batch))
	r.attempts, r.txs = make([]attempt, len(r.batch)), make([]*Tx, len(r.batch))
	for i, t := range r.batch {
		r.attempts[i] = t.Work.newAttempt()
		r.txs[i] = &Tx{
			Tx: r.db, Tenant: r.tenant, Caller: t.Work.caller, Request: t.Work.request, Now: r.now, IDs: r.ids, State: r.state,
			engine: r.engine, task: t, grown: &t.Work.grown, shared: len(r.batch) > 1,
		}
		queries[i] = query(t.Work.caller)
		outcomes[i] = recovered(func() error {
			r.attempts[i].load(queries[i])
			return nil
		})
	}
	if err := r.db.Load(ctx, &first); err != nil {
		return err
	}
	if err := r.state.Complete(ctx, r.db); err != nil {
		return err
	}
	then := func(q *Query) error {
		q.Batch = &second
		return recovered(func() error {
			for _, ask := range q.then {
				ask(q)
			}
			return nil
		})
	}
	if err := then(shared); err != nil {
		return err
	}
	for i, q := range queries {
		if outcomes[i] == nil {
			outcomes[i] = then(q)
		}
	}
	if second.Len() == 0 {
		return nil
	}
	return r.db.Load(ctx, &second)
}

// recovered turns a panic into an error: a bug in one operation must not end the process.
func recovered(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	return fn()
}

// batchContext returns the context of a batch. It lasts until the latest deadline of the callers, and is not cancelled
// when one of them leaves.
func batchContext(batch []*task) (context.Context, context.CancelFunc) {
	var last time.Time
	for _, t := range batch {
		deadline, ok := t.Context.Deadline()
		if !ok {
			return context.WithCancel(context.WithoutCancel(t.Context))
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return context.WithDeadline(context.WithoutCancel(batch[0].Context), last)
}

// nameOf returns the name of a batch's operations, if they have the same.
func nameOf(batch []*task) string {
	for _, t := range batch {
		if t.Work.name != batch[0].Work.name {
			return "batch.mixed"
		}
	}
	return batch[0].Work.name
}
