package settings

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

func policiesOf(target PolicyTarget) targetLayers[catalog.PolicyLayer] {
	return targetLayers[catalog.PolicyLayer]{
		target: target, list: catalogdb.ListPolicies,
		scope: func(p *catalog.PolicyLayer) (*catalog.Level, *tenant.UUID) { return &p.Level, &p.Scope },
	}
}

// GetPolicy reads the policy in force for a target, and the level from which each value comes.
func (s *Service) GetPolicy(
	ctx context.Context, caller tenant.Caller, target PolicyTarget,
) (catalog.EffectivePolicy, error) {
	layers, err := policiesOf(target).read(ctx, s.reader(caller), new(pg.Batch), caller.Tenant)
	if err != nil {
		return catalog.EffectivePolicy{}, err
	}
	return catalog.ResolveLayers(layers...), nil
}

// UpdatePolicy edits the policy of one level: the last one that the target names. If expect is not nil it must be the
// version of that policy, where 0 means that the level has never set anything. The policy takes effect immediately,
// also for seats that are already open.
func (s *Service) UpdatePolicy(
	ctx context.Context, caller tenant.Caller, target PolicyTarget, expect *int, edit func(*catalog.PolicyLayer),
) (catalog.EffectivePolicy, error) {
	effective, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "policy.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (catalog.EffectivePolicy, error) {
			layers, err := policiesOf(target).read(ctx, tx.Load, new(pg.Batch), tx.Tenant)
			if err != nil {
				return catalog.EffectivePolicy{}, err
			}
			policy := &layers[len(layers)-1]
			if err := fault.CheckVersion(expect, policy.Version); err != nil {
				return catalog.EffectivePolicy{}, err
			}
			before := policy.AuditFields()
			next := policy.Version + 1
			edit(policy)
			if changes := catalog.AuditChanges(before, policy.AuditFields()); changes != nil {
				if err := policy.Validate(); err != nil {
					return catalog.EffectivePolicy{}, err
				}
				policy.Version, policy.UpdatedAt = next, tx.Now
				catalogdb.PutPolicy(tx.Tx, tx.Tenant, *policy)
				record.CatalogChange(tx, "policy.updated", "policy", policy.Scope, changes)
			}
			return catalog.ResolveLayers(layers...), nil
		})
	if err == nil {
		s.waitlists.RequestFill(caller.Tenant)
	}
	return effective, err
}
