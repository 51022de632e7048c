package access_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/policy"
)

func TestDecide_FollowsRoles(t *testing.T) {
	t.Parallel()
	here, there := newTenant(), newTenant()
	ann, sam := newMember(), newMember()
	b := newMemorySource()
	b.defineRoles(here, access.Role{Name: "greeter", Permissions: []string{"checkin.staff"}})
	b.assign(here, "ann", access.Holder{Member: ann, Roles: []string{"greeter", "member"}, Active: true})
	b.assign(here, "sam", access.Holder{Member: sam, Roles: []string{"owner"}})
	b.assign(here, "sa:7", access.Holder{Roles: []string{"partner"}, Active: true})
	b.assign(here, "idle", access.Holder{Member: sam, Active: true})
	b.assign(there, "ann", access.Holder{Member: sam, Roles: []string{"owner", "greeter"}, Active: true})
	g := access.New(b)

	member := access.Authorization{Active: true, Member: ann, Roles: []string{"member", "greeter"}}
	for name, tc := range map[string]struct {
		in                  tenant.TenantID
		subject, permission string
		want                access.Authorization
	}{
		"a built-in role": {here, "ann", "session.read", through(member, "member")},
		"a custom role":   {here, "ann", "checkin.staff", through(member, "greeter")},
		"neither":         {here, "ann", "session.create", member},
		"inactive":        {here, "sam", "session.read", access.Authorization{Deactivated: true}},
		"a stranger":      {here, "tom", "session.read", access.Authorization{}},
		"a role's name":   {here, "owner", "session.read", access.Authorization{}},
		"a policy node":   {here, "role:owner", "session.read", access.Authorization{}},
		"no subject":      {here, "", "session.read", access.Authorization{}},
		"a service account": {here, "sa:7", "booking.hold_for_others", access.Authorization{
			Active: true, Allowed: true, Role: "partner", Roles: []string{"partner"},
		}},
		"no roles": {here, "idle", "session.read", access.Authorization{Active: true, Member: sam}},
		"owner of another tenant": {there, "ann", "audit.read", access.Authorization{
			Active: true, Allowed: true, Role: "owner", Member: sam, Roles: []string{"owner", "greeter"},
		}},
		"a custom role of this tenant": {there, "sa:7", "booking.create", access.Authorization{}},
		"an unknown tenant":            {newTenant(), "ann", "session.read", access.Authorization{}},
	} {
		for _, when := range []string{"read", "cached"} {
			got, err := g.Decide(t.Context(), tc.in, tc.subject, tc.permission)
			must.NoError(t, err, must.Sprint(name))
			test.EqOp(t, got.Allowed, got.May[tc.permission], test.Sprintf("%s, %s", name, when))
			got.May = nil
			test.Eq(t, tc.want, got, test.Sprintf("%s, %s", name, when))
		}
	}
}

func TestHolder_SortsRolesByRank(t *testing.T) {
	t.Parallel()
	here, ann := newTenant(), newMember()
	b := newMemorySource()
	b.assign(here, "ann", access.Holder{Member: ann, Roles: []string{"member", "coach"}, Active: true})
	b.assign(here, "sam", access.Holder{Member: ann, Roles: []string{"coach"}})
	g := access.New(b)
	for subject, want := range map[string]access.Holder{
		"ann": {Member: ann, Roles: []string{"coach", "member"}, Active: true},
		"sam": {Deactivated: true},
		"tom": {},
	} {
		got := expect.Value(g.Holder(t.Context(), here, subject))(t)
		test.EqOp(t, want.Active, got.May["checkin.staff"], test.Sprint(subject))
		got.May = nil
		test.Eq(t, want, got, test.Sprint(subject))
	}
}

func TestExplain_ListsRolesWithPermission(t *testing.T) {
	t.Parallel()
	here, ann := newTenant(), newMember()
	b := newMemorySource()
	b.defineRoles(here,
		access.Role{Name: "scribe", Permissions: []string{"booking.roster"}},
		access.Role{Name: "greeter", Permissions: []string{"booking.roster", "checkin.staff"}})
	b.assign(here, "ann", access.Holder{Member: ann, Roles: []string{"greeter", "coach"}, Active: true})
	g := access.New(b)
	all := []string{"owner", "admin", "coach", "greeter", "scribe"}
	hers := access.Authorization{Active: true, Member: ann, Roles: []string{"coach", "greeter"}}
	for _, tc := range []struct {
		subject, permission string
		want                access.Explanation
	}{
		{"ann", "booking.roster", access.Explanation{
			Authorization: through(hers, "coach"), GrantedBy: []string{"coach", "greeter"}, AllRoles: all,
		}},
		{"ann", "audit.read", access.Explanation{Authorization: hers, AllRoles: []string{"owner", "admin"}}},
		{"tom", "booking.roster", access.Explanation{AllRoles: all}},
	} {
		got := expect.Value(g.Explain(t.Context(), here, tc.subject, tc.permission))(t)
		got.May = nil
		test.Eq(t, tc.want, got, test.Sprintf("%s, %s", tc.subject, tc.permission))
	}
}

func TestDecide_RejectsUnknownPermission(t *testing.T) {
	t.Parallel()
	here := newTenant()
	b := newMemorySource()
	b.defineRoles(here, access.Role{Name: "odd", Permissions: []string{"tenant.destroy"}})
	b.assign(here, "ann", access.Holder{Roles: []string{"owner", "odd"}, Active: true})
	g := access.New(b)
	for _, permission := range []string{"", "*", "tenant", "tenant.destroy", "Tenant.read", "tenant.read "} {
		d, err := g.Decide(t.Context(), here, "ann", permission)
		test.False(t, d.Allowed, test.Sprintf("%q: allowed %v, %v", permission, d.Allowed, err))
		test.EqOp(t, fault.PermissionNotFound, fault.ReasonOf(err),
			test.Sprintf("%q: allowed %v, %v", permission, d.Allowed, err))
		e, err := g.Explain(t.Context(), here, "ann", permission)
		test.False(t, e.Allowed, test.Sprintf("%q explained: allowed %v, %v", permission, e.Allowed, err))
		test.EqOp(t, fault.PermissionNotFound, fault.ReasonOf(err),
			test.Sprintf("%q explained: allowed %v, %v", permission, e.Allowed, err))
	}
}

func TestDecide_DoesNotCacheErrors(t *testing.T) {
	t.Parallel()
	here := newTenant()
	b := newMemorySource()
	b.assign(here, "ann", access.Holder{Roles: []string{"owner"}, Active: true})
	g := access.New(b)
	broken := errors.New("no database")
	for _, breaks := range []*error{&b.rolesFail, &b.holderFail} {
		*breaks = broken
		d, err := g.Decide(t.Context(), here, "ann", "audit.read")
		must.False(t, d.Allowed, must.Sprintf("allowed %v, %v", d.Allowed, err))
		must.ErrorIs(t, err, broken, must.Sprintf("allowed %v, %v", d.Allowed, err))
		*breaks = nil
		d = expect.Value(g.Decide(t.Context(), here, "ann", "audit.read"))(t)
		must.True(t, d.Allowed, must.Sprintf("allowed %v", d.Allowed))
		g.Invalidate(here)
	}
}

func TestDecide_ReadsOnceForConcurrentCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here := newTenant()
		b := newMemorySource()
		b.assign(here, "ann", access.Holder{Roles: []string{"owner"}, Active: true})
		release := make(chan struct{})
		b.beforeRoles = func() { <-release }
		b.beforeHolder = b.beforeRoles
		g := access.New(b)
		var calls sync.WaitGroup
		for _, subject := range []string{"ann", "tom"} {
			for range 100 {
				calls.Go(func() {
					expect.OK(t)(g.Decide(t.Context(), here, subject, "audit.read"))
				})
			}
		}
		synctest.Wait() // all 200 wait for the source
		close(release)
		calls.Wait()
		test.EqOp(t, 1, b.roleReads, test.Sprintf("the tenant's roles were read %d times", b.roleReads))
		test.EqOp(t, 1, b.holderReads["ann"], test.Sprint("the member was read times"))
		test.EqOp(t, 1, b.holderReads["tom"], test.Sprint("the stranger was read times"))
	})
}

func TestDecide_CancelledCallerDoesNotFailOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here := newTenant()
		b := newMemorySource()
		b.assign(here, "ann", access.Holder{Roles: []string{"owner"}, Active: true})
		release := make(chan struct{})
		b.beforeHolder = func() { <-release }
		g := access.New(b)

		first, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := g.Decide(first, here, "ann", "audit.read")
			left <- err
		}()
		synctest.Wait()
		stays := make(chan access.Authorization, 1)
		go func() {
			d, err := g.Decide(t.Context(), here, "ann", "audit.read")
			test.NoError(t, err)
			stays <- d
		}()
		synctest.Wait()
		leave()
		test.ErrorIs(t, <-left, context.Canceled, test.Sprint("the caller that cancelled"))
		close(release)
		test.True(t, (<-stays).Allowed, test.Sprint("the caller that stayed was denied"))
		test.EqOp(t, 1, b.holderReads["ann"], test.Sprint("read times"))
	})
}

func TestDecide_TimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := access.New(hangingSource{})
		began := time.Now()
		_, err := g.Decide(t.Context(), newTenant(), "ann", "audit.read")
		test.ErrorIs(t, err, context.DeadlineExceeded, test.Sprintf("after %s: %v", time.Since(began), err))
		test.EqOp(t, 5*time.Second, time.Since(began), test.Sprintf("after %s: %v", time.Since(began), err))
	})
}

// Invalidating a tenant does not affect others, and rules that did not change are reused.
func TestInvalidate_AffectsOneTenantOnly(t *testing.T) {
	t.Parallel()
	a, b := newTenant(), newTenant()
	source := newMemorySource()
	for _, id := range []tenant.TenantID{a, b} {
		source.assign(id, "ann-"+id.String(), access.Holder{Roles: []string{"owner"}, Active: true})
	}
	g := access.New(source)
	ask := func(id tenant.TenantID) {
		t.Helper()
		d := expect.Value(g.Decide(t.Context(), id, "ann-"+id.String(), "audit.read"))(t)
		must.True(t, d.Allowed, must.Sprintf("allowed %v", d.Allowed))
	}
	reads := func() [2]int {
		return [2]int{source.holderReads["ann-"+a.String()], source.holderReads["ann-"+b.String()]}
	}
	for _, step := range []struct {
		name string
		do   func()
		want [2]int
	}{
		{"nothing", func() {}, [2]int{1, 1}},
		{"one tenant", func() { g.Invalidate(a) }, [2]int{2, 1}},
		{"an unknown tenant", func() { g.Invalidate(newTenant()) }, [2]int{2, 1}},
		{"all", g.InvalidateAll, [2]int{3, 2}},
	} {
		step.do()
		ask(a)
		ask(b)
		ask(a)
		test.EqOp(t, step.want, reads(), test.Sprintf("after invalidating %s: read times, want %v", step.name, step.want))
	}
}

// A role that takes the place of another with equal permissions is a role of its own.
func TestInvalidate_FollowsRenamedRoles(t *testing.T) {
	t.Parallel()
	here, source := newTenant(), newMemorySource()
	g := access.New(source)
	source.defineRoles(here, access.Role{Name: "greeter", Permissions: []string{"checkin.staff"}})
	source.assign(here, "ann", access.Holder{Roles: []string{"greeter"}, Active: true})
	source.assign(here, "bob", access.Holder{Roles: []string{"usher"}, Active: true})
	want := func(subject, role string) {
		t.Helper()
		d, err := g.Decide(t.Context(), here, subject, "checkin.staff")
		test.NoError(t, err, test.Sprintf("%s is allowed by %q (%v), want %q", subject, d.Role, err, role))
		test.EqOp(t, role, d.Role, test.Sprintf("%s is allowed by %q (%v), want %q", subject, d.Role, err, role))
	}
	want("ann", "greeter")
	want("bob", "")
	source.defineRoles(here, access.Role{Name: "usher", Permissions: []string{"checkin.staff"}})
	g.Invalidate(here)
	want("ann", "")
	want("bob", "usher")
}

// The guard's decisions equal those of a few plain loops after any sequence of changes.
func TestDecide_FollowsEveryChange(t *testing.T) {
	t.Parallel()
	tenants := []tenant.TenantID{newTenant(), newTenant()}
	subjects := []string{"ann", "bob", "owner", "sa:1"}
	roles := []string{"owner", "admin", "coach", "member", "partner", "greeter", "scribe"}
	var permissions []string
	for _, p := range policy.Permissions() {
		permissions = append(permissions, p.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := newMemorySource()
		g := access.New(b)
		id := rapid.SampledFrom(tenants)
		t.Repeat(map[string]func(*rapid.T){
			"define": func(t *rapid.T) {
				at := id.Draw(t, "tenant")
				var own []access.Role
				for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(roles[3:]), rapid.ID[string]).Draw(t, "own") {
					own = append(own, access.Role{
						Name: name, Permissions: rapid.SliceOfN(rapid.SampledFrom(permissions), 0, 5).Draw(t, "permissions"),
					})
				}
				b.defineRoles(at, own...)
				g.Invalidate(at)
			},
			"enroll": func(t *rapid.T) {
				at := id.Draw(t, "tenant")
				b.assign(at, rapid.SampledFrom(subjects).Draw(t, "subject"), access.Holder{
					Roles:  rapid.SliceOfN(rapid.SampledFrom(roles), 0, 3).Draw(t, "roles"),
					Active: rapid.Bool().Draw(t, "active"),
				})
				if rapid.Bool().Draw(t, "all") {
					g.InvalidateAll()
				} else {
					g.Invalidate(at)
				}
			},
			"decide": func(t *rapid.T) {
				at := id.Draw(t, "tenant")
				subject := rapid.SampledFrom(subjects).Draw(t, "subject")
				permission := rapid.SampledFrom(permissions).Draw(t, "permission")
				d := expect.Value(g.Decide(context.Background(), at, subject, permission))(t)
				must.EqOp(t, b.allows(at, subject, permission), d.Allowed, must.Sprintf("%s may %s", subject, permission))
			},
		})
	})
}

func TestInvalidate_TakesEffectBeforeItReturns(t *testing.T) {
	t.Parallel()
	here := newTenant()
	b := newMemorySource()
	g := access.New(b)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if _, err := g.Decide(t.Context(), here, "ann", "audit.read"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 200 {
		owner := i%2 == 0
		roles := []string{"member"}
		if owner {
			roles = []string{"owner"}
		}
		b.assign(here, "ann", access.Holder{Roles: roles, Active: true})
		if i%5 == 0 {
			g.InvalidateAll()
		} else {
			g.Invalidate(here)
		}
		d, err := g.Decide(t.Context(), here, "ann", "audit.read")
		must.NoError(t, err, must.Sprintf("change %d: allowed %v (%v), want %v", i, d.Allowed, err, owner))
		must.EqOp(t, owner, d.Allowed, must.Sprintf("change %d: allowed %v (%v), want %v", i, d.Allowed, err, owner))
	}
	stop()
	readers.Wait()
}

func through(d access.Authorization, role string) access.Authorization {
	d.Allowed, d.Role = true, role
	return d
}

func newTenant() tenant.TenantID { return tenant.New[tenant.TenantID](time.Now()) }
func newMember() tenant.MemberID { return tenant.New[tenant.MemberID](time.Now()) }

type subjectKey struct {
	tenant  tenant.TenantID
	subject string
}

// memorySource is a source in memory. Its hooks run after the answer was read
// and before it is returned, like a slow network.
type memorySource struct {
	mu                        sync.Mutex
	roles                     map[tenant.TenantID][]access.Role
	holders                   map[subjectKey]access.Holder
	holderReads               map[string]int
	roleReads                 int
	rolesFail, holderFail     error
	beforeRoles, beforeHolder func()
}

func newMemorySource() *memorySource {
	return &memorySource{
		roles:       make(map[tenant.TenantID][]access.Role),
		holders:     make(map[subjectKey]access.Holder),
		holderReads: make(map[string]int),
	}
}

func (m *memorySource) defineRoles(id tenant.TenantID, roles ...access.Role) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.roles[id] = roles
}

func (m *memorySource) assign(id tenant.TenantID, subject string, h access.Holder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holders[subjectKey{id, subject}] = h
}

func (m *memorySource) Roles(ctx context.Context, id tenant.TenantID) ([]access.Role, error) {
	m.mu.Lock()
	roles, err, hook := slices.Clone(m.roles[id]), m.rolesFail, m.beforeRoles
	m.roleReads++
	m.mu.Unlock()
	if hook != nil {
		hook()
	}
	return roles, either(err, ctx.Err())
}

func (m *memorySource) Holder(ctx context.Context, id tenant.TenantID, subject string) (access.Holder, error) {
	m.mu.Lock()
	h, err, hook := m.holders[subjectKey{id, subject}], m.holderFail, m.beforeHolder
	m.holderReads[subject]++
	m.mu.Unlock()
	if hook != nil {
		hook()
	}
	return h, either(err, ctx.Err())
}

func either(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (m *memorySource) allows(id tenant.TenantID, subject, permission string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.holders[subjectKey{id, subject}]
	given := make(map[string][]string)
	for _, role := range m.roles[id] {
		given[role.Name] = role.Permissions
	}
	for _, role := range policy.Roles() {
		given[role.Name] = nil
		for _, p := range policy.Permissions() {
			if slices.Contains(p.Roles, role.Name) {
				given[role.Name] = append(given[role.Name], p.Name)
			}
		}
	}
	return h.Active && slices.ContainsFunc(h.Roles, func(role string) bool {
		return slices.Contains(given[role], permission)
	})
}

type hangingSource struct{}

func (hangingSource) Roles(ctx context.Context, _ tenant.TenantID) ([]access.Role, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangingSource) Holder(context.Context, tenant.TenantID, string) (access.Holder, error) {
	return access.Holder{}, nil
}
