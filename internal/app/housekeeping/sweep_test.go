package housekeeping_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// markNoShows turns the policy on for the tenant, so long after the end.
func markNoShows(h *testkit.House, after time.Duration) {
	h.T.Helper()
	h.Exec(`insert into policies (tenant_id, level, scope_id, auto_no_show, auto_no_show_seconds, updated_at) values ($1, 'TENANT', $1, true, $2, $3)`,
		h.Tenant, int(after/time.Second), testkit.Noon)
}

func TestSweepMarksWhoDidNotCome(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 45*time.Minute)
	mia, noa, leo := h.Member("Mia"), h.Member("Noa"), h.Member("Leo")
	s := h.Session(testkit.Slot{Starts: testkit.Class})
	absent, came, off := h.MustBook(mia, s), h.MustBook(noa, s), h.MustBook(leo, s)
	if _, err := h.Cancel(leo, off); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.Class)
	if _, err := h.SelfCheckIn(noa, s, h.Scan(s)); err != nil {
		t.Fatal(err)
	}
	due := testkit.Class.Add(time.Hour + 45*time.Minute)
	h.Clock.Set(due.Add(-time.Microsecond))
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) || h.Status(absent) != "CONFIRMED" {
		t.Errorf("too soon: %+v", done)
	}
	h.Clock.Set(due)
	if done := h.Sweep(); done != (housekeeping.SweepResult{NoShows: 1}) {
		t.Errorf("%+v", done)
	}
	if got := [3]string{h.Status(absent), h.Status(came), h.Status(off)}; got != [3]string{"NO_SHOW", "ATTENDED", "CANCELLED"} {
		t.Error(got)
	}
	if got := h.EventsOf(absent); got != "booking.confirmed member, booking.no_show system" {
		t.Error(got)
	}
	if n := h.Count(`select seats_taken from sessions where id = $1`, s); n != 1 {
		t.Errorf("%d seats taken", n)
	}
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("again: %+v", done)
	}
	h.WantSound()
}

func TestSweepMarksNobodyWhileCheckInIsOpen(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 0)
	h.Exec(`insert into policies (tenant_id, level, scope_id, check_in_closes_seconds, updated_at) values ($1, 'SERVICE', $2, 7200, $3)`, h.Tenant, h.Service, testkit.Noon)
	mia, s := h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Class})
	id := h.MustBook(mia, s)
	closes := testkit.Class.Add(3 * time.Hour)
	h.Clock.Set(closes.Add(-time.Second))
	if done := h.Sweep(); done.NoShows != 0 {
		t.Errorf("%+v", done)
	}
	if _, err := h.SelfCheckIn(mia, s, h.Scan(s)); err != nil {
		t.Error(err)
	}
	h.Clock.Set(closes)
	if done := h.Sweep(); done.NoShows != 0 || h.Status(id) != "ATTENDED" {
		t.Errorf("%+v", done)
	}
}

func TestSweepFollowsThePolicyInForce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tenant, location, service any // auto_no_show; nil: nothing said
		want                      int
	}{
		"nobody says anything":       {nil, nil, nil, 0},
		"the tenant":                 {true, nil, nil, 1},
		"not at this location":       {true, false, nil, 0},
		"for this service after all": {true, false, true, 1},
		"for this service alone":     {nil, nil, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.NewHouse(t)
			for level, says := range map[string]any{"TENANT": tt.tenant, "LOCATION": tt.location, "SERVICE": tt.service} {
				scope := map[string]tenant.UUID{"TENANT": h.Tenant.UUID, "LOCATION": h.Location.UUID, "SERVICE": h.Service.UUID}[level]
				h.Exec(`insert into policies (tenant_id, level, scope_id, auto_no_show, updated_at) values ($1, $2, $3, $4, $5)`, h.Tenant, level, scope, says, testkit.Noon)
			}
			h.MustBook(h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Class}))
			h.Clock.Set(testkit.Class.Add(90 * time.Minute))
			if done := h.Sweep(); done.NoShows != tt.want {
				t.Errorf("%+v", done)
			}
		})
	}
}

func TestStaffHaveTheLastWordOnNoShows(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 30*time.Minute)
	ctx := context.Background()
	s := h.Session(testkit.Slot{Starts: testkit.Class})
	marked, undone := h.MustBook(h.Member("Mia"), s), h.MustBook(h.Member("Noa"), s)
	h.Clock.Set(testkit.Class)
	if _, err := h.CheckIn(h.Coach, undone); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.Class.Add(2 * time.Hour))
	if done := h.Sweep(); done.NoShows != 1 {
		t.Fatalf("%+v", done)
	}
	// She was there: the coach takes the no-show back, and has all the time of the world to check her in.
	if _, err := h.App.Bookings.UndoNoShow(ctx, h.Coach, marked); err != nil {
		t.Fatal(err)
	}
	if done := h.Sweep(); done.NoShows != 0 || h.Status(marked) != "CONFIRMED" {
		t.Errorf("marked again: %+v", done)
	}
	if _, err := h.CheckIn(h.Coach, marked); err != nil {
		t.Error(err)
	}
	// Noa was checked in by mistake: now she did not come.
	if _, err := h.App.Bookings.UndoCheckIn(ctx, h.Coach, undone); err != nil {
		t.Fatal(err)
	}
	if done := h.Sweep(); done.NoShows != 1 || h.Status(undone) != "NO_SHOW" || h.Status(marked) != "ATTENDED" {
		t.Errorf("%+v", done)
	}
	h.WantSound()
}

func TestWhoeverIsGivenAnotherClassCanMissThatToo(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 30*time.Minute)
	id := h.MustBook(h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Class}))
	h.Clock.Set(testkit.Class.Add(2 * time.Hour))
	if done := h.Sweep(); done.NoShows != 1 {
		t.Fatalf("%+v", done)
	}
	if _, err := h.App.Bookings.UndoNoShow(context.Background(), h.Coach, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Move(h.Owner, id, h.Session(testkit.Slot{Starts: testkit.Class.Add(24 * time.Hour)})); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.Class.Add(26 * time.Hour))
	if done := h.Sweep(); done.NoShows != 1 || h.Status(id) != "NO_SHOW" {
		t.Errorf("%+v", done)
	}
	h.WantSound()
}

func TestTurningNoShowsOnDoesNotRewriteHistory(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	lastWeek, yesterday := h.Session(testkit.Slot{Starts: testkit.Class}), h.Session(testkit.Slot{Starts: testkit.Class.Add(6 * 24 * time.Hour)})
	old, recent := h.MustBook(h.Member("Mia"), lastWeek), h.MustBook(h.Member("Noa"), yesterday)
	h.Clock.Set(testkit.Class.Add(6*24*time.Hour + 10*time.Hour))
	markNoShows(h, 0)
	h.Sweep()
	if got := [2]string{h.Status(old), h.Status(recent)}; got != [2]string{"CONFIRMED", "NO_SHOW"} {
		t.Error(got)
	}
}

func TestSweepWaitsForTheLongestPolicyAndTheLongestSession(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 7*24*time.Hour)
	id := h.MustBook(h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Class, Minutes: 7 * 24 * 60}))
	h.Clock.Set(testkit.Class.Add(14*24*time.Hour - time.Second))
	if done := h.Sweep(); done.NoShows != 0 {
		t.Errorf("%+v", done)
	}
	h.Clock.Set(testkit.Class.Add(15 * 24 * time.Hour)) // the last moment at which it is marked
	if done := h.Sweep(); done.NoShows != 1 || h.Status(id) != "NO_SHOW" {
		t.Errorf("%+v", done)
	}
}

// Berlin's clocks go forward at 02:00 on 29 March: a class from 23:30 to 00:30, and one from 01:30 for an
// hour that ends at 03:30 by the clock. Neither midnight nor the lost hour makes anybody absent sooner or later.
func TestSweepOverMidnightAndTheHourThatIsSkipped(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 30*time.Minute)
	for i, starts := range []time.Time{testkit.Utc("2026-03-28T22:30:00Z"), testkit.Utc("2026-03-29T00:30:00Z")} {
		h.Clock.Set(testkit.Noon)
		id := h.MustBook(h.Member("Mia"), h.Session(testkit.Slot{Starts: starts}))
		h.Clock.Set(starts.Add(90*time.Minute - time.Second))
		if done := h.Sweep(); done.NoShows != 0 {
			t.Errorf("%d: too soon: %+v", i, done)
		}
		h.Clock.Set(starts.Add(90 * time.Minute))
		if done := h.Sweep(); done.NoShows != 1 || h.Status(id) != "NO_SHOW" {
			t.Errorf("%d: %+v", i, done)
		}
	}
	h.WantSound()
}

func TestSweepGoesOnBehindAFullChunk(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 0)
	const people = 230
	big := h.Session(testkit.Slot{Starts: testkit.Class, Capacity: -1})
	h.Exec(`insert into members (tenant_id, id, name, created_at, updated_at) select $1, gen_random_uuid(), 'Guest ' || i, $2, $2 from generate_series(1, $3::int) i`,
		h.Tenant, testkit.Noon, people)
	h.Exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by, created_at, updated_at)
	        select $1, gen_random_uuid(), $2, id, 2, 'CONFIRMED', 'ONLINE', $3, $4, 'test', $5, $5 from members where tenant_id = $1 and name like 'Guest %'`,
		h.Tenant, big, testkit.Class, testkit.Class.Add(time.Hour), testkit.Noon)
	h.Exec(`update sessions set seats_taken = $2 where id = $1`, big, 2*people)
	h.Exec(`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, state, seats_taken, created_at, updated_at)
	        select $1, gen_random_uuid(), $2, $3, 'Small', $4, $5, '2026-03-18', 'PUBLISHED', 1, $6, $6 from generate_series(1, 105)`,
		h.Tenant, h.Service, h.Location, testkit.Class, testkit.Class.Add(time.Hour), testkit.Noon)
	h.Exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by, created_at, updated_at)
	        select $1, gen_random_uuid(), id, $2, 1, 'CONFIRMED', 'ONLINE', starts_at, ends_at, 'test', $3, $3 from sessions where tenant_id = $1 and title = 'Small'`,
		h.Tenant, h.Coach.Member, testkit.Noon)
	h.WantSound()
	h.Clock.Set(testkit.Class.Add(2 * time.Hour))
	if done := h.Sweep(); done.NoShows != people+105 {
		t.Errorf("%+v", done)
	}
	h.WantSound()
}

func TestSweepersAtTheSameMomentDoEverythingOnce(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 0)
	pack := h.Plan(credit.Plan{Kind: credit.Credits, Credits: 5, Period: new(48 * time.Hour)})
	trial := h.Plan(credit.Plan{Kind: credit.Unlimited, Term: new(48 * time.Hour)})
	var packs []credit.Subscription
	for i := range 12 {
		who := h.Member(fmt.Sprintf("Member %d", i))
		packs = append(packs, h.Subscribe(who, pack))
		h.Subscribe(h.Member("Trial"), trial)
		h.MustBook(who, h.Session(testkit.Slot{Starts: testkit.Noon.Add(40 * time.Hour)}))
	}
	h.OpenSeries("FREQ=WEEKLY;BYDAY=MO")
	h.Exec(`delete from sessions where tenant_id = $1 and series_id is not null and starts_at > $2`, h.Tenant, testkit.Noon.Add(100*24*time.Hour))
	h.Exec(`update series set materialized_until = '2026-06-24'`)
	h.Clock.Set(testkit.Noon.Add(48 * time.Hour))

	var mu sync.Mutex
	var sum housekeeping.SweepResult
	testkit.Together(4, func(int) {
		done := h.Sweep()
		mu.Lock()
		defer mu.Unlock()
		sum.NoShows += done.NoShows
		sum.Renewed += done.Renewed
		sum.Expired += done.Expired
		sum.Sessions += done.Sessions
	})
	made := h.Count(`select count(*) from sessions where tenant_id = $1 and series_id is not null and local_date > '2026-06-24'`, h.Tenant)
	if diff := cmp.Diff(housekeeping.SweepResult{NoShows: 12, Renewed: 12, Expired: 12, Sessions: made}, sum); diff != "" || made < 30 {
		t.Errorf("made %d\n%s", made, diff)
	}
	for _, s := range packs {
		if got := h.Balance(s); got != 5 {
			t.Errorf("balance %d", got)
		}
		if n := h.Count(`select lines from subscriptions where id = $1`, s.ID); n != 4 { // given, booked, lapsed, given
			t.Errorf("%d lines", n)
		}
	}
	for kind, want := range map[string]int{"booking.no_show": 12, "credits.changed": 12, "subscription.changed": 24 + 12} {
		if n := h.Count(`select count(*) from events where tenant_id = $1 and type = $2`, h.Tenant, kind); n != want {
			t.Errorf("%d of %s, want %d", n, kind, want)
		}
	}
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("again: %+v", done)
	}
	h.WantSound()
}

func TestCheckingInBesideASweepEndsInOneOfTheTwo(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 0)
	s := h.Session(testkit.Slot{Starts: testkit.Class, Capacity: -1})
	var ids []tenant.BookingID
	for i := range 20 {
		ids = append(ids, h.MustBook(h.Member(fmt.Sprintf("Member %d", i)), s))
	}
	h.Clock.Set(testkit.Class.Add(2 * time.Hour))
	var mu sync.Mutex
	came := map[tenant.BookingID]bool{}
	testkit.Together(len(ids)+2, func(i int) {
		if i >= len(ids) {
			h.Sweep()
			return
		}
		if _, err := h.CheckIn(h.Coach, ids[i]); err == nil {
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
		if got := h.Status(id); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	h.WantSound()
}

func TestSweepRenewsAndExpiresOnTheDot(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	month := 30 * 24 * time.Hour
	renewing := h.Subscribe(h.Member("Mia"), h.Plan(credit.Plan{Kind: credit.Credits, Credits: 5, Period: &month}))
	ending := h.Subscribe(h.Member("Noa"), h.Plan(credit.Plan{Kind: credit.Credits, Credits: 8, Term: &month}))
	trial := h.Subscribe(h.Member("Leo"), h.Plan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	paused := h.Subscribe(h.Member("Zoe"), h.Plan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	over := h.Subscribe(h.Member("Ann"), h.Plan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	endless := h.Subscribe(h.Member("Eva"), h.Plan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	for id, to := range map[tenant.SubscriptionID]credit.Status{paused.ID: credit.Paused, over.ID: credit.Cancelled} {
		if _, err := h.App.Accounts.SetSubscriptionStatus(context.Background(), h.Owner, id, to, ""); err != nil {
			t.Fatal(err)
		}
	}
	ledger := func(s credit.Subscription) string {
		return h.QueryText(`select coalesce(string_agg(kind || amount, ' ' order by line), '') from credit_entries where subscription_id = $1`, s.ID)
	}
	status := func(s credit.Subscription) string {
		return h.QueryText(`select status from subscriptions where id = $1`, s.ID)
	}
	h.Clock.Set(testkit.Noon.Add(month - time.Microsecond))
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("too soon: %+v", done)
	}
	h.Clock.Set(testkit.Noon.Add(month))
	if done := h.Sweep(); done != (housekeeping.SweepResult{Renewed: 1, Expired: 3}) {
		t.Errorf("%+v", done)
	}
	type state struct{ Status, Ledger string }
	for name, c := range map[string]struct {
		of   credit.Subscription
		want state
	}{
		"renewing":     {renewing, state{"ACTIVE", "PERIOD5 EXPIRY-5 PERIOD5"}},
		"ending":       {ending, state{"EXPIRED", "PERIOD8 EXPIRY-8"}},
		"trial":        {trial, state{"EXPIRED", ""}},
		"paused trial": {paused, state{"EXPIRED", ""}},
		"cancelled":    {over, state{"CANCELLED", ""}},
		"endless":      {endless, state{"ACTIVE", "PERIOD3"}},
	} {
		if got := (state{status(c.of), ledger(c.of)}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// Periods that nobody saw count as one, and leave the dates where they were.
	h.Clock.Set(testkit.Noon.Add(4*month + month/2))
	if done := h.Sweep(); done != (housekeeping.SweepResult{Renewed: 1}) {
		t.Errorf("%+v", done)
	}
	if got := h.QueryText(`select to_char(period_ends_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from subscriptions where id = $1`, renewing.ID); got != "2026-08-13 12:00" {
		t.Errorf("it ends %s", got)
	}
	if got := h.QueryText(`select string_agg(distinct actor, ' ') from credit_entries where subscription_id = $1`, renewing.ID); got != "system" {
		t.Errorf("by %s", got)
	}
	h.WantSound()
}

func TestSweepRenewsMoreThanAChunk(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	p := h.Plan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)})
	h.Exec(`insert into subscriptions (tenant_id, id, member_id, plan_id, status, starts_at, ends_at, created_at, updated_at)
	        select $1, gen_random_uuid(), $2, $3, 'ACTIVE', $4, $5, $4, $4 from generate_series(1, 205)`,
		h.Tenant, h.Coach.Member, p.ID, testkit.Noon, testkit.Noon.Add(time.Hour))
	h.Clock.Set(testkit.Noon.Add(2 * time.Hour))
	if done := h.Sweep(); done.Expired != 205 {
		t.Errorf("%+v", done)
	}
}

func TestSweepExtendsSeriesAtTheSameHourAfterTheClocksChange(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	series := h.OpenSeries("FREQ=WEEKLY")
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("at once: %+v", done)
	}
	before := h.Count(`select count(*) from sessions where series_id = $1`, series.ID)
	h.Clock.Set(testkit.Noon.Add(60 * 24 * time.Hour))
	done := h.Sweep()
	if after := h.Count(`select count(*) from sessions where series_id = $1`, series.ID); done.Sessions != after-before || done.Sessions < 8 {
		t.Errorf("%+v; %d, then %d", done, before, after)
	}
	if got := h.QueryText(`select string_agg(distinct to_char(starts_at at time zone 'Europe/Berlin', 'Dy HH24:MI'), ', ') from sessions where series_id = $1`, series.ID); got != "Mon 18:00" {
		t.Error(got)
	}
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("again: %+v", done)
	}
}

func TestSweepTouchesOneTenant(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	other := h.Another()
	markNoShows(h, 0)
	markNoShows(other, 0)
	ours, theirs := h.MustBook(h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Class})), other.MustBook(other.Member("Mia"), other.Session(testkit.Slot{Starts: testkit.Class}))
	h.Clock.Set(testkit.Class.Add(3 * time.Hour))
	h.Sweep()
	if got := [2]string{h.Status(ours), other.Status(theirs)}; got != [2]string{"NO_SHOW", "CONFIRMED"} {
		t.Error(got)
	}
}

func TestRunSweepsGoesThroughAllTenantsWithEveryTick(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	other := h.Another()
	houses := []*testkit.House{h, other}
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ticks := make(chan time.Time)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.App.Housekeeping.RunSweeps(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	ticks <- time.Time{} // taken once the first sweep is over
	var ids []tenant.BookingID
	for _, house := range houses {
		markNoShows(house, 0)
		ids = append(ids, house.MustBook(house.Member("Mia"), house.Session(testkit.Slot{Starts: testkit.Class})))
	}
	h.Clock.Set(testkit.Class.Add(2 * time.Hour))
	ticks <- time.Time{}
	ticks <- time.Time{}
	stop()
	<-done
	for i, house := range houses {
		if got := house.Status(ids[i]); got != "NO_SHOW" {
			t.Error(got)
		}
	}
	if n := strings.Count(log.String(), "no_shows=1"); n != 2 || strings.Contains(log.String(), "ERROR") {
		t.Error(log.String())
	}
}

func TestWhatFailsDoesNotKeepTheRestOfASweep(t *testing.T) {
	t.Parallel()
	h := testkit.NewHouse(t)
	markNoShows(h, 0)
	good := h.MustBook(h.Member("Mia"), h.Session(testkit.Slot{Starts: testkit.Class}))
	bad := h.Session(testkit.Slot{Starts: testkit.Class})
	h.MustBook(h.Member("Noa"), bad)
	better := h.MustBook(h.Member("Leo"), h.Session(testkit.Slot{Starts: testkit.Class}))
	h.Exec(`update sessions set seats_taken = 1 where id = $1`, bad)
	h.Exec(`update bookings set party_size = 2 where session_id = $1`, bad) // damage: its seats would fall below none
	trial := h.Subscribe(h.Member("Eva"), h.Plan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)}))
	h.Clock.Set(testkit.Class.Add(2 * time.Hour))
	done, err := h.App.Housekeeping.SweepTenant(context.Background(), h.Tenant)
	if err == nil || done != (housekeeping.SweepResult{NoShows: 2, Expired: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if got := [2]string{h.Status(good), h.Status(better)}; got != [2]string{"NO_SHOW", "NO_SHOW"} {
		t.Error(got)
	}
	if got := h.QueryText(`select status from subscriptions where id = $1`, trial.ID); got != "EXPIRED" {
		t.Error(got)
	}
}
