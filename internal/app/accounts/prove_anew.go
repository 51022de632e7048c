package accounts

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// growth is what a member gets.
type growth struct {
	member.Member

	roles  []string // that they then have
	gained grant.Permissions
}

// proveAnew makes members prove their addresses anew who get permissions that whoever entered the addresses lacks: that
// one may sign in as them. Their sign-ins end, and they are invited with the roles that they then have. The facts are
// those before the change.
func (s *Service) proveAnew(ctx context.Context, tx *engine.Tx, facts *grant.Facts, all ...growth) error {
	var held []accountdb.ActorRole
	var batch pg.Batch
	accountdb.ListRolesOfActors(&batch, tx.Tenant, pg.Array(all, func(g growth) string { return g.EmailBy }), &held)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	vouching := make(map[string][]string) // roles
	for _, h := range held {
		vouching[h.Actor] = append(vouching[h.Actor], h.Role)
	}
	system := tenant.System(tx.Tenant).Actor()
	var anew []growth
	var ids []tenant.MemberID
	for _, g := range all {
		may := facts.Roles().Permissions(vouching[g.EmailBy]...)
		if g.ProvesAnew(g.roles, g.EmailBy != system && !may.Cover(g.gained)) {
			anew, ids = append(anew, g), append(ids, g.ID)
		}
	}
	if len(anew) == 0 {
		return nil
	}
	batch = pg.Batch{}
	l := loadLeaves(tx, &batch, ids)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	for _, g := range anew {
		if err := s.proveOneAnew(tx, g, l); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) proveOneAnew(tx *engine.Tx, g growth, l *leaves) error {
	after, invite := g.ProveAnew()
	accountdb.EndInvitations(tx.Tx, tx.Tenant, g.ID, tx.Now)
	accountdb.ProveAnew(tx.Tx, tx.Tenant, after)
	if after.SignInEmail != g.SignInEmail {
		accountdb.DeleteSignInsOf(tx.Tx, tx.Tenant, g.ID)
	}
	if after.Subject != g.Subject {
		record.Audit(tx, "member.unlinked", "member", g.ID.UUID, "",
			record.Changes(map[string]any{"subject": g.Subject}, map[string]any{"subject": ""}))
	}
	after.Roles = g.roles
	// Who has got too many mails today can be invited tomorrow, which is no reason not to give a role.
	if full := g.CheckInvited(l.often); invite && full == nil {
		_, err := s.invite(tx, after, l)
		return err
	}
	return nil
}

// growth returns what a member gets with roles.
func growthOf(f *grant.Facts, m member.Member, roles []string) growth {
	return growth{m, roles, f.Roles().Gained(m.Roles, f.Roles(), roles)}
}

// holdersGrow is proveAnew for all who hold a role that is edited.
func (s *Service) holdersGrow(ctx context.Context, tx *engine.Tx, facts *grant.Facts, before, after grant.Role) error {
	added := slices.ContainsFunc(after.Permissions, func(name string) bool {
		return !slices.Contains(before.Permissions, name)
	})
	if !added {
		return nil
	}
	var holders []member.Member
	var batch pg.Batch
	accountdb.ListHolders(&batch, tx.Tenant, before.Name, &holders)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	edited := slices.Clone(facts.Own)
	for i := range edited {
		if edited[i].Name == after.Name {
			edited[i].Permissions = after.Permissions
		}
	}
	all := make([]growth, len(holders))
	for i, m := range holders {
		all[i] = growth{m, m.Roles, facts.Roles().Gained(m.Roles, grant.NewRoleSet(edited), m.Roles)}
	}
	return s.proveAnew(ctx, tx, facts, all...)
}
