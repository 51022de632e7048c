package batcher

import "github.com/berthhq/berth/internal/tenant"

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
