package access_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/tenant"
)

// A result that was read before a change and arrives after the invalidation must not be cached.
// Negative control: the same sequence must fail with a cache that stores what it reads.
func TestInvalidate_DropsResultsInTransit(t *testing.T) {
	t.Parallel()
	here := newTenant()
	holdSubject := func(b *memorySource, hook func()) { b.beforeHolder = hook }
	holdRoles := func(b *memorySource, hook func()) { b.beforeRoles = hook }
	revoke := func(b *memorySource) {
		b.assign(here, "ann", access.Holder{Roles: []string{"member"}, Active: true})
	}
	redefine := func(b *memorySource) { b.defineRoles(here, access.Role{Name: "auditor"}) }
	one := func(d decider) { d.Invalidate(here) }
	all := func(d decider) { d.InvalidateAll() }
	for name, play := range map[string]struct {
		hold     func(b *memorySource, hook func())
		change   func(b *memorySource)
		announce func(d decider)
	}{
		"a subject's roles, one tenant":  {holdSubject, revoke, one},
		"a subject's roles, all tenants": {holdSubject, revoke, all},
		"a tenant's roles, one tenant":   {holdRoles, redefine, one},
		"a tenant's roles, all tenants":  {holdRoles, redefine, all},
	} {
		for who, tc := range map[string]struct {
			guard func(*memorySource) decider
			stale bool
		}{
			"the guard":     {func(b *memorySource) decider { return access.New(b) }, false},
			"a plain cache": {func(b *memorySource) decider { return &plainCache{source: b} }, true},
		} {
			t.Run(name+"/"+who, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newMemorySource()
					b.defineRoles(here, access.Role{Name: "auditor", Permissions: []string{"audit.read"}})
					b.assign(here, "ann", access.Holder{Roles: []string{"auditor"}, Active: true})
					release := make(chan struct{})
					play.hold(b, func() { <-release })
					d := tc.guard(b)

					early := make(chan access.Authorization, 1)
					go func() {
						answer, err := d.Decide(t.Context(), here, "ann", "audit.read")
						test.NoError(t, err)
						early <- answer
					}()
					synctest.Wait() // the old result is in transit

					play.change(b)
					play.announce(d)
					play.hold(b, nil)
					if tc.stale {
						close(release)
						<-early
					} else {
						// A call after the change must not wait for the old result either.
						answer, err := d.Decide(t.Context(), here, "ann", "audit.read")
						test.NoError(t, err,
							test.Sprintf("allowed %v (%v) while the old answer was in transit", answer.Allowed, err))
						test.False(t, answer.Allowed,
							test.Sprintf("allowed %v (%v) while the old answer was in transit", answer.Allowed, err))
						close(release)
						<-early
					}
					answer, err := d.Decide(t.Context(), here, "ann", "audit.read")
					test.NoError(t, err, test.Sprintf("allowed %v (%v), want %v", answer.Allowed, err, tc.stale))
					test.EqOp(t, tc.stale, answer.Allowed,
						test.Sprintf("allowed %v (%v), want %v", answer.Allowed, err, tc.stale))
				})
			})
		}
	}
}

type decider interface {
	Decide(ctx context.Context, id tenant.TenantID, subject, permission string) (access.Authorization, error)
	Invalidate(id tenant.TenantID)
	InvalidateAll()
}

// plainCache stores what it read, even if it has been invalidated since: the bug to avoid.
type plainCache struct {
	source *memorySource
	mu     sync.Mutex
	kept   map[subjectKey]access.Authorization
}

func (c *plainCache) Decide(
	ctx context.Context, id tenant.TenantID, subject, permission string,
) (access.Authorization, error) {
	c.mu.Lock()
	d, ok := c.kept[subjectKey{id, subject}]
	c.mu.Unlock()
	if ok {
		return d, nil
	}
	holder, err := c.source.Holder(ctx, id, subject)
	if err != nil {
		return access.Authorization{}, err
	}
	roles, err := c.source.Roles(ctx, id)
	if err != nil {
		return access.Authorization{}, err
	}
	for _, role := range roles {
		for _, held := range holder.Roles {
			for _, p := range role.Permissions {
				d.Allowed = d.Allowed || role.Name == held && p == permission
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = make(map[subjectKey]access.Authorization)
	}
	c.kept[subjectKey{id, subject}] = d
	return d, nil
}

func (c *plainCache) Invalidate(tenant.TenantID) { c.InvalidateAll() }

func (c *plainCache) InvalidateAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = nil
}
