package housekeeping

import (
	"context"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// Violation is something that must never be so, and where it is.
type Violation struct {
	Tenant    tenant.TenantID
	Invariant string // the promise that is broken
	Check     string // what should hold
	Row       string // the id of the row that breaks it
	Detail    string
}

// Verify looks through everything a tenant has for what the product promises never to happen. Each
// tenant is seen in one snapshot, so it may run beside live traffic.
func (s *Service) Verify(ctx context.Context, id tenant.TenantID) ([]Violation, error) {
	var batch pg.Batch
	found := make([][]store.Violation, len(store.Checks))
	for i, c := range store.Checks {
		store.FindViolations(&batch, id, c, &found[i])
	}
	if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
		return nil, err
	}
	var all []Violation
	for i, c := range store.Checks {
		for _, v := range found[i] {
			all = append(all, Violation{Tenant: id, Invariant: c.Invariant, Check: c.Name, Row: v.Row, Detail: v.Detail})
		}
	}
	return all, nil
}
