package accounts

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// GetRole reads a role.
func (s *Service) GetRole(
	ctx context.Context, caller tenant.Caller, name string,
) (grant.Role, error) {
	return engine.Get(ctx, s.engine, caller, errNoRole, func(b *pg.Batch, into **grant.Role) {
		accountdb.FindRole(b, caller.Tenant, name, into)
	})
}

// ListRoles reads the tenant's roles: the built-in ones by rank, then its own by name.
func (s *Service) ListRoles(ctx context.Context, caller tenant.Caller, search grant.RoleSearch) ([]grant.Role, error) {
	if hasZeroByte(search.After) {
		return nil, nil
	}
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]grant.Role) {
		accountdb.ListRoles(b, caller.Tenant, search, into)
	})
}

// CreateRole creates a role.
func (s *Service) CreateRole(ctx context.Context, caller tenant.Caller, r grant.Role) (grant.Role, error) {
	r, err := r.Normalize()
	if err != nil {
		return r, err
	}
	created, err := changeAccess(ctx, s, caller, engine.Transaction{Name: "role.create", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (grant.Role, error) {
			existing, facts, err := findWithRoleFacts(ctx, tx, nil, func(b *pg.Batch, into **grant.Role) {
				accountdb.FindRole(b, tx.Tenant, r.Name, into)
			})
			if err != nil {
				return r, err
			}
			if existing.Name != "" {
				return r, grant.RoleNameTaken()
			}
			if _, err := grant.EditRole(facts.Editor(), grant.Role{}, r); err != nil {
				return r, err
			}
			r.Version, r.CreatedAt, r.UpdatedAt = 1, tx.Now, tx.Now
			accountdb.InsertRole(tx.Tx, tx.Tenant, r)
			roleChanged(tx, "role.created", r.Name, record.Changes(nil, roleValues(r)))
			return r, nil
		})
	if pg.IsUnique(err, "roles_pkey") {
		err = grant.RoleNameTaken().WithCause(err)
	}
	return created, err
}

// UpdateRole edits a role of the tenant's own, for all who have it. If expect is not nil it must be the role's version.
func (s *Service) UpdateRole(
	ctx context.Context, caller tenant.Caller, name string, expect *int, edit func(*grant.Role) error,
) (grant.Role, error) {
	return changeAccess(ctx, s, caller, engine.Transaction{Name: "role.update", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (grant.Role, error) {
			before, facts, err := findOwnRole(ctx, tx, name, expect)
			if err != nil {
				return before, err
			}
			after := before
			if err := edit(&after); err != nil {
				return before, err
			}
			if after, err = grant.EditRole(facts.Editor(), before, after); err != nil {
				return before, err
			}
			if after.Title == before.Title && after.Description == before.Description &&
				slices.Equal(after.Permissions, before.Permissions) {
				return after, nil
			}
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			accountdb.UpdateRole(tx.Tx, tx.Tenant, after)
			if err := s.holdersGrow(ctx, tx, facts, before, after); err != nil {
				return before, err
			}
			roleChanged(tx, "role.updated", name, record.Changes(roleValues(before), roleValues(after)))
			return after, nil
		})
}

// DeleteRole deletes a role that is not held by anyone. If expect is not nil it must be the role's version.
func (s *Service) DeleteRole(ctx context.Context, caller tenant.Caller, name string, expect *int) error {
	t := engine.Transaction{Name: "role.delete", Replay: true, Races: []engine.Race{roleRace}}
	_, err := changeAccess(ctx, s, caller, t, func(ctx context.Context, tx *engine.Tx) (none struct{}, err error) {
		before, facts, err := findOwnRole(ctx, tx, name, expect)
		if err != nil {
			return none, err
		}
		if err := facts.CheckGrant(name); err != nil {
			return none, err
		}
		if err := before.CheckUnused(); err != nil {
			return none, err
		}
		accountdb.DeleteRole(tx.Tx, tx.Tenant, name)
		roleChanged(tx, "role.deleted", name, record.Changes(roleValues(before), nil))
		return none, nil
	})
	return err
}

// findOwnRole reads a role that is not built in, and the role facts. If expect is not nil it must be the role's
// version.
func findOwnRole(
	ctx context.Context, tx *engine.Tx, name string, expect *int,
) (grant.Role, *grant.Facts, error) {
	role, facts, err := findWithRoleFacts(ctx, tx, errNoRole,
		func(b *pg.Batch, into **grant.Role) { accountdb.FindRole(b, tx.Tenant, name, into) })
	if err == nil {
		err = role.CheckOwn()
	}
	if err != nil {
		return role, nil, err
	}
	return role, facts, fault.CheckVersion(expect, role.Version)
}

// AssignRole gives a member a role, and returns all roles that they then have. It changes nothing if they have the role
// already. Who gets permissions that whoever entered their address lacks proves the address anew.
func (s *Service) AssignRole(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID, role string,
) ([]string, error) {
	result, err := s.changeRoles(ctx, caller, "role.assign", "role.assigned", id, role,
		func(ctx context.Context, tx *engine.Tx, m member.Member, facts *grant.Facts, _ bool) (RemainingRoles, error) {
			if err := facts.CheckGrant(role); err != nil || slices.Contains(m.Roles, role) {
				return RemainingRoles{Roles: m.Roles}, err
			}
			accountdb.InsertMemberRole(tx.Tx, tx.Tenant, id, role, tx.Now)
			roles := append(slices.Clone(m.Roles), role)
			grant.Sort(roles)
			return RemainingRoles{Roles: roles}, s.proveAnew(ctx, tx, facts, growthOf(facts, m, roles))
		})
	return result.Roles, err
}

// RemainingRoles is what the end of a role leaves.
type RemainingRoles struct {
	Roles []string
	// WithoutCoach are the future sessions that the member cannot lead now.
	WithoutCoach session.LedSessions
}

// RevokeRole takes a role from a member, and returns the roles that remain. It changes nothing if they do not have the
// role.
func (s *Service) RevokeRole(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID, role string,
) (RemainingRoles, error) {
	return s.changeRoles(ctx, caller, "role.revoke", "role.revoked", id, role,
		func(
			ctx context.Context, tx *engine.Tx, m member.Member, facts *grant.Facts, otherOwner bool,
		) (RemainingRoles, error) {
			if err := facts.CheckRevoke(id, role); err != nil {
				return RemainingRoles{}, err
			}
			left := slices.DeleteFunc(slices.Clone(m.Roles), func(held string) bool { return held == role })
			without, err := findWithoutCoach(ctx, tx, id, m.Active() && session.CanLead(left))
			if err != nil || len(left) == len(m.Roles) {
				return RemainingRoles{m.Roles, without}, err
			}
			if err := m.CheckRevoke(role, otherOwner); err != nil {
				return RemainingRoles{}, err
			}
			accountdb.DeleteMemberRole(tx.Tx, tx.Tenant, id, role)
			if role == tenant.RoleOwner {
				endTransfers(tx, id)
			}
			return RemainingRoles{left, without}, nil
		})
}

// findWithoutCoach reads the future sessions of somebody, unless they lead.
func findWithoutCoach(
	ctx context.Context, tx *engine.Tx, id tenant.MemberID, leads bool,
) (found session.LedSessions, err error) {
	if leads {
		return found, nil
	}
	var batch pg.Batch
	scheduledb.FindLed(&batch, tx.Tenant, id, civil.Span{Start: tx.Now}, tx.Caller.May, &found)
	return found, tx.Load(ctx, &batch)
}

// changeRoles assigns or revokes a role. Change checks that the caller may, and returns the roles that the member then
// has.
func (s *Service) changeRoles(
	ctx context.Context, caller tenant.Caller, name, action string, id tenant.MemberID, role string,
	change func(
		ctx context.Context, tx *engine.Tx, m member.Member, facts *grant.Facts, otherOwner bool,
	) (RemainingRoles, error),
) (RemainingRoles, error) {
	t := engine.Transaction{Name: name, Replay: true, Races: []engine.Race{roleRace}}
	return changeAccess(ctx, s, caller, t, func(ctx context.Context, tx *engine.Tx) (RemainingRoles, error) {
		m, otherOwner, facts, err := findMember(ctx, tx, id)
		if err == nil && id != tx.Caller.Member {
			err = facts.Roles().CheckActOn(facts.Editor(), m.Roles)
		}
		if err != nil {
			return RemainingRoles{}, err
		}
		left, err := change(ctx, tx, m, facts, otherOwner)
		roles := left.Roles
		if err != nil || slices.Equal(roles, m.Roles) {
			return left, err
		}
		record.Audit(tx, action, "member", id.UUID, "",
			record.Changes(map[string]any{"roles": m.Roles}, map[string]any{"roles": roles}))
		kind := notify.RoleGiven
		if len(roles) < len(m.Roles) {
			kind = notify.RoleTaken
		}
		rolesEvent(tx, id, event.AccessChangeOf(kind, roles, role))
		return left, nil
	})
}

// roleChanged records that a role was created, edited or deleted.
func roleChanged(tx *engine.Tx, action, name string, changes map[string]any) {
	record.AuditEntry(tx, coredb.AuditEntry{Action: action, TargetKind: "role", TargetID: name, Changes: changes})
	rolesEvent(tx, tenant.MemberID{}, event.AccessChanged{
		Roles: nil, Change: "", Role: name, ServiceAccount: tenant.ServiceAccountID{}, FromMember: tenant.MemberID{},
	})
}

func roleValues(r grant.Role) map[string]any {
	return map[string]any{"title": r.Title, "description": r.Description, "permissions": r.Permissions}
}

// roleRace recognizes that a role was assigned and deleted concurrently: the foreign key rejects the second of the two.
// When it runs again, it finds the new holder, or finds that the role is gone.
func roleRace(err error) bool {
	return pg.IsForeignKey(err, "member_roles_role", "service_account_roles_role")
}

var errNoRole = fault.Missing(fault.RoleNotFound, "Role")
