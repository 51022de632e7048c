package accounts

import (
	"context"
	"slices"
	"strconv"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// ListRoles reads the tenant's roles: the built-in ones by rank, then its own by name.
func (s *Service) ListRoles(ctx context.Context, caller tenant.Caller, search grant.RoleSearch) ([]grant.Role, error) {
	if unheard(search.After) {
		return nil, nil
	}
	var roles []grant.Role
	var batch pg.Batch
	accountdb.ListRoles(&batch, caller.Tenant, search, &roles)
	err := s.engine.Read(ctx, caller, &batch)
	return roles, err
}

// CreateRole defines a role.
func (s *Service) CreateRole(ctx context.Context, caller tenant.Caller, r grant.Role) (grant.Role, error) {
	r, err := r.Normalize()
	if err != nil {
		return r, err
	}
	err = s.regrant(ctx, caller, "role.create", func(ctx context.Context, tx *engine.Tx) error {
		var there *grant.Role
		var batch pg.Batch
		powers := loadPowers(tx, &batch)
		accountdb.FindRole(&batch, tx.Tenant, r.Name, &there)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if there != nil {
			return errRoleTaken
		}
		if _, err := grant.EditRole(powers.caller(), grant.Role{}, r); err != nil {
			return err
		}
		r.Version, r.CreatedAt, r.UpdatedAt = 1, tx.Now, tx.Now
		accountdb.InsertRole(tx.Tx, tx.Tenant, r)
		roleChanged(tx, "role.created", r.Name, engine.AuditChange(nil, roleValues(r)))
		return nil
	}, engine.Answers(&r))
	if pg.IsUnique(err, "roles_pkey") {
		err = errRoleTaken.WithCause(err)
	}
	return r, err
}

// UpdateRole edits a role, for all who hold it, if it still is at the version expected (nil: whichever).
func (s *Service) UpdateRole(ctx context.Context, caller tenant.Caller, name string, expect *int, edit func(*grant.Role) error) (grant.Role, error) {
	var after grant.Role
	err := s.regrant(ctx, caller, "role.update", func(ctx context.Context, tx *engine.Tx) error {
		before, powers, err := ownRole(ctx, tx, name, expect)
		if err != nil {
			return err
		}
		after = before
		if err := edit(&after); err != nil {
			return err
		}
		if after, err = grant.EditRole(powers.caller(), before, after); err != nil {
			return err
		}
		if after.Title == before.Title && after.Description == before.Description && slices.Equal(after.Permissions, before.Permissions) {
			return nil
		}
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		accountdb.UpdateRole(tx.Tx, tx.Tenant, after)
		roleChanged(tx, "role.updated", name, engine.AuditChange(roleValues(before), roleValues(after)))
		return nil
	}, engine.Answers(&after))
	return after, err
}

// DeleteRole removes a role that nobody holds, if it still is at the version expected (nil: whichever).
func (s *Service) DeleteRole(ctx context.Context, caller tenant.Caller, name string, expect *int) error {
	return s.regrant(ctx, caller, "role.delete", func(ctx context.Context, tx *engine.Tx) error {
		before, powers, err := ownRole(ctx, tx, name, expect)
		if err != nil {
			return err
		}
		if err := powers.caller().CheckGrant(powers.book().Permissions(name)); err != nil {
			return err
		}
		if before.Holders > 0 {
			return fault.New(fault.FailedPrecondition, fault.RoleInUse, "The role is held by %d: take it from them first.", before.Holders).
				WithMetadata("holders", strconv.Itoa(before.Holders))
		}
		accountdb.DeleteRole(tx.Tx, tx.Tenant, name)
		roleChanged(tx, "role.deleted", name, engine.AuditChange(roleValues(before), nil))
		return nil
	}, engine.Answers(), engine.Losing(byRole))
}

// ownRole loads a role of the tenant's own.
func ownRole(ctx context.Context, tx *engine.Tx, name string, expect *int) (grant.Role, *powers, error) {
	var r *grant.Role
	var batch pg.Batch
	powers := loadPowers(tx, &batch)
	accountdb.FindRole(&batch, tx.Tenant, name, &r)
	if err := tx.Load(ctx, &batch); err != nil {
		return grant.Role{}, nil, err
	}
	if r == nil {
		return grant.Role{}, nil, fault.Missing(fault.RoleNotFound, "Role")
	}
	if r.BuiltIn {
		return grant.Role{}, nil, grant.ErrBuiltIn
	}
	return *r, powers, engine.CheckVersion(expect, r.Version)
}

// AssignRole gives a member a role, and gives all that they hold then. Giving it again changes nothing.
func (s *Service) AssignRole(ctx context.Context, caller tenant.Caller, id tenant.MemberID, role string) ([]string, error) {
	return s.moveRole(ctx, caller, "role.assign", "role.assigned", id, role, func(tx *engine.Tx, m member.Member, _ bool) ([]string, error) {
		if slices.Contains(m.Roles, role) {
			return m.Roles, nil
		}
		accountdb.InsertMemberRole(tx.Tx, tx.Tenant, id, role, tx.Now)
		roles := append(slices.Clone(m.Roles), role)
		grant.Sort(roles)
		return roles, nil
	})
}

// RevokeRole takes a role from a member, and gives all that they hold then. Taking one that they do not hold changes nothing.
func (s *Service) RevokeRole(ctx context.Context, caller tenant.Caller, id tenant.MemberID, role string) ([]string, error) {
	return s.moveRole(ctx, caller, "role.revoke", "role.revoked", id, role, func(tx *engine.Tx, m member.Member, otherOwner bool) ([]string, error) {
		if !slices.Contains(m.Roles, role) {
			return m.Roles, nil
		}
		if role == tenant.RoleOwner && m.IsActiveOwner() && !otherOwner {
			return nil, member.ErrLastOwner
		}
		accountdb.DeleteMemberRole(tx.Tx, tx.Tenant, id, role)
		return slices.DeleteFunc(slices.Clone(m.Roles), func(held string) bool { return held == role }), nil
	})
}

// moveRole lets a role move where the caller has all that it gives. Move gives the roles that the member holds after it.
func (s *Service) moveRole(ctx context.Context, caller tenant.Caller, use, action string, id tenant.MemberID, role string,
	move func(tx *engine.Tx, m member.Member, otherOwner bool) ([]string, error),
) ([]string, error) {
	var roles []string
	err := s.regrant(ctx, caller, use, func(ctx context.Context, tx *engine.Tx) error {
		var m *member.Member
		var otherOwner bool
		var batch pg.Batch
		powers := loadPowers(tx, &batch)
		accountdb.FindMember(&batch, tx.Tenant, id, &m)
		accountdb.FindOtherOwner(&batch, tx.Tenant, id, &otherOwner)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if m == nil {
			return fault.Missing(fault.MemberNotFound, "Member")
		}
		if err := powers.book().CheckExist(role); err != nil {
			return err
		}
		if err := powers.caller().CheckGrant(powers.book().Permissions(role)); err != nil {
			return err
		}
		var err error
		if roles, err = move(tx, *m, otherOwner); err != nil || slices.Equal(roles, m.Roles) {
			return err
		}
		tx.Audit(action, "member", id.UUID, "", engine.AuditChange(map[string]any{"roles": m.Roles}, map[string]any{"roles": roles}))
		rolesEvent(tx, id, map[string]any{"roles": roles})
		return nil
	}, engine.Answers(&roles), engine.Losing(byRole))
	return roles, err
}

// roleChanged records that a role was made, edited or deleted.
func roleChanged(tx *engine.Tx, action, name string, changes map[string]any) {
	tx.AuditEntry(coredb.AuditEntry{Action: action, TargetKind: "role", TargetID: name, Changes: changes})
	rolesEvent(tx, tenant.MemberID{}, map[string]any{"role": name})
}

func roleValues(r grant.Role) map[string]any {
	return map[string]any{"title": r.Title, "description": r.Description, "permissions": r.Permissions}
}

var errRoleTaken = fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "A role has that name.").WithField("role.name")

// byRole: a role was given to somebody while it was deleted, which the foreign key refuses to
// whoever comes second. The next look counts the holder, or misses the role.
var byRole = func(err error) bool {
	return pg.IsForeignKey(err, "member_roles_role", "service_account_roles_role")
}
