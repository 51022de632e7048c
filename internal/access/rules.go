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

// Role is one that a tenant has defined for itself.
type Role struct {
	Name        string
	Permissions []string // names from the catalogue; others give nothing
}

// rules are what the roles of one tenant allow. They depend on nothing but the
// tenant and the definitions of its roles, so they outlive any number of
// changes to who holds a role.
type rules struct {
	tenant tenant.TenantID
	own    []Role

	mu       sync.Mutex
	verdicts map[string]*verdicts // by the set's roles in rank order
}

// verdicts say for each permission of the catalogue, by its index, whether a set
// of roles allows it. They are complete when made and never change.
type verdicts struct {
	roles   []string // in rank order
	through []int16  // which of the roles allows it, or denied
}

const denied = -1

// The model compares a request's subject with role names, and a name is linked
// to itself: without prefixes a subject or a tenant's own role called like a
// role would be that role.
const (
	holderNode = "holder"
	rolePrefix = "role:"
)

// More sets than this in one tenant are forgotten, for the sake of memory.
const maxSets = 1024

func newRules(id tenant.TenantID, own []Role) *rules {
	return &rules{tenant: id, own: own, verdicts: make(map[string]*verdicts)}
}

// same reports whether own roles read later are those that the rules were made from.
func (r *rules) same(own []Role) bool {
	return slices.EqualFunc(r.own, own, func(a, b Role) bool {
		return a.Name == b.Name && slices.Equal(a.Permissions, b.Permissions)
	})
}

// judge gives the verdicts for a set of roles. Casbin decides each of them once.
func (r *rules) judge(roles []string) (*verdicts, error) {
	roles = ranked(roles)
	key := strings.Join(roles, "\x00")
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.verdicts[key]; ok {
		return v, nil
	}
	e, err := newEnforcer(grantOf(r.tenant, r.own, roles))
	if err != nil {
		return nil, err
	}
	v := &verdicts{roles: roles}
	for _, p := range policy.Permissions() {
		role, err := decide(e, r.tenant, p.Name)
		if err != nil {
			return nil, err
		}
		v.through = append(v.through, int16(slices.Index(roles, role)))
	}
	if len(r.verdicts) >= maxSets {
		clear(r.verdicts)
	}
	r.verdicts[key] = v
	return v, nil
}

// giving lists the tenant's roles that allow a permission, built-in ones first.
func (r *rules) giving(permission int, among []string) ([]string, error) {
	var giving []string
	for _, role := range ranked(among) {
		v, err := r.judge([]string{role})
		if err != nil {
			return nil, err
		}
		if v.through[permission] != denied {
			giving = append(giving, role)
		}
	}
	return giving, nil
}

// all lists the names of the tenant's roles.
func (r *rules) all() []string {
	var names []string
	for _, role := range policy.Roles() {
		names = append(names, role.Name)
	}
	for _, role := range r.own {
		names = append(names, role.Name)
	}
	return names
}

// ranked sorts roles into rank order, the tenant's own by name after the built-in ones.
func ranked(roles []string) []string {
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

// grant is what one holder has in a tenant: lines of an enforcer's policy.
type grant struct {
	tenant tenant.TenantID
	roles  []string    // the holder's
	lines  [][2]string // role, permission
}

// grantOf collects the lines that concern the given roles. A tenant's own role
// that is called like a built-in one is left out: it could only widen it.
func grantOf(id tenant.TenantID, own []Role, roles []string) grant {
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
		for _, r := range own {
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

// newEnforcer makes an enforcer that nobody else uses: Casbin's role manager
// changes its maps while it answers.
func newEnforcer(grants ...grant) (*casbin.Enforcer, error) {
	base, err := parsedModel()
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
	e, err := casbin.NewEnforcer(m, false)
	if err != nil {
		return nil, fmt.Errorf("access: enforcer: %w", err)
	}
	if err := e.BuildRoleLinks(); err != nil {
		return nil, fmt.Errorf("access: role links: %w", err)
	}
	return e, nil
}

// decide asks Casbin through which role the holder has a permission in a tenant; "" is none.
// The first line that allows it wins, so lines in rank order name the highest role.
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
