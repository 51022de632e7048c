package tenant

import (
	"slices"
	"strings"
)

// Caller is who makes a request in one tenant, according to the token and the membership in the database. It is
// passed by value, so that no function can widen it for others.
type Caller struct {
	// Tenant is named by the request and allowed by the token.
	Tenant TenantID
	// Subject is the token's subject: a user, "member:<id>" for a member whom Berth signed in, or "sa:<id>" for a service
	// account.
	Subject string
	// Member is the caller's own membership; zero for service accounts.
	Member MemberID
	// Roles are the roles of the membership now.
	Roles []string
	// May has the permissions of these roles.
	May Permissions
	// Email is the address that the issuer of the caller's token has verified, if the operator trusts its addresses; empty
	// if there is none.
	Email string
	// SignIn is the mark of the sign-in with Berth itself that the token comes from; empty if there is none.
	SignIn string
	// SelfOnly means that the caller may access only what is their own. Code that reads or changes something must then
	// compare its member with Member.
	SelfOnly bool
}

// Permissions is a set of permissions by name. Callers share it: it must not be changed.
type Permissions map[string]bool

// System is the caller of background work, such as a sweep.
func System(id TenantID) Caller { return Caller{Tenant: id, Subject: systemSubject} }

const systemSubject = "system"

// AccountPrefix starts the subject of a service account.
const AccountPrefix = "sa:"

// AccountOf returns the id of the service account that a subject names, or zero.
func AccountOf(subject string) ServiceAccountID {
	text, ok := strings.CutPrefix(subject, AccountPrefix)
	if !ok {
		return ServiceAccountID{}
	}
	id, _ := Parse[ServiceAccountID](text) // zero if it is none
	return id
}

// MemberPrefix starts the subject of a member whom Berth itself has signed in, and who is named by their id: "member:"
// and the id. A subject that somebody can type or import reaches nobody by it.
const MemberPrefix = "member:"

// IsReserved reports whether a subject of a token can only come from Berth itself: a member by id, or background work.
func IsReserved(subject string) bool {
	return subject == systemSubject || strings.HasPrefix(subject, MemberPrefix)
}

// MemberSubject is the subject of a member by id.
func MemberSubject(id MemberID) string { return MemberPrefix + id.String() }

// Actor names the caller in ledgers, events and audit entries: the member's id, "sa:<id>" for a service account, or
// "system".
func (c Caller) Actor() string {
	if !c.Member.IsZero() {
		return c.Member.String()
	}
	return c.Subject
}

// CanAccess reports whether the caller may read or change something that belongs to a member.
func (c Caller) CanAccess(owner MemberID) bool {
	return !c.SelfOnly || (owner == c.Member && !c.Member.IsZero())
}

// CanAccessCreated is CanAccess for what service accounts create for others, such as bookings. An account is not a
// member and owns nothing; what it created counts as its own.
func (c Caller) CanAccessCreated(owner MemberID, by string) bool {
	return c.CanAccess(owner) || c.Member.IsZero() && c.Subject != "" && by == c.Subject
}

// CanSettle reports whether the caller may record payments and credits of a member: of anyone but themselves. Who owes
// money does not say that it came in. Owners may, since it is their money.
func (c Caller) CanSettle(of MemberID) bool {
	return c.Member.IsZero() || c.Member != of || slices.Contains(c.Roles, RoleOwner)
}

// The built-in roles, which every tenant has. Tenants add their own.
const (
	RoleOwner   = "owner"
	RoleAdmin   = "admin"
	RoleCoach   = "coach"
	RoleMember  = "member"
	RolePartner = "partner"
)
