// Package batcher sends tasks to be run, many at a time. It decides what shares a batch, what waits, and whose turn it
// is. It knows nothing of transactions.
package batcher

import (
	"slices"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// maxBatch bounds the tasks of one batch. In larger batches a task costs no less, and waits longer.
	maxBatch = 128
	// maxLookahead bounds how much of a queue is searched for tasks that may run now.
	maxLookahead = 8 * maxBatch
)

// Config says how many batches run and how many tasks wait.
type Config struct {
	Width  int // batches of one tenant at a time, and of all tenants while batches are large
	Widest int // batches at a time while they carry fewer tasks than this
	Depth  int // tasks of one tenant that may wait
}

// A Batcher runs tasks, a few batches at a time. Tasks queue up while batches are in progress, and a runner that
// becomes free takes all that can run together. No task waits for a timer, and the busier the node is, the less each
// task costs.
//
// A key is in at most one batch at a time, so a node does not conflict with itself, and tasks with one key run in the
// order in which they arrived. Each batch is of one tenant, and tenants take turns. Few runners make large batches, so
// a tenant has at most Width of them. While batches are small, because many tenants have a task each, up to Widest
// runners run. One place beyond those is for a tenant that has no batch in progress, so that it need not wait for the
// batches of one that fills all the others. All this is for speed and fairness: the database guarantees correctness.
type Batcher[W any] struct {
	Config
	run func(batch []*Task[W]) (requeue []*Task[W])

	mu       sync.Mutex
	queues   map[tenant.TenantID]*queue[W]
	turns    []*queue[W] // those with tasks, the next first
	runners  int
	inFlight int           // tasks in batches
	pace     time.Duration // of a task, as a moving average
	closed   bool
	idle     sync.Cond // broadcast when the last runner ends
}

// New makes a batcher. Run runs a batch, and returns in order of arrival the tasks that have to run alone.
func New[W any](c Config, run func(batch []*Task[W]) (requeue []*Task[W])) *Batcher[W] {
	b := &Batcher[W]{Config: c, run: run, queues: make(map[tenant.TenantID]*queue[W])}
	b.idle.L = &b.mu
	return b
}

// Enqueue appends a task to its tenant's queue.
func (b *Batcher[W]) Enqueue(t *Task[W]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return fault.New(fault.Unavailable, fault.Contention, "The server is stopping. Try again.")
	}
	q := b.queues[t.Tenant]
	if q == nil {
		q = &queue[W]{tenant: t.Tenant, locked: make(KeySet)}
		b.queues[t.Tenant] = q
	}
	if len(q.tasks) >= b.Depth {
		return b.full(q)
	}
	q.tasks = append(q.tasks, t)
	b.list(q)
	if !q.blocks(t) { // otherwise the runner that has its keys takes it next
		b.start()
	}
	return nil
}

// full rejects a task because too many wait, and estimates when there is room.
func (b *Batcher[W]) full(q *queue[W]) error {
	wait := time.Duration(len(q.tasks)) * b.pace / time.Duration(b.Width)
	return fault.TooMany(wait, "Too many requests are waiting already.")
}

// Leave drops a task that is still queued. A task in a batch finishes.
func (b *Batcher[W]) Leave(t *Task[W]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.queues[t.Tenant]; q != nil {
		q.tasks = slices.DeleteFunc(q.tasks, func(other *Task[W]) bool { return other == t })
	}
}

// Queued counts a tenant's batches in progress and the tasks that wait for one.
func (b *Batcher[W]) Queued(id tenant.TenantID) (running, waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.queues[id]; q != nil {
		return q.runners, len(q.tasks)
	}
	return 0, 0
}

// Drain rejects new tasks and waits until the accepted ones are done.
func (b *Batcher[W]) Drain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for b.runners > 0 {
		b.idle.Wait()
	}
}

// list appends a queue to the turns.
func (b *Batcher[W]) list(q *queue[W]) {
	if !q.listed && len(q.tasks) > 0 {
		q.listed = true
		b.turns = append(b.turns, q)
	}
}

// start adds a runner if there may be work for it.
func (b *Batcher[W]) start() {
	b.runners++
	if b.runners <= b.Width+1 || b.small() {
		if slices.ContainsFunc(b.turns, b.open) {
			go b.runner()
			return
		}
	}
	b.runners--
}

// small reports whether batches carry so few tasks that more of them may run.
func (b *Batcher[W]) small() bool { return max(b.runners-1, b.inFlight) < b.Widest }

// open reports whether a runner may serve a queue. The one beyond Width serves tenants that have no other.
func (b *Batcher[W]) open(q *queue[W]) bool {
	return q.runners == 0 || q.runners < b.Width && (b.runners <= b.Width || b.small())
}

// runner runs batches until none is left.
func (b *Batcher[W]) runner() {
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

// nextBatch takes the tasks that can run together from the next queue that has any.
func (b *Batcher[W]) nextBatch() (*queue[W], []*Task[W]) {
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

// release ends a batch.
func (b *Batcher[W]) release(q *queue[W], batch, requeue []*Task[W]) {
	q.release(batch, requeue)
	b.inFlight -= len(batch)
	b.list(q)
	b.drop(q)
}

// drop deletes a queue that is empty.
func (b *Batcher[W]) drop(q *queue[W]) {
	if len(q.tasks) == 0 && q.runners == 0 {
		delete(b.queues, q.tenant)
	}
}
