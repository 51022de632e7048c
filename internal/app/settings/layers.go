package settings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// PolicyTarget is where settings apply. A zero location or service means any.
type PolicyTarget struct {
	Location tenant.LocationID
	Service  tenant.ServiceID
}

// targetLayers reads the layers of type L that apply to a target: what the tenant, a location and a service set.
type targetLayers[L any] struct {
	target PolicyTarget
	list   func(b *pg.Batch, in tenant.TenantID, location tenant.LocationID, service tenant.ServiceID, into *[]L)
	scope  func(*L) (*catalog.Level, *tenant.UUID)
}

// read returns a layer for each level of the target, the most specific last. A layer is empty if its level has set
// nothing. It is an error if the target's location or service does not exist. The other statements of the batch share
// the round trip.
func (t targetLayers[L]) read(
	ctx context.Context, load engine.Reader, batch *pg.Batch, in tenant.TenantID,
) ([]L, error) {
	var location *catalog.Location
	var service *catalog.Service
	var stored []L
	catalogdb.FindLocation(batch, in, t.target.Location, &location)
	catalogdb.FindService(batch, in, t.target.Service, &service)
	t.list(batch, in, t.target.Location, t.target.Service, &stored)
	if err := load(ctx, batch); err != nil {
		return nil, err
	}
	switch {
	case location == nil && !t.target.Location.IsZero():
		return nil, catalog.ErrNoLocation
	case service == nil && !t.target.Service.IsZero():
		return nil, catalog.ErrNoService
	}
	var layers []L
	for _, at := range []struct {
		level catalog.Level
		scope tenant.UUID
	}{
		{catalog.TenantLevel, in.UUID},
		{catalog.LocationLevel, t.target.Location.UUID},
		{catalog.ServiceLevel, t.target.Service.UUID},
	} {
		if at.scope.IsZero() {
			continue
		}
		var layer L
		level, scope := t.scope(&layer)
		*level, *scope = at.level, at.scope
		for i := range stored {
			if level, _ := t.scope(&stored[i]); *level == at.level {
				layer = stored[i]
			}
		}
		layers = append(layers, layer)
	}
	return layers, nil
}
