package catalog

import (
	"context"
	"time"

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
	plan, err := update[credit.Plan, tenant.PlanID]{
		name: "plan.update", id: id, expect: expect,
		find: catalogdb.FindPlan, missing: fault.Missing(fault.PlanNotFound, "Plan"),
		version: func(p *credit.Plan) (*int, *time.Time) { return &p.Version, &p.UpdatedAt },
		edit: func(p *credit.Plan) error {
			before := *p
			if err := edit(p); err != nil {
				return err
			}
			return p.CheckEdit(before)
		},
		changes: func(_, after credit.Plan) map[string]any { return map[string]any{"name": after.Name} },
		save: func(_ context.Context, tx *engine.Tx, before, after credit.Plan, changes map[string]any) error {
			catalogdb.UpdatePlan(tx.Tx, tx.Tenant, after)
			if after.HasQuota() && !before.HasQuota() {
				// In zones west of UTC today may still be the day before.
				bookingdb.CountUsage(tx.Tx, tx.Tenant, id, civil.DateOf(tx.Now, nil).AddDays(-1))
			}
			record.Audit(tx, "plan.updated", "plan", id.UUID, "", changes)
			return nil
		},
	}.run(ctx, s, caller)
	return plan, planNameTaken(err)
}

// ListPlans reads plans by name. The first page starts after an empty name and a zero id.
func (s *Service) ListPlans(
	ctx context.Context, caller tenant.Caller, inactive bool, afterName string, afterID tenant.PlanID, limit int,
) ([]credit.Plan, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]credit.Plan) {
		catalogdb.ListPlans(b, caller.Tenant, inactive, afterName, afterID, limit, into)
	})
}

func planNameTaken(err error) error {
	return nameTaken(err, "plans_name", "plan.name", "A plan has that name.")
}
