package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// AuditEntry, AuditQuery and ActorKind are how the audit log is read.
type (
	AuditEntry = store.AuditEntry
	AuditQuery = store.AuditQuery
	ActorKind  = store.ActorKind
)

// The kinds of actor.
const (
	ByMember         = store.ByMember
	ByServiceAccount = store.ByServiceAccount
	BySystem         = store.BySystem
)

// ListAuditEntries reads who did what, the newest first.
func (s *Service) ListAuditEntries(ctx context.Context, caller tenant.Caller, q AuditQuery) ([]AuditEntry, error) {
	var found []AuditEntry
	var batch pg.Batch
	store.ListAudit(&batch, caller.Tenant, q, &found)
	err := s.engine.Read(ctx, caller, &batch)
	return found, err
}
