package tenant

import "slices"

// Caller is who asks, inside one tenant, as found by the token and by the
// membership in the database. It is a value: whoever holds it cannot widen it.
type Caller struct {
	// Tenant is the one the request names and the token is good for.
	Tenant TenantID
	// Subject is the token's subject: a user, or "sa:<id>" for a service account.
	Subject string
	// Member is the caller's own membership; zero for service accounts.
	Member MemberID
	// Roles are those of the membership at this moment.
	Roles []string
	// Own is set where the caller was let in for things of their own only.
	// Whoever reads or changes something must then compare its member with Member.
	Own bool
}

// System is who does what nobody asked for, such as a sweep.
func System(id TenantID) Caller { return Caller{Tenant: id, Subject: systemSubject} }

const systemSubject = "system"

// Actor names the caller in ledgers, events and audit entries: the member's id,
// "sa:<id>" for a service account, or "system".
func (c Caller) Actor() string {
	if !c.Member.IsZero() {
		return c.Member.String()
	}
	return c.Subject
}

// MayTouch reports whether the caller may see or change a thing of the given member.
func (c Caller) MayTouch(owner MemberID) bool {
	return !c.Own || (owner == c.Member && !c.Member.IsZero())
}

// MayTouchMade is MayTouch for what service accounts make for others, such as bookings. An account is
// no member and has nothing; its own is what it made itself.
func (c Caller) MayTouchMade(owner MemberID, by string) bool {
	return c.MayTouch(owner) || c.Member.IsZero() && c.Subject != "" && by == c.Subject
}

// Staff are the people of the house: they bypass credits and quotas when they
// book, never capacity.
func (c Caller) Staff() bool {
	return slices.ContainsFunc(c.Roles, IsStaffRole)
}

// The roles that every tenant has. Tenants add their own beside them.
const (
	RoleOwner   = "owner"
	RoleAdmin   = "admin"
	RoleCoach   = "coach"
	RoleMember  = "member"
	RolePartner = "partner"
)

// IsStaffRole reports whether a role makes its holder staff.
func IsStaffRole(role string) bool {
	return role == RoleOwner || role == RoleAdmin || role == RoleCoach
}
