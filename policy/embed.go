// Package policy has the default access policy: the access model, the roles of every tenant, and the catalog
// of permissions. Its CSV file is the only source of the three lists. Custom roles of tenants are in the database.
package policy

import (
	_ "embed" // for the files below
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
)

// Model is the Casbin model: roles per tenant, tenants compared exactly, denied by default.
//
//go:embed model.conf
var Model string

//go:embed policy.csv
var lines string

// Role is a role that every tenant has. It cannot be changed or deleted.
type Role struct {
	Name        string
	Description string // one sentence, shown to users
}

// Permission is an action that can be allowed.
type Permission struct {
	Name        string   // "<object>.<action>"
	Description string   // one sentence, shown to users
	Roles       []string // the built-in roles that have it, highest rank first
}

// Roles returns the built-in roles, highest rank first.
func Roles() []Role { return slices.Clone(defaults.roles) }

// Permissions returns the catalog in its order.
func Permissions() []Permission {
	all := slices.Clone(defaults.permissions)
	for i := range all {
		all[i].Roles = slices.Clone(all[i].Roles)
	}
	return all
}

// IndexOf returns the index of a permission in the catalog, or false if there is no such permission. The index stays
// the same as long as the process runs.
func IndexOf(permission string) (int, bool) {
	i, ok := defaults.index[permission]
	return i, ok
}

// IsOwnerOnly reports whether only owners can have a permission: no other built-in role has it, and no role of a tenant's
// own can get it.
func IsOwnerOnly(permission string) bool {
	i, ok := defaults.index[permission]
	return ok && slices.Equal(defaults.permissions[i].Roles, []string{defaults.roles[0].Name})
}

// IsBuiltIn reports whether every tenant has the role.
func IsBuiltIn(role string) bool {
	return slices.ContainsFunc(defaults.roles, func(r Role) bool { return r.Name == role })
}

type catalog struct {
	roles       []Role
	permissions []Permission
	index       map[string]int
}

// defaults is the parsed file. An invalid file is a bug in the build that no caller can handle.
var defaults = func() *catalog {
	c, err := parse(lines)
	if err != nil {
		panic("policy: " + err.Error())
	}
	return c
}()

// parse is strict: it rejects unknown and repeated names, which could silently give a permission to the wrong role.
func parse(text string) (*catalog, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.TrimLeadingSpace, r.FieldsPerRecord = '#', true, 3
	records, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	c := &catalog{index: make(map[string]int)}
	rank := make(map[string]int)
	for _, record := range records {
		kind, a, b := record[0], record[1], record[2]
		switch kind {
		case "role":
			if _, twice := rank[a]; twice {
				return nil, fmt.Errorf("role %q is listed twice", a)
			}
			rank[a] = len(c.roles)
			c.roles = append(c.roles, Role{Name: a, Description: b})
		case "permission":
			if _, twice := c.index[a]; twice {
				return nil, fmt.Errorf("permission %q is listed twice", a)
			}
			c.index[a] = len(c.permissions)
			c.permissions = append(c.permissions, Permission{Name: a, Description: b})
		case "p":
			if _, ok := rank[a]; !ok {
				return nil, fmt.Errorf("%q is granted to role %q, which is not listed above", b, a)
			}
			i, ok := c.index[b]
			if !ok {
				return nil, fmt.Errorf("role %q is granted permission %q, which is not listed above", a, b)
			}
			p := &c.permissions[i]
			if slices.Contains(p.Roles, a) {
				return nil, fmt.Errorf("role %q is granted %q twice", a, b)
			}
			p.Roles = append(p.Roles, a)
		default:
			return nil, fmt.Errorf("%q is neither a role, nor a permission, nor p", kind)
		}
	}
	for i := range c.permissions {
		slices.SortFunc(c.permissions[i].Roles, func(a, b string) int { return rank[a] - rank[b] })
	}
	return c, nil
}
