// Package access decides who may do what inside a tenant. Casbin makes the decisions. They are cached in a snapshot per
// tenant that is never changed, only replaced, so a decision takes a few map lookups, and a change of roles applies
// as soon as the node is notified.
package access

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/policy"
)

// Source reads a tenant's roles and who has them. It must read committed data:
// a snapshot made after an invalidation has to see the change.
type Source interface {
	// Roles returns the custom roles of the tenant.
	Roles(ctx context.Context, id tenant.TenantID) ([]Role, error)
	// Holder returns a subject's roles and membership in the tenant, or the zero Holder for an unknown subject.
	// A subject is that of a token: a user, or "sa:<id>" for a service account.
	Holder(ctx context.Context, id tenant.TenantID, subject string) (Holder, error)
}

// Holder is a subject's membership and roles in a tenant.
type Holder struct {
	Member tenant.MemberID // zero for service accounts
	Roles  []string        // names of built-in and custom roles
	Active bool            // if false, the subject is treated as having no roles and no membership
	// Deactivated: the guard found a membership that is not Active. A source need not set it.
	Deactivated bool
	Issuer      string // of the member's tokens; empty: they have not signed in yet
	// May has the permissions of the roles. A source need not set it.
	May tenant.Permissions
}

// Authorization is whether a subject has a permission in a tenant.
type Authorization struct {
	Allowed bool
	// Role is the highest-ranked role that has the permission; "" if denied.
	Role string
	// Active is false for strangers and inactive members. They may not even access what is their own.
	Active bool
	// Member is the subject's membership; zero for service accounts and unless Active.
	Member tenant.MemberID
	// Deactivated says that there is a membership that is not Active.
	Deactivated bool
	// Issuer is that of the member's tokens; empty if they have not signed in yet.
	Issuer string
	// Roles are the subject's roles: built-in ones by rank, then custom ones by name.
	// The slice is shared: it must not be changed.
	Roles []string
	// May has the permissions of these roles.
	May tenant.Permissions
}

// Explanation is an authorization with its reasons.
type Explanation struct {
	Authorization
	GrantedBy []string // all roles of the subject that have the permission
	AllRoles  []string // all roles of the tenant that have the permission
}

// Guard decides for all tenants. It is safe for concurrent use.
type Guard struct {
	source Source
	// A holder is valid as long as its snapshot. Retiring a snapshot therefore drops
	// all holders of its tenant without touching them.
	tenants   *cache[tenant.TenantID, *snapshot]
	holders   *cache[holderKey, *holder]
	strangers *cache[holderKey, *holder] // separate, so that many strangers cannot evict members
}

type holderKey struct {
	tenant  tenant.TenantID
	subject string
}

// holder is a snapshot's data about one subject. It never changes.
type holder struct {
	snapshot *snapshot
	member   tenant.MemberID
	issuer   string
	active   bool
	// deactivated: there is a membership that is not active.
	deactivated bool
	roleSet     *roleSet
}

// snapshot is a tenant's state between two invalidations. What was read for one snapshot is never stored in another.
// If a snapshot is replaced while a read is in progress, the result goes to the callers that wait for it,
// all of which came before the change, and to no later ones.
type snapshot struct {
	retired     atomic.Bool           // set before it leaves the cache, for any reason
	rules       atomic.Pointer[rules] // nil until read
	previous    *rules                // those of the snapshot before, if any
	ruleReads   singleflight.Group    // reads the rules
	holderReads singleflight.Group    // reads holders, by subject
}

// Limits of the caches of a node, and of one read from the source.
const (
	maxTenants   = 1 << 14
	maxHolders   = 1 << 18
	maxStrangers = 1 << 14
	readTimeout  = 5 * time.Second
)

// New returns a guard with empty caches.
func New(source Source) *Guard {
	forget := func(*holder) {}
	return &Guard{
		source:    source,
		tenants:   newCache[tenant.TenantID](maxTenants, (*snapshot).retire),
		holders:   newCache[holderKey](maxHolders, forget),
		strangers: newCache[holderKey](maxStrangers, forget),
	}
}

// Decide reports whether a subject has a permission in a tenant. A denial is not an error. PERMISSION_NOT_FOUND means
// that the catalog has no such permission. Any other error is from the source, and the caller must be denied.
func (g *Guard) Decide(ctx context.Context, id tenant.TenantID, subject, permission string) (Authorization, error) {
	index, ok := policy.IndexOf(permission)
	if !ok {
		return Authorization{}, unknownPermission(permission)
	}
	h, err := g.holder(ctx, id, subject)
	if err != nil {
		return Authorization{}, err
	}
	return h.decide(index), nil
}

// Holder returns a subject's membership and roles, for calls that need no permission. Its Roles are sorted and shared
// like those of a Decision. For strangers and inactive members Roles and Member are empty.
func (g *Guard) Holder(ctx context.Context, id tenant.TenantID, subject string) (Holder, error) {
	h, err := g.holder(ctx, id, subject)
	if err != nil {
		return Holder{}, err
	}
	return Holder{
		Member: h.member, Roles: h.roles(), May: h.may(), Active: h.active, Issuer: h.issuer, Deactivated: h.deactivated,
	}, nil
}

// Explain is like Decide, with reasons. It returns the same errors.
func (g *Guard) Explain(ctx context.Context, id tenant.TenantID, subject, permission string) (Explanation, error) {
	index, ok := policy.IndexOf(permission)
	if !ok {
		return Explanation{}, unknownPermission(permission)
	}
	h, err := g.holder(ctx, id, subject)
	if err != nil {
		return Explanation{}, err
	}
	// Use the holder's own snapshot, so the decision and its reasons are from the same moment.
	rules := h.snapshot.rules.Load()
	through, err := rules.rolesWith(index, h.roles())
	if err != nil {
		return Explanation{}, err
	}
	all, err := rules.rolesWith(index, rules.all())
	if err != nil {
		return Explanation{}, err
	}
	return Explanation{Authorization: h.decide(index), GrantedBy: through, AllRoles: all}, nil
}

// Invalidate drops all cached data of a tenant. Decisions that start after it returns use data that the source returns
// from now on. Call it after the change is committed.
func (g *Guard) Invalidate(id tenant.TenantID) {
	g.tenants.replace(id, (*snapshot).next)
}

// InvalidateAll drops everything. Call it whenever notices may have been missed, once listening works again.
func (g *Guard) InvalidateAll() {
	g.tenants.updateAll((*snapshot).next)
}

func (g *Guard) snapshot(id tenant.TenantID) *snapshot {
	if s, ok := g.tenants.get(id); ok {
		return s
	}
	return g.tenants.update(id, func(s *snapshot, ok bool) *snapshot {
		if ok {
			return s
		}
		return new(snapshot)
	})
}

func (g *Guard) holder(ctx context.Context, id tenant.TenantID, subject string) (*holder, error) {
	key := holderKey{id, subject}
	if h, ok := g.holders.get(key); ok && !h.snapshot.retired.Load() {
		return h, nil
	}
	if h, ok := g.strangers.get(key); ok && !h.snapshot.retired.Load() {
		return h, nil
	}
	s := g.snapshot(id)
	// The first caller may cancel. The others still need the result.
	detached := context.WithoutCancel(ctx)
	result := s.holderReads.DoChan(subject, func() (any, error) {
		ctx, cancel := context.WithTimeout(detached, readTimeout)
		defer cancel()
		h, err := g.loadHolder(ctx, s, key)
		if err != nil {
			return nil, err
		}
		kept := g.holders
		if !h.active {
			kept = g.strangers
		}
		kept.update(key, func(*holder, bool) *holder { return h })
		return h, nil
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*holder), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// loadHolder reads a subject from the source, and its tenant's roles if the snapshot does not have them.
func (g *Guard) loadHolder(ctx context.Context, s *snapshot, key holderKey) (*holder, error) {
	rules, err := s.loadRules(ctx, g.source, key.tenant)
	if err != nil {
		return nil, err
	}
	found, err := g.source.Holder(ctx, key.tenant, key.subject)
	if err != nil {
		return nil, fmt.Errorf("access: read the roles of a subject: %w", err)
	}
	h := &holder{snapshot: s}
	h.issuer, h.deactivated = found.Issuer, !found.Active && !found.Member.IsZero()
	if found.Active {
		h.active, h.member = true, found.Member
		h.roleSet, err = rules.evaluate(found.Roles)
	}
	return h, err
}

// loadRules returns the tenant's rules. If no role was redefined, it reuses those of the snapshot before:
// most changes only concern who has a role.
func (s *snapshot) loadRules(ctx context.Context, source Source, id tenant.TenantID) (*rules, error) {
	if r := s.rules.Load(); r != nil {
		return r, nil
	}
	_, err, _ := s.ruleReads.Do("", func() (any, error) {
		if s.rules.Load() != nil {
			return nil, nil
		}
		custom, err := source.Roles(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("access: read the roles of a tenant: %w", err)
		}
		if s.previous != nil && s.previous.hasCustom(custom) {
			s.rules.Store(s.previous)
		} else {
			s.rules.Store(newRules(id, custom))
		}
		return nil, nil
	})
	return s.rules.Load(), err
}

// retire ends a snapshot. Holders that are still being read for it are invalid from the start.
func (s *snapshot) retire() { s.retired.Store(true) }

// next retires a snapshot and returns the one that replaces it.
func (s *snapshot) next() *snapshot {
	s.retire()
	if r := s.rules.Load(); r != nil {
		return &snapshot{previous: r}
	}
	return &snapshot{previous: s.previous}
}

func (h *holder) roles() []string {
	if !h.active {
		return nil
	}
	return h.roleSet.roles
}

func (h *holder) may() tenant.Permissions {
	if !h.active {
		return nil
	}
	return h.roleSet.may
}

func (h *holder) decide(permission int) Authorization {
	if !h.active {
		return Authorization{Issuer: h.issuer, Deactivated: h.deactivated}
	}
	d := Authorization{Active: true, Member: h.member, Issuer: h.issuer, Roles: h.roles(), May: h.may()}
	if i := h.roleSet.grantedBy[permission]; i != denied {
		d.Allowed, d.Role = true, d.Roles[i]
	}
	return d
}

func unknownPermission(name string) error {
	return fault.New(fault.NotFound, fault.PermissionNotFound, "There is no permission %q.", name)
}
