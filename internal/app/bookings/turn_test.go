package bookings_test

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
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// turn is a session that is about to change, and the members whom the change is about.
type turn struct {
	*testkit.Studio

	class, other tenant.SessionID
	mia, holder  tenant.Caller
	place, taken tenant.BookingID // of Mia and of the holder
	until        time.Time        // when the hold expires
	entry        tenant.EntryID
	offer        waitlist.Offer
}

// What Mia has when her turn comes.
const (
	free = iota
	held
	booked
	bookedOther // in the other session
	full        // nothing: the holder has the only seat
	waits
	offered
)

func newTurn(t *testing.T, has int) *turn {
	t.Helper()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	s := &turn{
		Studio: studio, mia: studio.AddMember("Mia"), class: studio.AddSession(testkit.Session{}),
		other: studio.AddSession(testkit.Session{}),
	}
	switch has {
	case held:
		hold := s.MustHold(s.mia, s.class)
		s.place, s.until = hold.ID, *hold.HoldUntil
	case booked:
		s.place = s.MustBook(s.mia, s.class)
	case bookedOther:
		s.place = s.MustBook(s.mia, s.other)
	case full, waits, offered:
		class, holders, taken := s.AddFullSession(1)
		s.class, s.holder, s.taken = class, holders[0], taken[0]
	}
	if has >= waits {
		who, entries := s.AddWaiters(1, testkit.ForSessions(s.class))
		s.mia, s.entry = who[0], entries[0]
	}
	if has == offered {
		s.MustCancel(s.holder, s.taken)
		s.offer = s.LiveOffer(s.entry)
	}
	return s
}

// Whatever gives or takes seats of a session waits while another transaction about it is under way on the same node.
func TestOperations_OnSeatsRunInOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, tt := range map[string]struct {
		has int
		act func(s *turn) error
	}{
		"book":    {free, func(s *turn) error { return expect.Error(s.Book(s.mia, s.class)) }},
		"hold":    {free, func(s *turn) error { return expect.Error(s.Hold(s.mia, s.class)) }},
		"confirm": {held, func(s *turn) error { return expect.Error(s.Confirm(s.mia, s.place)) }},
		"release": {held, func(s *turn) error {
			return expect.Error(s.App.Bookings.ReleaseHold(ctx, testkit.SelfOnly(s.mia), s.place))
		}},
		"cancel": {booked, func(s *turn) error { return expect.Error(s.Cancel(s.mia, s.place)) }},
		"reschedule from": {booked, func(s *turn) error {
			return expect.Error(s.Reschedule(testkit.SelfOnly(s.mia), s.place, s.other))
		}},
		"reschedule to": {bookedOther, func(s *turn) error {
			return expect.Error(s.Reschedule(testkit.SelfOnly(s.mia), s.place, s.class))
		}},
		"holds that run out": {held, func(s *turn) error {
			s.Clock.Set(s.until)
			return expect.Error(s.App.Waitlists.ExpireHolds(ctx, s.Tenant))
		}},
		"join the waitlist": {full, func(s *turn) error {
			return expect.Error(s.Join(s.mia, testkit.ForSessions(s.class)))
		}},
		"leave the waitlist": {waits, func(s *turn) error {
			return expect.Error(s.App.Waitlists.LeaveWaitlist(ctx, testkit.SelfOnly(s.mia), s.entry, "", false))
		}},
		"promote": {waits, func(s *turn) error { return expect.Error(s.Cancel(s.holder, s.taken)) }},
		"accept":  {offered, func(s *turn) error { return expect.Error(s.Accept(s.mia, s.offer)) }},
		"decline": {offered, func(s *turn) error { return expect.Error(s.Decline(s.mia, s.offer, true)) }},
		"end an offer": {offered, func(s *turn) error {
			return expect.Error(s.App.Waitlists.ExpireWaitlistOffer(ctx, s.Owner, s.offer.ID, ""))
		}},
		"offers that run out": {offered, func(s *turn) error {
			s.Clock.Set(s.offer.ExpiresAt)
			return expect.Error(s.App.Waitlists.ExpireDueOffers(ctx, s.Tenant))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTurn(t, tt.has)
			if name == "promote" {
				s.SetMode(waitlist.AutoPromote)
			}
			if tt.has != full {
				s.Exec(`update sessions set capacity = capacity + 10 where id = $1`, s.class)
			}
			release := occupy(s.Studio, s.class)
			done := make(chan error, 1)
			go func() { done <- tt.act(s) }()
			for testkit.Queued(s.App, s.Tenant) == 0 {
				must.EqOp(t, 0, len(done), must.Sprint("it did not wait"))
				runtime.Gosched()
			}
			release()
			test.NoError(t, <-done)
		})
	}
}

// occupy keeps a transaction about a session in progress until it is released.
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
func TestBook_RetryWithTheKeyReturnsTheResultAfterLeaving(t *testing.T) {
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
	go func() { gone <- expect.Error(studio.App.Bookings.Book(leaving, mia, request)) }()
	testkit.AwaitQueued(studio.App, studio.Tenant, 0)
	behind := make(chan error, 1)
	go func() { behind <- expect.Error(studio.Book(noa, class)) }()
	testkit.AwaitQueued(studio.App, studio.Tenant, 1)
	leave()
	test.ErrorIs(t, <-gone, context.Canceled, test.Sprint("who gave up was told"))
	must.NoError(t, block.Commit(t.Context()))
	must.NoError(t, <-behind) // and so it is settled what came before
	again, key := testkit.WithKey(t, "k", "book", "")
	result := expect.Value(studio.App.Bookings.Book(again, mia, request))(t)
	test.NotNil(t, result.Booking, test.Sprintf("%+v, repeated: %v", result, key.Repeated))
	test.True(t, key.Repeated, test.Sprintf("%+v, repeated: %v", result, key.Repeated))
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
					return func() { expect.OK(t)(studio.OtherNode().Book(who, class)) }
				}
				a.Run(first(studio.AddMember("Mia")), first(studio.AddMember("Noa")))
			}
			test.NoError(t, errors.Join(testkit.ParallelErrors(people, func(i int) error {
				return expect.Error(studio.Book(crowd[i], class))
			})...))
			n := testkit.RetriesFor(t, registry, "40001") + testkit.RetriesFor(t, registry, "40P01")
			test.EqOp(t, twoNodes, (n > 0), test.Sprintf("%v retries", n))
		})
	}
}

// A node that is alone with its sessions takes no advisory locks. After a conflict with another node, its transactions
// take them before they begin, for a while, so that they read what was committed last.
func TestNodes_TakeAdvisoryLocksAfterConflicts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var (
		mu    sync.Mutex
		began []bool // for each transaction that writes, in order: whether it took advisory locks before it began
	)
	waited := make(map[*pgx.Conn]bool)
	studio := testkit.New(t, func(c *pg.Config) {
		c.Tracer = &pgtest.Tracer{
			Query: func(conn *pgx.Conn, sql string) {
				mu.Lock()
				defer mu.Unlock()
				waited[conn] = waited[conn] || strings.Contains(sql, "pg_advisory_lock(")
			},
			Batch: func(_ context.Context, conn *pgx.Conn, statements []*pgx.QueuedQuery) {
				mu.Lock()
				defer mu.Unlock()
				if strings.HasPrefix(statements[0].SQL, "begin isolation level serializable") {
					began, waited[conn] = append(began, waited[conn]), false
				}
			},
		}
	})
	class := studio.AddSession(testkit.Session{})
	before, slowed := studio.AddMember("Before"), studio.AddMember("Slowed")
	next, later := studio.AddMember("Next"), studio.AddMember("Later")
	since := func() []bool {
		mu.Lock()
		defer mu.Unlock()
		of := began
		began = nil
		return of
	}
	since()
	studio.MustBook(before, class)
	test.Eq(t, []bool{false}, since(), test.Sprint("alone"))

	// Another transaction changes the session between the reads and the writes of a booking.
	rival := expect.Value(studio.DB.Owner.Begin(ctx))(t)
	defer func() { _ = rival.Rollback(ctx) }()
	expect.OK(t)(rival.Exec(ctx, `update sessions set capacity = capacity where id = $1`, class))
	booked := make(chan error, 1)
	go func() { booked <- expect.Error(studio.Book(slowed, class)) }()
	for blocked := 0; blocked == 0; {
		blocked = studio.Count(
			`select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`, rival.Conn().PgConn().PID(),
		)
	}
	must.NoError(t, rival.Commit(ctx))
	must.NoError(t, <-booked)
	must.EqOp(t, 2, len(since()), must.Sprint("attempts"))
	studio.MustBook(next, class)
	test.Eq(t, []bool{true}, since(), test.Sprint("after a conflict"))
	studio.Clock.Advance(time.Minute)
	studio.MustBook(later, class)
	test.Eq(t, []bool{false}, since(), test.Sprint("a minute later"))
	studio.WantSound()
}
