package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/berthhq/berth/internal/lab/bench/report"
)

// target is what a caller books next; false ends its run.
type target func(caller, n int) (seat, bool)

// Members of the first half book for themselves again and again, those of the second half come to a session in turn.
const ownMembers = memberCount / 2

// Sessions below are booked by anybody at any time; those from here on are crowded into, one after the other, by people who have
// never been there.
const openSessions = sessionCount - 1_000

// lastSession is nobody's target.
const lastSession = sessionCount - 1

// target makes the load of a case.
func (h *testbed) target(ctx context.Context, c report.Case) (target, error) {
	switch c.Workload {
	case zipfLoad:
		return h.zipf(c.Callers), nil
	case hotLoad:
		return h.hot(), nil
	case rushLoad:
		return h.rush(ctx, c.Door)
	case tenantsLoad:
		return h.tour(), nil
	default:
		return h.spread(c.Callers)
	}
}

// spread lets each caller be a member, and book any session, none twice.
func (h *testbed) spread(callers int) (target, error) {
	if h.nextUser+callers > ownMembers {
		return nil, errors.New("every member has been used; run fewer rounds")
	}
	first := h.nextUser
	h.nextUser += callers
	return func(i, n int) (seat, bool) {
		// 7,919 is prime: each caller meets every session once, and all at other times.
		return seat{mainTenant, (i*31 + n*7919) % openSessions, first + i}, n < openSessions
	}, nil
}

// zipf lets some sessions be wanted much more than others, each time by another member.
func (h *testbed) zipf(callers int) target {
	dice := make([]*rand.Zipf, callers)
	for i := range dice {
		dice[i] = rand.NewZipf(rand.New(rand.NewPCG(1, uint64(i))), 1.1, 1, openSessions-1)
	}
	return func(i, _ int) (seat, bool) {
		session := int(dice[i].Uint64())
		for {
			if member, ok := h.visitor(session); ok {
				return seat{mainTenant, session, member}, true
			}
			session = (session + 1) % openSessions // everybody has been there
		}
	}
}

// visitor gives the next member who has not been to a session.
func (h *testbed) visitor(session int) (member int, ok bool) {
	n := int(h.visits[session].Add(1)) - 1
	return ownMembers + (n+session*7919)%ownMembers, n < ownMembers
}

// hot lets everybody want the same session, and the next one when all have been there.
func (h *testbed) hot() target {
	var mu sync.Mutex
	session, left := 0, false
	return func(int, int) (seat, bool) {
		mu.Lock()
		defer mu.Unlock()
		for {
			if left {
				if member, ok := h.visitor(session); ok {
					return seat{mainTenant, session, member}, true
				}
			}
			if session, left = h.crowd(); !left {
				return seat{}, false
			}
		}
	}
}

// crowd gives a session that nobody has been to.
func (h *testbed) crowd() (session int, ok bool) {
	h.nextCrowd++
	session = lastSession - h.nextCrowd
	return session, session >= openSessions
}

const (
	rushCallers = 2000
	rushPlaces  = 30
)

// rush lets everybody want one of a few places at the same moment.
func (h *testbed) rush(ctx context.Context, by string) (target, error) {
	session, ok := h.crowd()
	if !ok {
		return nil, errors.New("every session has seen a crowd; run fewer rounds")
	}
	in := mainTenant
	if by == report.Naive || by == report.NaiveGRPC {
		in = naiveTenant
	}
	tag, err := h.owner.Exec(ctx, "update sessions set capacity = $1 where tenant_id = $2 and id = $3 and seats_taken = 0", rushPlaces, tenantID(in), numberedID("9000", session))
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("somebody has been to session %d before the rush", session)
	}
	return func(i, n int) (seat, bool) { return seat{mainTenant, session, ownMembers + i}, n == 0 }, err
}

// tour lets members of all tenants book, one tenant after the other, and nobody a session twice.
func (h *testbed) tour() target {
	sessions, members := h.size.others()
	tenants := int64(h.size.tenants - 1)
	return func(int, int) (seat, bool) {
		n := h.nextTurn.Add(1) - 1
		visit := int(n / tenants)
		return seat{firstOtherTenant + int(n%tenants), visit % sessions, visit / sessions % members}, visit < sessions*members
	}
}
