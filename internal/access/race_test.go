package access_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/tenant"
)

// An answer that was read before a change, and arrives after the change was
// announced, must not be kept. The same play is given with a cache that keeps
// what it reads: it must fail there, or the play would prove nothing.
func TestAnAnswerFromBeforeAnInvalidationIsNotKept(t *testing.T) {
	t.Parallel()
	here := newTenant()
	holdSubject := func(b *book, hook func()) { b.beforeHolder = hook }
	holdRoles := func(b *book, hook func()) { b.beforeRoles = hook }
	revoke := func(b *book) {
		b.enroll(here, "ann", access.Holder{Roles: []string{"member"}, Active: true})
	}
	redefine := func(b *book) { b.define(here, access.Role{Name: "auditor"}) }
	one := func(d decider) { d.Invalidate(here) }
	all := func(d decider) { d.InvalidateAll() }
	for name, play := range map[string]struct {
		hold     func(b *book, hook func())
		change   func(b *book)
		announce func(d decider)
	}{
		"a subject's roles, one tenant":  {holdSubject, revoke, one},
		"a subject's roles, all tenants": {holdSubject, revoke, all},
		"a tenant's roles, one tenant":   {holdRoles, redefine, one},
		"a tenant's roles, all tenants":  {holdRoles, redefine, all},
	} {
		for who, test := range map[string]struct {
			guard func(*book) decider
			stale bool
		}{
			"the guard":     {func(b *book) decider { return access.New(b) }, false},
			"a plain cache": {func(b *book) decider { return &plainCache{source: b} }, true},
		} {
			t.Run(name+"/"+who, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBook()
					b.define(here, access.Role{Name: "auditor", Permissions: []string{"audit.read"}})
					b.enroll(here, "ann", access.Holder{Roles: []string{"auditor"}, Active: true})
					release := make(chan struct{})
					play.hold(b, func() { <-release })
					d := test.guard(b)

					early := make(chan access.Decision, 1)
					go func() {
						answer, err := d.Decide(t.Context(), here, "ann", "audit.read")
						if err != nil {
							t.Error(err)
						}
						early <- answer
					}()
					synctest.Wait() // the old answer is on its way

					play.change(b)
					play.announce(d)
					play.hold(b, nil)
					if test.stale {
						close(release)
						<-early
					} else {
						// Whoever comes after the change does not wait for the old answer either.
						answer, err := d.Decide(t.Context(), here, "ann", "audit.read")
						if err != nil || answer.Allowed {
							t.Errorf("allowed %v (%v) while the old answer was on its way", answer.Allowed, err)
						}
						close(release)
						<-early
					}
					answer, err := d.Decide(t.Context(), here, "ann", "audit.read")
					if err != nil || answer.Allowed != test.stale {
						t.Errorf("allowed %v (%v), want %v", answer.Allowed, err, test.stale)
					}
				})
			})
		}
	}
}

type decider interface {
	Decide(ctx context.Context, id tenant.TenantID, subject, permission string) (access.Decision, error)
	Invalidate(id tenant.TenantID)
	InvalidateAll()
}

// plainCache reads, and then keeps what it read: the mistake.
type plainCache struct {
	source *book
	mu     sync.Mutex
	kept   map[seat]access.Decision
}

func (c *plainCache) Decide(ctx context.Context, id tenant.TenantID, subject, permission string) (access.Decision, error) {
	c.mu.Lock()
	d, ok := c.kept[seat{id, subject}]
	c.mu.Unlock()
	if ok {
		return d, nil
	}
	holder, err := c.source.Holder(ctx, id, subject)
	if err != nil {
		return access.Decision{}, err
	}
	roles, err := c.source.Roles(ctx, id)
	if err != nil {
		return access.Decision{}, err
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
		c.kept = make(map[seat]access.Decision)
	}
	c.kept[seat{id, subject}] = d
	return d, nil
}

func (c *plainCache) Invalidate(tenant.TenantID) { c.InvalidateAll() }

func (c *plainCache) InvalidateAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = nil
}
