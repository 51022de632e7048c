package waitlists_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/lab/history"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Fifty engines, on nodes of their own, have all seen one freed seat before any of them gives it away: they make one
// offer. Serializable transactions guard it, and what the database refuses by itself: more seats than there are, and
// two live offers to one entry. Without either they offer it again and again.
func TestFill_FiftyConcurrentFillsMakeOneOffer(t *testing.T) {
	t.Parallel()
	const engines = 50
	for name, tt := range map[string]struct {
		careless, unchecked bool
		once                bool
	}{
		"guarded":               {once: true},
		"by the isolation only": {unchecked: true, once: true},
		"unguarded":             {careless: true, unchecked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := new(testkit.Barrier)
			studio := testkit.New(t, func(c *pg.Config) { c.Tracer, c.CommandConns = a, engines })
			studio.SetMode(waitlist.OfferInTurn)
			class, _, booked := studio.AddFullSession(1)
			studio.AddWaiters(5, testkit.ForSessions(class))
			cancelUnnoticed(studio, booked[0])
			if tt.unchecked {
				studio.Exec(`alter table sessions drop constraint sessions_capacity`)
				studio.Exec(`drop index waitlist_offers_live`)
			}
			a.ReadCommitted = tt.careless
			engine := func() {
				node := onClock(studio, studio.Clock.Now())
				expect.OKOr(t, fault.Contention)(node.Housekeeping.SweepTenant(context.Background(), studio.Tenant))
			}
			a.Run(slices.Repeat([]func(){engine}, engines)...)
			offers := studio.Count(`select count(*) from waitlist_offers where session_id = $1`, class)
			decisions := len(studio.Decisions(class))
			test.EqOp(t, tt.once, (offers == 1), test.Sprintf("%d offers by %d decisions", offers, decisions))
			test.EqOp(t, offers, decisions, test.Sprintf("%d offers by %d decisions", offers, decisions))
			sound := len(studio.Violations()) == 0
			test.EqOp(
				t, tt.once, sound, test.Sprintf("sound: %v, with %d seats of one taken", sound, studio.SeatsTaken(class)),
			)
		})
	}
}

// Seats of two sessions are freed on two nodes at the same moment, and an entry waits for either session. It gets one
// offer, and both cancellations succeed. Without the index of live offers and serializable transactions it gets two.
// Of two desks that offer it a seat by hand, the second is told that it has one. The sessions are on two days, so that
// their queues do not conflict first.
func TestFill_OffersOnceToEntryForTwoSessions(t *testing.T) {
	t.Parallel()
	type row struct {
		careless, byHand bool
		offers           int
	}
	testkit.EachRace(t, map[string]row{
		"guarded": {offers: 1}, "unguarded": {careless: true, offers: 2}, "by hand": {byHand: true, offers: 1},
	}, func(a *testkit.Barrier, studio *testkit.Studio, tt row) {
		studio.SetMode(waitlist.OfferInTurn)
		first, who, booked := studio.AddFullSession(1)
		second, others, there := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)))
		_, entries := studio.AddWaiters(1, testkit.ForSessions(first, second))
		if a.ReadCommitted = tt.careless; a.ReadCommitted {
			studio.Exec(`drop index waitlist_offers_live`)
		}
		offer := func(to tenant.SessionID) func() {
			return func() {
				request := waitlists.OfferRequest{Session: to, Entry: entries[0]}
				expect.OKOr(studio.T, fault.WaitlistEntryState)(
					studio.App.Waitlists.CreateWaitlistOffer(context.Background(), studio.Owner, request))
			}
		}
		giveUp := func(who tenant.Caller, id tenant.BookingID) func() {
			node := onClock(studio, studio.Clock.Now())
			return func() {
				expect.OK(studio.T)(node.Bookings.CancelBooking(
					context.Background(), testkit.SelfOnly(who), bookings.CancelRequest{ID: id},
				))
			}
		}
		if tt.byHand {
			cancelUnnoticed(studio, booked[0])
			cancelUnnoticed(studio, there[0])
			a.Run(offer(first), offer(second))
		} else {
			a.Run(giveUp(who[0], booked[0]), giveUp(others[0], there[0]))
		}
		studio.WantOnce(tt.offers, `select count(*) from waitlist_offers where status = 'LIVE'`)
	})
}

// Staff at two desks, who have both read a seat as free, offer it to different people.
func TestOfferPlace_ConcurrentCallsOfferASeatOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		careless bool
		offers   int
	}
	testkit.EachRace(t, map[string]row{"guarded": {false, 1}, "unguarded": {true, 2}}, func(
		a *testkit.Barrier, studio *testkit.Studio, tt row,
	) {
		studio.SetMode(waitlist.OfferInTurn)
		class, _, booked := studio.AddFullSession(1)
		_, entries := studio.AddWaiters(2, testkit.ForSessions(class))
		cancelUnnoticed(studio, booked[0])
		if a.ReadCommitted = tt.careless; a.ReadCommitted {
			studio.Exec(`alter table sessions drop constraint sessions_capacity`)
		}
		byHand := func(e tenant.EntryID) func() {
			return func() {
				_, err := studio.App.Waitlists.CreateWaitlistOffer(
					context.Background(), studio.Owner, waitlists.OfferRequest{Session: class, Entry: e},
				)
				test.False(studio.T, err != nil && fault.ReasonOf(err) != fault.SessionFull, test.Sprint(err))
			}
		}
		a.Run(byHand(entries[0]), byHand(entries[1]))
		studio.WantOnce(tt.offers, `select count(*) from waitlist_offers where session_id = $1`, class)
	})
}

// At the instant at which an offer runs out, accepting it and ending it have one winner. Two nodes, between whose
// clocks it runs out, do both.
func TestAcceptOffer_RacesWithExpiry(t *testing.T) {
	t.Parallel()
	contest := func(studio *testkit.Studio, a *testkit.Barrier) (status waitlist.OfferStatus, told error) {
		class, who, booked := studio.AddFullSession(1)
		waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
		studio.MustCancel(who[0], booked[0])
		o := studio.LiveOffer(entries[0])
		in, out := onClock(studio, o.ExpiresAt.Add(-time.Microsecond)), onClock(studio, o.ExpiresAt)
		a.Run(
			func() {
				_, told = in.Waitlists.AcceptWaitlistOffer(
					context.Background(), testkit.SelfOnly(waiters[0]), o.ID, tenant.SubscriptionID{},
				)
			},
			func() {
				expect.OK(studio.T)(out.Waitlists.ExpireDueOffers(context.Background(), studio.Tenant))
			})
		return studio.Offers(class)[0].Status, told
	}
	t.Run("guarded", func(t *testing.T) {
		t.Parallel()
		a, studio := testkit.NewRace(t)
		studio.SetMode(waitlist.OfferInTurn)
		for range 4 {
			switch status, told := contest(studio, a); {
			case told == nil && status != waitlist.Accepted, told != nil && status != waitlist.RanOut:
				t.Errorf("the answer was %v, the offer is %s", told, status)
			case told != nil:
				expect.Reason(t, fault.WaitlistOfferNotLive)(told)
			}
		}
	})
	t.Run("unguarded", func(t *testing.T) {
		t.Parallel()
		a, studio := testkit.NewRace(t)
		studio.SetMode(waitlist.OfferInTurn)
		a.ReadCommitted = true
		studio.Exec(`alter table sessions drop constraint sessions_capacity`)
		studio.Exec(`alter table waitlist_offers drop constraint waitlist_offers_check1`) // accepted is booked
		studio.Exec(`alter table waitlist_entries drop constraint waitlist_entries_check4`)
		studio.Exec(`alter table waitlist_entries drop constraint waitlist_entries_check3`)
		_, _ = contest(studio, a)
		test.NotEqOp(t, 0, len(studio.Violations()), test.Sprint("without its guards the race breaks nothing"))
	})
}

// Two nodes that find the same expired offer end it once, and one of them counts it.
func TestExpireDueOffers_EndsAnOfferOnce(t *testing.T) {
	t.Parallel()
	a, studio := testkit.NewRace(t)
	studio.SetMode(waitlist.OfferInTurn)
	class, _, o := offered(studio)
	var ended, late atomic.Int64
	end := func() {
		node := onClock(studio, o.ExpiresAt.Add(time.Minute))
		expired, overdue, err := node.Waitlists.ExpireDueOffers(context.Background(), studio.Tenant)
		test.NoError(t, err)
		ended.Add(int64(expired))
		late.Add(int64(overdue))
	}
	a.Run(end, end)
	test.EqOp(t, 1, ended.Load())
	test.EqOp(t, 1, late.Load())
	test.SliceLen(t, 2, studio.Offers(class))
}

// A member who joins a waitlist on two nodes at the same moment waits once, and the other request is told of the
// entry. So it is if only the index of active places guards it.
func TestJoinWaitlist_ConcurrentCallsJoinOnce(t *testing.T) {
	t.Parallel()
	testkit.EachRace(t, map[string]bool{"guarded": false, "by the index": true}, func(
		a *testkit.Barrier, studio *testkit.Studio, careless bool,
	) {
		class, _, _ := studio.AddFullSession(1)
		mia := studio.AddMember("Mia")
		a.ReadCommitted = careless
		var errs [2]error
		join := func(i int) func() {
			node := &testkit.Studio{T: studio.T, App: onClock(studio, studio.Clock.Now()), Clock: studio.Clock}
			return func() { errs[i] = expect.Error(node.Join(mia, testkit.ForSessions(class))) }
		}
		a.Run(join(0), join(1))
		told := expect.Reason(studio.T, fault.AlreadyBooked)(cmp.Or(errs[0], errs[1]))
		test.EqOp(studio.T, studio.Text(`select id::text from waitlist_entries`), told.Metadata["entry_id"])
	})
}

// onClock is another node, on whose clock it is so late.
func onClock(studio *testkit.Studio, now time.Time) *app.Services {
	claims := expect.Value(waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes")))(studio.T)
	return app.New(app.Config{DB: studio.DB.DB, Now: func() time.Time { return now }, Claims: claims})
}

// Four who claim one seat of which all were told: one gets it, the others hear that it is gone. Serializable
// transactions guard it; without them several get it, which neither a constraint nor a counter notices, but what they
// were told tells.
func TestClaimOffer_FourConcurrentClaimsBookOnce(t *testing.T) {
	t.Parallel()
	testkit.EachRace(t, map[string]bool{"guarded": false, "unguarded": true}, func(
		a *testkit.Barrier, studio *testkit.Studio, careless bool,
	) {
		a.ReadCommitted, a.MeetAtInsert = careless, true
		studio.SetMode(waitlist.FirstToClaim)
		class, who, booked := studio.AddFullSession(1)
		waiters, entries := studio.AddWaiters(4, testkit.ForSessions(class))
		studio.MustCancel(who[0], booked[0])
		// What they were told, with the order of what came one after the other.
		told := []history.Operation{
			{Kind: history.Book, Place: 1, Member: 1, Outcome: history.Booked, Called: 0, Returned: 1},
			{Kind: history.Cancel, Place: 1, Member: 1, Outcome: history.Done, Called: 12, Returned: 13},
		}
		var claims []func()
		answers := make([]history.Operation, len(waiters))
		for i, e := range entries {
			at := time.Duration(2 + 2*i)
			told = append(
				told,
				history.Operation{
					Kind: history.Book, Place: 2 + i, Member: 2 + i, Outcome: history.Waits, Called: at, Returned: at + 1,
				},
			)
			live := studio.LiveOffer(e)
			claims = append(claims, func() {
				answers[i] = history.Operation{
					Kind: history.Accept, Place: 2 + i, Member: 2 + i, Offer: 1, Outcome: history.Done, Called: 14, Returned: 20,
				}
				if _, err := (&testkit.Studio{
					T: studio.T, App: onClock(studio, studio.Clock.Now()), Clock: studio.Clock,
				}).Accept(waiters[i], live); err != nil {
					answers[i].Outcome = history.Refused
					test.False(studio.T, fault.ReasonOf(err) != fault.WaitlistOfferNotLive && !careless, test.Sprint(err))
				}
			})
		}
		a.Run(claims...)
		told = append(told, answers...)
		won := 0
		for i := range told {
			told[i].Session, told[i].Party = class.String(), 1
			if told[i].Kind == history.Accept && told[i].Outcome == history.Done {
				won++
			}
		}
		session := history.Session{ID: class.String(), Capacity: 1, Queue: 50, Claims: true}
		verdict := history.CheckSessions([]history.Session{session}, told, time.Minute)
		test.NotEqOp(studio.T, careless, (won == 1),
			test.Sprintf(
				"%d have claimed it; the answers are linearizable: %v; the database is: %v",
				won, verdict.Linearizable(), studio.Violations(),
			))
		test.NotEqOp(studio.T, careless, verdict.Linearizable(),
			test.Sprintf(
				"%d have claimed it; the answers are linearizable: %v; the database is: %v",
				won, verdict.Linearizable(), studio.Violations(),
			))
		test.NotEqOp(studio.T, careless, (len(studio.Violations()) == 0),
			test.Sprintf(
				"%d have claimed it; the answers are linearizable: %v; the database is: %v",
				won, verdict.Linearizable(), studio.Violations(),
			))
	})
}

func TestDeclineOffer_RacesWithCancelSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	for range 5 {
		class, who, booked := studio.AddFullSession(1)
		waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
		studio.MustCancel(who[0], booked[0])
		o := studio.LiveOffer(entries[0])
		testkit.Parallel(2, func(i int) {
			if i == 0 {
				expect.OKOr(t, fault.WaitlistOfferNotLive)(studio.Decline(waiters[0], o, false))
				return
			}
			expect.OK(t)(studio.App.Schedules.CancelSession(context.Background(), studio.Owner, class, schedules.Removal{}))
		})
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Cancelled, entries[1]: waitlist.Cancelled})
		test.EqOp(t, 0, studio.SeatsTaken(class), test.Sprint("seats are taken"))
	}
}

// Two hundred people cancel at the same time on a day with two thousand entries: every seat is filled by one move, and
// no request fails.
func TestFill_TwoHundredConcurrentCancellations(t *testing.T) {
	t.Parallel()
	for _, mode := range []waitlist.Mode{waitlist.OfferInTurn, waitlist.AutoPromote} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			registry, sent := prometheus.NewRegistry(), new(traffic)
			studio := testkit.New(t, func(c *pg.Config) { c.Registerer, c.Tracer = registry, sent })
			studio.SetMode(mode)
			const sessions, seats, waiting = 10, 20, 2000
			ids := make([]tenant.SessionID, sessions)
			for i := range ids {
				ids[i] = studio.AddSession(testkit.Session{
					Starts: testkit.Noon.Add(time.Duration(43+i) * time.Hour), Capacity: seats, Waitlist: waiting,
				})
			}
			all := make([]tenant.BookingID, sessions*seats)
			testkit.Parallel(len(all), func(i int) {
				all[i] = studio.MustBook(studio.AddMember(fmt.Sprint("Holder ", i)), ids[i%sessions])
			})
			queueUp(studio, waiting, ids...)
			studio.WantSound()
			start, before := time.Now(), testkit.RetriesFor(t, registry, "40001")
			statements, trips := sent.statements.Load(), sent.trips.Load()
			testkit.Parallel(len(all), func(i int) {
				expect.OK(t)(studio.App.Bookings.CancelBooking(
					context.Background(), studio.Owner, bookings.CancelRequest{ID: all[i], OverrideWindow: true},
				))
			})
			retries := testkit.RetriesFor(t, registry, "40001") - before
			t.Logf("%d cancellations: %v, %v retries, %d statements in %d round trips", len(all), time.Since(start), retries,
				sent.statements.Load()-statements, sent.trips.Load()-trips)
			test.True(t, retries <= 0, test.Sprintf("%v retries: those who move one line did not take turns", retries))
			test.EqOp(t, len(all), studio.Count(
				`select count(*) from waitlist_decisions where tenant_id = $1 and given = 1 and left_move = ''`, studio.Tenant,
			), test.Sprintf("seats were given, want %d", len(all)))
			want := fmt.Sprint(len(all), " of ", len(all))
			if mode == waitlist.OfferInTurn {
				test.EqOp(t, want, studio.Text(
					`select count(*) || ' of ' || count(distinct entry_id) from waitlist_offers where tenant_id = $1
						and status = 'LIVE'`,
					studio.Tenant,
				), test.Sprint("offers"))
			}
		})
	}
}

// traffic counts what is sent to the database.
type traffic struct{ statements, trips atomic.Int64 }

func (t *traffic) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	t.statements.Add(int64(len(data.Batch.QueuedQueries)))
	t.trips.Add(1)
	return ctx
}

func (t *traffic) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	t.statements.Add(1)
	t.trips.Add(1)
	return ctx
}

func (*traffic) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*traffic) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (*traffic) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// queueUp adds n members to the waitlists of sessions, an entry each, one after the other. It inserts them by SQL: so
// many use cases would take longer than the tests.
func queueUp(studio *testkit.Studio, n int, sessions ...tenant.SessionID) {
	studio.T.Helper()
	studio.Exec(`
with numbered as (select gen_random_uuid() as member, gen_random_uuid() as entry, i,
($2::uuid[])[1 + i % cardinality($2::uuid[])] as session
  from generate_series(1, $3::int) i),
people as (
  insert into members (tenant_id, id, subject, name, name_key, waiting, created_at, updated_at)
  select $1, member, 'line-' || member, 'Waiter ' || i, 'waiter ' || i, 1, $4, $4 from numbered)
insert into waitlist_entries (tenant_id, id, member_id, session_id, party_size, status, join_key, channel, note,
created_by, created_at, updated_at)
select $1, entry, member, session, 1, 'WAITING', (extract(epoch
from $4::timestamptz) * 1000000)::bigint * 1024 + 1024 * i, 'ONLINE', 'in line', 'test', $4, $4
from numbered`, studio.Tenant, sessions, n, testkit.Noon)
	studio.Exec(`
with counts as (
  select s.location_id, s.service_id, s.local_date, count(*) as n, max(e.join_key) as last from waitlist_entries e
  join sessions s on s.tenant_id = e.tenant_id and s.id = e.session_id where e.tenant_id = $1
and e.note = 'in line' and s.id = any($2) group by 1, 2, 3)
insert into waitlist_queues (tenant_id, location_id, service_id, local_date, waiting, last_key)
select $1, location_id, service_id, local_date, n, last from counts`, studio.Tenant, sessions)
	studio.Exec(`
insert into waitlist_places (tenant_id, location_id, service_id, local_date, entry_id, member_id, session_id, join_key)
select e.tenant_id, s.location_id, s.service_id, s.local_date, e.id, e.member_id, s.id, e.join_key
from waitlist_entries e
join sessions s on s.tenant_id = e.tenant_id and s.id = e.session_id where e.tenant_id = $1 and e.note = 'in line'
and s.id = any($2)`, studio.Tenant, sessions)
	studio.Exec(`
update sessions s set waiting = p.n from (select session_id, count(*) as n from waitlist_places
where tenant_id = $1 group by 1) p
where s.tenant_id = $1 and s.id = p.session_id`, studio.Tenant)
}
