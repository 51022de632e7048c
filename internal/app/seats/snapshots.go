package seats

import (
	"sync"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// maxSnapshots bounds the tenants whose snapshot is kept. A snapshot takes a few kilobytes.
const maxSnapshots = 10_000

// Snapshots caches what the sessions and subscriptions of a tenant share and what rarely changes, with its version in
// the database. A transaction asks for the version that it sees, so it never gets another one. The zero value is empty.
type Snapshots struct {
	mu   sync.RWMutex
	kept map[tenant.TenantID]*booking.Snapshot
}

// At returns a tenant's snapshot of a version, or nil if it is not cached.
func (s *Snapshots) At(id tenant.TenantID, version int64) *booking.Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if kept := s.kept[id]; kept != nil && kept.Version == version {
		return kept
	}
	return nil
}

// Keep replaces the snapshot of a tenant. If the cache is full, it drops that of another tenant.
func (s *Snapshots) Keep(id tenant.TenantID, snapshot *booking.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = make(map[tenant.TenantID]*booking.Snapshot)
	}
	if _, known := s.kept[id]; !known && len(s.kept) >= maxSnapshots {
		for other := range s.kept {
			delete(s.kept, other)
			break
		}
	}
	s.kept[id] = snapshot
}
