package catalog

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// PlanQuery selects plans.
type PlanQuery = catalogdb.PlanQuery

// CreatePlan creates a plan.
func (s *Service) CreatePlan(ctx context.Context, caller tenant.Caller, p credit.Plan) (credit.Plan, error) {
	if err := p.Validate(); err != nil {
		return p, err
	}
	created, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "plan.create", Replay: true},
		func(_ context.Context, tx *engine.Tx) (credit.Plan, error) {
			p.ID, p.Version, p.CreatedAt, p.UpdatedAt = tenant.NextID[tenant.PlanID](tx.IDs), 1, tx.Now, tx.Now
			catalogdb.InsertPlan(tx.Tx, tx.Tenant, p)
			record.Audit(tx, "plan.created", "plan", p.ID.UUID, "", map[string]any{"name": p.Name, "kind": string(p.Kind)})
			return p, nil
		})
	return created, planNameTaken(err)
}

// UpdatePlan edits a plan. If expect is not nil it must be the plan's version.
func (s *Service) UpdatePlan(
	ctx context.Context, caller tenant.Caller, id tenant.PlanID, expect *int, edit func(*credit.Plan) error,
) (credit.Plan, error) {
	updated, err := engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "plan.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (credit.Plan, error) {
			before, err := engine.Find(ctx, tx, errNoPlan, func(b *pg.Batch, into **credit.Plan) {
				catalogdb.FindPlan(b, tx.Tenant, id, into)
			})
			if err != nil {
				return before, err
			}
			if err := fault.CheckVersion(expect, before.Version); err != nil {
				return before, err
			}
			after := before
			if err := edit(&after); err != nil {
				return before, err
			}
			if err := after.ValidateEdit(before); err != nil {
				return before, err
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			catalogdb.UpdatePlan(tx.Tx, tx.Tenant, after)
			if after.HasQuota() && !before.HasQuota() {
				// In zones west of UTC today may still be the day before.
				bookingdb.CountUsage(tx.Tx, tx.Tenant, id, civil.DateOf(tx.Now, nil).AddDays(-1))
			}
			record.Audit(tx, "plan.updated", "plan", id.UUID, "", map[string]any{"name": after.Name})
			return after, nil
		})
	return updated, planNameTaken(err)
}

// GetPlan reads a plan.
func (s *Service) GetPlan(
	ctx context.Context, caller tenant.Caller, id tenant.PlanID,
) (credit.Plan, error) {
	return engine.Get(ctx, s.engine, caller, errNoPlan, func(b *pg.Batch, into **credit.Plan) {
		catalogdb.FindPlan(b, caller.Tenant, id, into)
	})
}

// ListPlans reads plans by name.
func (s *Service) ListPlans(ctx context.Context, caller tenant.Caller, q PlanQuery) ([]credit.Plan, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]credit.Plan) {
		catalogdb.ListPlans(b, caller.Tenant, q, into)
	})
}

var errNoPlan = fault.Missing(fault.PlanNotFound, "Plan")

func planNameTaken(err error) error {
	return nameTaken(err, "plans_name", "plan.name", "A plan has that name.")
}
