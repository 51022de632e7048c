package grant

import (
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// Book knows what each role of a tenant gives.
type Book map[string][]string

// NewBook writes down the built-in roles and a tenant's own. One of its own that
// is called like a built-in one gives nothing more than that.
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

// Knows refuses roles that the tenant does not have: ROLE_NOT_FOUND.
func (b Book) Knows(roles ...string) error {
	for _, name := range roles {
		if _, ok := b[name]; !ok {
			return fault.Missing(fault.RoleNotFound, "Role")
		}
	}
	return nil
}

// Power is what roles give together.
func (b Book) Power(roles ...string) Power {
	p := make(Power)
	for _, role := range roles {
		for _, permission := range b[role] {
			p[permission] = true
		}
	}
	return p
}

// Giving names the roles, among those given, that give a permission, in order.
func (b Book) Giving(permission string, among []string) []string {
	var giving []string
	for _, role := range among {
		if slices.Contains(b[role], permission) {
			giving = append(giving, role)
		}
	}
	Sort(giving)
	return giving
}

// Names lists the tenant's roles.
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

// Full is every permission there is.
func Full() Power {
	p := make(Power)
	for _, permission := range policy.Permissions() {
		p[permission.Name] = true
	}
	return p
}

// Names lists the permissions that are in the catalogue, in its order.
func (p Power) Names() []string {
	var names []string
	for _, permission := range policy.Permissions() {
		if p[permission.Name] {
			names = append(names, permission.Name)
		}
	}
	return names
}

// MayMove decides whether whoever has the power may give or take away another:
// PERMISSION_DENIED names the first permission that they lack.
func (p Power) MayMove(other Power) error {
	for _, name := range other.Names() {
		if !p[name] {
			return fault.New(fault.PermissionDenied, fault.Denied, "Nobody gives or takes away a permission that they lack, here %s.", name).
				With("permission", name)
		}
	}
	return nil
}

// MayEdit decides whether whoever has the power may edit a person who holds the
// roles. What the role "member" gives counts for nothing: to manage members is
// to manage people who have it.
func (b Book) MayEdit(editor Power, roles []string) error {
	for _, name := range b.Power(roles...).Names() {
		if !editor[name] && !slices.Contains(b[tenant.RoleMember], name) {
			return fault.New(fault.PermissionDenied, fault.Denied, "Nobody edits a member who holds a permission that they lack, here %s.", name).
				With("permission", name)
		}
	}
	return nil
}

// Edit decides whether a role may become what an edit makes of it, and gives the
// role to be stored. Errors: ROLE_BUILT_IN, PERMISSION_DENIED, and those of Normal.
func Edit(editor Power, before, after Role) (Role, error) {
	if before.BuiltIn {
		return before, ErrBuiltIn
	}
	after, err := after.Normal()
	if err != nil {
		return before, err
	}
	moved := make(Power)
	for _, name := range after.Permissions {
		moved[name] = !slices.Contains(before.Permissions, name)
	}
	for _, name := range before.Permissions {
		moved[name] = moved[name] || !slices.Contains(after.Permissions, name)
	}
	return after, editor.MayMove(moved)
}

// ErrBuiltIn refuses to change a role that every tenant has: ROLE_BUILT_IN.
var ErrBuiltIn = fault.New(fault.FailedPrecondition, fault.RoleBuiltIn, "Every tenant has this role; it cannot be changed.")
