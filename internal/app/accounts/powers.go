package accounts

import (
	"context"
	"errors"
	"strings"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// powers are what decides whether the caller may hand a permission on: the roles
// that they hold when the transaction sees them, not those with which they were
// let in. Being read in the transaction, they cannot be taken away beside it.
type powers struct {
	own    []grant.Role
	held   []string
	system bool
}

// loadPowers queues the reading of them.
func loadPowers(tx *engine.Tx, b *pg.Batch) *powers {
	p := &powers{system: tx.Caller.Actor() == tenant.System(tx.Tenant).Actor()}
	accountdb.ListOwnRoles(b, tx.Tenant, &p.own)
	accountdb.ListMemberRoles(b, tx.Tenant, tx.Caller.Member, accountOf(tx.Caller.Subject), &p.held)
	return p
}

func (p *powers) book() grant.RoleSet { return grant.NewRoleSet(p.own) }

// caller is what the caller has.
func (p *powers) caller() grant.Permissions {
	if p.system {
		return grant.AllPermissions()
	}
	return p.book().Permissions(p.held...)
}

// accountOf reads a service account's id from its subject; zero for anyone else's.
func accountOf(subject string) tenant.ServiceAccountID {
	text, ok := strings.CutPrefix(subject, token.ServiceAccountPrefix)
	if !ok {
		return tenant.ServiceAccountID{}
	}
	id, err := tenant.Parse[tenant.ServiceAccountID](text)
	if err != nil {
		return tenant.ServiceAccountID{}
	}
	return id
}

// AccessChannel carries the ids of tenants in which somebody may now do something else, to all nodes.
const AccessChannel = "berth_access"

// tellNodes lets the other nodes know, with the commit, that somebody may now do something else.
func tellNodes(tx *engine.Tx) { tx.Notify(AccessChannel, tx.Tenant.String()) }

// regrant is write for what changes who may do what. A change whose commit
// is not certain is announced here too: it may have happened.
func (s *Service) regrant(ctx context.Context, caller tenant.Caller, name string, fn func(ctx context.Context, tx *engine.Tx) error, options ...engine.Option) error {
	err := s.engine.Write(ctx, caller, name, func(ctx context.Context, tx *engine.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		tellNodes(tx)
		return nil
	}, options...)
	if mayBeDurable(err) {
		s.rolesChanged(caller.Tenant)
	}
	return err
}

// mayBeDurable reports whether a transaction that ended like this may have changed something.
func mayBeDurable(err error) bool {
	return err == nil || errors.Is(err, pg.ErrCommitUnknown) || errors.Is(err, pg.ErrCommitted)
}

// rolesEvent records that somebody may now do something else. The member is zero
// where a role itself changed, or a service account.
func rolesEvent(tx *engine.Tx, member tenant.MemberID, data map[string]any) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.RolesChanged, Member: member, Actor: tx.Caller.Actor(), Data: data, At: tx.Now,
	})
}
