package app

import (
	"sync"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// houses keeps what the sessions of tenants share. It is as good as the version that a transaction asks with.
type houses struct {
	mu   sync.RWMutex
	kept map[tenant.TenantID]*booking.House
}

// mostHouses bounds the tenants that are kept; a few kilobytes each.
const mostHouses = 10_000

func (h *houses) at(id tenant.TenantID, version int64) *booking.House {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if house := h.kept[id]; house != nil && house.Version == version {
		return house
	}
	return nil
}

func (h *houses) keep(id tenant.TenantID, house *booking.House) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept == nil {
		h.kept = make(map[tenant.TenantID]*booking.House)
	}
	if _, known := h.kept[id]; !known && len(h.kept) >= mostHouses {
		for other := range h.kept {
			delete(h.kept, other)
			break
		}
	}
	h.kept[id] = house
}
