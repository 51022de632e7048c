package grant

import "github.com/berthhq/berth/internal/tenant"

// Facts decide whether a caller may give or take roles. They are read in the transaction that does, because the
// caller's roles may have changed since the request was let in, and so that no concurrent transaction can revoke them.
type Facts struct {
	Caller tenant.Caller
	Own    []Role   // the tenant's own roles
	Held   []string // the caller's roles
}

// Roles returns the tenant's roles with their permissions.
func (f *Facts) Roles() RoleSet { return NewRoleSet(f.Own) }

// Editor returns the caller's permissions. The service itself has all.
func (f *Facts) Editor() Permissions {
	if f.Caller.Actor() == tenant.System(f.Caller.Tenant).Actor() {
		return AllPermissions()
	}
	return f.Roles().Permissions(f.Held...)
}

// CheckGrant checks that the caller may give or take roles, which have to exist.
func (f *Facts) CheckGrant(roles ...string) error {
	if err := f.Roles().CheckExist(roles...); err != nil {
		return err
	}
	return f.Roles().CheckGrant(f.Editor(), roles...)
}

// CheckRevoke checks that the caller may take a role from a member. Members may give up their own.
func (f *Facts) CheckRevoke(from tenant.MemberID, role string) error {
	if f.Caller.Member == from {
		return f.Roles().CheckExist(role)
	}
	return f.CheckGrant(role)
}
