package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
)

// loadRoleFacts queues the statements that fill in the facts.
func loadRoleFacts(tx *engine.Tx, b *pg.Batch) *grant.Facts {
	f := &grant.Facts{Caller: tx.Caller}
	accountdb.ListOwnRoles(b, tx.Tenant, &f.Own)
	accountdb.ListMemberRoles(b, tx.Tenant, tx.Caller.Member, tenant.AccountOf(tx.Caller.Subject), &f.Held)
	return f
}

// findWithRoleFacts is engine.Find, with the role facts in the same round trip.
func findWithRoleFacts[T any](
	ctx context.Context, tx *engine.Tx, missing error, ask func(b *pg.Batch, into **T),
) (T, *grant.Facts, error) {
	var facts *grant.Facts
	found, err := engine.Find(ctx, tx, missing, func(b *pg.Batch, into **T) {
		facts = loadRoleFacts(tx, b)
		ask(b, into)
	})
	return found, facts, err
}

// AccessChannel notifies all nodes of tenants in which permissions have changed. The payload is the tenant's id.
const AccessChannel = "berth_access"

// notifyNodes tells the other nodes, at the commit, that permissions have changed.
func notifyNodes(tx *engine.Tx) { tx.Notify(AccessChannel, tx.Tenant.String()) }

// changeAccess is engine.Transact for operations that change permissions. It notifies the other nodes, and this one.
func changeAccess[R any](
	ctx context.Context, s *Service, caller tenant.Caller, t engine.Transaction,
	run func(context.Context, *engine.Tx) (R, error),
) (R, error) {
	result, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (R, error) {
		result, err := run(ctx, tx)
		if err == nil {
			notifyNodes(tx)
		}
		return result, err
	})
	if pg.MayBeCommitted(err) {
		s.rolesChanged(caller.Tenant)
	}
	return result, err
}

// rolesEvent records that permissions have changed. The member is zero if a role or a service account has changed.
func rolesEvent(tx *engine.Tx, member tenant.MemberID, data event.AccessChanged) {
	record.Event(tx, outbox.Event{Member: member, Data: data, Facts: event.NoFacts})
}
