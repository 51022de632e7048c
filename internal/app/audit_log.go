package app

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
func (a *App) ListAuditEntries(ctx context.Context, caller tenant.Caller, q AuditQuery) ([]AuditEntry, error) {
	var found []AuditEntry
	var batch pg.Batch
	coredb.ListAudit(&batch, caller.Tenant, q, &found)
	err := a.read(ctx, caller, &batch)
	return found, err
}

type requestKey struct{}

// WithRequest names the request under whose id the log knows what is done with the context. Audit
// entries keep it, so that an operator finds the one by the other.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

func requestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}
