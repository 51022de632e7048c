package engine_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Whatever gives or takes seats of a session waits while another transaction about it is under way on the same node.
func TestOperations_OnSeatsRunInOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	// Each gives the session that it is about, and what it does.
	for name, set := range map[string]func(studio *testkit.Studio) (tenant.SessionID, func() error){
		"book": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := studio.AddSession(testkit.Session{}), studio.AddMember("Mia")
			return class, func() error { _, err := studio.Book(mia, class); return err }
		},
		"hold": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := studio.AddSession(testkit.Session{}), studio.AddMember("Mia")
			return class, func() error { _, err := studio.Hold(mia, class); return err }
		},
		"confirm": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := studio.AddSession(testkit.Session{}), studio.AddMember("Mia")
			held := studio.MustHold(mia, class)
			return class, func() error { _, err := studio.Confirm(mia, held.ID); return err }
		},
		"release": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := studio.AddSession(testkit.Session{}), studio.AddMember("Mia")
			held := studio.MustHold(mia, class)
			return class, func() error {
				_, err := studio.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(mia), held.ID)
				return err
			}
		},
		"cancel": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := studio.AddSession(testkit.Session{}), studio.AddMember("Mia")
			id := studio.MustBook(mia, class)
			return class, func() error { _, err := studio.Cancel(mia, id); return err }
		},
		"reschedule from": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			from, to, mia := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{}), studio.AddMember("Mia")
			id := studio.MustBook(mia, from)
			return from, func() error { _, err := studio.Reschedule(testkit.SelfOnly(mia), id, to); return err }
		},
		"reschedule to": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			from, to, mia := studio.AddSession(testkit.Session{}), studio.AddSession(testkit.Session{}), studio.AddMember("Mia")
			id := studio.MustBook(mia, from)
			return to, func() error { _, err := studio.Reschedule(testkit.SelfOnly(mia), id, to); return err }
		},
		"holds that run out": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class := studio.AddSession(testkit.Session{})
			held := studio.MustHold(studio.AddMember("Mia"), class)
			studio.Clock.Set(*held.HoldUntil)
			return class, func() error { _, err := studio.App.Waitlists.ExpireHolds(ctx, studio.Tenant); return err }
		},
		"join the waitlist": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, _, _ := studio.AddFullSession(1)
			mia := studio.AddMember("Mia")
			return class, func() error { _, err := studio.Join(mia, testkit.ForSessions(class)); return err }
		},
		"leave the waitlist": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, _, _ := studio.AddFullSession(1)
			who, entries := studio.AddWaiters(1, testkit.ForSessions(class))
			return class, func() error {
				_, err := studio.App.Waitlists.LeaveWaitlist(ctx, testkit.SelfOnly(who[0]), entries[0], "", false)
				return err
			}
		},
		"cancel a place in line": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, _, _ := studio.AddFullSession(1)
			who, entries := studio.AddWaiters(1, testkit.ForSessions(class))
			return class, func() error { _, err := studio.Cancel(who[0], tenant.BookingID{UUID: entries[0].UUID}); return err }
		},
		"promote": func(studio *testkit.Studio) (tenant.SessionID, func() error) {
			class, who, booked := studio.AddFullSession(1)
			studio.AddWaiters(1, testkit.ForSessions(class))
			return class, func() error { _, err := studio.Cancel(who[0], booked[0]); return err }
		},
		"accept": offered(func(studio *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			_, err := studio.Accept(who, o)
			return err
		}),
		"decline": offered(func(studio *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			_, err := studio.Decline(who, o, true)
			return err
		}),
		"end an offer": offered(func(studio *testkit.Studio, _ tenant.Caller, o waitlist.Offer) error {
			_, err := studio.App.Waitlists.ExpireOffer(ctx, studio.Owner, o.ID, "")
			return err
		}),
		"offers that run out": offered(func(studio *testkit.Studio, _ tenant.Caller, o waitlist.Offer) error {
			studio.Clock.Set(o.ExpiresAt)
			_, _, err := studio.App.Waitlists.ExpireDueOffers(ctx, studio.Tenant)
			return err
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			studio.SetMode(waitlist.OfferInTurn)
			if name == "promote" {
				studio.SetMode(waitlist.AutoPromote)
			}
			class, act := set(studio)
			studio.Exec(`update sessions set capacity = capacity + 10 where id = $1`, class)
			if name == "join the waitlist" {
				studio.Exec(`update sessions set seats_taken = seats_taken, capacity = seats_taken where id = $1`, class)
			}
			release := occupy(studio, class)
			done := make(chan error, 1)
			go func() { done <- act() }()
			for testkit.Queued(studio.App, studio.Tenant) == 0 {
				select {
				case err := <-done:
					t.Fatalf("it did not wait, and ended with %v", err)
				default:
					runtime.Gosched()
				}
			}
			release()
			test.NoError(t, <-done)
		})
	}
}

// offered is an offer in a session, and what is done about it.
func offered(
	act func(studio *testkit.Studio, who tenant.Caller, o waitlist.Offer) error,
) func(studio *testkit.Studio) (tenant.SessionID, func() error) {
	return func(studio *testkit.Studio) (tenant.SessionID, func() error) {
		class, holders, booked := studio.AddFullSession(1)
		who, entries := studio.AddWaiters(1, testkit.ForSessions(class))
		studio.MustCancel(holders[0], booked[0])
		o := studio.LiveOffer(entries[0])
		return class, func() error { return act(studio, who[0], o) }
	}
}

// occupy keeps a lane busy with a session until it is released.
func occupy(studio *testkit.Studio, class tenant.SessionID) (release func()) {
	studio.T.Helper()
	ctx := context.Background()
	block := expect.Value(studio.DB.Owner.Begin(ctx))(studio.T)
	studio.T.Cleanup(func() { _ = block.Rollback(ctx) })
	expect.OK(studio.T)(block.Exec(ctx, `select from sessions where id = $1 for update`, class))
	decoy := studio.AddMember("Decoy")
	var done sync.WaitGroup
	done.Go(func() { _, _ = studio.Book(decoy, class) })
	testkit.AwaitQueued(studio.App, studio.Tenant, 0)
	return func() {
		studio.T.Helper()
		must.NoError(studio.T, block.Commit(ctx))
		done.Wait()
	}
}

// Who gives up once their request is under way learns by its key what became of it: it is durable.
func TestRun_RetryWithTheKeyReturnsTheResultAfterLeaving(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, mia, noa := studio.AddSession(testkit.Session{}), studio.AddMember("Mia"), studio.AddMember("Noa")
	request := bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online}
	ctx, _ := testkit.WithKey(t, "k", "book", "")
	leaving, leave := context.WithCancel(ctx)

	block := expect.Value(studio.DB.Owner.Begin(t.Context()))(t)
	defer func() { _ = block.Rollback(context.Background()) }()
	expect.OK(t)(block.Exec(t.Context(), `select from sessions where id = $1 for update`, class))
	gone := make(chan error, 1)
	go func() { _, err := studio.App.Bookings.Book(leaving, mia, request); gone <- err }()
	testkit.AwaitQueued(studio.App, studio.Tenant, 0)
	behind := make(chan error, 1)
	go func() { _, err := studio.Book(noa, class); behind <- err }()
	testkit.AwaitQueued(studio.App, studio.Tenant, 1)
	leave()
	test.ErrorIs(t, <-gone, context.Canceled, test.Sprint("who gave up was told"))
	must.NoError(t, block.Commit(t.Context()))
	if err := <-behind; err != nil { // and so it is settled what came before
		t.Error(err)
	}
	again, key := testkit.WithKey(t, "k", "book", "")
	place := expect.Value(studio.App.Bookings.Book(again, mia, request))(t)
	test.True(t, place.Booking != nil && key.Repeated, test.Sprintf("%+v, repeated: %v", place, key.Repeated))
	test.EqOp(t, 1, studio.Count(`select count(*) from bookings where member_id = $1`, mia.Member),
		test.Sprint("bookings"))
	studio.WantSound()
}

// A node does not get into its own way: a crowd that books one session needs no second attempt. Two nodes that do the
// same do.
func TestNode_RetriesNothingAgainstItself(t *testing.T) {
	t.Parallel()
	for name, twoNodes := range map[string]bool{"one node": false, "two nodes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, registry := new(testkit.Barrier), prometheus.NewRegistry()
			studio := testkit.New(t, func(c *pg.Config) { c.Tracer, c.Registerer = a, registry })
			class := studio.AddSession(testkit.Session{Capacity: 100})
			const people = 60
			crowd := make([]tenant.Caller, people)
			for i := range crowd {
				crowd[i] = studio.AddMember("One of many")
			}
			if twoNodes {
				first := func(who tenant.Caller) func() {
					return func() {
						_, err := studio.OtherNode().Book(who, class)
						test.NoError(t, err)
					}
				}
				a.Run(first(studio.AddMember("Mia")), first(studio.AddMember("Noa")))
			}
			testkit.Parallel(people, func(i int) {
				_, err := studio.Book(crowd[i], class)
				test.NoError(t, err)
			})
			n := testkit.RetriesFor(t, registry, "40001") + testkit.RetriesFor(t, registry, "40P01")
			test.EqOp(t, twoNodes, (n > 0), test.Sprintf("%v retries", n))
			studio.WantSound()
		})
	}
}

// lines records which transactions stood in line before they began.
type lines struct {
	mu     sync.Mutex
	waited map[*pgx.Conn]bool
	began  []bool // one for each transaction that writes, in order
}

func (l *lines) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "pg_advisory_lock(") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.waited[conn] = true
	}
	return ctx
}

func (l *lines) TraceBatchStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if queries := data.Batch.QueuedQueries; len(queries) > 0 &&
		strings.HasPrefix(queries[0].SQL, "begin isolation level serializable") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.began = append(l.began, l.waited[conn])
		l.waited[conn] = false
	}
	return ctx
}

func (*lines) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*lines) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*lines) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// A node that is alone with its sessions takes no advisory locks. After a conflict with another node, its transactions
// take them before they begin, for a while, so that they read what was committed last.
func TestNodes_TakeAdvisoryLocksAfterConflicts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := &lines{waited: make(map[*pgx.Conn]bool)}
	studio := testkit.New(t, func(c *pg.Config) { c.Tracer = l })
	class := studio.AddSession(testkit.Session{})
	before, slowed := studio.AddMember("Before"), studio.AddMember("Slowed")
	next, later := studio.AddMember("Next"), studio.AddMember("Later")
	since := func() []bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		began := l.began
		l.began = nil
		return began
	}
	since()
	studio.MustBook(before, class)
	if began := since(); len(began) != 1 || began[0] {
		t.Errorf("alone: stood in line %v", began)
	}

	// Another transaction changes the session between the reads and the writes of a booking.
	rival := expect.Value(studio.DB.Owner.Begin(ctx))(t)
	defer func() { _ = rival.Rollback(ctx) }()
	expect.OK(t)(rival.Exec(ctx, `update sessions set capacity = capacity where id = $1`, class))
	booked := make(chan error, 1)
	go func() { _, err := studio.Book(slowed, class); booked <- err }()
	for blocked := 0; blocked == 0; {
		blocked = studio.Count(
			`select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`, rival.Conn().PgConn().PID(),
		)
	}
	must.NoError(t, rival.Commit(ctx))
	must.NoError(t, <-booked)
	began := since()
	must.EqOp(t, 2, len(began), must.Sprintf("they did not meet: %v", began))
	studio.MustBook(next, class)
	began = since()
	test.True(t, len(began) == 1 && began[0], test.Sprintf("after they met: stood in line %v", began))
	studio.Clock.Set(studio.Clock.Now().Add(time.Minute))
	studio.MustBook(later, class)
	began = since()
	test.True(t, len(began) == 1 && !began[0], test.Sprintf("a minute later: stood in line %v", began))
	studio.WantSound()
}
