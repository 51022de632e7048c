package housekeeping_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// markNoShows turns the policy on for the tenant, so long after the end.
func markNoShows(studio *testkit.Studio, after time.Duration) {
	studio.T.Helper()
	studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AutoNoShow, p.AutoNoShowAfter = new(true), &after })
}

func TestSweep_MarksNoShows(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 45*time.Minute)
	mia, noa, leo := studio.AddMember("Mia"), studio.AddMember("Noa"), studio.AddMember("Leo")
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	absent, came, off := studio.MustBook(mia, s), studio.MustBook(noa, s), studio.MustBook(leo, s)
	expect.OK(t)(studio.Cancel(leo, off))
	studio.Clock.Set(testkit.InTwoDays)
	expect.OK(t)(studio.SelfCheckIn(noa, s, studio.ScanQR(s)))
	due := testkit.InTwoDays.Add(time.Hour + 45*time.Minute)
	studio.Clock.Set(due.Add(-time.Microsecond))
	done := studio.Sweep()
	test.EqOp(t, (housekeeping.SweepResult{}), done, test.Sprintf("too soon: %+v", done))
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(absent), test.Sprintf("too soon: %+v", done))
	studio.Clock.Set(due)
	test.EqOp(t, (housekeeping.SweepResult{NoShows: 1}), studio.Sweep())
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(absent))
	test.EqOp(t, "ATTENDED", studio.BookingStatus(came))
	test.EqOp(t, "CANCELLED", studio.BookingStatus(off))
	test.EqOp(t, "booking.confirmed member, booking.no_show system", studio.BookingEvents(absent))
	test.EqOp(t, 1, studio.Count(`select seats_taken from sessions where id = $1`, s), test.Sprint("seats taken"))
	test.EqOp(t, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("again"))
}

func TestSweep_MarksNoNoShowsWhileCheckInIsOpen(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 0)
	studio.SetPolicyOf(
		settings.PolicyTarget{Service: studio.Service}, func(p *catalog.PolicyLayer) {
			p.CheckInClosesAfterEnd = new(2 * time.Hour)
		},
	)
	mia, s := studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := studio.MustBook(mia, s)
	closes := testkit.InTwoDays.Add(3 * time.Hour)
	studio.Clock.Set(closes.Add(-time.Second))
	test.EqOp(t, 0, studio.Sweep().NoShows)
	expect.OK(t)(studio.SelfCheckIn(mia, s, studio.ScanQR(s)))
	studio.Clock.Set(closes)
	done := studio.Sweep()
	test.EqOp(t, 0, done.NoShows)
	test.EqOp(t, "ATTENDED", studio.BookingStatus(id))
}

func TestSweep_FollowsThePolicyInForce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tenant, location, service *bool // auto_no_show
		want                      int
	}{
		"nothing is recorded":        {nil, nil, nil, 0},
		"the tenant":                 {new(true), nil, nil, 1},
		"not at this location":       {new(true), new(false), nil, 0},
		"for this service after all": {new(true), new(false), new(true), 1},
		"for this service alone":     {nil, nil, new(true), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			for target, says := range map[settings.PolicyTarget]*bool{
				{}: tt.tenant, {Location: studio.Location}: tt.location, {Service: studio.Service}: tt.service,
			} {
				studio.SetPolicyOf(target, func(p *catalog.PolicyLayer) { p.AutoNoShow = says })
			}
			studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
			studio.Clock.Set(testkit.InTwoDays.Add(90 * time.Minute))
			test.EqOp(t, tt.want, studio.Sweep().NoShows)
		})
	}
}

func TestSweep_KeepsNoShowsUndoneByStaff(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 30*time.Minute)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	marked, undone := studio.MustBook(studio.AddMember("Mia"), s), studio.MustBook(studio.AddMember("Noa"), s)
	studio.Clock.Set(testkit.InTwoDays)
	expect.OK(t)(studio.CheckIn(studio.Coach, undone))
	studio.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	must.EqOp(t, 1, studio.Sweep().NoShows)
	// She was there: the coach takes the no-show back, and has all the time of the world to check her in.
	expect.OK(t)(studio.App.Bookings.UndoNoShow(t.Context(), studio.Coach, marked))
	done := studio.Sweep()
	test.EqOp(t, 0, done.NoShows, test.Sprintf("marked again: %+v", done))
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(marked), test.Sprintf("marked again: %+v", done))
	expect.OK(t)(studio.CheckIn(studio.Coach, marked))
	// Noa was checked in by mistake: now she did not come.
	expect.OK(t)(studio.App.Bookings.UndoCheckIn(t.Context(), studio.Coach, undone))
	done = studio.Sweep()
	test.EqOp(t, 1, done.NoShows)
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(undone))
	test.EqOp(t, "ATTENDED", studio.BookingStatus(marked))
}

func TestSweep_MarksNoShowsAfterReschedule(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 30*time.Minute)
	id := studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	studio.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	must.EqOp(t, 1, studio.Sweep().NoShows)
	expect.OK(t)(studio.App.Bookings.UndoNoShow(context.Background(), studio.Coach, id))
	expect.OK(t)(studio.Reschedule(
		studio.Owner, id, studio.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(24 * time.Hour)}),
	))
	studio.Clock.Set(testkit.InTwoDays.Add(26 * time.Hour))
	done := studio.Sweep()
	test.EqOp(t, 1, done.NoShows)
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(id))
}

func TestSweep_MarksNoShowsOnlySinceTheSettingIsOn(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	lastWeek, yesterday := studio.AddSession(testkit.Session{
		Starts: testkit.InTwoDays,
	}), studio.AddSession(testkit.Session{
		Starts: testkit.InTwoDays.Add(6 * 24 * time.Hour),
	})
	old, recent := studio.MustBook(studio.AddMember("Mia"), lastWeek), studio.MustBook(studio.AddMember("Noa"), yesterday)
	studio.Clock.Set(testkit.InTwoDays.Add(6*24*time.Hour + 10*time.Hour))
	markNoShows(studio, 0)
	studio.Sweep()
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(old))
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(recent))
}

func TestSweep_WaitsForTheLongestPolicyAndSession(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 7*24*time.Hour)
	id := studio.MustBook(
		studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays, Minutes: 7 * 24 * 60}),
	)
	studio.Clock.Set(testkit.InTwoDays.Add(14*24*time.Hour - time.Second))
	test.EqOp(t, 0, studio.Sweep().NoShows)
	studio.Clock.Set(testkit.InTwoDays.Add(15 * 24 * time.Hour)) // the last moment at which it is marked
	done := studio.Sweep()
	test.EqOp(t, 1, done.NoShows)
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(id))
}

// Berlin's clocks go forward at 02:00 on 29 March: a class from 23:30 to 00:30, and one from 01:30 for an hour, which
// ends at 03:30 local time. Neither midnight nor the missing hour makes members absent earlier or later.
func TestSweep_OverMidnightAndClockChanges(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 30*time.Minute)
	for i, starts := range []time.Time{testkit.UTC("2026-03-28T22:30:00Z"), testkit.UTC("2026-03-29T00:30:00Z")} {
		studio.Clock.Set(testkit.Noon)
		id := studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: starts}))
		studio.Clock.Set(starts.Add(90*time.Minute - time.Second))
		test.EqOp(t, 0, studio.Sweep().NoShows)
		studio.Clock.Set(starts.Add(90 * time.Minute))
		done := studio.Sweep()
		test.EqOp(t, 1, done.NoShows, test.Sprintf("%d: %+v", i, done))
		test.EqOp(t, "NO_SHOW", studio.BookingStatus(id), test.Sprintf("%d: %+v", i, done))
	}
}

func TestSweep_ContinuesAfterAFullChunk(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 0)
	const people = 230
	big := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays, Capacity: -1})
	testkit.Parallel(people, func(i int) {
		expect.OK(t)(studio.Book(
			studio.AddMember(fmt.Sprint("Guest ", i)), big, func(r *bookings.BookRequest) { r.Party = 2 },
		))
	})
	for i := range 105 {
		studio.MustBook(studio.Coach, studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
		if i < 51 {
			studio.MustHold(studio.Coach, studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
		}
	}
	studio.WantSound()
	studio.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	test.EqOp(t, housekeeping.SweepResult{NoShows: people + 105, Holds: 51}, studio.Sweep())
}

func TestSweep_ConcurrentSweepsDoEverythingOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 0)
	pack := studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1, Period: new(48 * time.Hour)})
	trial := studio.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: new(48 * time.Hour)})
	var packs []credit.Subscription
	for i := range 12 {
		who := studio.AddMember(fmt.Sprintf("Member %d", i))
		packs = append(packs, studio.Subscribe(who, pack))
		studio.Subscribe(studio.AddMember("Trial"), trial)
		studio.MustBook(who, studio.AddSession(testkit.Session{Starts: testkit.Noon.Add(40 * time.Hour)}))
	}
	studio.Clock.Set(testkit.Noon.AddDate(0, 0, -265))
	studio.CreateSeries(schedules.SeriesInput{
		Template: session.Input{Service: studio.Service, Location: studio.Location},
		Pattern:  session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=MO", Date: civil.DateOf(studio.Clock.Now(), time.UTC)},
	})
	known := studio.Count(`select count(*) from sessions where tenant_id = $1 and series_id is not null`, studio.Tenant)
	studio.Clock.Set(testkit.Noon.Add(48 * time.Hour))

	var mu sync.Mutex
	var sum housekeeping.SweepResult
	testkit.Parallel(4, func(int) {
		done := studio.Sweep()
		mu.Lock()
		defer mu.Unlock()
		sum.NoShows += done.NoShows
		sum.Renewed += done.Renewed
		sum.Expired += done.Expired
		sum.Sessions += done.Sessions
	})
	made := studio.Count(
		`select count(*) from sessions where tenant_id = $1 and series_id is not null`, studio.Tenant,
	) - known
	diff := cmp.Diff(
		housekeeping.SweepResult{NoShows: 12, Renewed: 12, Expired: 12, Sessions: made}, sum,
	)
	test.EqOp(t, "", diff, test.Sprintf("made %d\n%s", made, diff))
	test.GreaterEq(t, 30, made, test.Sprintf("made %d\n%s", made, diff))
	for _, s := range packs {
		test.EqOp(t, 1, studio.Balance(s), test.Sprint("balance"))
		test.EqOp(t, 3, studio.Count(`select lines from subscriptions where id = $1`, s.ID),
			test.Sprint("given, booked, given"))
	}
	for kind, want := range map[string]int{"booking.no_show": 12, "credits.changed": 12, "subscription.changed": 24 + 12} {
		test.EqOp(t, want, studio.Count(
			`select count(*) from events where tenant_id = $1 and type = $2`, studio.Tenant, kind,
		), test.Sprintf("of %s, want", kind))
	}
	test.EqOp(t, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("again"))
}

// What changes while a sweep runs counts: it looks at each session again.
func TestSweep_MarksNoNoShowsInSessionsThatChanged(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]string{
		"deleted":                  `update sessions set deleted_at = now() where id <> new.session_id`,
		"put off":                  `update sessions set ends_at = ends_at + interval '2 hours' where id <> new.session_id`,
		"of another policy by now": `update policies set auto_no_show = false`,
	}, func(studio *testkit.Studio, change string) {
		markNoShows(studio, 0)
		for range 2 {
			studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
		}
		studio.Exec(`create function change_session() returns trigger language plpgsql security definer as $$
			begin ` + change + `; return null; end $$`)
		studio.Exec(`create trigger change_session after update on bookings for each row when (new.status = 'NO_SHOW')
			execute function change_session()`)
		studio.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
		test.EqOp(studio.T, 1, studio.Sweep().NoShows)
	})
}

func TestSweep_RacesWithCheckIn(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 0)
	s := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays, Capacity: -1})
	var ids []tenant.BookingID
	for i := range 20 {
		ids = append(ids, studio.MustBook(studio.AddMember(fmt.Sprintf("Member %d", i)), s))
	}
	studio.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	var mu sync.Mutex
	came := map[tenant.BookingID]bool{}
	testkit.Parallel(len(ids)+2, func(i int) {
		if i >= len(ids) {
			studio.Sweep()
			return
		}
		if _, err := studio.CheckIn(studio.Coach, ids[i]); err == nil {
			mu.Lock()
			defer mu.Unlock()
			came[ids[i]] = true
		}
	})
	for _, id := range ids {
		want := "NO_SHOW"
		if came[id] {
			want = "ATTENDED"
		}
		test.EqOp(t, want, studio.BookingStatus(id))
	}
}

func TestSweep_RenewsAndExpiresSubscriptionsOnTime(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	month := 30 * 24 * time.Hour
	renewing := studio.Subscribe(
		studio.AddMember("Mia"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, Period: &month}),
	)
	ending := studio.Subscribe(
		studio.AddMember("Noa"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 8, Term: &month}),
	)
	trial := studio.Subscribe(studio.AddMember("Leo"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	paused := studio.Subscribe(studio.AddMember("Zoe"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	over := studio.Subscribe(studio.AddMember("Ann"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	endless := studio.Subscribe(studio.AddMember("Eva"), studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	for id, to := range map[tenant.SubscriptionID]credit.Status{paused.ID: credit.Paused, over.ID: credit.Cancelled} {
		expect.OK(t)(studio.App.Accounts.SetSubscriptionStatus(context.Background(), studio.Owner, id, to, ""))
	}
	ledger := func(s credit.Subscription) string {
		return studio.Text(
			`select coalesce(string_agg(kind || amount, ' ' order by line), '') from credit_entries where subscription_id = $1`,
			s.ID,
		)
	}
	status := func(s credit.Subscription) string {
		return studio.Text(`select status || ' ' || version from subscriptions where id = $1`, s.ID)
	}
	studio.Clock.Set(testkit.Noon.Add(month - time.Microsecond))
	test.EqOp(t, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("too soon"))
	studio.Clock.Set(testkit.Noon.Add(month))
	test.EqOp(t, (housekeeping.SweepResult{Renewed: 1, Expired: 3}), studio.Sweep())
	type state struct{ Status, Ledger string }
	for name, c := range map[string]struct {
		of   credit.Subscription
		want state
	}{
		"renewing":     {renewing, state{"ACTIVE 1", "PERIOD5 EXPIRY-5 PERIOD5"}},
		"ending":       {ending, state{"EXPIRED 2", "PERIOD8 EXPIRY-8"}},
		"trial":        {trial, state{"EXPIRED 2", ""}},
		"paused trial": {paused, state{"EXPIRED 3", ""}},
		"cancelled":    {over, state{"CANCELLED 2", ""}},
		"endless":      {endless, state{"ACTIVE 1", "PERIOD3"}},
	} {
		test.EqOp(t, c.want, (state{status(c.of), ledger(c.of)}), test.Sprint(name))
	}
	test.EqOp(t, "Leo subscription.changed {\"status\": \"EXPIRED\", \"previous_status\": \"ACTIVE\"}; "+
		"Mia credits.changed {\"amount\": 0, \"balance\": 5}; "+
		"Noa subscription.changed {\"status\": \"EXPIRED\", \"previous_status\": \"ACTIVE\"}; "+
		"Zoe subscription.changed {\"status\": \"EXPIRED\", \"previous_status\": \"PAUSED\"}", studio.Text(
		`select string_agg(m.name || ' ' || e.type || ' ' ||
				(e.data - '{subscription_id,plan_id,end_time,previous_end_time}'::text[])::text, '; ' order by m.name)
			from events e join members m on m.id = e.member_id where e.actor = 'system' and e.data ? 'subscription_id'`,
	))
	// Periods that passed without a sweep count as one, and keep their dates.
	studio.Clock.Set(testkit.Noon.Add(4*month + month/2))
	test.EqOp(t, (housekeeping.SweepResult{Renewed: 1}), studio.Sweep())
	test.EqOp(t, "2026-08-13 12:00", studio.Text(
		`select to_char(period_ends_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from subscriptions where id = $1`,
		renewing.ID,
	), test.Sprint("it ends"))
	test.EqOp(t, "system", studio.Text(
		`select string_agg(distinct actor, ' ') from credit_entries where subscription_id = $1`, renewing.ID,
	), test.Sprint("by"))
}

func TestSweep_RenewsMoreThanAChunk(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	p := studio.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)})
	for range 205 {
		studio.Subscribe(studio.Coach, p)
	}
	studio.Clock.Set(testkit.Noon.Add(25 * time.Hour))
	test.EqOp(t, 205, studio.Sweep().Expired)
}

func TestSweep_ExtendsSeriesAcrossClockChanges(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	series := studio.CreateEndlessSeries("FREQ=WEEKLY")
	test.EqOp(t, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("at once"))
	before := studio.Count(`select count(*) from sessions where series_id = $1`, series.ID)
	studio.Clock.Set(testkit.Noon.Add(60 * 24 * time.Hour))
	done := studio.Sweep()
	after := studio.Count(
		`select count(*) from sessions where series_id = $1`, series.ID,
	)
	test.EqOp(t, after-before, done.Sessions, test.Sprintf("%+v; %d, then %d", done, before, after))
	test.GreaterEq(t, 8, done.Sessions, test.Sprintf("%+v; %d, then %d", done, before, after))
	test.EqOp(t, "Mon 18:00", studio.Text(
		`select string_agg(distinct to_char(starts_at at time zone 'Europe/Berlin', 'Dy HH24:MI'), ', ') from sessions
			where series_id = $1`,
		series.ID,
	))
	test.EqOp(t, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("again"))
}

// Tokens of devices that were stored before tokens were sealed are sealed.
func TestSweep_SealsTokens(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	expect.OK(t)(studio.App.Accounts.RegisterDevice(t.Context(), studio.AddMember("Mia"), member.IOS, "phone"))
	studio.Exec(`update devices set token = 'phone', token_hash = sha256('phone'), sealed = null`)
	studio.Sweep()
	test.EqOp(t, 1, studio.Count(`select count(*) from devices where token is null and sealed is not null`))
}

// There may be thousands of tenants, and most of the time most of them have nothing due: that takes one round trip.
func TestSweep_TakesOneRoundTripIfNothingIsDue(t *testing.T) {
	t.Parallel()
	var trips atomic.Int64
	studio := testkit.New(t, func(c *pg.Config) {
		c.Tracer = &pgtest.Tracer{Batch: func(context.Context, *pgx.Conn, []*pgx.QueuedQuery) { trips.Add(1) }}
	})
	class, who, booked := studio.AddFullSession(1)
	studio.AddWaiters(2, testkit.ForSessions(class))
	studio.SetMode(waitlist.OfferInTurn)
	studio.MustCancel(who[0], booked[0])
	studio.MustHold(who[0], studio.AddSession(testkit.Session{}))
	studio.CreateEndlessSeries("FREQ=WEEKLY")
	expect.OK(t)(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, class))
	expect.OK(t)(studio.App.Accounts.RegisterDevice(t.Context(), who[0], member.IOS, "phone"))
	trips.Store(0)
	studio.Sweep()
	test.EqOp(t, 1, trips.Load())
}

// What is kept for a time is deleted when that is over, and not before.
func TestSweep_DeletesWhatIsOld(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	class := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	expect.OK(t)(studio.App.Bookings.CreateDisplayLink(t.Context(), studio.Coach, class))
	expect.OK(t)(studio.App.Accounts.RegisterDevice(t.Context(), mia, member.IOS, "phone"))
	ctx, _ := testkit.WithKey(t, "key", "update", "Mia")
	expect.OK(t)(studio.App.Accounts.UpdateMe(ctx, mia, nil, func(m *member.Member) error {
		m.Email = "mia@example.com"
		return nil
	}))
	studio.Exec(`insert into idempotency_keys (tenant_id, principal, key, request_hash, answer, created_at)
		select tenant_id, principal, key || n, request_hash, answer, created_at
		from idempotency_keys, generate_series(1, 2100) n`) // more than a transaction deletes
	for _, kept := range []struct {
		table string
		until time.Time // the last moment at which it is there
	}{
		{"idempotency_keys", testkit.Noon.Add(24*time.Hour - time.Microsecond)},
		{"contact_codes", testkit.Noon.Add(24 * time.Hour)},
		{"display_links", testkit.InTwoDays.Add(time.Hour + 7*24*time.Hour)},
		{"devices", testkit.Noon.Add(60 * 24 * time.Hour)},
	} {
		studio.Clock.Set(kept.until)
		studio.Sweep()
		test.Positive(t, studio.Count(`select count(*) from `+kept.table), test.Sprint(kept.table))
		studio.Clock.Set(kept.until.Add(time.Microsecond))
		studio.Sweep()
		test.EqOp(t, 0, studio.Count(`select count(*) from `+kept.table), test.Sprint(kept.table))
	}
}

// Alarms that fail are reported, of which tenant they were.
func TestRunAlarms_ReportsFailures(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	studio.MustHold(studio.AddMember("Mia"), studio.AddSession(testkit.Session{}))
	studio.Exec(`alter table bookings rename to lost`)
	studio.Exec(`alter table policies rename to lost_policies`)
	studio.Clock.Advance(time.Hour)
	log, output := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		studio.App.Housekeeping.RunAlarms(ctx, slog.New(slog.NewTextHandler(output, nil)))
	}()
	lines := bufio.NewScanner(log)
	for failed := map[string]bool{}; len(failed) < 2 && lines.Scan(); {
		must.StrContains(t, lines.Text(), studio.Tenant.String())
		failed[strings.SplitAfter(lines.Text(), "msg=")[1][:12]] = true
	}
	stop()
	must.NoError(t, log.Close())
	<-done
}

func TestSweep_ChangesOneTenantOnly(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	other := studio.OtherTenant()
	markNoShows(studio, 0)
	markNoShows(other, 0)
	ours, theirs := studio.MustBook(
		studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}),
	), other.MustBook(other.AddMember("Mia"), other.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	studio.Clock.Set(testkit.InTwoDays.Add(3 * time.Hour))
	studio.Sweep()
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(ours))
	test.EqOp(t, "CONFIRMED", other.BookingStatus(theirs))
}

func TestRunSweeps_VisitsAllTenantsAtEveryTick(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studios := []*testkit.Studio{studio, studio.OtherTenant()}
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ticks := make(chan time.Time)
	done := make(chan struct{})
	go func() {
		defer close(done)
		studio.App.Housekeeping.RunSweeps(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	ticks <- time.Time{} // taken once the first sweep is over
	var ids []tenant.BookingID
	for _, s := range studios {
		markNoShows(s, 0)
		ids = append(
			ids, s.MustBook(s.AddMember("Mia"), s.AddSession(testkit.Session{Starts: testkit.InTwoDays})),
		)
	}
	studio.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	ticks <- time.Time{}
	ticks <- time.Time{}
	for _, table := range []string{"sessions", "directory"} { // from here on, sweeps fail
		studio.Exec("revoke select on " + table + " from berth_app")
		ticks <- time.Time{}
		ticks <- time.Time{}
	}
	stop()
	<-done
	for i, s := range studios {
		test.EqOp(t, "NO_SHOW", s.BookingStatus(ids[i]))
	}
	swept, failed, _ := strings.Cut(log.String(), "level=ERROR")
	test.EqOp(t, 2, strings.Count(swept, "no_shows=1"), test.Sprint(&log))
	test.StrNotContains(t, failed, "no_shows", test.Sprint(&log))
	test.StrContains(t, failed, `"sweep incomplete" tenant_id=`+studio.Tenant.String())
	test.StrContains(t, failed, `"sweep: tenants not read"`)
}

func TestSweep_ContinuesAfterFailures(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	markNoShows(studio, 0)
	good := studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	bad := studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	studio.MustBook(studio.AddMember("Noa"), bad)
	better := studio.MustBook(studio.AddMember("Leo"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	studio.Exec(`update sessions set seats_taken = 1 where id = $1`, bad)
	studio.Exec(`update bookings set party_size = 2 where session_id = $1`, bad) // damage: its seats would fall below none
	trial := studio.Subscribe(
		studio.AddMember("Eva"), studio.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)}),
	)
	studio.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	done, err := studio.App.Housekeeping.SweepTenant(context.Background(), studio.Tenant)
	test.Error(t, err)
	test.EqOp(t, (housekeeping.SweepResult{NoShows: 2, Expired: 1}), done)
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(good))
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(better))
	test.EqOp(t, "EXPIRED", studio.Text(`select status from subscriptions where id = $1`, trial.ID))
}
