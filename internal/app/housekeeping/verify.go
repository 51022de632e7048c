package housekeeping

import (
	"context"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Violation is a row that breaks an invariant.
type Violation struct {
	Tenant    tenant.TenantID
	Invariant string // the invariant that is broken
	Check     string // the check that found it
	Row       string // the id of the row
	Detail    string
}

// Verify checks all data of a tenant for violated invariants. It reads one snapshot, so it can run during live traffic.
func (s *Service) Verify(ctx context.Context, id tenant.TenantID) ([]Violation, error) {
	var batch pg.Batch
	found := make([][]coredb.Violation, len(coredb.Checks))
	for i, c := range coredb.Checks {
		coredb.FindViolations(&batch, id, c, &found[i])
	}
	if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
		return nil, err
	}
	var all []Violation
	for i, c := range coredb.Checks {
		for _, v := range found[i] {
			all = append(all, Violation{Tenant: id, Invariant: c.Invariant, Check: c.Name, Row: v.Row, Detail: v.Detail})
		}
	}
	return all, nil
}
