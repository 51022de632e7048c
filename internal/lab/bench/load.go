package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/berthhq/berth/internal/lab/bench/report"
)

// target returns what a caller books next. False ends the caller's run.
type target func(caller, n int) (seat, bool)

// Callers of a spread load are members of the first half, and each books for themselves all the time. The other loads
// take members of the second half in turn.
const ownMembers = memberCount / 2

// Sessions below openSessions are for the loads that choose any session. The rest is for hot and rush, which use each
// session once.
const openSessions = sessionCount - 1_000

// lastSession is in no load.
const lastSession = sessionCount - 1

// target returns the load of a case.
func (b *testbed) target(ctx context.Context, c report.Case) (target, error) {
	switch c.Workload {
	case zipfLoad:
		return b.zipf(c.Callers), nil
	case hotLoad:
		return b.hot(), nil
	case rushLoad:
		return b.rush(ctx, c.Via)
	case tenantsLoad:
		return b.allTenants(), nil
	default:
		return b.spread(c.Callers)
	}
}

// spread: each caller is one member, who books any session, none twice.
func (b *testbed) spread(callers int) (target, error) {
	if b.nextUser+callers > ownMembers {
		return nil, errors.New("every member has been used; run fewer rounds")
	}
	first := b.nextUser
	b.nextUser += callers
	return func(i, n int) (seat, bool) {
		// 7,919 is prime: each caller gets every session once, each in another order.
		return seat{mainTenant, (i*31 + n*7919) % openSessions, first + i}, n < openSessions
	}, nil
}

// zipf: some sessions are booked much more than others, each time by another member.
func (b *testbed) zipf(callers int) target {
	rng := make([]*rand.Zipf, callers)
	for i := range rng {
		rng[i] = rand.NewZipf(rand.New(rand.NewPCG(1, uint64(i))), 1.1, 1, openSessions-1)
	}
	return func(i, _ int) (seat, bool) {
		session := int(rng[i].Uint64())
		for {
			if member, ok := b.nextMember(session); ok {
				return seat{mainTenant, session, member}, true
			}
			session = (session + 1) % openSessions // all members have booked it
		}
	}
}

// nextMember returns the next member who has no booking in a session.
func (b *testbed) nextMember(session int) (member int, ok bool) {
	n := int(b.visits[session].Add(1)) - 1
	return ownMembers + (n+session*7919)%ownMembers, n < ownMembers
}

// hot: all callers book the same session, and the next one when all members have booked it.
func (b *testbed) hot() target {
	var mu sync.Mutex
	session, left := 0, false
	return func(int, int) (seat, bool) {
		mu.Lock()
		defer mu.Unlock()
		for {
			if left {
				if member, ok := b.nextMember(session); ok {
					return seat{mainTenant, session, member}, true
				}
			}
			if session, left = b.unusedSession(); !left {
				return seat{}, false
			}
		}
	}
}

// unusedSession returns a session without bookings.
func (b *testbed) unusedSession() (session int, ok bool) {
	b.nextUnused++
	session = lastSession - b.nextUnused
	return session, session >= openSessions
}

const (
	rushCallers = 2000
	rushPlaces  = 30
)

// rush: all callers want one of a few places at the same moment.
func (b *testbed) rush(ctx context.Context, by string) (target, error) {
	session, ok := b.unusedSession()
	if !ok {
		return nil, errors.New("every session has been used; run fewer rounds")
	}
	in := mainTenant
	if by == report.Naive || by == report.NaiveGRPC {
		in = naiveTenant
	}
	tag, err := b.owner.Exec(ctx, `
update sessions set capacity = $1 where tenant_id = $2 and id = $3 and seats_taken = 0`,
		rushPlaces, tenantID(in), numberedID("9000", session))
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("session %d has bookings before the rush", session)
	}
	return func(i, n int) (seat, bool) { return seat{mainTenant, session, ownMembers + i}, n == 0 }, err
}

// allTenants: members of all tenants book, one tenant after the other. No member books a session twice.
func (b *testbed) allTenants() target {
	sessions, members := b.size.others()
	tenants := int64(b.size.tenants - 1)
	return func(int, int) (seat, bool) {
		n := b.nextTurn.Add(1) - 1
		visit := int(n / tenants)
		return seat{firstOtherTenant + int(n%tenants), visit % sessions, visit / sessions % members}, visit < sessions*members
	}
}
