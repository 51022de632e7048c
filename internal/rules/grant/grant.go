// Package grant decides who may give and take what access allows: nobody a
// permission that they lack themselves. It knows roles and service accounts as
// things that people edit; what they allow at the door is package access's.
package grant

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// Role is a named set of permissions.
type Role struct {
	Name        string
	Title       string // what people read
	Description string
	Permissions []string // in the catalogue's order
	BuiltIn     bool     // every tenant has it; it cannot be changed
	Holders     int      // members, active or not, and service accounts in force

	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Limits of what a role says, in characters.
const (
	maxTitle       = 200
	maxDescription = 1000
)

// Normal gives the form in which a role is kept: permissions in the catalogue's
// order, a title in any case. Errors: INVALID_FIELD, PERMISSION_NOT_FOUND.
func (r Role) Normal() (Role, error) {
	r.Title, r.Description = strings.TrimSpace(r.Title), strings.TrimSpace(r.Description)
	if r.Title == "" {
		r.Title = r.Name
	}
	if utf8.RuneCountInString(r.Title) > maxTitle || strings.ContainsFunc(r.Title, unicode.IsControl) {
		return r, fault.Invalid("role.title", "A title has at most %d characters, none of them control characters.", maxTitle)
	}
	if err := checkDescription("role.description", r.Description); err != nil {
		return r, err
	}
	for _, name := range r.Permissions {
		if _, ok := policy.Index(name); !ok {
			return r, fault.New(fault.NotFound, fault.PermissionNotFound, "There is no permission %q.", name).
				With("permission", name).In("role.permissions")
		}
	}
	r.Permissions = slices.Clone(r.Permissions)
	slices.SortFunc(r.Permissions, inCatalogue)
	r.Permissions = slices.Compact(r.Permissions)
	return r, nil
}

func checkDescription(field, text string) error {
	control := func(char rune) bool { return unicode.IsControl(char) && char != '\n' && char != '\t' && char != '\r' }
	if utf8.RuneCountInString(text) > maxDescription || strings.ContainsFunc(text, control) {
		return fault.Invalid(field, "A description has at most %d characters, none of them control characters.", maxDescription)
	}
	return nil
}

// inCatalogue orders permissions as the catalogue does, unknown ones first.
func inCatalogue(a, b string) int {
	i, _ := policy.Index(a)
	j, _ := policy.Index(b)
	return cmp.Or(i-j, strings.Compare(a, b))
}

// BuiltIn completes a role that every tenant has: what it is comes with the program.
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

// BuiltInNames lists the roles that every tenant has, the highest rank first.
func BuiltInNames() []string {
	var names []string
	for _, role := range policy.Roles() {
		names = append(names, role.Name)
	}
	return names
}

// Sort puts names of roles into order: built-in ones by rank, then by name.
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

// Search chooses roles.
type Search struct {
	After string // the name of the last role before; "" is from the first
	Limit int
}

// Account is a program that calls on behalf of a partner.
type Account struct {
	ID          tenant.ServiceAccountID
	Name        string // unique among those in force, without regard to case
	Description string
	Roles       []string // none once it is revoked
	Keys        []Key    // the newest first
	CreatedAt   time.Time
	RevokedAt   time.Time // zero while in force
}

// Revoked reports whether the account has ended, for good.
func (a Account) Revoked() bool { return !a.RevokedAt.IsZero() }

const maxAccountName = 200

// Normal gives the form in which an account is kept, or INVALID_FIELD.
func (a Account) Normal() (Account, error) {
	a.Name, a.Description = strings.TrimSpace(a.Name), strings.TrimSpace(a.Description)
	if a.Name == "" || utf8.RuneCountInString(a.Name) > maxAccountName || strings.ContainsFunc(a.Name, unicode.IsControl) {
		return a, fault.Invalid("name", "An account's name has 1 to %d characters, none of them control characters.", maxAccountName)
	}
	return a, checkDescription("description", a.Description)
}

// AccountSearch chooses service accounts.
type AccountSearch struct {
	Revoked bool // those too
	After   *AccountPosition
	Limit   int
}

// AccountPosition is an account's place in the order of name, then id.
type AccountPosition struct {
	Name string
	ID   tenant.ServiceAccountID
}

// Key is what is known of an account's key. Its secret is not kept.
type Key struct {
	ID        tenant.KeyID
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	UsedAt    time.Time // when it was last exchanged, to the hour; zero: never
}

// Good reports whether the key opens anything at that time.
func (k Key) Good(now time.Time) bool { return k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt) }

// EndKeys lets the keys that are there end at that time, unless they end sooner.
func (a *Account) EndKeys(at time.Time) {
	a.Keys = slices.Clone(a.Keys)
	for i := range a.Keys {
		if k := &a.Keys[i]; k.ExpiresAt.IsZero() || k.ExpiresAt.After(at) {
			k.ExpiresAt = at
		}
	}
}
