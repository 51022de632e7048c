package waitlists_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// teeOff is a start for which booking opens a day after testkit.Noon, with the default advance window.
var teeOff = testkit.Noon.Add(31 * 24 * time.Hour)

var opens = testkit.Noon.Add(24 * time.Hour)

// teeSheet creates a session of four, and five entries for its day.
func teeSheet(studio *testkit.Studio) (tenant.SessionID, []tenant.Caller, []tenant.EntryID) {
	studio.T.Helper()
	class := studio.AddSession(testkit.Session{Starts: teeOff, Capacity: 4, Waitlist: 50})
	who, ids := studio.AddWaiters(5, studio.ForWindow("2026-04-16", "2026-04-16", "00:00", "23:00"))
	return class, who, ids
}

func statuses(studio *testkit.Studio, ids []tenant.EntryID) (all []waitlist.Status) {
	studio.T.Helper()
	for _, id := range ids {
		all = append(all, studio.Entry(id).Status)
	}
	return all
}

var (
	firstTwo = []waitlist.Status{
		waitlist.Offered, waitlist.Offered, waitlist.Waiting, waitlist.Waiting, waitlist.Waiting,
	}
	nobody = slices.Repeat([]waitlist.Status{waitlist.Waiting}, 5)
)

// openings returns the decisions that were made when booking opened.
func openings(studio *testkit.Studio, class tenant.SessionID) (all []int) {
	studio.T.Helper()
	for _, d := range studio.Decisions(class) {
		if d.Case.Trigger == waitlist.ByOpening {
			all = append(all, d.Decision.Given)
		}
	}
	return all
}

// A tee sheet opens, with the defaults: four seats, five entries. Two are offered, and two can be booked by anyone.
func TestOpening_OffersHalfOfTheSeats(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]func(*testkit.Studio, tenant.SessionID){
		"by an alarm": func(studio *testkit.Studio, _ tenant.SessionID) {
			expect.OK(studio.T)(studio.App.Housekeeping.FillDue(context.Background(), studio.Tenant))
		},
		"by a sweep": func(studio *testkit.Studio, _ tenant.SessionID) { studio.Sweep() },
		"by a booking that is refused, and another": func(studio *testkit.Studio, class tenant.SessionID) {
			_, err := studio.App.Bookings.Book(context.Background(), studio.AddMember("Crowd"), bookings.BookRequest{
				Session: class, Party: 3, Channel: catalog.Online, RefuseFull: true,
			})
			expect.Reason(studio.T, fault.SessionFull)(err)
			test.Eq(studio.T, nobody, statuses(studio, allEntries(studio)))
			studio.Sweep()
		},
	}, func(studio *testkit.Studio, open func(*testkit.Studio, tenant.SessionID)) {
		class, _, ids := teeSheet(studio)
		studio.Clock.Set(opens.Add(-time.Second))
		studio.Sweep()
		test.Eq(studio.T, nobody, statuses(studio, ids))
		studio.Clock.Set(opens)
		open(studio, class)
		test.Eq(studio.T, firstTwo, statuses(studio, ids))
		test.Eq(studio.T, []int{2}, openings(studio, class))
		studio.Sweep()
		expect.OK(studio.T)(studio.App.Housekeeping.FillDue(context.Background(), studio.Tenant))
		test.Eq(studio.T, []int{2}, openings(studio, class), test.Sprint("once"))
		studio.MustBook(studio.AddMember("Pia"), class)
		studio.MustBook(studio.AddMember("Leo"), class)
		test.EqOp(studio.T, 4, studio.SeatsTaken(class))
		_, err := studio.App.Bookings.Book(context.Background(), studio.AddMember("Noa"), bookings.BookRequest{
			Session: class, Party: 1, Channel: catalog.Online, RefuseFull: true,
		})
		expect.Reason(studio.T, fault.SessionFull)(err)
		studio.WantSound()
	})
}

func allEntries(studio *testkit.Studio) (ids []tenant.EntryID) {
	studio.T.Helper()
	query := waitlistdb.EntryQuery{Statuses: []waitlist.Status{waitlist.Waiting, waitlist.Offered}, Limit: 100}
	for _, e := range expect.Value(studio.App.Waitlists.ListWaitlistEntries(
		context.Background(), studio.Owner, query,
	))(studio.T) {
		ids = append(ids, e.ID)
	}
	return ids
}

// Whoever books or holds in the instant in which booking opens comes after those who waited. If one of them books, that
// accepts the offer.
func TestOpening_ComesBeforeTheFirstBooking(t *testing.T) {
	t.Parallel()
	type row struct{ hold, waits bool }
	testkit.Each(t, map[string]row{
		"booking": {}, "holding": {hold: true}, "one who waits": {waits: true},
	}, func(studio *testkit.Studio, tt row) {
		class, waiters, ids := teeSheet(studio)
		studio.Clock.Set(opens)
		who, want := studio.AddMember("Pia"), firstTwo
		if tt.waits {
			who, want = waiters[0], slices.Concat([]waitlist.Status{waitlist.Booked}, firstTwo[1:])
		}
		expect.OK(studio.T)(studio.App.Bookings.Book(context.Background(), who, bookings.BookRequest{
			Session: class, Party: 1, Channel: catalog.Online, Hold: tt.hold,
		}))
		test.Eq(studio.T, want, statuses(studio, ids))
		test.Eq(studio.T, []int{2}, openings(studio, class))
		test.EqOp(studio.T, map[bool]int{false: 3, true: 2}[tt.waits], studio.SeatsTaken(class))
		studio.Sweep()
		test.Eq(studio.T, []int{2}, openings(studio, class))
		studio.WantSound()
	})
}

// Who moves a booking to a session that opens now comes after those who waited, too.
func TestOpening_ComesBeforeBookingsThatMoveIn(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, _, ids := teeSheet(studio)
	pia := studio.AddMember("Pia")
	moving := studio.MustBook(pia, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(10 * 24 * time.Hour)}))
	studio.Clock.Set(opens)
	expect.OK(t)(studio.App.Bookings.RescheduleBooking(context.Background(), pia, bookings.RescheduleRequest{
		ID: moving, To: class,
	}))
	test.Eq(t, firstTwo, statuses(studio, ids))
	test.EqOp(t, 3, studio.SeatsTaken(class))
}

// Entries that wait when a session is created before booking opens get nothing until then. One that is created after
// that is given to them as any that is published.
func TestOpening_AwaitsSessionsThatAreCreatedEarly(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	_, ids := studio.AddWaiters(5, studio.ForWindow("2026-04-16", "2026-04-16", "00:00", "23:00"))
	class := studio.AddSession(testkit.Session{Starts: teeOff, Capacity: 4})
	test.Eq(t, nobody, statuses(studio, ids))
	test.EqOp(t, waitlist.VerdictReason(fault.AdvanceWindow), studio.Entry(ids[0]).PassedOver)
	test.EqOp(t, "", studio.LastDecision(class).Note, test.Sprint("staff have nothing to do"))
	studio.Clock.Set(opens)
	studio.Sweep()
	test.Eq(t, firstTwo, statuses(studio, ids))
	studio.Clock.Set(opens.Add(time.Hour))
	studio.Sweep() // two offers have expired, and two others are live
	late := studio.AddSession(testkit.Session{Starts: teeOff.Add(time.Hour), Capacity: 4})
	test.EqOp(t, 3, studio.LastDecision(late).Decision.Given)
	test.SliceEmpty(t, openings(studio, late))
}

// The opening follows the policy and the start. What a member declines is given on, the other half stays open to all.
func TestOpening_FollowsEdits(t *testing.T) {
	t.Parallel()
	window := func(studio *testkit.Studio, days int) {
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AdvanceWindow = new(time.Duration(days) * 24 * time.Hour) })
	}
	testkit.Each(t, map[string]func(*testkit.Studio, tenant.SessionID){
		"a longer window": func(studio *testkit.Studio, _ tenant.SessionID) {
			window(studio, 40)
			expect.OK(studio.T)(studio.App.Waitlists.FillAfterEdits(context.Background(), studio.Tenant))
			studio.Sweep()
		},
		"a shorter window": func(studio *testkit.Studio, class tenant.SessionID) {
			window(studio, 29)
			studio.Clock.Set(opens)
			studio.Sweep()
			test.SliceEmpty(studio.T, openings(studio, class))
			studio.Clock.Set(opens.Add(24 * time.Hour))
			studio.Sweep()
		},
		"an earlier start": func(studio *testkit.Studio, class tenant.SessionID) {
			studio.Clock.Set(opens.Add(-time.Hour))
			at := teeOff.Add(-2 * time.Hour)
			studio.EditSession(class, session.Input{StartsAt: at}, session.StartField)
		},
	}, func(studio *testkit.Studio, edit func(*testkit.Studio, tenant.SessionID)) {
		class, waiters, ids := teeSheet(studio)
		edit(studio, class)
		must.Eq(studio.T, []int{2}, openings(studio, class))
		if statuses(studio, ids)[2] == waitlist.Offered {
			return // the session was moved, and what is open then goes to the waitlist, too
		}
		expect.OK(studio.T)(studio.App.Waitlists.DeclineWaitlistOffer(
			context.Background(), waiters[0], studio.LiveOffer(ids[0]).ID, false, "",
		))
		test.Eq(studio.T, []waitlist.Status{
			waitlist.Waiting, waitlist.Offered, waitlist.Offered, waitlist.Waiting, waitlist.Waiting,
		}, statuses(studio, ids))
		test.EqOp(studio.T, 2, studio.SeatsTaken(class))
		studio.WantSound()
	})
}

// At night the offers of an opening last until the morning, as others do.
func TestOpening_RespectsQuietHours(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) { s.OffersInQuietHours = nil })
	starts := testkit.UTC("2026-04-16T22:00:00Z") // midnight in Berlin, also a month before
	class := studio.AddSession(testkit.Session{Starts: starts, Capacity: 2})
	_, ids := studio.AddWaiters(2, studio.ForWindow("2026-04-17", "2026-04-17", "00:00", "23:00"))
	studio.Clock.Set(starts.Add(-30 * 24 * time.Hour))
	studio.Sweep()
	test.Eq(t, []int{1}, openings(studio, class))
	test.EqOp(t, testkit.UTC("2026-03-18T07:30:00Z"), studio.LiveOffer(ids[0]).ExpiresAt.UTC())
}

// Two nodes see the opening at the same moment, before either fills it. Serializable transactions make one of them wait
// for the other. Without them, both give half.
func TestOpening_HappensOnceOnTwoNodes(t *testing.T) {
	t.Parallel()
	type row struct {
		careless bool
		want     []int
	}
	for name, tt := range map[string]row{
		"guarded": {want: []int{2}}, "unguarded": {careless: true, want: []int{2, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := new(testkit.Barrier)
			studio := testkit.New(t, func(c *pg.Config) { c.Tracer = a })
			class, _, ids := teeSheet(studio)
			studio.Clock.Set(opens)
			if a.ReadCommitted = tt.careless; a.ReadCommitted {
				studio.Exec(`drop index waitlist_offers_live`)
			}
			node := func() {
				other := onClock(studio, studio.Clock.Now())
				expect.OKOr(t, fault.Contention)(other.Waitlists.FillOpenings(context.Background(), studio.Tenant))
			}
			a.Run(node, node)
			a.ReadCommitted = false
			test.Eq(t, tt.want, openings(studio, class))
			if !tt.careless {
				test.Eq(t, firstTwo, statuses(studio, ids))
				studio.WantSound()
			}
		})
	}
}

// A crowd books at the opening on two nodes, while both nodes fill it.
func TestOpening_GivesHalfToWhoWaitedInACrowd(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, _, ids := teeSheet(studio)
	crowd := make([]tenant.Caller, 20)
	for i := range crowd {
		crowd[i] = studio.AddMember("One of many")
	}
	studio.Clock.Set(opens)
	nodes := []*app.Services{onClock(studio, opens), onClock(studio, opens)}
	var together testkit.Barrier
	var run []func()
	for i, who := range crowd {
		run = append(run, func() {
			_, err := nodes[i%2].Bookings.Book(context.Background(), who, bookings.BookRequest{
				Session: class, Party: 1, Channel: catalog.Online, RefuseFull: true,
			})
			if r := fault.ReasonOf(err); err != nil && r != fault.SessionFull && r != fault.Contention {
				t.Errorf("booking: %v", err)
			}
		})
	}
	for _, node := range nodes {
		run = append(run, func() {
			expect.OKOr(t, fault.Contention)(node.Waitlists.FillOpenings(context.Background(), studio.Tenant))
		})
	}
	together.Run(run...)
	test.Eq(t, []int{2}, openings(studio, class))
	test.Eq(t, firstTwo, statuses(studio, ids))
	test.EqOp(t, 4, studio.SeatsTaken(class))
	studio.WantSound()
}
