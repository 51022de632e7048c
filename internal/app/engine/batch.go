package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// operation is an attempt at an Operation with its type of result.
type operation[R any] struct {
	Operation[R]
	spec   Spec[R]
	result R
}

func (o *operation[R]) load(q *Query) { o.Load(q) }

func (o *operation[R]) run(ctx context.Context, tx *Tx) (err error) {
	o.result, err = o.Run(ctx, tx)
	return err
}

func (o *operation[R]) answer() []any { return o.spec.stored(&o.result) }

// enqueue queues an operation and waits until it is done, or ctx ends. Results travel by channel: a caller that has
// left shares no memory with the runner.
func enqueue[R any](
	ctx context.Context, e *Engine, by tenant.Caller, s Spec[R], locks Locks, fresh func() Operation[R],
	key *IdempotencyKey,
) (R, error) {
	type outcome struct {
		result R
		err    error
	}
	done := make(chan outcome, 1)
	var last *operation[R] // the runner's
	t := &task{
		ctx: ctx, caller: by, request: requestID(ctx), name: s.Name, locks: locks, races: s.Races, key: key, quiet: s.Quiet,
		fresh: func() attempt {
			last = &operation[R]{Operation: fresh(), spec: s}
			return last
		},
		done: func(err error) {
			if err != nil {
				done <- outcome{err: err}
			} else {
				done <- outcome{result: last.result}
			}
		},
	}
	if key != nil { // no two with one key in a batch
		t.locks.Single = append(slices.Clone(t.locks.Single), NameKey("key", by.Actor(), key.Procedure, key.Text))
	}
	var none R
	if err := e.batcher.enqueue(t); err != nil {
		return none, err
	}
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		e.batcher.leave(t)
		return none, ctx.Err()
	}
}

// maxSplits bounds how often a batch runs again without one of its operations. Each time costs as much as a batch.
const maxSplits = 3

// runBatch runs what the batcher took from a queue, and answers the callers. It returns, in order of arrival, what has
// to run alone.
func (e *Engine) runBatch(all []*task) (requeue []*task) {
	if len(all) == 1 {
		err := e.runSolo(all[0])
		if errors.Is(err, ErrSolo) {
			return all // it waits for keys
		}
		all[0].done(err)
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
			// Decide again without it, and without later ones that share its keys.
			splits++
			var without []*task
			batch, without = splitBatch(batch, failed.index)
			sendBack(without...)
			continue
		case violation(err) && !strict:
			strict = true // which finds out, as a rule, which operation it was
			continue
		case failed != nil, pg.Code(err) != "":
			sendBack(batch...) // one by one: what fails for one must not fail the others
		default:
			for i, t := range batch {
				switch {
				case err == nil && errors.Is(outcomes[i], ErrSolo), err != nil && mayEndDifferently(err, t.key, t.races):
					sendBack(t)
				case err == nil:
					t.done(outcomes[i])
				default:
					t.done(err)
				}
			}
		}
		break
	}
	return slices.DeleteFunc(slices.Clone(all), func(t *task) bool { return !back[t] })
}

// splitBatch takes an operation out of a batch, and all later ones that share its keys.
func splitBatch(batch []*task, failedIndex int) (stay, back []*task) {
	keys := make(map[Key]struct{})
	for i, t := range batch {
		if i == failedIndex || i > failedIndex && t.locks.anyIn(keys) {
			t.locks.addTo(keys)
			back = append(back, t)
		} else {
			stay = append(stay, t)
		}
	}
	return stay, back
}

// runSolo runs one operation. It runs again where it lost a race that a fresh look may settle, and once more, strict,
// if any constraint refused what it had not read.
func (e *Engine) runSolo(t *task) error {
	for attempt := 1; ; attempt++ {
		_, err := e.runOnce([]*task{t}, attempt > 1)
		switch {
		case err == nil || attempt == maxAttempts:
			return err
		case mayEndDifferently(err, t.key, t.races):
		case attempt > 1 || !violation(err):
			return err
		}
	}
}

// violation reports whether a constraint guarded what an operation had not read.
func violation(err error) bool { return pg.IsUnique(err) || pg.IsExclusion(err) || pg.IsCheck(err) }

// operationError ends a batch's attempt because one operation failed after it had queued writes.
type operationError struct {
	index int
	cause error
}

func (e *operationError) Error() string {
	return "engine: an operation failed after it wrote: " + e.cause.Error()
}

// runOnce runs a batch in one transaction. The outcomes are those of its operations, and hold if there is no error. The
// outcome of a single operation is that of the transaction.
func (e *Engine) runOnce(batch []*task, strict bool) ([]error, error) {
	ctx, cancel := patience(batch)
	defer cancel()
	id, now := batch[0].caller.Tenant, e.now()
	ids := tenant.NewIDs(now)
	outcomes := make([]error, len(batch))
	var run *batchRun
	transactions := 0
	err := e.db.InTx(ctx, pg.Scope{Tenant: id}, nameOf(batch), func(ctx context.Context, db *pg.Tx) error {
		transactions++
		run = &batchRun{batch: batch, db: db, tenant: id, now: now, ids: ids.Reset(), strict: strict, state: e.newState()}
		return run.do(ctx, outcomes)
	}, e.queueOn(batch)...)
	if transactions > 1 {
		e.contended.begin(id, now.Add(contentionLasts))
	}
	if err != nil {
		return outcomes, err
	}
	if slices.ContainsFunc(batch, func(t *task) bool { return !t.quiet }) {
		e.committed(id)
	}
	for i, tx := range run.txs {
		if outcomes[i] == nil {
			tx.committed(e)
		}
	}
	return outcomes, nil
}

// batchRun is one run of a transaction's body for a batch.
type batchRun struct {
	batch  []*task
	db     *pg.Tx
	tenant tenant.TenantID
	now    time.Time
	ids    *tenant.IDs
	strict bool
	state  State

	txs      []*Tx
	attempts []attempt
	claims   []*claim
}

// do loads the facts of all operations, then runs one after the other.
func (r *batchRun) do(ctx context.Context, outcomes []error) error {
	clear(outcomes)
	if err := r.load(ctx, outcomes); err != nil {
		return err
	}
	alone := len(r.batch) == 1
	held := make(map[Key]struct{}) // of operations that run again alone: later ones with these keys follow them
	for i, t := range r.batch {
		claim, before := r.claims[i], r.db.WriteCount()
		switch {
		case claim != nil && claim.used:
			outcomes[i] = errKeyUsed
			continue
		case outcomes[i] != nil: // it failed to load
		case t.locks.anyIn(held):
			outcomes[i] = ErrSolo
		default:
			outcomes[i] = recovered(func() error { return r.attempts[i].run(ctx, r.txs[i]) })
		}
		switch {
		case outcomes[i] == nil && claim != nil:
			outcomes[i] = t.key.store(r.txs[i], r.attempts[i].answer())
		case outcomes[i] != nil && r.db.WriteCount() > before && !alone:
			return &operationError{i, outcomes[i]}
		case outcomes[i] != nil && claim != nil:
			claim.giveBack(r.db, r.tenant) // a refusal does not use the key up
		}
		if errors.Is(outcomes[i], ErrSolo) {
			t.locks.addTo(held)
		}
	}
	if alone {
		return outcomes[0]
	}
	return nil
}

// load reads what the operations ask for in one round trip, and what depends on that in a second. The claims on
// idempotency keys travel ahead of all else.
func (r *batchRun) load(ctx context.Context, outcomes []error) error {
	var first, second pg.Batch
	r.claims = claimAll(&first, r.tenant, r.batch, r.now)
	query := func(caller tenant.Caller) *Query {
		return &Query{Batch: &first, Tenant: r.tenant, Caller: caller, Now: r.now, Strict: r.strict, State: r.state}
	}
	shared := query(r.batch[0].caller)
	r.state.Load(shared)
	queries := make([]*Query, len(r.batch))
	r.attempts, r.txs = make([]attempt, len(r.batch)), make([]*Tx, len(r.batch))
	for i, t := range r.batch {
		r.attempts[i] = t.fresh()
		r.txs[i] = &Tx{
			Tx: r.db, Tenant: r.tenant, Caller: t.caller, Request: t.request, Now: r.now, IDs: r.ids, State: r.state,
			task: t, shared: len(r.batch) > 1,
		}
		queries[i] = query(t.caller)
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

// recovered turns a panic into an error: a bug in one operation must not end the process, which answers many.
func recovered(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	return fn()
}

// patience is the context of a batch: it lasts as long as the most patient of its callers waits. A caller that leaves
// changes nothing for the others.
func patience(batch []*task) (context.Context, context.CancelFunc) {
	var last time.Time
	for _, t := range batch {
		deadline, ok := t.ctx.Deadline()
		if !ok {
			return context.WithCancel(context.WithoutCancel(t.ctx))
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return context.WithDeadline(context.WithoutCancel(batch[0].ctx), last)
}

// nameOf names a transaction after what all its operations are.
func nameOf(batch []*task) string {
	for _, t := range batch {
		if t.name != batch[0].name {
			return "booking.mixed"
		}
	}
	return batch[0].name
}
