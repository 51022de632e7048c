package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// Role is a custom role of a tenant.
type Role struct {
	Name        string
	Permissions []string // names from the catalog; others grant nothing
}

// rules are the permissions of one tenant's roles. They depend only on the tenant and the definitions of its roles, so
// assigning and revoking roles does not affect them.
type rules struct {
	tenant tenant.TenantID
	custom []Role
	model  func() (model.Model, error)

	mu   sync.Mutex
	sets map[string]*roleSet // by the roles of a set in rank order
}

// roleSet is a set of roles with its permissions. It is complete when created and never changes.
type roleSet struct {
	roles     []string // in rank order
	grantedBy []int16  // by permission: the index of the role that has it, or denied
	may       tenant.Permissions
}

const denied = -1

// The model compares a request's subject with role names, and links a name to itself. Without prefixes,
// a subject or a custom role with the name of a built-in role would be that role.
const (
	holderNode = "holder"
	rolePrefix = "role:"
)

// maxSets limits the cached sets of roles per tenant. Beyond it the cache is cleared.
const maxSets = 1024

func newRules(id tenant.TenantID, custom []Role) *rules {
	return &rules{tenant: id, custom: custom, model: parsedModel, sets: make(map[string]*roleSet)}
}

// hasCustom reports whether the rules were made from the same custom roles.
func (r *rules) hasCustom(custom []Role) bool {
	return slices.EqualFunc(r.custom, custom, func(a, b Role) bool {
		return a.Name == b.Name && slices.Equal(a.Permissions, b.Permissions)
	})
}

// evaluate returns a set of roles with its permissions. Casbin decides each permission once.
func (r *rules) evaluate(roles []string) (*roleSet, error) {
	roles = sortByRank(roles)
	key := strings.Join(roles, "\x00")
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.sets[key]; ok {
		return v, nil
	}
	e, err := newEnforcer(r.model, newGrant(r.tenant, r.custom, roles))
	if err != nil {
		return nil, err
	}
	v := &roleSet{roles: roles, may: make(tenant.Permissions)}
	for _, p := range policy.Permissions() {
		role, err := decide(e, r.tenant, p.Name)
		if err != nil {
			return nil, err
		}
		v.grantedBy = append(v.grantedBy, int16(slices.Index(roles, role)))
		if role != "" {
			v.may[p.Name] = true
		}
	}
	if len(r.sets) >= maxSets {
		clear(r.sets)
	}
	r.sets[key] = v
	return v, nil
}

// rolesWith returns the roles among those given that have a permission, in rank order.
func (r *rules) rolesWith(permission int, among []string) ([]string, error) {
	var granting []string
	for _, role := range sortByRank(among) {
		v, err := r.evaluate([]string{role})
		if err != nil {
			return nil, err
		}
		if v.grantedBy[permission] != denied {
			granting = append(granting, role)
		}
	}
	return granting, nil
}

// all returns the names of the tenant's roles.
func (r *rules) all() []string {
	var names []string
	for _, role := range policy.Roles() {
		names = append(names, role.Name)
	}
	for _, role := range r.custom {
		names = append(names, role.Name)
	}
	return names
}

// sortByRank sorts roles: built-in ones by rank, then custom ones by name.
func sortByRank(roles []string) []string {
	builtIn := policy.Roles()
	rank := func(name string) int {
		i := slices.IndexFunc(builtIn, func(r policy.Role) bool { return r.Name == name })
		if i < 0 {
			return len(builtIn)
		}
		return i
	}
	roles = slices.Clone(roles)
	slices.SortFunc(roles, func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	})
	return slices.Clip(slices.Compact(roles))
}

// grant is the roles of one holder in a tenant, as lines of an enforcer's policy.
type grant struct {
	tenant tenant.TenantID
	roles  []string    // the holder's
	lines  [][2]string // role, permission
}

// newGrant collects the lines of the given roles. It ignores a custom role with the name of a built-in one,
// which could only extend it.
func newGrant(id tenant.TenantID, custom []Role, roles []string) grant {
	g := grant{tenant: id, roles: roles}
	permissions := policy.Permissions()
	for _, role := range roles {
		for _, p := range permissions {
			if slices.Contains(p.Roles, role) {
				g.lines = append(g.lines, [2]string{role, p.Name})
			}
		}
		if policy.IsBuiltIn(role) {
			continue
		}
		for _, r := range custom {
			if r.Name != role {
				continue
			}
			for _, permission := range r.Permissions {
				g.lines = append(g.lines, [2]string{role, permission})
			}
		}
	}
	return g
}

var parsedModel = sync.OnceValues(func() (model.Model, error) {
	return model.NewModelFromString(policy.Model)
})

// newEnforcer returns an enforcer for one goroutine only: Casbin's role manager writes to its maps when it is read.
func newEnforcer(parsed func() (model.Model, error), grants ...grant) (*casbin.Enforcer, error) {
	base, err := parsed()
	if err != nil {
		return nil, fmt.Errorf("access: model: %w", err)
	}
	m := base.Copy()
	for _, g := range grants {
		id := g.tenant.String()
		for _, line := range g.lines {
			if err := m.AddPolicy("p", "p", []string{rolePrefix + line[0], id, line[1]}); err != nil {
				return nil, fmt.Errorf("access: policy: %w", err)
			}
		}
		for _, role := range g.roles {
			if err := m.AddPolicy("g", "g", []string{holderNode, rolePrefix + role, id}); err != nil {
				return nil, fmt.Errorf("access: policy: %w", err)
			}
		}
	}
	e, err := casbin.NewEnforcer(m)
	if err != nil {
		return nil, fmt.Errorf("access: enforcer: %w", err)
	}
	if err := e.BuildRoleLinks(); err != nil {
		return nil, fmt.Errorf("access: role links: %w", err)
	}
	return e, nil
}

// decide returns the role from which the holder has a permission in a tenant, or "".
// The first matching line wins, so lines in rank order give the highest role.
func decide(e *casbin.Enforcer, id tenant.TenantID, permission string) (string, error) {
	allowed, line, err := e.EnforceEx(holderNode, id.String(), permission)
	if err != nil {
		return "", fmt.Errorf("access: decide: %w", err)
	}
	if !allowed {
		return "", nil
	}
	return strings.TrimPrefix(line[0], rolePrefix), nil
}
