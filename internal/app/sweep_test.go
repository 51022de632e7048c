package app_test

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

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// sweep sweeps the house, and fails where that fails.
func (h *house) sweep() app.Swept {
	h.t.Helper()
	done, err := h.app.SweepTenant(context.Background(), h.Tenant)
	if err != nil {
		h.t.Errorf("sweep: %v", err)
	}
	return done
}

// markNoShows turns the policy on for the tenant, so long after the end.
func (h *house) markNoShows(after time.Duration) {
	h.t.Helper()
	h.exec(`insert into policies (tenant_id, level, scope_id, auto_no_show, auto_no_show_seconds, updated_at) values ($1, 'TENANT', $1, true, $2, $3)`,
		h.Tenant, int(after/time.Second), noon)
}

func TestSweepMarksWhoDidNotCome(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(45 * time.Minute)
	mia, noa, leo := h.member("Mia"), h.member("Noa"), h.member("Leo")
	s := h.session(slot{Starts: class})
	absent, came, off := h.mustBook(mia, s), h.mustBook(noa, s), h.mustBook(leo, s)
	if _, err := h.cancel(leo, off); err != nil {
		t.Fatal(err)
	}
	h.clock.Set(class)
	if _, err := h.selfCheckIn(noa, s, h.scan(s)); err != nil {
		t.Fatal(err)
	}
	due := class.Add(time.Hour + 45*time.Minute)
	h.clock.Set(due.Add(-time.Microsecond))
	if done := h.sweep(); done != (app.Swept{}) || h.status(absent) != "CONFIRMED" {
		t.Errorf("too soon: %+v", done)
	}
	h.clock.Set(due)
	if done := h.sweep(); done != (app.Swept{NoShows: 1}) {
		t.Errorf("%+v", done)
	}
	if got := [3]string{h.status(absent), h.status(came), h.status(off)}; got != [3]string{"NO_SHOW", "ATTENDED", "CANCELLED"} {
		t.Error(got)
	}
	if got := h.eventsOf(absent); got != "booking.confirmed member, booking.no_show system" {
		t.Error(got)
	}
	if n := h.count(`select seats_taken from sessions where id = $1`, s); n != 1 {
		t.Errorf("%d seats taken", n)
	}
	if done := h.sweep(); done != (app.Swept{}) {
		t.Errorf("again: %+v", done)
	}
	h.wantSound()
}

func TestSweepMarksNobodyWhileCheckInIsOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(0)
	h.exec(`insert into policies (tenant_id, level, scope_id, check_in_closes_seconds, updated_at) values ($1, 'SERVICE', $2, 7200, $3)`, h.Tenant, h.Service, noon)
	mia, s := h.member("Mia"), h.session(slot{Starts: class})
	id := h.mustBook(mia, s)
	closes := class.Add(3 * time.Hour)
	h.clock.Set(closes.Add(-time.Second))
	if done := h.sweep(); done.NoShows != 0 {
		t.Errorf("%+v", done)
	}
	if _, err := h.selfCheckIn(mia, s, h.scan(s)); err != nil {
		t.Error(err)
	}
	h.clock.Set(closes)
	if done := h.sweep(); done.NoShows != 0 || h.status(id) != "ATTENDED" {
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
			h := newHouse(t)
			for level, says := range map[string]any{"TENANT": tt.tenant, "LOCATION": tt.location, "SERVICE": tt.service} {
				scope := map[string]tenant.UUID{"TENANT": h.Tenant.UUID, "LOCATION": h.Location.UUID, "SERVICE": h.Service.UUID}[level]
				h.exec(`insert into policies (tenant_id, level, scope_id, auto_no_show, updated_at) values ($1, $2, $3, $4, $5)`, h.Tenant, level, scope, says, noon)
			}
			h.mustBook(h.member("Mia"), h.session(slot{Starts: class}))
			h.clock.Set(class.Add(90 * time.Minute))
			if done := h.sweep(); done.NoShows != tt.want {
				t.Errorf("%+v", done)
			}
		})
	}
}

func TestStaffHaveTheLastWordOnNoShows(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(30 * time.Minute)
	ctx := context.Background()
	s := h.session(slot{Starts: class})
	marked, undone := h.mustBook(h.member("Mia"), s), h.mustBook(h.member("Noa"), s)
	h.clock.Set(class)
	if _, err := h.checkIn(h.Coach, undone); err != nil {
		t.Fatal(err)
	}
	h.clock.Set(class.Add(2 * time.Hour))
	if done := h.sweep(); done.NoShows != 1 {
		t.Fatalf("%+v", done)
	}
	// She was there: the coach takes the no-show back, and has all the time of the world to check her in.
	if _, err := h.app.UndoNoShow(ctx, h.Coach, marked); err != nil {
		t.Fatal(err)
	}
	if done := h.sweep(); done.NoShows != 0 || h.status(marked) != "CONFIRMED" {
		t.Errorf("marked again: %+v", done)
	}
	if _, err := h.checkIn(h.Coach, marked); err != nil {
		t.Error(err)
	}
	// Noa was checked in by mistake: now she did not come.
	if _, err := h.app.UndoCheckIn(ctx, h.Coach, undone); err != nil {
		t.Fatal(err)
	}
	if done := h.sweep(); done.NoShows != 1 || h.status(undone) != "NO_SHOW" || h.status(marked) != "ATTENDED" {
		t.Errorf("%+v", done)
	}
	h.wantSound()
}

func TestWhoeverIsGivenAnotherClassCanMissThatToo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(30 * time.Minute)
	id := h.mustBook(h.member("Mia"), h.session(slot{Starts: class}))
	h.clock.Set(class.Add(2 * time.Hour))
	if done := h.sweep(); done.NoShows != 1 {
		t.Fatalf("%+v", done)
	}
	if _, err := h.app.UndoNoShow(context.Background(), h.Coach, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.move(h.Owner, id, h.session(slot{Starts: class.Add(24 * time.Hour)})); err != nil {
		t.Fatal(err)
	}
	h.clock.Set(class.Add(26 * time.Hour))
	if done := h.sweep(); done.NoShows != 1 || h.status(id) != "NO_SHOW" {
		t.Errorf("%+v", done)
	}
	h.wantSound()
}

func TestTurningNoShowsOnDoesNotRewriteHistory(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lastWeek, yesterday := h.session(slot{Starts: class}), h.session(slot{Starts: class.Add(6 * 24 * time.Hour)})
	old, recent := h.mustBook(h.member("Mia"), lastWeek), h.mustBook(h.member("Noa"), yesterday)
	h.clock.Set(class.Add(6*24*time.Hour + 10*time.Hour))
	h.markNoShows(0)
	h.sweep()
	if got := [2]string{h.status(old), h.status(recent)}; got != [2]string{"CONFIRMED", "NO_SHOW"} {
		t.Error(got)
	}
}

func TestSweepWaitsForTheLongestPolicyAndTheLongestSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(7 * 24 * time.Hour)
	id := h.mustBook(h.member("Mia"), h.session(slot{Starts: class, Minutes: 7 * 24 * 60}))
	h.clock.Set(class.Add(14*24*time.Hour - time.Second))
	if done := h.sweep(); done.NoShows != 0 {
		t.Errorf("%+v", done)
	}
	h.clock.Set(class.Add(15 * 24 * time.Hour)) // the last moment at which it is marked
	if done := h.sweep(); done.NoShows != 1 || h.status(id) != "NO_SHOW" {
		t.Errorf("%+v", done)
	}
}

// Berlin's clocks go forward at 02:00 on 29 March: a class from 23:30 to 00:30, and one from 01:30 for an
// hour that ends at 03:30 by the clock. Neither midnight nor the lost hour makes anybody absent sooner or later.
func TestSweepOverMidnightAndTheHourThatIsSkipped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(30 * time.Minute)
	for i, starts := range []time.Time{utc("2026-03-28T22:30:00Z"), utc("2026-03-29T00:30:00Z")} {
		h.clock.Set(noon)
		id := h.mustBook(h.member("Mia"), h.session(slot{Starts: starts}))
		h.clock.Set(starts.Add(90*time.Minute - time.Second))
		if done := h.sweep(); done.NoShows != 0 {
			t.Errorf("%d: too soon: %+v", i, done)
		}
		h.clock.Set(starts.Add(90 * time.Minute))
		if done := h.sweep(); done.NoShows != 1 || h.status(id) != "NO_SHOW" {
			t.Errorf("%d: %+v", i, done)
		}
	}
	h.wantSound()
}

func TestSweepGoesOnBehindAFullChunk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(0)
	const people = 230
	big := h.session(slot{Starts: class, Capacity: -1})
	h.exec(`insert into members (tenant_id, id, name, created_at, updated_at) select $1, gen_random_uuid(), 'Guest ' || i, $2, $2 from generate_series(1, $3::int) i`,
		h.Tenant, noon, people)
	h.exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by, created_at, updated_at)
	        select $1, gen_random_uuid(), $2, id, 2, 'CONFIRMED', 'ONLINE', $3, $4, 'test', $5, $5 from members where tenant_id = $1 and name like 'Guest %'`,
		h.Tenant, big, class, class.Add(time.Hour), noon)
	h.exec(`update sessions set seats_taken = $2 where id = $1`, big, 2*people)
	h.exec(`insert into sessions (tenant_id, id, service_id, location_id, title, starts_at, ends_at, local_date, state, seats_taken, created_at, updated_at)
	        select $1, gen_random_uuid(), $2, $3, 'Small', $4, $5, '2026-03-18', 'PUBLISHED', 1, $6, $6 from generate_series(1, 105)`,
		h.Tenant, h.Service, h.Location, class, class.Add(time.Hour), noon)
	h.exec(`insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at, created_by, created_at, updated_at)
	        select $1, gen_random_uuid(), id, $2, 1, 'CONFIRMED', 'ONLINE', starts_at, ends_at, 'test', $3, $3 from sessions where tenant_id = $1 and title = 'Small'`,
		h.Tenant, h.Coach.Member, noon)
	h.wantSound()
	h.clock.Set(class.Add(2 * time.Hour))
	if done := h.sweep(); done.NoShows != people+105 {
		t.Errorf("%+v", done)
	}
	h.wantSound()
}

func TestSweepersAtTheSameMomentDoEverythingOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(0)
	pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 5, Period: new(48 * time.Hour)})
	trial := h.plan(credit.Plan{Kind: credit.Unlimited, Term: new(48 * time.Hour)})
	var packs []credit.Subscription
	for i := range 12 {
		who := h.member(fmt.Sprintf("Member %d", i))
		packs = append(packs, h.subscribe(who, pack))
		h.subscribe(h.member("Trial"), trial)
		h.mustBook(who, h.session(slot{Starts: noon.Add(40 * time.Hour)}))
	}
	h.openSeries("FREQ=WEEKLY;BYDAY=MO")
	h.exec(`delete from sessions where tenant_id = $1 and series_id is not null and starts_at > $2`, h.Tenant, noon.Add(100*24*time.Hour))
	h.exec(`update series set materialized_until = '2026-06-24'`)
	h.clock.Set(noon.Add(48 * time.Hour))

	var mu sync.Mutex
	var sum app.Swept
	together(4, func(int) {
		done := h.sweep()
		mu.Lock()
		defer mu.Unlock()
		sum.NoShows += done.NoShows
		sum.Renewed += done.Renewed
		sum.Expired += done.Expired
		sum.Sessions += done.Sessions
	})
	made := h.count(`select count(*) from sessions where tenant_id = $1 and series_id is not null and local_date > '2026-06-24'`, h.Tenant)
	if diff := cmp.Diff(app.Swept{NoShows: 12, Renewed: 12, Expired: 12, Sessions: made}, sum); diff != "" || made < 30 {
		t.Errorf("made %d\n%s", made, diff)
	}
	for _, s := range packs {
		if got := h.balance(s); got != 5 {
			t.Errorf("balance %d", got)
		}
		if n := h.count(`select lines from subscriptions where id = $1`, s.ID); n != 4 { // given, booked, lapsed, given
			t.Errorf("%d lines", n)
		}
	}
	for kind, want := range map[string]int{"booking.no_show": 12, "credits.changed": 12, "subscription.changed": 24 + 12} {
		if n := h.count(`select count(*) from events where tenant_id = $1 and type = $2`, h.Tenant, kind); n != want {
			t.Errorf("%d of %s, want %d", n, kind, want)
		}
	}
	if done := h.sweep(); done != (app.Swept{}) {
		t.Errorf("again: %+v", done)
	}
	h.wantSound()
}

func TestCheckingInBesideASweepEndsInOneOfTheTwo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(0)
	s := h.session(slot{Starts: class, Capacity: -1})
	var ids []tenant.BookingID
	for i := range 20 {
		ids = append(ids, h.mustBook(h.member(fmt.Sprintf("Member %d", i)), s))
	}
	h.clock.Set(class.Add(2 * time.Hour))
	var mu sync.Mutex
	came := map[tenant.BookingID]bool{}
	together(len(ids)+2, func(i int) {
		if i >= len(ids) {
			h.sweep()
			return
		}
		if _, err := h.checkIn(h.Coach, ids[i]); err == nil {
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
		if got := h.status(id); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	h.wantSound()
}

func TestSweepRenewsAndExpiresOnTheDot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	month := 30 * 24 * time.Hour
	renewing := h.subscribe(h.member("Mia"), h.plan(credit.Plan{Kind: credit.Credits, Credits: 5, Period: &month}))
	ending := h.subscribe(h.member("Noa"), h.plan(credit.Plan{Kind: credit.Credits, Credits: 8, Term: &month}))
	trial := h.subscribe(h.member("Leo"), h.plan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	paused := h.subscribe(h.member("Zoe"), h.plan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	over := h.subscribe(h.member("Ann"), h.plan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	endless := h.subscribe(h.member("Eva"), h.plan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	for id, to := range map[tenant.SubscriptionID]credit.Status{paused.ID: credit.Paused, over.ID: credit.Cancelled} {
		if _, err := h.app.SetSubscriptionStatus(context.Background(), h.Owner, id, to, ""); err != nil {
			t.Fatal(err)
		}
	}
	ledger := func(s credit.Subscription) string {
		return h.queryText(`select coalesce(string_agg(kind || amount, ' ' order by line), '') from credit_entries where subscription_id = $1`, s.ID)
	}
	status := func(s credit.Subscription) string {
		return h.queryText(`select status from subscriptions where id = $1`, s.ID)
	}
	h.clock.Set(noon.Add(month - time.Microsecond))
	if done := h.sweep(); done != (app.Swept{}) {
		t.Errorf("too soon: %+v", done)
	}
	h.clock.Set(noon.Add(month))
	if done := h.sweep(); done != (app.Swept{Renewed: 1, Expired: 3}) {
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
	h.clock.Set(noon.Add(4*month + month/2))
	if done := h.sweep(); done != (app.Swept{Renewed: 1}) {
		t.Errorf("%+v", done)
	}
	if got := h.queryText(`select to_char(period_ends_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from subscriptions where id = $1`, renewing.ID); got != "2026-08-13 12:00" {
		t.Errorf("it ends %s", got)
	}
	if got := h.queryText(`select string_agg(distinct actor, ' ') from credit_entries where subscription_id = $1`, renewing.ID); got != "system" {
		t.Errorf("by %s", got)
	}
	h.wantSound()
}

func TestSweepRenewsMoreThanAChunk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.plan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)})
	h.exec(`insert into subscriptions (tenant_id, id, member_id, plan_id, status, starts_at, ends_at, created_at, updated_at)
	        select $1, gen_random_uuid(), $2, $3, 'ACTIVE', $4, $5, $4, $4 from generate_series(1, 205)`,
		h.Tenant, h.Coach.Member, p.ID, noon, noon.Add(time.Hour))
	h.clock.Set(noon.Add(2 * time.Hour))
	if done := h.sweep(); done.Expired != 205 {
		t.Errorf("%+v", done)
	}
}

// openSeries makes a series without an end, at 18:00 in Berlin.
func (h *house) openSeries(rule string) session.Series {
	h.t.Helper()
	series, _, err := h.app.CreateSeries(context.Background(), h.Owner, app.SeriesInput{
		Template: session.Input{Service: h.Service, Location: h.Location},
		Pattern:  session.Pattern{Rule: rule, Date: civil.MustParseDate("2026-03-16"), Time: civil.TimeOfDay{Hour: 18}, Duration: time.Hour},
		Publish:  true,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return series
}

func TestSweepExtendsSeriesAtTheSameHourAfterTheClocksChange(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	series := h.openSeries("FREQ=WEEKLY")
	if done := h.sweep(); done != (app.Swept{}) {
		t.Errorf("at once: %+v", done)
	}
	before := h.count(`select count(*) from sessions where series_id = $1`, series.ID)
	h.clock.Set(noon.Add(60 * 24 * time.Hour))
	done := h.sweep()
	if after := h.count(`select count(*) from sessions where series_id = $1`, series.ID); done.Sessions != after-before || done.Sessions < 8 {
		t.Errorf("%+v; %d, then %d", done, before, after)
	}
	if got := h.queryText(`select string_agg(distinct to_char(starts_at at time zone 'Europe/Berlin', 'Dy HH24:MI'), ', ') from sessions where series_id = $1`, series.ID); got != "Mon 18:00" {
		t.Error(got)
	}
	if done := h.sweep(); done != (app.Swept{}) {
		t.Errorf("again: %+v", done)
	}
}

func TestSweepTouchesOneTenant(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other := h.another()
	h.markNoShows(0)
	other.markNoShows(0)
	ours, theirs := h.mustBook(h.member("Mia"), h.session(slot{Starts: class})), other.mustBook(other.member("Mia"), other.session(slot{Starts: class}))
	h.clock.Set(class.Add(3 * time.Hour))
	h.sweep()
	if got := [2]string{h.status(ours), other.status(theirs)}; got != [2]string{"NO_SHOW", "CONFIRMED"} {
		t.Error(got)
	}
}

func TestRunSweepsGoesThroughAllTenantsWithEveryTick(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other := h.another()
	houses := []*house{h, other}
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ticks := make(chan time.Time)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.app.RunSweeps(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	ticks <- time.Time{} // taken once the first sweep is over
	var ids []tenant.BookingID
	for _, house := range houses {
		house.markNoShows(0)
		ids = append(ids, house.mustBook(house.member("Mia"), house.session(slot{Starts: class})))
	}
	h.clock.Set(class.Add(2 * time.Hour))
	ticks <- time.Time{}
	ticks <- time.Time{}
	stop()
	<-done
	for i, house := range houses {
		if got := house.status(ids[i]); got != "NO_SHOW" {
			t.Error(got)
		}
	}
	if n := strings.Count(log.String(), "no_shows=1"); n != 2 || strings.Contains(log.String(), "ERROR") {
		t.Error(log.String())
	}
}

func TestWhatFailsDoesNotKeepTheRestOfASweep(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.markNoShows(0)
	good := h.mustBook(h.member("Mia"), h.session(slot{Starts: class}))
	bad := h.session(slot{Starts: class})
	h.mustBook(h.member("Noa"), bad)
	better := h.mustBook(h.member("Leo"), h.session(slot{Starts: class}))
	h.exec(`update sessions set seats_taken = 1 where id = $1`, bad)
	h.exec(`update bookings set party_size = 2 where session_id = $1`, bad) // damage: its seats would fall below none
	trial := h.subscribe(h.member("Eva"), h.plan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)}))
	h.clock.Set(class.Add(2 * time.Hour))
	done, err := h.app.SweepTenant(context.Background(), h.Tenant)
	if err == nil || done != (app.Swept{NoShows: 2, Expired: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if got := [2]string{h.status(good), h.status(better)}; got != [2]string{"NO_SHOW", "NO_SHOW"} {
		t.Error(got)
	}
	if got := h.queryText(`select status from subscriptions where id = $1`, trial.ID); got != "EXPIRED" {
		t.Error(got)
	}
}
