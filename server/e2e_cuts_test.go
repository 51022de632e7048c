package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/pgproxy"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// cutter is a proxy to Postgres that cuts one round trip.
type cutter struct {
	mu     sync.Mutex
	armed  bool
	left   int // round trips before the cut
	action pgproxy.Action
	url    string
}

func newCutter(t *testing.T, postgres string) *cutter {
	t.Helper()
	u := expect.Value(url.Parse(postgres))(t)
	c := new(cutter)
	p := expect.Value(pgproxy.Start(pgproxy.Config{Upstream: u.Host, OnRoundTrip: c.decide}))(t)
	t.Cleanup(p.Close)
	u.Host = p.Address()
	c.url = u.String()
	return c
}

func (c *cutter) decide(executed []string) pgproxy.Action {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The pool pings connections that were idle for a second: counted, these would move the cut.
	if !c.armed || len(executed) == 0 || executed[0] == "-- ping" {
		return pgproxy.Forward
	}
	if c.left--; c.left >= 0 {
		return pgproxy.Forward
	}
	c.armed = false
	return c.action
}

// during cuts a round trip of a call, if the call has that many. The first is 0. It reports whether it did.
func (c *cutter) during(trip int, action pgproxy.Action, call func()) bool {
	c.set(true, trip, action)
	call()
	return !c.set(false, 0, pgproxy.Forward)
}

func (c *cutter) set(armed bool, left int, action pgproxy.Action) (was bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was = c.armed
	c.armed, c.left, c.action = armed, left, action
	return was
}

// alwaysCut are the mutations that the test cuts unless BERTH_CUTS is set, which cuts all. That takes some minutes.
var alwaysCut = map[string]bool{
	"BookingService/Book": true, "BookingService/CancelBooking": true, "BookingService/ConfirmBooking": true,
	"BookingService/RescheduleBooking": true, "CreditService/GrantCredits": true, "SessionService/CancelSession": true,
	"WaitlistService/AcceptOffer": true, "WaitlistService/JoinWaitlist": true,
}

// Every mutation is cut at each of its round trips to Postgres, COMMIT included: before Postgres gets it, or before the
// answer arrives. Then it is sent again under its key, to the same node, or to another as if the first had been killed.
// The response must be the one of a call without a cut, and it must be executed once.
func TestEveryMutation_SurvivesCutAtEveryRoundTrip(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	work := make(chan procedure)
	var workers sync.WaitGroup
	for range 6 { // most of the time is waiting, for the next attempt
		c := &cutTest{world: newWorld(t, live), postgres: newCutter(t, live.DB.TCP)}
		c.node = openIdle(t, live.DB, c.postgres.url, live.data)
		workers.Go(func() {
			for p := range work {
				for _, b := range requests[p.Short()] {
					c.sweep(t, p, b)
				}
			}
		})
	}
	for _, p := range procedures() {
		if !p.IsPublic() && !p.IsReadOnly() && (os.Getenv("BERTH_CUTS") != "" || alwaysCut[p.Short()]) {
			work <- p
		}
	}
	close(work)
	workers.Wait()
	live.verify(t)
}

// Without a key, a request that is sent again after its answer was cut is executed twice.
func TestMutation_WithoutKeyHappensTwiceAfterCut(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	c := &cutTest{world: newWorld(t, live), postgres: newCutter(t, live.DB.TCP), keyless: true}
	c.node = openIdle(t, live.DB, c.postgres.url, live.data)
	p := procedureNamed(t, "CreditService/GrantCredits")
	b := requests[p.Short()][0]
	want, _ := c.run(t, p, b, func(send func(*liveNode) outcome) (outcome, bool) { return send(c.node), false })
	twice, cut := false, true
	for trip := 0; cut; trip++ {
		var got result
		got, cut = c.run(t, p, b, func(send func(*liveNode) outcome) (second outcome, cut bool) {
			cut = c.postgres.during(trip, pgproxy.DropAnswer, func() { second = send(c.node) })
			for second.isTransient() {
				second = send(live)
			}
			return second, cut
		})
		twice = twice || got.Added["credit_entries"] == 2*want.Added["credit_entries"]
	}
	test.True(t, twice, test.Sprint("no cut executed a request twice"))
}

// cutTest calls mutations of one tenant, whose node reaches Postgres through a cutter.
type cutTest struct {
	*world
	postgres *cutter
	node     *liveNode
	keyless  bool
}

func (c *cutTest) sweep(t *testing.T, p procedure, b build) {
	t.Helper()
	uncut := func(send func(*liveNode) outcome) (outcome, bool) { return send(c.node), false }
	c.run(t, p, b, uncut) // settings have no row until they are first changed
	want, _ := c.run(t, p, b, uncut)
	if want.Outcome.Code != codes.OK {
		t.Errorf("%s: %s", p.Short(), want.Outcome)
		return
	}
	for _, again := range []*liveNode{c.node, c.live} {
		for _, action := range []pgproxy.Action{pgproxy.Drop, pgproxy.DropAnswer} {
			cut := true
			for trip := 0; cut; trip++ {
				var got result
				got, cut = c.run(t, p, b, func(send func(*liveNode) outcome) (second outcome, cut bool) {
					var first outcome
					cut = c.postgres.during(trip, action, func() { first = send(c.node) })
					test.False(
						t, first.Code != codes.OK && !first.isTransient(),
						test.Sprintf("%s, cut at %d (%d): %s", p.Short(), trip, action, first),
					)
					for second = send(again); second.isTransient(); second = send(again) {
					}
					test.False(
						t, first.Code == codes.OK && first.Response != second.Response,
						test.Sprintf("%s, cut at %d (%d): %s, then %s", p.Short(), trip, action, first, second),
					)
					return second, cut
				})
				// A message whose sending was cut may have been sent: it is not sent again, and its status says so.
				if p.Short() == "NotificationService/SendTest" && strings.Contains(got.Outcome.Response, "POSSIBLY_SENT") {
					continue
				}
				test.EqOp(t, "", cmp.Diff(want, got), test.Sprintf("%s, cut at %d (%d):\n", p.Short(), trip, action))
			}
		}
	}
}

// isTransient reports whether a call can be sent again under its key.
func (o outcome) isTransient() bool {
	return o.Reason == "DEADLINE_EXCEEDED" || o.Reason == "CONTENTION"
}

// result is what a call answers, and how many rows it adds to each table.
type result struct {
	Outcome outcome
	Added   map[string]int
}

// run builds a request. The calls send it under one key, as often as they like.
func (c *cutTest) run(
	t *testing.T, p procedure, b build, calls func(send func(*liveNode) outcome) (outcome, bool),
) (result, bool) {
	t.Helper()
	request, token := b(c.world), c.token(tenant.RoleOwner)
	before := c.live.counts(t, c.ID)
	ctx := t.Context()
	if !c.keyless {
		ctx = metadata.AppendToOutgoingContext(ctx, "idempotency-key", unique())
	}
	got, cut := calls(func(node *liveNode) outcome { return withoutKey(node.try(ctx, token, p, proto.Clone(request))) })
	added := make(map[string]int)
	for table, n := range c.live.counts(t, c.ID) {
		if n != before[table] && table != "waitlist_queues" { // one a day, however many entries
			added[table] = n - before[table]
		}
	}
	return result{got.shape(), added}, cut
}

// counts returns the number of a tenant's rows by table.
func (l *liveNode) counts(t *testing.T, id tenant.TenantID) map[string]int {
	t.Helper()
	var all []string
	for _, table := range l.tables(t) {
		all = append(all, fmt.Sprintf(
			"select '%s', count(*) from %s where tenant_id = $1", table, pgx.Identifier{table}.Sanitize(),
		))
	}
	counts := make(map[string]int)
	found := expect.Value(l.DB.Owner.Query(t.Context(), strings.Join(all, " union all "), id))(t)
	var table string
	var n int
	expect.OK(t)(pgx.ForEachRow(found, []any{&table, &n}, func() error { counts[table] = n; return nil }))
	return counts
}

// withoutKey removes the key of a service account, which is shown once, and random spaces.
func withoutKey(o outcome) outcome {
	o.Response = keyTexts.ReplaceAllString(spaceless(o.Response), `"key":""`)
	return o
}
