package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// Whatever gives or takes seats of a session waits while another transaction about it is under way on the same node.
func TestOperations_OnSeatsRunInOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	// Each gives the session that it is about, and what it does.
	for name, set := range map[string]func(h *testkit.Studio) (tenant.SessionID, func() error){
		"book": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := h.AddSession(testkit.Session{}), h.AddMember("Mia")
			return class, func() error { _, err := h.Book(mia, class); return err }
		},
		"hold": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := h.AddSession(testkit.Session{}), h.AddMember("Mia")
			return class, func() error { _, err := h.Hold(mia, class); return err }
		},
		"confirm": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := h.AddSession(testkit.Session{}), h.AddMember("Mia")
			held := h.MustHold(mia, class)
			return class, func() error { _, err := h.Confirm(mia, held.ID); return err }
		},
		"release": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := h.AddSession(testkit.Session{}), h.AddMember("Mia")
			held := h.MustHold(mia, class)
			return class, func() error { _, err := h.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(mia), held.ID); return err }
		},
		"cancel": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, mia := h.AddSession(testkit.Session{}), h.AddMember("Mia")
			id := h.MustBook(mia, class)
			return class, func() error { _, err := h.Cancel(mia, id); return err }
		},
		"reschedule from": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			from, to, mia := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{}), h.AddMember("Mia")
			id := h.MustBook(mia, from)
			return from, func() error { _, err := h.Reschedule(testkit.SelfOnly(mia), id, to); return err }
		},
		"reschedule to": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			from, to, mia := h.AddSession(testkit.Session{}), h.AddSession(testkit.Session{}), h.AddMember("Mia")
			id := h.MustBook(mia, from)
			return to, func() error { _, err := h.Reschedule(testkit.SelfOnly(mia), id, to); return err }
		},
		"holds that run out": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class := h.AddSession(testkit.Session{})
			held := h.MustHold(h.AddMember("Mia"), class)
			h.Clock.Set(*held.HoldUntil)
			return class, func() error { _, err := h.App.Waitlists.ExpireHolds(ctx, h.Tenant); return err }
		},
		"join the waitlist": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, _, _ := h.AddFullSession(1)
			mia := h.AddMember("Mia")
			return class, func() error { _, err := h.Join(mia, testkit.ForSessions(class)); return err }
		},
		"leave the waitlist": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, _, _ := h.AddFullSession(1)
			who, entries := h.AddWaiters(1, testkit.ForSessions(class))
			return class, func() error {
				_, err := h.App.Waitlists.LeaveWaitlist(ctx, testkit.SelfOnly(who[0]), entries[0], "", false)
				return err
			}
		},
		"cancel a place in line": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, _, _ := h.AddFullSession(1)
			who, entries := h.AddWaiters(1, testkit.ForSessions(class))
			return class, func() error { _, err := h.Cancel(who[0], tenant.BookingID{UUID: entries[0].UUID}); return err }
		},
		"promote": func(h *testkit.Studio) (tenant.SessionID, func() error) {
			class, who, booked := h.AddFullSession(1)
			h.AddWaiters(1, testkit.ForSessions(class))
			return class, func() error { _, err := h.Cancel(who[0], booked[0]); return err }
		},
		"accept": offered(func(h *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			_, err := h.Accept(who, o)
			return err
		}),
		"decline": offered(func(h *testkit.Studio, who tenant.Caller, o waitlist.Offer) error {
			_, err := h.Decline(who, o, true)
			return err
		}),
		"end an offer": offered(func(h *testkit.Studio, _ tenant.Caller, o waitlist.Offer) error {
			_, err := h.App.Waitlists.ExpireOffer(ctx, h.Owner, o.ID, "")
			return err
		}),
		"offers that run out": offered(func(h *testkit.Studio, _ tenant.Caller, o waitlist.Offer) error {
			h.Clock.Set(o.ExpiresAt)
			_, _, err := h.App.Waitlists.ExpireDueOffers(ctx, h.Tenant)
			return err
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			if name == "promote" {
				h.SetMode(waitlist.AutoPromote)
			}
			class, act := set(h)
			h.Exec(`update sessions set capacity = capacity + 10 where id = $1`, class)
			if name == "join the waitlist" {
				h.Exec(`update sessions set seats_taken = seats_taken, capacity = seats_taken where id = $1`, class)
			}
			release := occupy(h, class)
			done := make(chan error, 1)
			go func() { done <- act() }()
			for testkit.Queued(h.App, h.Tenant) == 0 {
				select {
				case err := <-done:
					t.Fatalf("it did not wait, and ended with %v", err)
				default:
					runtime.Gosched()
				}
			}
			release()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// offered is an offer in a session, and what is done about it.
func offered(
	act func(h *testkit.Studio, who tenant.Caller, o waitlist.Offer) error,
) func(h *testkit.Studio) (tenant.SessionID, func() error) {
	return func(h *testkit.Studio) (tenant.SessionID, func() error) {
		class, holders, booked := h.AddFullSession(1)
		who, entries := h.AddWaiters(1, testkit.ForSessions(class))
		h.MustCancel(holders[0], booked[0])
		o := h.LiveOffer(entries[0])
		return class, func() error { return act(h, who[0], o) }
	}
}

// occupy keeps a lane busy with a session until it is released.
func occupy(h *testkit.Studio, class tenant.SessionID) (release func()) {
	h.T.Helper()
	ctx := context.Background()
	block, err := h.DB.Owner.Begin(ctx)
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() { _ = block.Rollback(ctx) })
	if _, err := block.Exec(ctx, `select from sessions where id = $1 for update`, class); err != nil {
		h.T.Fatal(err)
	}
	decoy := h.AddMember("Decoy")
	var done sync.WaitGroup
	done.Go(func() { _, _ = h.Book(decoy, class) })
	testkit.AwaitQueued(h.App, h.Tenant, 0)
	return func() {
		h.T.Helper()
		if err := block.Commit(ctx); err != nil {
			h.T.Error(err)
		}
		done.Wait()
	}
}

// Who gives up once their request is under way learns by its key what became of it: it is durable.
func TestRun_RetryWithTheKeyReturnsTheResultAfterLeaving(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class, mia, noa := h.AddSession(testkit.Session{}), h.AddMember("Mia"), h.AddMember("Noa")
	request := bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online}
	ctx, _ := testkit.WithKey(t, "k", "book", "")
	leaving, leave := context.WithCancel(ctx)

	block, err := h.DB.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = block.Rollback(context.Background()) }()
	if _, err := block.Exec(t.Context(), `select from sessions where id = $1 for update`, class); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { _, err := h.App.Bookings.Book(leaving, mia, request); gone <- err }()
	testkit.AwaitQueued(h.App, h.Tenant, 0)
	behind := make(chan error, 1)
	go func() { _, err := h.Book(noa, class); behind <- err }()
	testkit.AwaitQueued(h.App, h.Tenant, 1)
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up was told %v", err)
	}
	if err := block.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-behind; err != nil { // and so it is settled what came before
		t.Error(err)
	}
	again, key := testkit.WithKey(t, "k", "book", "")
	place, err := h.App.Bookings.Book(again, mia, request)
	if err != nil || place.Booking == nil || !key.Repeated {
		t.Errorf("%+v, repeated: %v, %v", place, key.Repeated, err)
	}
	if n := h.Count(`select count(*) from bookings where member_id = $1`, mia.Member); n != 1 {
		t.Errorf("%d bookings", n)
	}
	h.WantSound()
}

// A node does not get into its own way: a crowd that books one session needs no second attempt. Two nodes that do the
// same do.
func TestNode_RetriesNothingAgainstItself(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"one node": false, "two nodes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, registry := new(testkit.Barrier), prometheus.NewRegistry()
			h := testkit.New(t, func(c *pg.Config) { c.Tracer, c.Registerer = a, registry })
			class := h.AddSession(testkit.Session{Capacity: 100})
			const people = 60
			crowd := make([]tenant.Caller, people)
			for i := range crowd {
				crowd[i] = h.AddMember("One of many")
			}
			if elsewhere {
				first := func(who tenant.Caller) func() {
					return func() {
						if _, err := h.OtherNode().Book(who, class); err != nil {
							t.Error(err)
						}
					}
				}
				a.Run(first(h.AddMember("Mia")), first(h.AddMember("Noa")))
			}
			testkit.Parallel(people, func(i int) {
				if _, err := h.Book(crowd[i], class); err != nil {
					t.Error(err)
				}
			})
			if n := testkit.RetriesFor(t, registry, "40001") + testkit.RetriesFor(t, registry, "40P01"); (n > 0) != elsewhere {
				t.Errorf("%v retries", n)
			}
			h.WantSound()
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

// A node that is alone with its sessions asks nobody. Once another got into its way, its transactions stand in line
// before they begin, for a while, so that what they read then is what was committed last.
func TestNodes_TakeAdvisoryLocksAfterConflicts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := &lines{waited: make(map[*pgx.Conn]bool)}
	h := testkit.New(t, func(c *pg.Config) { c.Tracer = l })
	class := h.AddSession(testkit.Session{})
	before, slowed, next, later := h.AddMember("Before"), h.AddMember("Slowed"), h.AddMember("Next"), h.AddMember("Later")
	since := func() []bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		began := l.began
		l.began = nil
		return began
	}
	since()
	h.MustBook(before, class)
	if began := since(); len(began) != 1 || began[0] {
		t.Errorf("alone: stood in line %v", began)
	}

	// Somebody else changes the session between what a booking reads and what it writes.
	rival, err := h.DB.Owner.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rival.Rollback(ctx) }()
	if _, err := rival.Exec(ctx, `update sessions set capacity = capacity where id = $1`, class); err != nil {
		t.Fatal(err)
	}
	booked := make(chan error, 1)
	go func() { _, err := h.Book(slowed, class); booked <- err }()
	for blocked := 0; blocked == 0; {
		blocked = h.Count(
			`select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`, rival.Conn().PgConn().PID(),
		)
	}
	if err := rival.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-booked; err != nil {
		t.Fatal(err)
	}
	if began := since(); len(began) != 2 {
		t.Fatalf("they did not meet: %v", began)
	}
	h.MustBook(next, class)
	if began := since(); len(began) != 1 || !began[0] {
		t.Errorf("after they met: stood in line %v", began)
	}
	h.Clock.Set(h.Clock.Now().Add(time.Minute))
	h.MustBook(later, class)
	if began := since(); len(began) != 1 || began[0] {
		t.Errorf("a minute later: stood in line %v", began)
	}
	h.WantSound()
}
