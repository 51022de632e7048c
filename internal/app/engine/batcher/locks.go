package batcher

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/tenant"
)

// Key names something that tasks lock.
type Key = tenant.UUID

// Locks decide what may share a batch, and what may run at the same time.
type Locks struct {
	Together []Key // never in two batches at once, but several tasks in one
	Single   []Key // one task at a time
	// Updates says that the task writes new versions of existing rows. Their index entries share pages, and two
	// transactions that each write there conflict. So a tenant has one batch with such tasks at a time.
	Updates bool
	Solo    bool // never batched
}

// excludesUpdates reports whether a batch with these locks excludes others with Updates. A task that runs alone does
// not, because it must not keep all others waiting.
func (l Locks) excludesUpdates() bool { return l.Updates && !l.Solo }

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

// KeySet is a set of keys, of both kinds.
type KeySet map[Key]struct{}

// Add adds all keys of a task.
func (s KeySet) Add(l Locks) {
	for _, key := range l.Together {
		s[key] = struct{}{}
	}
	for _, key := range l.Single {
		s[key] = struct{}{}
	}
}

// HasAny reports whether a task has a key of the set.
func (s KeySet) HasAny(l Locks) bool {
	return slices.ContainsFunc(l.Together, s.has) || slices.ContainsFunc(l.Single, s.has)
}

func (s KeySet) has(key Key) bool {
	_, ok := s[key]
	return ok
}

func (s KeySet) remove(l Locks) {
	for _, key := range l.Together {
		delete(s, key)
	}
	for _, key := range l.Single {
		delete(s, key)
	}
}
