package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// The audit log's types belong to its table.
type (
	AuditEntry = coredb.AuditEntry
	AuditQuery = coredb.AuditQuery
	ActorKind  = coredb.ActorKind
)

// ListAuditEntries reads entries of the audit log, the newest first.
func (s *Service) ListAuditEntries(
	ctx context.Context, caller tenant.Caller, q AuditQuery,
) ([]AuditEntry, error) {
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]AuditEntry) {
		coredb.ListAudit(b, caller.Tenant, q, into)
	})
}
