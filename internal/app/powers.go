package app

import (
	"context"
	"errors"
	"strings"

	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
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

// powers queues the reading of them.
func (t *tx) powers(b *pg.Batch) *powers {
	p := &powers{system: t.caller.Actor() == tenant.System(t.in).Actor()}
	accountdb.ListOwnRoles(b, t.in, &p.own)
	accountdb.ListHeldRoles(b, t.in, t.caller.Member, accountOf(t.caller.Subject), &p.held)
	return p
}

func (p *powers) book() grant.Book { return grant.NewBook(p.own) }

// caller is what the caller has.
func (p *powers) caller() grant.Power {
	if p.system {
		return grant.Full()
	}
	return p.book().Power(p.held...)
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
func (t *tx) tellNodes() { t.Notify(AccessChannel, t.in.String()) }

// regrant is write for what changes who may do what. A change whose commit
// is not certain is announced here too: it may have happened.
func (a *App) regrant(ctx context.Context, caller tenant.Caller, name string, fn func(ctx context.Context, t *tx) error, options ...option) error {
	err := a.write(ctx, caller, name, func(ctx context.Context, t *tx) error {
		if err := fn(ctx, t); err != nil {
			return err
		}
		t.tellNodes()
		return nil
	}, options...)
	if mayBeDurable(err) {
		a.rolesChanged(caller.Tenant)
	}
	return err
}

// mayBeDurable reports whether a transaction that ended like this may have changed something.
func mayBeDurable(err error) bool {
	return err == nil || errors.Is(err, pg.ErrCommitUnknown) || errors.Is(err, pg.ErrCommitted)
}

// rolesEvent records that somebody may now do something else. The member is zero
// where a role itself changed, or a service account.
func (t *tx) rolesEvent(member tenant.MemberID, data map[string]any) {
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: outbox.RolesChanged, Member: member, Actor: t.caller.Actor(), Data: data, At: t.now,
	})
}

// auditEntry is audit for what is not named by an id. It fills in who, when and by which request.
func (t *tx) auditEntry(e coredb.AuditEntry) {
	e.ID, e.Actor, e.Subject = tenant.Next[tenant.AuditID](t.mint), t.caller.Actor(), t.caller.Subject
	e.Request, e.At = t.request, t.now
	coredb.AppendAudit(t.Tx, t.in, e)
}

// change keeps what became of something for the audit log.
func change(before, after map[string]any) map[string]any {
	changes := make(map[string]any, 2)
	if before != nil {
		changes["before"] = before
	}
	if after != nil {
		changes["after"] = after
	}
	return changes
}
