package accounts

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// roleFacts decide whether the caller may grant or revoke a permission. They are read in the transaction, because the
// caller's roles may have changed since the request was let in, and so that no concurrent transaction can revoke them.
type roleFacts struct {
	own    []grant.Role // the tenant's own roles
	held   []string     // the caller's roles
	system bool         // the caller is the service itself
}

// loadRoleFacts queues the statements that fill in the facts.
func loadRoleFacts(tx *engine.Tx, b *pg.Batch) *roleFacts {
	f := &roleFacts{system: tx.Caller.Actor() == tenant.System(tx.Tenant).Actor()}
	accountdb.ListOwnRoles(b, tx.Tenant, &f.own)
	accountdb.ListMemberRoles(b, tx.Tenant, tx.Caller.Member, accountOf(tx.Caller.Subject), &f.held)
	return f
}

// findWithRoleFacts is engine.Find, with the role facts in the same round trip.
func findWithRoleFacts[T any](
	ctx context.Context, tx *engine.Tx, missing error, ask func(b *pg.Batch, into **T),
) (T, *roleFacts, error) {
	var facts *roleFacts
	found, err := engine.Find(ctx, tx, missing, func(b *pg.Batch, into **T) {
		facts = loadRoleFacts(tx, b)
		ask(b, into)
	})
	return found, facts, err
}

// roles returns the tenant's roles with their permissions.
func (f *roleFacts) roles() grant.RoleSet { return grant.NewRoleSet(f.own) }

// editor returns the caller's permissions.
func (f *roleFacts) editor() grant.Permissions {
	if f.system {
		return grant.AllPermissions()
	}
	return f.roles().Permissions(f.held...)
}

// mayGrant checks that the caller may grant or revoke roles, which have to exist.
func (f *roleFacts) mayGrant(roles ...string) error {
	if err := f.roles().CheckExist(roles...); err != nil {
		return err
	}
	return f.roles().CheckGrant(f.editor(), roles...)
}

// mayRevoke checks that the caller may take a role from a member. Members may give up their own.
func (f *roleFacts) mayRevoke(caller tenant.Caller, from tenant.MemberID, role string) error {
	if caller.Member == from {
		return f.roles().CheckExist(role)
	}
	return f.mayGrant(role)
}

// accountOf returns the id of the service account that a subject names, or zero.
func accountOf(subject string) tenant.ServiceAccountID {
	text, ok := strings.CutPrefix(subject, tenant.AccountPrefix)
	if !ok {
		return tenant.ServiceAccountID{}
	}
	id, _ := tenant.Parse[tenant.ServiceAccountID](text) // zero if it is none
	return id
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
	if mayBeCommitted(err) {
		s.rolesChanged(caller.Tenant)
	}
	return result, err
}

// mayBeCommitted reports whether a transaction may have changed something, given how it ended. An unknown commit may
// have happened.
func mayBeCommitted(err error) bool {
	return err == nil || errors.Is(err, pg.ErrCommitUnknown) || errors.Is(err, pg.ErrCommitted)
}

// changeOf is what the event says about a member who has other roles, or about an owner or admin who changed. If the
// change is about the role of an owner or admin, they and all owners are told. The member has the roles of held now;
// nil if they stay.
func changeOf(kind notify.AccessChangeKind, held []string, about ...string) event.AccessChanged {
	data := event.AccessChanged{
		Roles: held, Change: "", Role: "", ServiceAccount: tenant.ServiceAccountID{}, FromMember: tenant.MemberID{},
	}
	for _, role := range []string{tenant.RoleOwner, tenant.RoleAdmin} {
		if slices.Contains(about, role) {
			data.Change, data.Role = string(kind), role
			break
		}
	}
	return data
}

// rolesEvent records that permissions have changed. The member is zero if a role or a service account has changed.
func rolesEvent(tx *engine.Tx, member tenant.MemberID, data event.AccessChanged) {
	record.Event(tx, outbox.Event{Member: member, Data: data, Facts: event.NoFacts})
}
