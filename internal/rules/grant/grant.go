// Package grant has the rules for editing roles, role assignments and service accounts. The main rule: you cannot grant
// or revoke a permission that you lack yourself. Package access checks what the permissions allow in each request.
package grant

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/printable"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// Role is a named set of permissions.
type Role struct {
	Name        string
	Title       string // the display name
	Description string
	Permissions []string // in the order of policy.Permissions
	BuiltIn     bool     // every tenant has it, and it cannot be changed
	Holders     int      // members, active or not, and service accounts that are not revoked

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// PermissionsOf returns the permissions of some built-in roles.
func PermissionsOf(roles ...string) tenant.Permissions {
	may := make(tenant.Permissions)
	for _, p := range policy.Permissions() {
		if slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(p.Roles, role) }) {
			may[p.Name] = true
		}
	}
	return may
}

// Length limits of a role's fields, in characters.
const (
	maxTitle       = 200
	maxDescription = 1000
)

// Normalize returns the role as it is stored: with a title, and with permissions in the order of policy.Permissions.
// The errors are INVALID_FIELD and PERMISSION_NOT_FOUND.
func (r Role) Normalize() (Role, error) { return r.normalizeFrom(Role{}) }

// normalizeFrom is Normalize for an edited role. A title and a description that stay as they were are not judged again.
func (r Role) normalizeFrom(before Role) (Role, error) {
	if printable.Trim(r.Title) == "" {
		r.Title = r.Name
	}
	if r.Title != before.Title {
		title, problem := field.Line(maxTitle)(r.Title)
		if problem != "" {
			return r, fault.Invalid("role.title", "%s", problem)
		}
		r.Title = title
	}
	if r.Description != before.Description {
		r.Description = strings.TrimSpace(r.Description)
		if err := checkDescription("role.description", r.Description); err != nil {
			return r, err
		}
	}
	for _, name := range r.Permissions {
		if _, ok := policy.IndexOf(name); !ok {
			return r, NoPermission(name).
				WithMetadata("permission", name).WithField("role.permissions")
		}
		if policy.IsOwnerOnly(name) {
			return r, fault.Invalid("role.permissions", "Only owners have the permission %s.", name)
		}
	}
	r.Permissions = slices.Clone(r.Permissions)
	slices.SortFunc(r.Permissions, comparePermissions)
	r.Permissions = slices.Compact(r.Permissions)
	return r, nil
}

// NoPermission means that there is no permission of that name: PERMISSION_NOT_FOUND.
func NoPermission(name string) *fault.Error {
	return fault.New(fault.NotFound, fault.PermissionNotFound, "There is no permission %q.", name)
}

// RoleNameTaken means that the tenant has a role of that name: ALREADY_EXISTS.
func RoleNameTaken() *fault.Error {
	return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "A role has that name.").WithField("name")
}

// CheckOwn rejects a built-in role, which cannot be changed: ROLE_BUILT_IN.
func (r Role) CheckOwn() error {
	if r.BuiltIn {
		return fault.New(fault.FailedPrecondition, fault.RoleBuiltIn, "Built-in roles cannot be changed.")
	}
	return nil
}

// CheckUnused rejects a role that someone holds, which cannot be deleted: ROLE_IN_USE.
func (r Role) CheckUnused() error {
	if r.Holders > 0 {
		return fault.New(fault.FailedPrecondition, fault.RoleInUse,
			"The role is held by %d: take it from them first.", r.Holders).
			WithMetadata("holders", strconv.Itoa(r.Holders))
	}
	return nil
}

func checkDescription(of, text string) error {
	if utf8.RuneCountInString(text) > maxDescription || !printable.Lines(text) {
		return fault.Invalid(of,
			"A description has at most %d characters, and none that is invisible.", maxDescription)
	}
	return nil
}

// comparePermissions sorts known permissions by the order of policy.Permissions.
func comparePermissions(a, b string) int {
	i, _ := policy.IndexOf(a)
	j, _ := policy.IndexOf(b)
	return i - j
}

// BuiltIn fills in a built-in role: its title, description and permissions come from package policy.
func BuiltIn(r Role) Role {
	for _, role := range policy.Roles() {
		if role.Name == r.Name {
			r.Title, r.Description = strings.ToUpper(r.Name[:1])+r.Name[1:], role.Description
		}
	}
	r.Permissions = nil
	for _, p := range policy.Permissions() {
		if slices.Contains(p.Roles, r.Name) {
			r.Permissions = append(r.Permissions, p.Name)
		}
	}
	return r
}

// BuiltInWith returns the built-in roles that have a permission.
func BuiltInWith(permission string) []string {
	if i, ok := policy.IndexOf(permission); ok {
		return policy.Permissions()[i].Roles
	}
	return nil
}

// BuiltInNames returns the built-in roles, the highest rank first.
func BuiltInNames() []string {
	var names []string
	for _, role := range policy.Roles() {
		names = append(names, role.Name)
	}
	return names
}

// Sort sorts names of roles: built-in ones first, by rank, then the others by name.
func Sort(roles []string) {
	builtIn := BuiltInNames()
	rank := func(name string) int {
		if i := slices.Index(builtIn, name); i >= 0 {
			return i
		}
		return len(builtIn)
	}
	slices.SortFunc(roles, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
}

// RoleSearch selects roles. All fields that are set must match.
type RoleSearch struct {
	Permission string
	BuiltIn    *bool // nil: both built-in roles and others

	After string // the name of the last role of the page before; "" for the first page
	Limit int
}

// ServiceAccount is a service account: the identity of a partner's program.
type ServiceAccount struct {
	ID          tenant.ServiceAccountID
	Name        string // unique, ignoring case, among accounts that are not revoked
	Description string
	Roles       []string // empty once revoked
	Keys        []Key    // the newest first
	CreatedAt   time.Time
	RevokedAt   time.Time // zero: not revoked
}

// AccountStatus says whether a service account can be used.
type AccountStatus string

// The statuses.
const (
	AccountActive  AccountStatus = "ACTIVE"
	AccountRevoked AccountStatus = "REVOKED"
)

// Status returns whether the account can be used.
func (a ServiceAccount) Status() AccountStatus {
	if a.Revoked() {
		return AccountRevoked
	}
	return AccountActive
}

// Revoked reports whether the account is revoked, which is final.
func (a ServiceAccount) Revoked() bool { return !a.RevokedAt.IsZero() }

const maxAccountName = 200

// Normalize returns the account as it is stored. The error is INVALID_FIELD, also for the role owner: only people own a
// tenant.
func (a ServiceAccount) Normalize() (ServiceAccount, error) {
	if slices.Contains(a.Roles, tenant.RoleOwner) {
		return a, fault.Invalid("service_account.roles", "A service account cannot be an owner.")
	}
	name, problem := field.Line(maxAccountName)(a.Name)
	if problem != "" {
		return a, fault.Invalid("service_account.name", "%s", problem)
	}
	a.Name, a.Description = name, strings.TrimSpace(a.Description)
	return a, checkDescription("service_account.description", a.Description)
}

// AccountNameTaken means that another service account has the name: ALREADY_EXISTS.
func AccountNameTaken() *fault.Error {
	return fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "A service account has that name.").
		WithField("service_account.name")
}

// ServiceAccountSearch selects service accounts. All fields that are set must match.
type ServiceAccountSearch struct {
	Statuses []AccountStatus // empty: active ones
	Role     string

	After *ServiceAccountCursor
	Limit int
}

// ServiceAccountCursor is an account's position in the list, which is sorted by name, then id.
type ServiceAccountCursor struct {
	Name string
	ID   tenant.ServiceAccountID
}

// Key is a key of a service account, without its secret, which is not stored.
type Key struct {
	ID        tenant.KeyID
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	UsedAt    time.Time // when it was last exchanged for a token, to the hour; zero: never
}

// Valid reports whether the key is valid now.
func (k Key) Valid(now time.Time) bool { return k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt) }

// Check rejects a key that has expired, or whose account is revoked: KEY_INVALID.
func (k Key) Check(revoked bool, now time.Time) error {
	if revoked || !k.Valid(now) {
		return ErrKeyInvalid
	}
	return nil
}

// ExpireKeys makes the current keys expire at the given time, unless they expire earlier.
func (a *ServiceAccount) ExpireKeys(at time.Time) {
	a.Keys = slices.Clone(a.Keys)
	for i := range a.Keys {
		if k := &a.Keys[i]; k.ExpiresAt.IsZero() || k.ExpiresAt.After(at) {
			k.ExpiresAt = at
		}
	}
}
