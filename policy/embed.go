// Package policy carries who may do what by default: the access model, the roles
// that every tenant has, and the catalogue of permissions. Its CSV file is the one
// source of the three lists; what a tenant adds of its own lives in the database.
package policy

import (
	_ "embed" // for the files below
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
)

// Model is the Casbin model: roles within a tenant, tenants compared exactly, default deny.
//
//go:embed model.conf
var Model string

//go:embed policy.csv
var lines string

// Role is one that every tenant has. It cannot be changed or deleted.
type Role struct {
	Name        string
	Description string // one sentence, for people
}

// Permission is something that can be allowed.
type Permission struct {
	Name        string   // "<thing>.<deed>"
	Description string   // one sentence, for people
	Roles       []string // the built-in roles that have it, the highest rank first
}

// Roles gives the built-in roles, the highest rank first.
func Roles() []Role { return slices.Clone(defaults.roles) }

// Permissions gives the catalogue in its order.
func Permissions() []Permission {
	all := slices.Clone(defaults.permissions)
	for i := range all {
		all[i].Roles = slices.Clone(all[i].Roles)
	}
	return all
}

// Index gives a permission's place in the catalogue, which is fixed for the life
// of the process; false means that there is no such permission.
func Index(permission string) (int, bool) {
	i, ok := defaults.index[permission]
	return i, ok
}

// IsBuiltIn reports whether every tenant has the role.
func IsBuiltIn(role string) bool {
	return slices.ContainsFunc(defaults.roles, func(r Role) bool { return r.Name == role })
}

type catalogue struct {
	roles       []Role
	permissions []Permission
	index       map[string]int
}

// A file that does not parse is a bug of this very build, which no caller could handle.
var defaults = func() *catalogue {
	c, err := parse(lines)
	if err != nil {
		panic("policy: " + err.Error())
	}
	return c
}()

// parse is strict: a line that names something unknown, or says a thing twice,
// would otherwise be a permission that silently nobody or somebody else has.
func parse(text string) (*catalogue, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.TrimLeadingSpace, r.FieldsPerRecord = '#', true, 3
	records, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	c := &catalogue{index: make(map[string]int)}
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
				return nil, fmt.Errorf("role %q is given %q and is not listed above", a, b)
			}
			i, ok := c.index[b]
			if !ok {
				return nil, fmt.Errorf("permission %q is given to %q and is not listed above", b, a)
			}
			p := &c.permissions[i]
			if slices.Contains(p.Roles, a) {
				return nil, fmt.Errorf("role %q is given %q twice", a, b)
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
