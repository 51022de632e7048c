package settings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// PolicyTarget is for what a policy is asked; zero ids are no particular location or service.
type PolicyTarget struct {
	Location tenant.LocationID
	Service  tenant.ServiceID
}

// policyFacts are what the policy for a target is made of.
type policyFacts struct {
	target   PolicyTarget
	location *catalog.Location
	service  *catalog.Service
	written  []catalog.Policy
}

func (f *policyFacts) queue(batch *pg.Batch, in tenant.TenantID) {
	catalogdb.FindLocation(batch, in, f.target.Location, &f.location)
	catalogdb.FindService(batch, in, f.target.Service, &f.service)
	catalogdb.ListPolicies(batch, in, f.target.Location, f.target.Service, &f.written)
}

func (f *policyFacts) exist() error { return f.target.exists(f.location, f.service) }

// layers gives every level on the way to the target; those at which nothing was ever said are empty.
func (f *policyFacts) layers(in tenant.TenantID) []catalog.Policy {
	return layersTo(f.target, in, f.written,
		func(p *catalog.Policy) (*catalog.Level, *tenant.UUID) { return &p.Level, &p.Scope })
}

// exists refuses a target whose location or service is not there.
func (t PolicyTarget) exists(location *catalog.Location, service *catalog.Service) error {
	switch {
	case location == nil && !t.Location.IsZero():
		return catalog.ErrNoLocation
	case service == nil && !t.Service.IsZero():
		return catalog.ErrNoService
	}
	return nil
}

// layersTo returns one layer for each level on the way to a target: the one that was written, or an empty one. At points
// to a layer's level and scope.
func layersTo[L any](
	target PolicyTarget, in tenant.TenantID, written []L, at func(*L) (*catalog.Level, *tenant.UUID),
) []L {
	var way []L
	for _, step := range []struct {
		level catalog.Level
		scope tenant.UUID
	}{
		{catalog.TenantLevel, in.UUID}, {catalog.LocationLevel, target.Location.UUID},
		{catalog.ServiceLevel, target.Service.UUID},
	} {
		if step.scope.IsZero() {
			continue
		}
		var layer L
		level, scope := at(&layer)
		*level, *scope = step.level, step.scope
		for i := range written {
			if level, _ := at(&written[i]); *level == step.level {
				layer = written[i]
			}
		}
		way = append(way, layer)
	}
	return way
}

// GetPolicy tells which policy holds for a target, and where each value comes from.
func (s *Service) GetPolicy(ctx context.Context, caller tenant.Caller, target PolicyTarget) (catalog.Effective, error) {
	facts := policyFacts{target: target}
	var batch pg.Batch
	facts.queue(&batch, caller.Tenant)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return catalog.Effective{}, err
	}
	if err := facts.exist(); err != nil {
		return catalog.Effective{}, err
	}
	return catalog.EffectivePolicy(facts.layers(caller.Tenant)...), nil
}

// UpdatePolicy edits the last level on the way to the target: what the tenant, a location or a service says
// for itself. That must still be at the version expected (nil: whichever; 0: nothing was ever said). The policy holds at once, also for
// seats that are open already.
func (s *Service) UpdatePolicy(ctx context.Context, caller tenant.Caller, target PolicyTarget, expect *int, edit func(*catalog.Policy)) (catalog.Effective, error) {
	var effective catalog.Effective
	err := s.engine.Write(ctx, caller, "policy.update", func(ctx context.Context, tx *engine.Tx) error {
		facts := policyFacts{target: target}
		var batch pg.Batch
		facts.queue(&batch, tx.Tenant)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if err := facts.exist(); err != nil {
			return err
		}
		layers := facts.layers(tx.Tenant)
		before := layers[len(layers)-1]
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after := before
		edit(&after)
		if changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields()); changes != nil {
			if err := after.Validate(); err != nil {
				return err
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			catalogdb.PutPolicy(tx.Tx, tx.Tenant, after)
			seats.CatalogChanged(tx, "policy.updated", "policy", after.Scope, changes)
		}
		layers[len(layers)-1] = after
		effective = catalog.EffectivePolicy(layers...)
		return nil
	}, engine.Answers(&effective))
	if err == nil {
		s.waitlists.RequestFill(caller.Tenant)
	}
	return effective, err
}
