// Package access decides who may do what inside a tenant. Casbin makes the
// decisions; what it decided is kept in a snapshot per tenant that is never
// changed, only replaced, so that a decision costs a few map look-ups and a
// change of roles holds from the moment a node hears of it.
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

// Source reads what a tenant has decided about access. It must read what is
// committed: a snapshot made after an invalidation has to see the change.
type Source interface {
	// Roles gives the roles that the tenant has defined for itself.
	Roles(ctx context.Context, id tenant.TenantID) ([]Role, error)
	// Holder gives what a subject has in the tenant, and the zero Holder for a
	// subject that is unknown there. A subject is a token's: a user, or
	// "sa:<id>" for a service account.
	Holder(ctx context.Context, id tenant.TenantID, subject string) (Holder, error)
}

// Holder is what a subject has in a tenant.
type Holder struct {
	Member tenant.MemberID // zero for service accounts
	Roles  []string        // names of built-in roles and of the tenant's own
	Active bool            // false: whatever else is said, it has no roles and is no member
}

// Decision is the answer to "may this subject do that here?".
type Decision struct {
	Allowed bool
	// Role is the highest-ranked role that allows it; "" when denied.
	Role string
	// Active is false for strangers and for members who are not active. Those
	// may not even do what everyone may do with things of their own.
	Active bool
	// Member is the subject's membership; zero for service accounts and unless Active.
	Member tenant.MemberID
	// Roles are the subject's, built-in ones by rank before the tenant's own by
	// name. The slice is shared: it must not be changed.
	Roles []string
}

// Explanation is a decision with its grounds.
type Explanation struct {
	Decision
	Through []string // all of the subject's roles that allow it
	Giving  []string // all of the tenant's roles that would allow it
}

// Guard answers for every tenant. It is safe for concurrent use.
type Guard struct {
	source Source
	// A holder counts while the snapshot it was read for is in force, so retiring
	// the snapshot drops all holders of its tenant without touching them.
	tenants   *cache[tenant.TenantID, *snapshot]
	holders   *cache[holderKey, *holder]
	strangers *cache[holderKey, *holder] // apart, so that no crowd of them pushes members out
}

type holderKey struct {
	tenant  tenant.TenantID
	subject string
}

// holder is what is known of one subject under one snapshot; it never changes.
type holder struct {
	snapshot *snapshot
	member   tenant.MemberID
	active   bool
	verdicts *verdicts
}

// snapshot is a tenant's state between two invalidations. What was asked of the
// source for one snapshot is never kept in another: an answer that was on its
// way while the snapshot was replaced reaches those who waited for it, who came
// before the change, and nobody after them.
type snapshot struct {
	retired atomic.Bool           // set before it leaves the table for whatever reason
	rules   atomic.Pointer[rules] // nil until read
	former  *rules                // those of the snapshot before, if it had any
	reading singleflight.Group    // of the rules
	flights singleflight.Group    // of holders, by subject
}

// Bounds of what a node keeps in memory, and of one reading of the source.
const (
	maxTenants   = 1 << 14
	maxHolders   = 1 << 18
	maxStrangers = 1 << 14
	readTimeout  = 5 * time.Second
)

// New makes a guard that knows nothing yet and reads what it is asked for.
func New(source Source) *Guard {
	forget := func(*holder) {}
	return &Guard{
		source:    source,
		tenants:   newCache[tenant.TenantID](maxTenants, (*snapshot).retire),
		holders:   newCache[holderKey](maxHolders, forget),
		strangers: newCache[holderKey](maxStrangers, forget),
	}
}

// Decide says whether a subject has a permission in a tenant. Being denied is no
// error. PERMISSION_NOT_FOUND says that the catalogue has no such permission;
// any other error is the source's, and the caller must be let in nowhere.
func (g *Guard) Decide(ctx context.Context, id tenant.TenantID, subject, permission string) (Decision, error) {
	index, ok := policy.Index(permission)
	if !ok {
		return Decision{}, unknownPermission(permission)
	}
	h, err := g.holder(ctx, id, subject)
	if err != nil {
		return Decision{}, err
	}
	return h.decide(index), nil
}

// Holder says what a subject has in a tenant, for what asks for no permission.
// Its Roles are sorted and shared as those of a Decision; a stranger's and an
// inactive member's are nil, and so is their Member.
func (g *Guard) Holder(ctx context.Context, id tenant.TenantID, subject string) (Holder, error) {
	h, err := g.holder(ctx, id, subject)
	if err != nil {
		return Holder{}, err
	}
	return Holder{Member: h.member, Roles: h.roles(), Active: h.active}, nil
}

// Explain is Decide with its grounds. Errors are the same.
func (g *Guard) Explain(ctx context.Context, id tenant.TenantID, subject, permission string) (Explanation, error) {
	index, ok := policy.Index(permission)
	if !ok {
		return Explanation{}, unknownPermission(permission)
	}
	h, err := g.holder(ctx, id, subject)
	if err != nil {
		return Explanation{}, err
	}
	// The holder's own snapshot, so that the answer and its grounds are of one moment.
	rules := h.snapshot.rules.Load()
	through, err := rules.giving(index, h.roles())
	if err != nil {
		return Explanation{}, err
	}
	giving, err := rules.giving(index, rules.all())
	if err != nil {
		return Explanation{}, err
	}
	return Explanation{Decision: h.decide(index), Through: through, Giving: giving}, nil
}

// Invalidate forgets a tenant. A decision that begins after it returns rests on
// what the source says from now on. Call it once the change is committed.
func (g *Guard) Invalidate(id tenant.TenantID) {
	if _, known := g.tenants.get(id); known {
		g.tenants.update(id, func(s *snapshot, known bool) *snapshot {
			if !known {
				return new(snapshot)
			}
			return s.next()
		})
	}
}

// InvalidateAll forgets every tenant. Call it whenever notices may have been
// missed, when listening is in force again.
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
	// Whoever asks first may leave; the others still want the answer.
	detached := context.WithoutCancel(ctx)
	flight := s.flights.DoChan(subject, func() (any, error) {
		ctx, cancel := context.WithTimeout(detached, readTimeout)
		defer cancel()
		h, err := g.read(ctx, s, key)
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
	case answer := <-flight:
		if answer.Err != nil {
			return nil, answer.Err
		}
		return answer.Val.(*holder), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read asks the source about a subject, and about its tenant's roles where the snapshot lacks them.
func (g *Guard) read(ctx context.Context, s *snapshot, key holderKey) (*holder, error) {
	rules, err := s.read(ctx, g.source, key.tenant)
	if err != nil {
		return nil, err
	}
	found, err := g.source.Holder(ctx, key.tenant, key.subject)
	if err != nil {
		return nil, fmt.Errorf("access: read the roles of a subject: %w", err)
	}
	h := &holder{snapshot: s}
	if found.Active {
		h.active, h.member = true, found.Member
		h.verdicts, err = rules.judge(found.Roles)
	}
	return h, err
}

// read gives the tenant's rules. Those of the snapshot before are taken over
// where no role was redefined: most changes are to who holds a role.
func (s *snapshot) read(ctx context.Context, source Source, id tenant.TenantID) (*rules, error) {
	if r := s.rules.Load(); r != nil {
		return r, nil
	}
	_, err, _ := s.reading.Do("", func() (any, error) {
		if s.rules.Load() != nil {
			return nil, nil
		}
		own, err := source.Roles(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("access: read the roles of a tenant: %w", err)
		}
		if s.former != nil && s.former.same(own) {
			s.rules.Store(s.former)
		} else {
			s.rules.Store(newRules(id, own))
		}
		return nil, nil
	})
	return s.rules.Load(), err
}

// retire ends a snapshot. What is still being read for it is born retired.
func (s *snapshot) retire() { s.retired.Store(true) }

// next retires a snapshot and gives its successor.
func (s *snapshot) next() *snapshot {
	s.retire()
	if r := s.rules.Load(); r != nil {
		return &snapshot{former: r}
	}
	return &snapshot{former: s.former}
}

func (h *holder) roles() []string {
	if !h.active {
		return nil
	}
	return h.verdicts.roles
}

func (h *holder) decide(permission int) Decision {
	if !h.active {
		return Decision{}
	}
	d := Decision{Active: true, Member: h.member, Roles: h.verdicts.roles}
	if i := h.verdicts.through[permission]; i != denied {
		d.Allowed, d.Role = true, d.Roles[i]
	}
	return d
}

func unknownPermission(name string) error {
	return fault.New(fault.NotFound, fault.PermissionNotFound, "There is no permission %q.", name)
}
