package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// CreatePlan makes a plan.
func (s *Service) CreatePlan(ctx context.Context, caller tenant.Caller, p credit.Plan) (credit.Plan, error) {
	if err := p.Validate(); err != nil {
		return p, err
	}
	err := s.engine.Write(ctx, caller, "plan.create", func(_ context.Context, tx *engine.Tx) error {
		p.ID, p.Version, p.CreatedAt, p.UpdatedAt = tenant.NextID[tenant.PlanID](tx.IDs), 1, tx.Now, tx.Now
		catalogdb.InsertPlan(tx.Tx, tx.Tenant, p)
		tx.Audit("plan.created", "plan", p.ID.UUID, "", map[string]any{"name": p.Name, "kind": string(p.Kind)})
		return nil
	}, engine.Answers(&p))
	return p, planNameTaken(err)
}

// UpdatePlan edits a plan, if it still is at the version expected (nil: whichever).
func (s *Service) UpdatePlan(ctx context.Context, caller tenant.Caller, id tenant.PlanID, expect *int, edit func(*credit.Plan) error) (credit.Plan, error) {
	var after credit.Plan
	err := s.engine.Write(ctx, caller, "plan.update", func(ctx context.Context, tx *engine.Tx) error {
		var before *credit.Plan
		var batch pg.Batch
		catalogdb.FindPlan(&batch, tx.Tenant, id, &before)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if before == nil {
			return fault.Missing(fault.PlanNotFound, "Plan")
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		after = *before
		if err := edit(&after); err != nil {
			return err
		}
		if after.Kind != before.Kind {
			return fault.Invalid("plan.kind", "A plan's kind cannot be changed.")
		}
		if err := after.Validate(); err != nil {
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		catalogdb.UpdatePlan(tx.Tx, tx.Tenant, after)
		if after.HasQuota() && !before.HasQuota() {
			// A day earlier than UTC's is still today in some location.
			bookingdb.CountUsage(tx.Tx, tx.Tenant, id, civil.DateOf(tx.Now, nil).AddDays(-1))
		}
		tx.Audit("plan.updated", "plan", id.UUID, "", map[string]any{"name": after.Name})
		return nil
	}, engine.Answers(&after))
	return after, planNameTaken(err)
}

// ListPlans reads plans by name, from behind the one given.
func (s *Service) ListPlans(ctx context.Context, caller tenant.Caller, inactive bool, afterName string, afterID tenant.PlanID, limit int) ([]credit.Plan, error) {
	var plans []credit.Plan
	var batch pg.Batch
	catalogdb.ListPlans(&batch, caller.Tenant, inactive, afterName, afterID, limit, &plans)
	err := s.engine.Read(ctx, caller, &batch)
	return plans, err
}

func planNameTaken(err error) error {
	if pg.IsUnique(err, "plans_name") {
		return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "A plan has that name.").WithField("plan.name").WithCause(err)
	}
	return err
}
