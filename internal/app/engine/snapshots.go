package engine

import (
	"sync"

	"github.com/berthhq/berth/internal/tenant"
)

// maxSnapshots bounds the tenants whose snapshot is kept. A snapshot takes a few kilobytes.
const maxSnapshots = 10_000

// Snapshots caches what rarely changes, for each tenant, with its version in the database. A transaction asks for the
// version that it sees, so it never gets another one. The zero value is empty.
type Snapshots[T any] struct {
	mu   sync.RWMutex
	kept map[tenant.TenantID]versioned[T]
}

type versioned[T any] struct {
	version int64
	value   *T
}

// At returns a tenant's snapshot of a version, or nil if it is not cached.
func (s *Snapshots[T]) At(id tenant.TenantID, version int64) *T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if kept := s.kept[id]; kept.version == version {
		return kept.value
	}
	return nil
}

// Keep replaces the snapshot of a tenant. If the cache is full, it drops that of another tenant.
func (s *Snapshots[T]) Keep(id tenant.TenantID, version int64, value *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = make(map[tenant.TenantID]versioned[T])
	}
	if _, known := s.kept[id]; !known && len(s.kept) >= maxSnapshots {
		for other := range s.kept {
			delete(s.kept, other)
			break
		}
	}
	s.kept[id] = versioned[T]{version, value}
}
