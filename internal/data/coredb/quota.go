package coredb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// CountMembers counts the members of a tenant, up to most.
func CountMembers(b *pg.Batch, in tenant.TenantID, most int, into *int) {
	b.Queue(`select count(*) from (select from members where tenant_id = $1 limit $2) x`, in, most).Scan(into)
}

// CountSessions counts the sessions of a tenant, up to most.
func CountSessions(b *pg.Batch, in tenant.TenantID, most int, into *int) {
	b.Queue(`select count(*) from (select from sessions where tenant_id = $1 limit $2) x`, in, most).Scan(into)
}

// CountKeys counts the idempotency keys that a principal has used since a time, up to most.
func CountKeys(b *pg.Batch, in tenant.TenantID, principal string, since time.Time, most int, into *int) {
	b.Queue(`
select count(*) from (
  select from idempotency_keys where tenant_id = $1 and principal = $2 and created_at > $3 limit $4
) x`, in, principal, since, most).Scan(into)
}
