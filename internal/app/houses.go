package app

import (
	"context"
	"sync"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// houseOf gives the house of the caller's tenant, which a read found to be in force in that version. It reads the house where
// another one is kept.
func (a *App) houseOf(ctx context.Context, caller tenant.Caller, version int64) (*booking.House, error) {
	if house := a.houses.at(caller.Tenant, version); house != nil {
		return house, nil
	}
	house := new(booking.House)
	var batch pg.Batch
	store.FindHouse(&batch, caller.Tenant, house)
	if err := a.read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	a.houses.keep(caller.Tenant, house)
	return house, nil
}

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
