package app_test

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

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Whatever gives or takes seats of a session waits while another transaction about it is under way on the same node.
func TestWhateverIsAboutSeatsTakesItsTurn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	// Each gives the session that it is about, and what it does.
	for name, set := range map[string]func(h *house) (tenant.SessionID, func() error){
		"book": func(h *house) (tenant.SessionID, func() error) {
			class, mia := h.session(slot{}), h.member("Mia")
			return class, func() error { _, err := h.book(mia, class); return err }
		},
		"hold": func(h *house) (tenant.SessionID, func() error) {
			class, mia := h.session(slot{}), h.member("Mia")
			return class, func() error { _, err := h.hold(mia, class); return err }
		},
		"confirm": func(h *house) (tenant.SessionID, func() error) {
			class, mia := h.session(slot{}), h.member("Mia")
			held := h.mustHold(mia, class)
			return class, func() error { _, err := h.confirm(mia, held.ID); return err }
		},
		"release": func(h *house) (tenant.SessionID, func() error) {
			class, mia := h.session(slot{}), h.member("Mia")
			held := h.mustHold(mia, class)
			return class, func() error { _, err := h.app.ReleaseHold(ctx, own(mia), held.ID); return err }
		},
		"cancel": func(h *house) (tenant.SessionID, func() error) {
			class, mia := h.session(slot{}), h.member("Mia")
			id := h.mustBook(mia, class)
			return class, func() error { _, err := h.cancel(mia, id); return err }
		},
		"reschedule from": func(h *house) (tenant.SessionID, func() error) {
			from, to, mia := h.session(slot{}), h.session(slot{}), h.member("Mia")
			id := h.mustBook(mia, from)
			return from, func() error { _, err := h.move(own(mia), id, to); return err }
		},
		"reschedule to": func(h *house) (tenant.SessionID, func() error) {
			from, to, mia := h.session(slot{}), h.session(slot{}), h.member("Mia")
			id := h.mustBook(mia, from)
			return to, func() error { _, err := h.move(own(mia), id, to); return err }
		},
		"holds that run out": func(h *house) (tenant.SessionID, func() error) {
			class := h.session(slot{})
			held := h.mustHold(h.member("Mia"), class)
			h.clock.Set(*held.HoldUntil)
			return class, func() error { _, err := h.app.ExpireHolds(ctx, h.Tenant); return err }
		},
		"join the waitlist": func(h *house) (tenant.SessionID, func() error) {
			class, _, _ := h.full(1)
			mia := h.member("Mia")
			return class, func() error { _, err := h.join(mia, names(class)); return err }
		},
		"leave the waitlist": func(h *house) (tenant.SessionID, func() error) {
			class, _, _ := h.full(1)
			who, entries := h.waiters(1, names(class))
			return class, func() error { _, err := h.app.LeaveWaitlist(ctx, own(who[0]), entries[0], "", false); return err }
		},
		"cancel a place in line": func(h *house) (tenant.SessionID, func() error) {
			class, _, _ := h.full(1)
			who, entries := h.waiters(1, names(class))
			return class, func() error { _, err := h.cancel(who[0], tenant.BookingID{UUID: entries[0].UUID}); return err }
		},
		"promote": func(h *house) (tenant.SessionID, func() error) {
			class, who, booked := h.full(1)
			h.waiters(1, names(class))
			return class, func() error { _, err := h.cancel(who[0], booked[0]); return err }
		},
		"accept": offered(func(h *house, who tenant.Caller, o waitlist.Offer) error { _, err := h.accept(who, o); return err }),
		"decline": offered(func(h *house, who tenant.Caller, o waitlist.Offer) error {
			_, err := h.decline(who, o, true)
			return err
		}),
		"end an offer": offered(func(h *house, _ tenant.Caller, o waitlist.Offer) error {
			_, err := h.app.ExpireOffer(ctx, h.Owner, o.ID, "")
			return err
		}),
		"offers that run out": offered(func(h *house, _ tenant.Caller, o waitlist.Offer) error {
			h.clock.Set(o.ExpiresAt)
			_, err := h.app.ExpireOffers(ctx, h.Tenant)
			return err
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.mode(waitlist.OfferInTurn)
			if name == "promote" {
				h.mode(waitlist.AutoPromote)
			}
			class, act := set(h)
			h.exec(`update sessions set capacity = capacity + 10 where id = $1`, class)
			if name == "join the waitlist" {
				h.exec(`update sessions set seats_taken = seats_taken, capacity = seats_taken where id = $1`, class)
			}
			release := h.occupy(class)
			done := make(chan error, 1)
			go func() { done <- act() }()
			for h.app.Waiting(h.Tenant) == 0 {
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
func offered(act func(h *house, who tenant.Caller, o waitlist.Offer) error) func(h *house) (tenant.SessionID, func() error) {
	return func(h *house) (tenant.SessionID, func() error) {
		class, holders, booked := h.full(1)
		who, entries := h.waiters(1, names(class))
		h.mustCancel(holders[0], booked[0])
		o := h.live(entries[0])
		return class, func() error { return act(h, who[0], o) }
	}
}

// occupy keeps a lane busy with a session until it is released.
func (h *house) occupy(class tenant.SessionID) (release func()) {
	h.t.Helper()
	ctx := context.Background()
	block, err := h.db.Owner.Begin(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = block.Rollback(ctx) })
	if _, err := block.Exec(ctx, `select from sessions where id = $1 for update`, class); err != nil {
		h.t.Fatal(err)
	}
	decoy := h.member("Decoy")
	var done sync.WaitGroup
	done.Go(func() { _, _ = h.book(decoy, class) })
	h.app.AwaitWaiting(h.Tenant, 0)
	return func() {
		h.t.Helper()
		if err := block.Commit(ctx); err != nil {
			h.t.Error(err)
		}
		done.Wait()
	}
}

// Who gives up once their request is under way learns by its key what became of it: it is durable.
func TestWhoGivesUpLearnsByTheirKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class, mia, noa := h.session(slot{}), h.member("Mia"), h.member("Noa")
	request := app.BookRequest{Session: class, Party: 1, Channel: catalog.Online}
	ctx, _ := under(t, "k", "book", "")
	leaving, leave := context.WithCancel(ctx)

	block, err := h.db.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = block.Rollback(context.Background()) }()
	if _, err := block.Exec(t.Context(), `select from sessions where id = $1 for update`, class); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { _, err := h.app.Book(leaving, mia, request); gone <- err }()
	h.app.AwaitWaiting(h.Tenant, 0)
	behind := make(chan error, 1)
	go func() { _, err := h.book(noa, class); behind <- err }()
	h.app.AwaitWaiting(h.Tenant, 1)
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
	again, key := under(t, "k", "book", "")
	place, err := h.app.Book(again, mia, request)
	if err != nil || place.Booking == nil || !key.Repeated {
		t.Errorf("%+v, repeated: %v, %v", place, key.Repeated, err)
	}
	if n := h.count(`select count(*) from bookings where member_id = $1`, mia.Member); n != 1 {
		t.Errorf("%d bookings", n)
	}
	h.wantSound()
}

// A node does not get into its own way: a crowd that books one session needs no second attempt. Two nodes that do the same do.
func TestANodeDoesNotFightItself(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"one node": false, "two nodes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, registry := new(arena), prometheus.NewRegistry()
			h := newHouse(t, func(c *pg.Config) { c.Tracer, c.Registerer = a, registry })
			class := h.session(slot{Capacity: 100})
			const people = 60
			crowd := make([]tenant.Caller, people)
			for i := range crowd {
				crowd[i] = h.member("One of many")
			}
			if elsewhere {
				first := func(who tenant.Caller) func() {
					return func() {
						if _, err := h.elsewhere().book(who, class); err != nil {
							t.Error(err)
						}
					}
				}
				a.race(first(h.member("Mia")), first(h.member("Noa")))
			}
			together(people, func(i int) {
				if _, err := h.book(crowd[i], class); err != nil {
					t.Error(err)
				}
			})
			if n := retriesFor(t, registry, "40001") + retriesFor(t, registry, "40P01"); (n > 0) != elsewhere {
				t.Errorf("%v retries", n)
			}
			h.wantSound()
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
	if queries := data.Batch.QueuedQueries; len(queries) > 0 && strings.HasPrefix(queries[0].SQL, "begin isolation level serializable") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.began = append(l.began, l.waited[conn])
		l.waited[conn] = false
	}
	return ctx
}

func (*lines) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (*lines) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*lines) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// A node that is alone with its sessions asks nobody. Once another got into its way, its transactions stand in line before they begin, for
// a while, so that what they read then is what was committed last.
func TestNodesStandInLineOnceTheyMet(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := &lines{waited: make(map[*pgx.Conn]bool)}
	h := newHouse(t, func(c *pg.Config) { c.Tracer = l })
	class := h.session(slot{})
	since := func() []bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		began := l.began
		l.began = nil
		return began
	}
	since()
	h.mustBook(h.member("Before"), class)
	if began := since(); len(began) != 1 || began[0] {
		t.Errorf("alone: stood in line %v", began)
	}

	// Somebody else changes the session between what a booking reads and what it writes.
	rival, err := h.db.Owner.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rival.Rollback(ctx) }()
	if _, err := rival.Exec(ctx, `update sessions set capacity = capacity where id = $1`, class); err != nil {
		t.Fatal(err)
	}
	slowed := h.member("Slowed")
	booked := make(chan error, 1)
	go func() { _, err := h.book(slowed, class); booked <- err }()
	for blocked := 0; blocked == 0; {
		blocked = h.count(`select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`, rival.Conn().PgConn().PID())
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
	h.mustBook(h.member("Next"), class)
	if began := since(); len(began) != 1 || !began[0] {
		t.Errorf("after they met: stood in line %v", began)
	}
	h.clock.Set(h.clock.Now().Add(time.Minute))
	h.mustBook(h.member("Later"), class)
	if began := since(); len(began) != 1 || began[0] {
		t.Errorf("a minute later: stood in line %v", began)
	}
	h.wantSound()
}
