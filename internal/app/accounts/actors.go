package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// ActorNames reads the present names of the members and service accounts among some actors, in one read.
func (s *Service) ActorNames(
	ctx context.Context, caller tenant.Caller, actors []string,
) (map[string]string, error) {
	found, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]coredb.ActorName) {
		coredb.ListActorNames(b, caller.Tenant, actors, into)
	})
	names := make(map[string]string, len(found))
	for _, n := range found {
		names[n.Actor] = n.Name
	}
	return names, err
}
