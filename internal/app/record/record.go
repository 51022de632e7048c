// Package record writes what a use case records besides its result: entries in the audit log, and events.
package record

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Audit records an act of the caller in the audit log.
func Audit(tx *engine.Tx, action, kind string, target tenant.UUID, reason string, changes map[string]any) {
	AuditEntry(tx, coredb.AuditEntry{
		Action: action, TargetKind: kind, TargetID: target.String(), Reason: reason, Changes: changes,
	})
}

// AuditEntry is Audit for targets without an id. It fills in the actor, the time and the request.
func AuditEntry(tx *engine.Tx, entry coredb.AuditEntry) {
	entry.ID, entry.Actor, entry.Subject = tenant.NextID[tenant.AuditID](tx.IDs), tx.Caller.Actor(), tx.Caller.Subject
	entry.Request, entry.Address, entry.Client = tx.Request.ID, tx.Request.Address, tx.Request.Client
	entry.At = tx.Now
	coredb.AppendAudit(tx.Tx, tx.Tenant, entry)
}

// Changes returns what an act changed, for the audit log. A nil side is left out.
func Changes(before, after map[string]any) map[string]any {
	changes := make(map[string]any, 2)
	if before != nil {
		changes["before"] = before
	}
	if after != nil {
		changes["after"] = after
	}
	return changes
}

// Event appends something that the caller did to the event log. It fills in the id, the actor and the time.
func Event(tx *engine.Tx, e outbox.Event) {
	e.ID, e.Actor, e.At = tenant.NextID[tenant.EventID](tx.IDs), tx.Caller.Actor(), tx.Now
	outbox.Append(tx.Tx, tx.Tenant, e)
}

// Recheck asks to check the waitlist entries of a member again, soon after the commit: a reason for which they were
// passed over may be gone. It reads nothing, so that those who do not wait cost next to nothing.
func Recheck(tx *engine.Tx, member tenant.MemberID) {
	if !member.IsZero() { // that is a guest
		waitlistdb.MarkRecheck(tx.Tx, tx.Tenant, member, tx.Now)
		tx.FillAt(tx.Now.Add(waitlist.RecheckDelay))
	}
}

// CatalogChange records in the audit log that an entity of the catalog was created, edited or deleted, and appends an
// event for consumers that keep a copy.
func CatalogChange(tx *engine.Tx, action, kind string, id tenant.UUID, changes map[string]any) {
	Audit(tx, action, kind, id, "", changes)
	Event(tx, outbox.Event{Data: event.CatalogChanged{Kind: kind, ID: id.String()}, Facts: event.NoFacts})
}
