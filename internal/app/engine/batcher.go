package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// maxBatch bounds the operations of one transaction. In larger batches an operation costs no less, and waits longer.
	maxBatch = 128
	// maxLookahead bounds how much of a queue is searched for operations that may run now.
	maxLookahead = 8 * maxBatch
	// maxRunners bounds the transactions in progress while batches are small. It leaves some of the command pool's
	// connections to Transact.
	maxRunners = 12
)

// A batcher sends operations to the database, a few transactions at a time. Operations queue up while transactions are
// in progress, and a runner that becomes free takes all that can run together. No operation waits for a timer, and the
// busier the node is, the less each operation costs.
//
// A key is in at most one transaction at a time, so a node does not conflict with itself, and operations with one key
// run in the order in which they arrived. Each transaction is of one tenant, and tenants take turns. Few runners make
// large batches, so a tenant has at most width of them. While batches are small, because many tenants have an operation
// each, up to widest runners run. All this is for speed and fairness: the database guarantees correctness.
type batcher struct {
	width  int // transactions of one tenant at a time, and of all tenants while batches are large
	widest int // transactions at a time while they carry fewer operations than this
	depth  int // operations of one tenant that may wait
	run    func(batch []*task) (requeue []*task)

	mu       sync.Mutex
	queues   map[tenant.TenantID]*queue
	turns    []*queue // those with tasks, the next first
	runners  int
	inFlight int           // operations in transactions
	pace     time.Duration // of an operation, as a moving average
	closed   bool
	idle     sync.Cond // broadcast when the last runner ends
}

func newBatcher(width, widest, depth int, run func([]*task) []*task) *batcher {
	b := &batcher{width: width, widest: widest, depth: depth, run: run, queues: make(map[tenant.TenantID]*queue)}
	b.idle.L = &b.mu
	return b
}

// queue holds the waiting operations of one tenant.
type queue struct {
	tenant  tenant.TenantID
	tasks   []*task          // in order of arrival
	locked  map[Key]struct{} // keys of the operations in transactions
	runners int
	updates bool // a transaction in progress has Updates
	listed  bool // the queue is in turns
}

// task is an operation in a queue.
type task struct {
	ctx        context.Context //nolint:containedctx // a batch runs under none of its callers' contexts
	caller     tenant.Caller
	request    Request
	name       string
	locks      Locks
	races      []Race
	key        *IdempotencyKey
	newAttempt func() attempt
	done       func(error) // answers the caller, with the result of the latest attempt or an error

	grown int   // see Tx.Grow
	found []Key // keys named by Tx.Lock; the task waits for them if it is queued again
}

// attempt is one attempt at an operation with any type of result.
type attempt interface {
	load(q *Query)
	run(ctx context.Context, tx *Tx) error
	answer() any
}

func (l Locks) anyIn(set map[Key]struct{}) bool {
	in := func(key Key) bool { _, ok := set[key]; return ok }
	return slices.ContainsFunc(l.Together, in) || slices.ContainsFunc(l.Single, in)
}

func (l Locks) addTo(set map[Key]struct{}) {
	for _, key := range l.Together {
		set[key] = struct{}{}
	}
	for _, key := range l.Single {
		set[key] = struct{}{}
	}
}

func (l Locks) removeFrom(set map[Key]struct{}) {
	for _, key := range l.Together {
		delete(set, key)
	}
	for _, key := range l.Single {
		delete(set, key)
	}
}

// exclusiveUpdates reports whether a batch with this operation excludes others with Updates. An operation that runs
// alone does not, because it must not keep all others waiting.
func (t *task) exclusiveUpdates() bool { return t.locks.Updates && !t.locks.Solo }

// enqueue appends a task to its tenant's queue.
func (b *batcher) enqueue(t *task) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return fault.New(fault.Unavailable, fault.Contention, "The server is stopping. Try again.")
	}
	q := b.queues[t.caller.Tenant]
	if q == nil {
		q = &queue{tenant: t.caller.Tenant, locked: make(map[Key]struct{})}
		b.queues[t.caller.Tenant] = q
	}
	if len(q.tasks) >= b.depth {
		return b.full(q)
	}
	q.tasks = append(q.tasks, t)
	b.list(q)
	if !q.blocks(t) { // otherwise the runner that has its keys takes it next
		b.start()
	}
	return nil
}

// full rejects an operation because too many wait, and estimates when there is room.
func (b *batcher) full(q *queue) error {
	wait := time.Duration(len(q.tasks)) * b.pace / time.Duration(b.width)
	return fault.TooMany(wait, "Too many requests are waiting already.")
}

// leave drops a task that is still queued. A task in a transaction finishes.
func (b *batcher) leave(t *task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.queues[t.caller.Tenant]; q != nil {
		q.tasks = slices.DeleteFunc(q.tasks, func(other *task) bool { return other == t })
	}
}

// list appends a queue to the turns.
func (b *batcher) list(q *queue) {
	if !q.listed && len(q.tasks) > 0 {
		q.listed = true
		b.turns = append(b.turns, q)
	}
}

// start adds a runner if there may be work for it.
func (b *batcher) start() {
	room := b.runners < b.width || max(b.runners, b.inFlight) < b.widest
	if room && slices.ContainsFunc(b.turns, b.open) {
		b.runners++
		go b.runner()
	}
}

// open reports whether one more runner may serve a queue.
func (b *batcher) open(q *queue) bool { return q.runners < b.width }

// runner runs batches until none is left.
func (b *batcher) runner() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		q, batch := b.nextBatch()
		if batch == nil {
			break
		}
		b.start()
		b.mu.Unlock()
		started := time.Now() //nolint:forbidigo // a duration, not a fact of the domain
		requeue := b.run(batch)
		took := time.Since(started) / time.Duration(len(batch)) //nolint:forbidigo // as above
		b.mu.Lock()
		b.pace += (took - b.pace) / 8
		b.release(q, batch, requeue)
	}
	b.runners--
	if b.runners == 0 {
		b.idle.Broadcast()
	}
}

// nextBatch takes the operations that can run together from the next queue that has any.
func (b *batcher) nextBatch() (*queue, []*task) {
	for i, q := range b.turns {
		if !b.open(q) {
			continue
		}
		batch := q.nextBatch()
		if len(batch) == 0 && len(q.tasks) > 0 {
			continue // all its tasks wait for keys
		}
		b.turns = slices.Delete(b.turns, i, i+1)
		q.listed = false
		b.list(q)
		if len(batch) > 0 {
			q.runners++
			b.inFlight += len(batch)
			return q, batch
		}
		b.drop(q)
		return b.nextBatch()
	}
	return nil, nil
}

// nextBatch removes the operations that can run together now, in order of arrival. An operation that has to wait holds
// back all later ones that share one of its keys.
func (q *queue) nextBatch() []*task {
	var batch []*task
	single, held := make(map[Key]struct{}), make(map[Key]struct{})
	rest := q.tasks[:0]
	for i, t := range q.tasks {
		if len(batch) == maxBatch || i == maxLookahead || len(batch) == 1 && batch[0].locks.Solo {
			rest = append(rest, q.tasks[i:]...)
			break
		}
		again := slices.ContainsFunc(t.locks.Single, func(key Key) bool { _, ok := single[key]; return ok })
		switch {
		case t.ctx.Err() != nil: // its caller has left, or is about to
		case q.blocks(t), t.locks.anyIn(held), again, t.locks.Solo && len(batch) > 0:
			t.locks.addTo(held)
			rest = append(rest, t)
		default:
			batch = append(batch, t)
			for _, key := range t.locks.Single {
				single[key] = struct{}{}
			}
		}
	}
	clear(q.tasks[len(rest):])
	q.tasks = rest
	for _, t := range batch {
		t.locks.addTo(q.locked)
	}
	q.updates = q.updates || slices.ContainsFunc(batch, (*task).exclusiveUpdates)
	return batch
}

// blocks reports whether a task has to wait for a transaction in progress.
func (q *queue) blocks(t *task) bool {
	return t.locks.anyIn(q.locked) || q.updates && t.exclusiveUpdates()
}

// release ends a batch. Operations that are queued again, to run alone, keep their place before all later ones.
func (b *batcher) release(q *queue, batch, requeue []*task) {
	for _, t := range batch {
		t.locks.removeFrom(q.locked)
	}
	if slices.ContainsFunc(batch, (*task).exclusiveUpdates) {
		q.updates = false
	}
	q.runners--
	b.inFlight -= len(batch)
	for _, t := range requeue {
		t.locks.Solo = true
		t.locks.Together = append(t.locks.Together, t.found...)
		t.found = nil
	}
	q.tasks = slices.Insert(q.tasks, 0, requeue...)
	b.list(q)
	b.drop(q)
}

// drop deletes a queue that is empty.
func (b *batcher) drop(q *queue) {
	if len(q.tasks) == 0 && q.runners == 0 {
		delete(b.queues, q.tenant)
	}
}

// drain rejects new tasks and waits until the accepted ones are done.
func (b *batcher) drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for b.runners > 0 {
		b.idle.Wait()
	}
}
