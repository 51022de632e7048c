package grant

import (
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// RoleSet has the permissions of each role of a tenant, by the role's name.
type RoleSet map[string][]string

// NewRoleSet returns the built-in roles and a tenant's own. A built-in role wins over one of the tenant's with the same
// name.
func NewRoleSet(own []Role) RoleSet {
	roles := make(RoleSet)
	for _, role := range own {
		roles[role.Name] = role.Permissions
	}
	for _, name := range BuiltInNames() {
		roles[name] = BuiltIn(Role{Name: name}).Permissions
	}
	return roles
}

// CheckExist rejects roles that the tenant does not have: ROLE_NOT_FOUND.
func (s RoleSet) CheckExist(roles ...string) error {
	for _, name := range roles {
		if _, ok := s[name]; !ok {
			return fault.Missing(fault.RoleNotFound, "Role")
		}
	}
	return nil
}

// ManageAdmins is the permission to act on owners and admins. It is not enough to have all that an admin has: admins do
// not decide who the admins are.
const ManageAdmins = "admin.manage"

// needed returns the permissions that it takes to grant or revoke roles, and to act on those who have them.
func (s RoleSet) needed(roles []string) Permissions {
	p := s.Permissions(roles...)
	if slices.Contains(roles, tenant.RoleAdmin) {
		p[ManageAdmins] = true // owners have it themselves
	}
	return p
}

// CheckGrant checks that an editor can grant or revoke roles. The error is PERMISSION_DENIED, with the first permission
// that the editor lacks.
func (s RoleSet) CheckGrant(editor Permissions, roles ...string) error {
	return editor.checkGrant(s.needed(roles))
}

// CheckActOn checks that an editor can change which roles a member has, of whatever kind. The error is
// PERMISSION_DENIED for owners and admins.
func (s RoleSet) CheckActOn(editor Permissions, held []string) error {
	admin := slices.Contains(held, tenant.RoleOwner) || slices.Contains(held, tenant.RoleAdmin)
	return editor.checkGrant(Permissions{ManageAdmins: admin})
}

// Permissions returns the union of the permissions of roles.
func (s RoleSet) Permissions(roles ...string) Permissions {
	p := make(Permissions)
	for _, role := range roles {
		for _, permission := range s[role] {
			p[permission] = true
		}
	}
	return p
}

// Gained returns the permissions that somebody with roles gets by having others, or the same after they were edited.
func (s RoleSet) Gained(before []string, edited RoleSet, after []string) Permissions {
	had, gained := s.needed(before), edited.needed(after)
	for name := range gained {
		if had[name] {
			delete(gained, name)
		}
	}
	return gained
}

// Cover reports whether all of other permissions are among these.
func (p Permissions) Cover(other Permissions) bool {
	for name, has := range other {
		if has && !p[name] {
			return false
		}
	}
	return true
}

// RolesWith returns those of the roles that have a permission, sorted.
func (s RoleSet) RolesWith(permission string, among []string) []string {
	var holders []string
	for _, role := range among {
		if slices.Contains(s[role], permission) {
			holders = append(holders, role)
		}
	}
	Sort(holders)
	return holders
}

// Names returns the names of the tenant's roles, sorted.
func (s RoleSet) Names() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	Sort(names)
	return names
}

// Permissions is a set of permissions.
type Permissions map[string]bool

// AllPermissions returns all permissions.
func AllPermissions() Permissions {
	p := make(Permissions)
	for _, permission := range policy.Permissions() {
		p[permission.Name] = true
	}
	return p
}

// Names returns the permissions in the order of policy.Permissions, without unknown ones.
func (p Permissions) Names() []string {
	var names []string
	for _, permission := range policy.Permissions() {
		if p[permission.Name] {
			names = append(names, permission.Name)
		}
	}
	return names
}

// checkGrant checks that an editor with these permissions can grant or revoke others. The error is PERMISSION_DENIED,
// with the first permission that the editor lacks.
func (p Permissions) checkGrant(other Permissions) error {
	for _, name := range other.Names() {
		if !p[name] {
			return fault.New(fault.PermissionDenied, fault.PermissionDeniedReason,
				"You cannot grant or revoke a permission that you lack: %s.", name).
				WithMetadata("permission", name)
		}
	}
	return nil
}

// CheckEditMember checks that an editor can edit a member with the given roles. The permissions of the role "member" do
// not count: everyone who is managed has them.
func (s RoleSet) CheckEditMember(editor Permissions, roles []string) error {
	for _, name := range s.needed(roles).Names() {
		if !editor[name] && !slices.Contains(s[tenant.RoleMember], name) {
			return fault.New(fault.PermissionDenied, fault.PermissionDeniedReason,
				"You cannot edit a member who has a permission that you lack: %s.", name).
				WithMetadata("permission", name)
		}
	}
	return nil
}

// EditRole checks an edit of a role, and returns the role to store. The errors are ROLE_BUILT_IN, PERMISSION_DENIED,
// and those of Normal.
func EditRole(editor Permissions, before, after Role) (Role, error) {
	if err := before.CheckOwn(); err != nil {
		return before, err
	}
	after, err := after.normalizeFrom(before)
	if err != nil {
		return before, err
	}
	changed := make(Permissions)
	for _, name := range after.Permissions {
		changed[name] = !slices.Contains(before.Permissions, name)
	}
	for _, name := range before.Permissions {
		changed[name] = !slices.Contains(after.Permissions, name)
	}
	return after, editor.checkGrant(changed)
}
