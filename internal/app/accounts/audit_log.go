package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// AuditEntry, AuditQuery and ActorKind are how the audit log is read.
type (
	AuditEntry = coredb.AuditEntry
	AuditQuery = coredb.AuditQuery
	ActorKind  = coredb.ActorKind
)

// The kinds of actor.
const (
	ByMember         = coredb.ByMember
	ByServiceAccount = coredb.ByServiceAccount
	BySystem         = coredb.BySystem
)

// ListAuditEntries reads who did what, the newest first.
func (s *Service) ListAuditEntries(ctx context.Context, caller tenant.Caller, q AuditQuery) ([]AuditEntry, error) {
	var found []AuditEntry
	var batch pg.Batch
	coredb.ListAudit(&batch, caller.Tenant, q, &found)
	err := s.engine.Read(ctx, caller, &batch)
	return found, err
}
