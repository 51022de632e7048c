package grant

import (
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// Book has the permissions of each role of a tenant, by the role's name.
type Book map[string][]string

// NewBook returns the built-in roles and a tenant's own. A built-in role wins over one of the tenant's with the same
// name.
func NewBook(own []Role) Book {
	book := make(Book, len(own)+5)
	for _, role := range own {
		book[role.Name] = role.Permissions
	}
	for _, name := range BuiltInNames() {
		book[name] = BuiltIn(Role{Name: name}).Permissions
	}
	return book
}

// Knows rejects roles that the tenant does not have: ROLE_NOT_FOUND.
func (b Book) Knows(roles ...string) error {
	for _, name := range roles {
		if _, ok := b[name]; !ok {
			return fault.Missing(fault.RoleNotFound, "Role")
		}
	}
	return nil
}

// Power returns the union of the permissions of roles.
func (b Book) Power(roles ...string) Power {
	p := make(Power)
	for _, role := range roles {
		for _, permission := range b[role] {
			p[permission] = true
		}
	}
	return p
}

// Giving returns those of the roles that have a permission, sorted.
func (b Book) Giving(permission string, among []string) []string {
	var holders []string
	for _, role := range among {
		if slices.Contains(b[role], permission) {
			holders = append(holders, role)
		}
	}
	Sort(holders)
	return holders
}

// Names returns the names of the tenant's roles, sorted.
func (b Book) Names() []string {
	var names []string
	for name := range b {
		names = append(names, name)
	}
	Sort(names)
	return names
}

// Power is a set of permissions.
type Power map[string]bool

// Full returns all permissions.
func Full() Power {
	p := make(Power)
	for _, permission := range policy.Permissions() {
		p[permission.Name] = true
	}
	return p
}

// Names returns the permissions in the order of policy.Permissions, without unknown ones.
func (p Power) Names() []string {
	var names []string
	for _, permission := range policy.Permissions() {
		if p[permission.Name] {
			names = append(names, permission.Name)
		}
	}
	return names
}

// MayMove checks that an editor with these permissions can grant or revoke others. The error is PERMISSION_DENIED, with
// the first permission that the editor lacks.
func (p Power) MayMove(other Power) error {
	for _, name := range other.Names() {
		if !p[name] {
			return fault.New(fault.PermissionDenied, fault.Denied,
				"You cannot grant or revoke a permission that you lack: %s.", name).
				With("permission", name)
		}
	}
	return nil
}

// MayEdit checks that an editor can edit a member with the given roles. The permissions of the role "member" do not
// count: everyone who is managed has them.
func (b Book) MayEdit(editor Power, roles []string) error {
	for _, name := range b.Power(roles...).Names() {
		if !editor[name] && !slices.Contains(b[tenant.RoleMember], name) {
			return fault.New(fault.PermissionDenied, fault.Denied,
				"You cannot edit a member who has a permission that you lack: %s.", name).
				With("permission", name)
		}
	}
	return nil
}

// Edit checks an edit of a role, and returns the role to store. The errors are ROLE_BUILT_IN, PERMISSION_DENIED, and
// those of Normal.
func Edit(editor Power, before, after Role) (Role, error) {
	if before.BuiltIn {
		return before, ErrBuiltIn
	}
	after, err := after.Normal()
	if err != nil {
		return before, err
	}
	changed := make(Power)
	for _, name := range after.Permissions {
		changed[name] = !slices.Contains(before.Permissions, name)
	}
	for _, name := range before.Permissions {
		changed[name] = !slices.Contains(after.Permissions, name)
	}
	return after, editor.MayMove(changed)
}

// ErrBuiltIn rejects a change of a built-in role: ROLE_BUILT_IN.
var ErrBuiltIn = fault.New(fault.FailedPrecondition, fault.RoleBuiltIn, "Built-in roles cannot be changed.")
