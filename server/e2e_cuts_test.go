package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/pgproxy"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// cutter is a proxy to Postgres that cuts one round trip.
type cutter struct {
	mu    sync.Mutex
	armed bool
	left  int // round trips before the cut
	at    cut
	url   string
}

// cut says what happens to a round trip.
type cut struct {
	action pgproxy.Action
	kill   func() // kills the process that sent it, before anything else happens; nil: it lives
	each   func() // is called at each round trip until then; may be nil
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
	if c.at.action == pgproxy.Reject && executed[0] == "rollback" { // it cannot fail
		return pgproxy.Forward
	}
	if c.at.each != nil {
		c.at.each()
	}
	if c.left--; c.left >= 0 {
		return pgproxy.Forward
	}
	c.armed = false
	if c.at.kill != nil {
		c.at.kill()
	}
	return c.at.action
}

// during cuts a round trip of a call, if the call has that many. The first is 0. It reports whether it did.
func (c *cutter) during(trip int, at cut, call func()) bool {
	c.set(true, trip, at)
	call()
	return !c.set(false, 0, cut{})
}

func (c *cutter) set(armed bool, left int, at cut) (was bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was = c.armed
	c.armed, c.left, c.at = armed, left, at
	return was
}

// alwaysCut are the mutations that the test cuts unless BERTH_CUTS is set: it cuts those that this pattern matches. All
// of them take some minutes. Two are killed, too.
var alwaysCut = map[string]bool{
	"BookingService/Book": true, "BookingService/CancelBooking": false, "BookingService/ConfirmBooking": false,
	"BookingService/RescheduleBooking": false, "CreditService/GrantCredits": false, "SessionService/CancelSession": false,
	"WaitlistService/AcceptWaitlistOffer": true, "WaitlistService/JoinWaitlist": false,
}

// neverCut has mutations that have no answer to repeat.
var neverCut = map[string]string{
	"AccessService/ExchangeKey": "it gives a new token each time, and changes nothing",
}

// Every mutation is cut at each of its round trips to Postgres, COMMIT included, before Postgres gets it, or before the
// answer arrives: its connection is dropped, or its process is killed. Then it is sent again under its key, to the same
// node, or to another if the first was killed. The response must be the one of a call without a cut, and it must be
// executed once.
func TestEveryMutation_SurvivesCutAtEveryRoundTrip(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	work := make(chan procedure)
	var workers sync.WaitGroup
	count := new(cutCount)
	pattern := os.Getenv("BERTH_CUTS")
	chosen := regexp.MustCompile(pattern)
	for range 6 { // most of the time is waiting, for the next attempt
		c := newCutTest(t, live)
		c.count = count
		workers.Go(func() {
			for p := range work {
				for _, b := range requests[p.Short()] {
					c.sweep(t, p, b, false)
					if pattern != "" || alwaysCut[p.Short()] {
						c.sweep(t, p, b, true)
					}
				}
				t.Logf("%d: %s", count.mutations.Add(1), p.Short())
			}
		})
	}
	for _, p := range procedures() {
		_, always := alwaysCut[p.Short()]
		always = pattern == "" && always || pattern != "" && chosen.MatchString(p.Short())
		if always && !p.IsReadOnly() && neverCut[p.Short()] == "" {
			must.SliceNotEmpty(t, requests[p.Short()], must.Sprint(p.Short()))
			work <- p
		}
	}
	close(work)
	workers.Wait()
	live.verify(t)
	t.Logf("%d mutations: %d round trips dropped, %d processes killed", count.mutations.Load(), count.drops.Load(),
		count.kills.Load())
	test.Positive(t, min(count.drops.Load(), count.kills.Load()), test.Sprint("nothing was cut"))
}

// cutCount counts what was cut.
type cutCount struct{ mutations, drops, kills atomic.Int64 }

// Without a key, a request that is sent again after its answer was cut is executed twice.
func TestMutation_WithoutKeyHappensTwiceAfterCut(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	c := newCutTest(t, live)
	c.keyless = true
	p := procedureNamed(t, "CreditService/GrantCredits")
	b := requests[p.Short()][0]
	want, _ := c.run(t, p, b, func(send func(*liveNode) outcome) (outcome, bool) { return send(c.node), false })
	twice, wasCut, at := false, true, cut{action: pgproxy.DropAnswer}
	for trip := 0; wasCut; trip++ {
		var got result
		got, wasCut = c.run(t, p, b, func(send func(*liveNode) outcome) (second outcome, wasCut bool) {
			wasCut = c.postgres.during(trip, at, func() { second = send(c.node) })
			if second.isTransient() {
				second = answered(send, live)
			}
			return second, wasCut
		})
		twice = twice || got.Added["credit_entries"] == 2*want.Added["credit_entries"]
	}
	test.True(t, twice, test.Sprint("no cut executed a request twice"))
}

// cutTest calls mutations of one tenant, whose nodes reach Postgres through a cutter.
type cutTest struct {
	*world

	postgres *cutter
	node     *liveNode
	victim   *victim // nil until it is needed
	keyless  bool
	count    *cutCount
}

func newCutTest(t *testing.T, live *liveNode) *cutTest {
	t.Helper()
	c := &cutTest{world: newWorld(t, live), postgres: newCutter(t, live.DB.TCP)}
	c.node = openIdle(t, live.DB, c.postgres.url, live.data, live.dns.Address)
	return c
}

// victim is a node in a process of its own.
type victim struct {
	*liveNode

	process *process
}

// TestHelperNode is the process of a victim. Its arguments are the URL of the database, the data folder and the address
// of the name server.
func TestHelperNode(t *testing.T) {
	t.Parallel()
	args := flag.Args()
	if len(args) != 3 {
		return
	}
	l := openIdle(t, nil, args[0], args[1], args[2])
	fmt.Fprintf(os.Stdout, "ready at %s\n", l.Address)
	select {} // until it is killed
}

// spawn starts a victim, unless there is one that lives.
func (c *cutTest) spawn(t *testing.T) *victim {
	t.Helper()
	if c.victim == nil {
		p := startProcess(t, os.Args[0], "-test.run=^TestHelperNode$", "-test.timeout=0", c.postgres.url, c.live.data,
			c.live.dns.Address)
		address := p.out.after(t, "ready at ")
		c.victim = &victim{&liveNode{Address: address, conn: dial(t, address)}, p}
	}
	return c.victim
}

func (c *cutTest) sweep(t *testing.T, p procedure, b build, kill bool) {
	t.Helper()
	uncut := func(send func(*liveNode) outcome) (outcome, bool) { return answered(send, c.node), false }
	c.run(t, p, b, uncut) // settings have no row until they are first changed
	want, _ := c.run(t, p, b, uncut)
	must.EqOp(t, codes.OK, want.Outcome.Code, must.Sprintf("%s: %s", p.Short(), want.Outcome))
	for _, action := range []pgproxy.Action{pgproxy.Drop, pgproxy.DropAnswer} {
		done := false
		for trip := 0; !done; trip++ {
			name := fmt.Sprintf("%s, cut at %d (%d), killed: %t", p.Short(), trip, action, kill)
			got, wasCut := c.run(t, p, b, func(send func(*liveNode) outcome) (second outcome, wasCut bool) {
				first, again, at := c.node, c.node, cut{action: action}
				if kill {
					v := c.spawn(t)
					first, again, at.kill = v.liveNode, c.live, func() { v.process.signal(t, syscall.SIGKILL) }
				}
				var answer outcome
				wasCut = c.postgres.during(trip, at, func() { answer = send(first) })
				switch {
				case kill && wasCut:
					test.NotEqOp(t, codes.OK, answer.Code, test.Sprint(name))
					c.count.kills.Add(1)
					c.victim = nil
				case wasCut:
					c.count.drops.Add(1)
					fallthrough
				default:
					test.True(t, answer.Code == codes.OK || answer.isTransient(), test.Sprint(name, ": ", answer))
				}
				second = answered(send, again)
				test.True(t, answer.Code != codes.OK || answer.Response == second.Response,
					test.Sprint(name, ": ", answer, ", then ", second))
				return second, wasCut
			})
			done = !wasCut
			// A message whose sending was cut may have been sent: it is not sent again, and its status says so.
			if p.Short() == "NotificationService/SendTestNotification" &&
				strings.Contains(got.Outcome.Response, "POSSIBLY_SENT") {
				continue
			}
			test.EqOp(t, "", cmp.Diff(want, got), test.Sprint(name))
		}
	}
}

// isTransient reports whether a call can be sent again under its key.
func (o outcome) isTransient() bool {
	return o.Reason == "DEADLINE_EXCEEDED" || o.Reason == "CONTENTION"
}

// answered sends a call until it need not be sent again, as clients do. Other tenants can be in its way, too.
func answered(send func(*liveNode) outcome, to *liveNode) outcome {
	for {
		if o := send(to); !o.isTransient() {
			return o
		}
	}
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
	request, token := b(c.world), ""
	if !p.IsPublic() {
		token = c.token(tenant.RoleOwner)
	}
	if p.Short() == "MemberService/RegisterDevice" { // a member's twenty-first device replaces the first
		expect.OK(t)(c.live.DB.Owner.Exec(t.Context(), "delete from devices where tenant_id = $1", c.ID))
	}
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
	return perTable[int](t, l, "count(*)", id)
}

// withoutKey removes the key of a service account, which is shown once, and random spaces.
func withoutKey(o outcome) outcome {
	o.Response = keyTexts.ReplaceAllString(spaceless(o.Response), `"key":""`)
	return o
}
