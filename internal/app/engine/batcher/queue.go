package batcher

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/tenant"
)

// A Task is a piece of work in the queue of its tenant.
type Task[W any] struct {
	Tenant tenant.TenantID
	// Context is that of the caller. A batch runs under none of its callers' contexts.
	Context context.Context //nolint:containedctx // see above
	Locks   Locks
	// Found are keys that the task named while it ran. It waits for them if it is queued again.
	Found []Key
	Work  W
}

// queue holds the waiting tasks of one tenant.
type queue[W any] struct {
	tenant  tenant.TenantID
	tasks   []*Task[W] // in order of arrival
	locked  KeySet     // keys of the tasks in batches
	runners int
	updates bool // a batch in progress has Updates
	listed  bool // the queue is in turns
}

// nextBatch removes the tasks that can run together now, in order of arrival. A task that has to wait holds back all
// later ones that share one of its keys.
func (q *queue[W]) nextBatch() []*Task[W] {
	var batch []*Task[W]
	single, held := make(KeySet), make(KeySet)
	rest := q.tasks[:0]
	for i, t := range q.tasks {
		if len(batch) == maxBatch || i == maxLookahead || len(batch) == 1 && batch[0].Locks.Solo {
			rest = append(rest, q.tasks[i:]...)
			break
		}
		again := slices.ContainsFunc(t.Locks.Single, single.has)
		switch {
		case t.Context.Err() != nil: // its caller has left, or is about to
		case q.blocks(t), held.HasAny(t.Locks), again, t.Locks.Solo && len(batch) > 0:
			held.Add(t.Locks)
			rest = append(rest, t)
		default:
			batch = append(batch, t)
			for _, key := range t.Locks.Single {
				single[key] = struct{}{}
			}
		}
	}
	clear(q.tasks[len(rest):])
	q.tasks = rest
	for _, t := range batch {
		q.locked.Add(t.Locks)
	}
	q.updates = q.updates || slices.ContainsFunc(batch, excludesUpdates)
	return batch
}

func excludesUpdates[W any](t *Task[W]) bool { return t.Locks.excludesUpdates() }

// blocks reports whether a task has to wait for a batch in progress.
func (q *queue[W]) blocks(t *Task[W]) bool {
	return q.locked.HasAny(t.Locks) || q.updates && t.Locks.excludesUpdates()
}

// release ends a batch. Tasks that are queued again, to run alone, keep their place before all later ones.
func (q *queue[W]) release(batch, requeue []*Task[W]) {
	for _, t := range batch {
		q.locked.remove(t.Locks)
	}
	if slices.ContainsFunc(batch, excludesUpdates) {
		q.updates = false
	}
	q.runners--
	for _, t := range requeue {
		t.Locks.Solo = true
		t.Locks.Together = append(t.Locks.Together, t.Found...)
		t.Found = nil
	}
	q.tasks = slices.Insert(q.tasks, 0, requeue...)
}
