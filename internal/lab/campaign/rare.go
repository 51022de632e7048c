package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/lab/history"
	"github.com/berthhq/berth/internal/pgproxy"
)

// Rare cases seldom occur by themselves. Campaigns bring them about on purpose, and count them.
const (
	withdrawnOffer = "an offer answered after it was withdrawn"
	twoServers     = "an offer accepted on two servers at once"
	expiredHold    = "a seat claimed that an expired hold had freed"
	sentAgain      = "a message sent again after its worker died"
	movedCarts     = "a session moved with its carts"
	promotedLate   = "a member promoted in quiet hours"
)

// everyRareCase are the names of all rare cases.
var everyRareCase = []string{withdrawnOffer, twoServers, expiredHold, sentAgain, movedCarts, promotedLate}

// diedSending is the fault that leads to sentAgain.
const diedSending = "worker killed between log and message"

// rareFrom is the number of operations from which a campaign that has not met every rare case fails.
const rareFrom = 20_000

// inQuietHours is the SQL condition that a time is in the quiet hours (s) of a tenant (t). They begin in the evening.
func inQuietHours(at string) string {
	return strings.ReplaceAll(`s.quiet_hours_start > s.quiet_hours_end
  and ((AT at time zone t.time_zone)::time >= s.quiet_hours_start
    or (AT at time zone t.time_zone)::time < s.quiet_hours_end)`,
		"AT", at)
}

// rareCases counts the rare cases that the data show.
var rareCases = `
select '` + expiredHold + `', count(*) from waitlist_offers o
where o.shared and o.status = 'ACCEPTED' and exists (
  select from waitlist_decisions d
  where d.tenant_id = o.tenant_id and d.round_id = o.round_id and d.trigger = 'HOLD_EXPIRED')
union all
select '` + sentAgain + `', count(*) from deliveries where possible_duplicate
union all
select '` + promotedLate + `', count(*) from events e join notification_settings s using (tenant_id)
  join tenants t using (tenant_id)
where e.type = 'waitlist.promoted' and ` + inQuietHours("e.occurred_at")

// countRareCases returns how often each rare case occurred. A long campaign that has not met one fails.
func (l *load) countRareCases(t *finalState) map[string]int {
	all := maps.Clone(l.rare)
	maps.Copy(all, t.rare)
	for _, op := range l.operations {
		if op.Outcome == history.Refused && t.withdrawn[op.OfferID] > 0 {
			all[withdrawnOffer]++
		}
	}
	for _, name := range everyRareCase {
		all[name] += 0 // so that the report has it
		if all[name] == 0 && len(l.operations) >= rareFrom {
			l.failures = append(l.failures, "never met: "+name)
		}
	}
	return all
}

// met counts a rare case.
func (l *load) met(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rare[name]++
}

// acceptTwice accepts an offer on two servers at the same time, with two keys.
func (c *caller) acceptTwice(a *target, s *place, now place) {
	nodes := len(c.load.cluster.nodes)
	c.twin.node = (c.node + 1) % nodes
	var replies [2]reply
	var both sync.WaitGroup
	for i, one := range []*caller{c, c.twin} {
		both.Go(func() { replies[i] = one.accept(a, s, now) })
	}
	both.Wait()
	if nodes > 1 && !slices.ContainsFunc(replies[:], func(r reply) bool { return r.outcome == history.Unknown }) {
		c.load.met(twoServers)
	}
}

// moveSession moves a session with its carts, unless they are needed at the new time.
func (c *caller) moveSession(r *round, a *target) {
	staff := r.tenant.ownerPerson()
	start := a.start.Add(time.Duration(c.random.IntN(4)) * time.Hour / 2)
	request, answer := &v1.UpdateSessionRequest{
		SessionId:  a.ID,
		Session:    &v1.SessionInput{StartTime: timestamppb.New(start)},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"start_time"}},
	}, new(v1.UpdateSessionResponse)
	booked := false
	a.locked(func() {
		booked = slices.ContainsFunc(a.places, func(s *place) bool { return s.booking != "" && !s.ended })
	})
	result := c.call(staff, berthv1connect.SessionServiceUpdateSessionProcedure, request, answer)
	c.answered(result, staff, berthv1connect.SessionServiceUpdateSessionProcedure, request, answer)
	if result.outcome == history.Done && booked {
		c.load.met(movedCarts)
	}
}

// killSending kills a worker after it has logged that it sends a message, and before it has logged that the message is
// sent. If there is no message to send, it kills the worker anyway.
func (c *cluster) killSending(ctx context.Context, n *node) (err error) {
	n.proxy.Set(pgproxy.Network{Delay: 100 * time.Millisecond})
	conn, err := pgx.Connect(ctx, c.postgres.TCP)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for deadline := time.Now().Add(longest); time.Now().Before(deadline); {
		var sending bool
		if err := conn.QueryRow(ctx, `select exists (select from notices where sending)`).Scan(&sending); err != nil {
			return err
		}
		if sending {
			break
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	n.down().kill()
	return nil
}

// meetRareCases brings about each rare case once.
func (l *load) meetRareCases(ctx context.Context, seed uint64) error {
	c := l.newCaller(twins-1, seed)
	day := l.current()
	l.next(ctx)
	night := l.current()
	find := func(r *round, is func(*target) bool) *target { return r.targets[slices.IndexFunc(r.targets, is)] }
	promotes := func(a *target) bool { return !a.Offers && !a.Claims && !a.Brief }

	// A member is promoted in quiet hours.
	queue := find(night, promotes)
	c.cancelFirst(queue, c.fill(queue, night.tenant.members, false))

	// Two servers accept one offer.
	offers := find(day, func(a *target) bool { return a.Offers && !a.Brief })
	places := c.fill(offers, day.tenant.members, false)
	c.cancelFirst(offers, places)
	if err := c.awaitOffers(ctx, offers, places[offers.Capacity]); err != nil {
		return err
	}
	c.acceptTwice(offers, places[offers.Capacity], *places[offers.Capacity])

	// The slower of two members answers an offer that was withdrawn when the other claimed the seat.
	claims := find(day, func(a *target) bool { return a.Claims && !a.Brief })
	places = c.fill(claims, day.tenant.members, false)
	c.cancelFirst(claims, places)
	if err := c.awaitOffers(ctx, claims, places[claims.Capacity:]...); err != nil {
		return err
	}
	for _, s := range places[claims.Capacity:] {
		c.accept(claims, s, *s)
	}

	// A worker whose clock is fast ends the holds of all seats, and a member claims one.
	worker := l.cluster.workers[0]
	holds := find(day, func(a *target) bool { return a.Claims && a.Brief })
	places = c.fill(holds, day.tenant.members, true)
	if err := errors.Join(worker.down().stop(), worker.start(ctx, maxSkew)); err != nil {
		return err
	}
	if err := c.awaitOffers(ctx, holds, places[holds.Capacity]); err != nil {
		return err
	}
	c.accept(holds, places[holds.Capacity], *places[holds.Capacity])

	// A session moves while a cart is booked with it.
	carts := find(day, func(a *target) bool { return a.cart != "" })
	c.bookFor(carts, day.tenant.members[0], 1, true)
	c.moveSession(day, carts)

	// A worker dies while it sends the message about a booking.
	sending := l.cluster.faults(rand.New(rand.NewPCG(seed, twins)))[diedSending]()
	c.bookFor(find(day, promotes), day.tenant.members[0], 1, false)
	return errors.Join(sending.begin(ctx), sending.end(ctx))
}

// fill takes all seats of a session, and lets two more members join its waitlist, if there is room for them.
func (c *caller) fill(a *target, members []person, hold bool) (places []*place) {
	for i, person := range members[:a.Capacity+2] {
		places = append(places, c.bookFor(a, person, 1, hold && i < a.Capacity))
	}
	return places
}

// cancelFirst cancels the first of the places.
func (c *caller) cancelFirst(a *target, places []*place) {
	c.cancel(a, places[0], *places[0], places[0].booking)
}

// awaitOffers waits until all have an offer.
func (c *caller) awaitOffers(ctx context.Context, a *target, all ...*place) error {
	deadline := time.Now().Add(finalTimeout)
	for _, s := range all {
		for c.readEntry(a, s); s.offer == ""; c.readEntry(a, s) {
			if time.Now().After(deadline) {
				return fmt.Errorf("%s has no offer after %s", noteOf(s.number), finalTimeout)
			}
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}
