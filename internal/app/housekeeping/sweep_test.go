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

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// markNoShows turns the policy on for the tenant, so long after the end.
func markNoShows(h *testkit.Studio, after time.Duration) {
	h.T.Helper()
	h.SetPolicy(func(p *catalog.Policy) { p.AutoNoShow, p.AutoNoShowAfter = new(true), &after })
}

func TestSweep_MarksNoShows(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 45*time.Minute)
	mia, noa, leo := h.AddMember("Mia"), h.AddMember("Noa"), h.AddMember("Leo")
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	absent, came, off := h.MustBook(mia, s), h.MustBook(noa, s), h.MustBook(leo, s)
	if _, err := h.Cancel(leo, off); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.InTwoDays)
	if _, err := h.SelfCheckIn(noa, s, h.ScanQR(s)); err != nil {
		t.Fatal(err)
	}
	due := testkit.InTwoDays.Add(time.Hour + 45*time.Minute)
	h.Clock.Set(due.Add(-time.Microsecond))
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) || h.BookingStatus(absent) != "CONFIRMED" {
		t.Errorf("too soon: %+v", done)
	}
	h.Clock.Set(due)
	if done := h.Sweep(); done != (housekeeping.SweepResult{NoShows: 1}) {
		t.Errorf("%+v", done)
	}
	if got := [3]string{
		h.BookingStatus(absent), h.BookingStatus(came), h.BookingStatus(off),
	}; got != [3]string{"NO_SHOW", "ATTENDED", "CANCELLED"} {
		t.Error(got)
	}
	if got := h.BookingEvents(absent); got != "booking.confirmed member, booking.no_show system" {
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

func TestSweep_MarksNoNoShowsWhileCheckInIsOpen(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 0)
	h.SetPolicyOf(
		settings.PolicyTarget{Service: h.Service}, func(p *catalog.Policy) { p.CheckInCloses = new(2 * time.Hour) },
	)
	mia, s := h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	id := h.MustBook(mia, s)
	closes := testkit.InTwoDays.Add(3 * time.Hour)
	h.Clock.Set(closes.Add(-time.Second))
	if done := h.Sweep(); done.NoShows != 0 {
		t.Errorf("%+v", done)
	}
	if _, err := h.SelfCheckIn(mia, s, h.ScanQR(s)); err != nil {
		t.Error(err)
	}
	h.Clock.Set(closes)
	if done := h.Sweep(); done.NoShows != 0 || h.BookingStatus(id) != "ATTENDED" {
		t.Errorf("%+v", done)
	}
}

func TestSweep_FollowsThePolicyInForce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tenant, location, service *bool // auto_no_show
		want                      int
	}{
		"nobody says anything":       {nil, nil, nil, 0},
		"the tenant":                 {new(true), nil, nil, 1},
		"not at this location":       {new(true), new(false), nil, 0},
		"for this service after all": {new(true), new(false), new(true), 1},
		"for this service alone":     {nil, nil, new(true), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			for target, says := range map[settings.PolicyTarget]*bool{
				{}: tt.tenant, {Location: h.Location}: tt.location, {Service: h.Service}: tt.service,
			} {
				h.SetPolicyOf(target, func(p *catalog.Policy) { p.AutoNoShow = says })
			}
			h.MustBook(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
			h.Clock.Set(testkit.InTwoDays.Add(90 * time.Minute))
			if done := h.Sweep(); done.NoShows != tt.want {
				t.Errorf("%+v", done)
			}
		})
	}
}

func TestSweep_KeepsNoShowsUndoneByStaff(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 30*time.Minute)
	ctx := context.Background()
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	marked, undone := h.MustBook(h.AddMember("Mia"), s), h.MustBook(h.AddMember("Noa"), s)
	h.Clock.Set(testkit.InTwoDays)
	if _, err := h.CheckIn(h.Coach, undone); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	if done := h.Sweep(); done.NoShows != 1 {
		t.Fatalf("%+v", done)
	}
	// She was there: the coach takes the no-show back, and has all the time of the world to check her in.
	if _, err := h.App.Bookings.UndoNoShow(ctx, h.Coach, marked); err != nil {
		t.Fatal(err)
	}
	if done := h.Sweep(); done.NoShows != 0 || h.BookingStatus(marked) != "CONFIRMED" {
		t.Errorf("marked again: %+v", done)
	}
	if _, err := h.CheckIn(h.Coach, marked); err != nil {
		t.Error(err)
	}
	// Noa was checked in by mistake: now she did not come.
	if _, err := h.App.Bookings.UndoCheckIn(ctx, h.Coach, undone); err != nil {
		t.Fatal(err)
	}
	if done := h.Sweep(); done.NoShows != 1 || h.BookingStatus(undone) != "NO_SHOW" ||
		h.BookingStatus(marked) != "ATTENDED" {
		t.Errorf("%+v", done)
	}
	h.WantSound()
}

func TestSweep_MarksNoShowsAfterReschedule(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 30*time.Minute)
	id := h.MustBook(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	h.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	if done := h.Sweep(); done.NoShows != 1 {
		t.Fatalf("%+v", done)
	}
	if _, err := h.App.Bookings.UndoNoShow(context.Background(), h.Coach, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Reschedule(
		h.Owner, id, h.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(24 * time.Hour)}),
	); err != nil {
		t.Fatal(err)
	}
	h.Clock.Set(testkit.InTwoDays.Add(26 * time.Hour))
	if done := h.Sweep(); done.NoShows != 1 || h.BookingStatus(id) != "NO_SHOW" {
		t.Errorf("%+v", done)
	}
	h.WantSound()
}

func TestSweep_MarksNoShowsOnlySinceTheSettingIsOn(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	lastWeek, yesterday := h.AddSession(testkit.Session{Starts: testkit.InTwoDays}), h.AddSession(testkit.Session{
		Starts: testkit.InTwoDays.Add(6 * 24 * time.Hour),
	})
	old, recent := h.MustBook(h.AddMember("Mia"), lastWeek), h.MustBook(h.AddMember("Noa"), yesterday)
	h.Clock.Set(testkit.InTwoDays.Add(6*24*time.Hour + 10*time.Hour))
	markNoShows(h, 0)
	h.Sweep()
	if got := [2]string{h.BookingStatus(old), h.BookingStatus(recent)}; got != [2]string{"CONFIRMED", "NO_SHOW"} {
		t.Error(got)
	}
}

func TestSweep_WaitsForTheLongestPolicyAndSession(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 7*24*time.Hour)
	id := h.MustBook(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays, Minutes: 7 * 24 * 60}))
	h.Clock.Set(testkit.InTwoDays.Add(14*24*time.Hour - time.Second))
	if done := h.Sweep(); done.NoShows != 0 {
		t.Errorf("%+v", done)
	}
	h.Clock.Set(testkit.InTwoDays.Add(15 * 24 * time.Hour)) // the last moment at which it is marked
	if done := h.Sweep(); done.NoShows != 1 || h.BookingStatus(id) != "NO_SHOW" {
		t.Errorf("%+v", done)
	}
}

// Berlin's clocks go forward at 02:00 on 29 March: a class from 23:30 to 00:30, and one from 01:30 for an
// hour that ends at 03:30 by the clock. Neither midnight nor the lost hour makes anybody absent sooner or later.
func TestSweep_OverMidnightAndClockChanges(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 30*time.Minute)
	for i, starts := range []time.Time{testkit.UTC("2026-03-28T22:30:00Z"), testkit.UTC("2026-03-29T00:30:00Z")} {
		h.Clock.Set(testkit.Noon)
		id := h.MustBook(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: starts}))
		h.Clock.Set(starts.Add(90*time.Minute - time.Second))
		if done := h.Sweep(); done.NoShows != 0 {
			t.Errorf("%d: too soon: %+v", i, done)
		}
		h.Clock.Set(starts.Add(90 * time.Minute))
		if done := h.Sweep(); done.NoShows != 1 || h.BookingStatus(id) != "NO_SHOW" {
			t.Errorf("%d: %+v", i, done)
		}
	}
	h.WantSound()
}

func TestSweep_ContinuesAfterAFullChunk(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 0)
	const people = 230
	big := h.AddSession(testkit.Session{Starts: testkit.InTwoDays, Capacity: -1})
	testkit.Parallel(people, func(i int) {
		if _, err := h.Book(
			h.AddMember(fmt.Sprint("Guest ", i)), big, func(r *bookings.BookRequest) { r.Party = 2 },
		); err != nil {
			t.Error(err)
		}
	})
	for range 105 {
		h.MustBook(h.Coach, h.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	}
	h.WantSound()
	h.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	if done := h.Sweep(); done.NoShows != people+105 {
		t.Errorf("%+v", done)
	}
	h.WantSound()
}

func TestSweep_ConcurrentSweepsDoEverythingOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 0)
	pack := h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, Period: new(48 * time.Hour)})
	trial := h.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: new(48 * time.Hour)})
	var packs []credit.Subscription
	for i := range 12 {
		who := h.AddMember(fmt.Sprintf("Member %d", i))
		packs = append(packs, h.Subscribe(who, pack))
		h.Subscribe(h.AddMember("Trial"), trial)
		h.MustBook(who, h.AddSession(testkit.Session{Starts: testkit.Noon.Add(40 * time.Hour)}))
	}
	h.Clock.Set(testkit.Noon.AddDate(0, 0, -265))
	h.CreateSeries(schedules.SeriesInput{
		Template: session.Input{Service: h.Service, Location: h.Location},
		Pattern:  session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=MO", Date: civil.DateOf(h.Clock.Now(), time.UTC)},
	})
	known := h.Count(`select count(*) from sessions where tenant_id = $1 and series_id is not null`, h.Tenant)
	h.Clock.Set(testkit.Noon.Add(48 * time.Hour))

	var mu sync.Mutex
	var sum housekeeping.SweepResult
	testkit.Parallel(4, func(int) {
		done := h.Sweep()
		mu.Lock()
		defer mu.Unlock()
		sum.NoShows += done.NoShows
		sum.Renewed += done.Renewed
		sum.Expired += done.Expired
		sum.Sessions += done.Sessions
	})
	made := h.Count(`select count(*) from sessions where tenant_id = $1 and series_id is not null`, h.Tenant) - known
	if diff := cmp.Diff(
		housekeeping.SweepResult{NoShows: 12, Renewed: 12, Expired: 12, Sessions: made}, sum,
	); diff != "" || made < 30 {
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

func TestSweep_RacesWithCheckIn(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 0)
	s := h.AddSession(testkit.Session{Starts: testkit.InTwoDays, Capacity: -1})
	var ids []tenant.BookingID
	for i := range 20 {
		ids = append(ids, h.MustBook(h.AddMember(fmt.Sprintf("Member %d", i)), s))
	}
	h.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	var mu sync.Mutex
	came := map[tenant.BookingID]bool{}
	testkit.Parallel(len(ids)+2, func(i int) {
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
		if got := h.BookingStatus(id); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	h.WantSound()
}

func TestSweep_RenewsAndExpiresSubscriptionsOnTime(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	month := 30 * 24 * time.Hour
	renewing := h.Subscribe(h.AddMember("Mia"), h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 5, Period: &month}))
	ending := h.Subscribe(h.AddMember("Noa"), h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 8, Term: &month}))
	trial := h.Subscribe(h.AddMember("Leo"), h.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	paused := h.Subscribe(h.AddMember("Zoe"), h.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	over := h.Subscribe(h.AddMember("Ann"), h.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: &month}))
	endless := h.Subscribe(h.AddMember("Eva"), h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 3}))
	for id, to := range map[tenant.SubscriptionID]credit.Status{paused.ID: credit.Paused, over.ID: credit.Cancelled} {
		if _, err := h.App.Accounts.SetSubscriptionStatus(context.Background(), h.Owner, id, to, ""); err != nil {
			t.Fatal(err)
		}
	}
	ledger := func(s credit.Subscription) string {
		return h.Text(
			`select coalesce(string_agg(kind || amount, ' ' order by line), '') from credit_entries where subscription_id = $1`,
			s.ID,
		)
	}
	status := func(s credit.Subscription) string {
		return h.Text(`select status from subscriptions where id = $1`, s.ID)
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
	if got := h.Text(
		`select to_char(period_ends_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from subscriptions where id = $1`,
		renewing.ID,
	); got != "2026-08-13 12:00" {
		t.Errorf("it ends %s", got)
	}
	if got := h.Text(
		`select string_agg(distinct actor, ' ') from credit_entries where subscription_id = $1`, renewing.ID,
	); got != "system" {
		t.Errorf("by %s", got)
	}
	h.WantSound()
}

func TestSweep_RenewsMoreThanAChunk(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	p := h.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)})
	for range 205 {
		h.Subscribe(h.Coach, p)
	}
	h.Clock.Set(testkit.Noon.Add(25 * time.Hour))
	if done := h.Sweep(); done.Expired != 205 {
		t.Errorf("%+v", done)
	}
}

func TestSweep_ExtendsSeriesAcrossClockChanges(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	series := h.CreateEndlessSeries("FREQ=WEEKLY")
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("at once: %+v", done)
	}
	before := h.Count(`select count(*) from sessions where series_id = $1`, series.ID)
	h.Clock.Set(testkit.Noon.Add(60 * 24 * time.Hour))
	done := h.Sweep()
	if after := h.Count(`select count(*) from sessions where series_id = $1`, series.ID); done.Sessions != after-before ||
		done.Sessions < 8 {
		t.Errorf("%+v; %d, then %d", done, before, after)
	}
	if got := h.Text(
		`select string_agg(distinct to_char(starts_at at time zone 'Europe/Berlin', 'Dy HH24:MI'), ', ') from sessions
			where series_id = $1`,
		series.ID,
	); got != "Mon 18:00" {
		t.Error(got)
	}
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("again: %+v", done)
	}
}

func TestSweep_ChangesOneTenantOnly(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	other := h.OtherTenant()
	markNoShows(h, 0)
	markNoShows(other, 0)
	ours, theirs := h.MustBook(
		h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays}),
	), other.MustBook(other.AddMember("Mia"), other.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	h.Clock.Set(testkit.InTwoDays.Add(3 * time.Hour))
	h.Sweep()
	if got := [2]string{h.BookingStatus(ours), other.BookingStatus(theirs)}; got != [2]string{"NO_SHOW", "CONFIRMED"} {
		t.Error(got)
	}
}

func TestRunSweeps_VisitsAllTenantsAtEveryTick(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	other := h.OtherTenant()
	studios := []*testkit.Studio{h, other}
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
	for _, studio := range studios {
		markNoShows(studio, 0)
		ids = append(
			ids, studio.MustBook(studio.AddMember("Mia"), studio.AddSession(testkit.Session{Starts: testkit.InTwoDays})),
		)
	}
	h.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	ticks <- time.Time{}
	ticks <- time.Time{}
	stop()
	<-done
	for i, studio := range studios {
		if got := studio.BookingStatus(ids[i]); got != "NO_SHOW" {
			t.Error(got)
		}
	}
	if n := strings.Count(log.String(), "no_shows=1"); n != 2 || strings.Contains(log.String(), "ERROR") {
		t.Error(log.String())
	}
}

func TestSweep_ContinuesAfterFailures(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	markNoShows(h, 0)
	good := h.MustBook(h.AddMember("Mia"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	bad := h.AddSession(testkit.Session{Starts: testkit.InTwoDays})
	h.MustBook(h.AddMember("Noa"), bad)
	better := h.MustBook(h.AddMember("Leo"), h.AddSession(testkit.Session{Starts: testkit.InTwoDays}))
	h.Exec(`update sessions set seats_taken = 1 where id = $1`, bad)
	h.Exec(`update bookings set party_size = 2 where session_id = $1`, bad) // damage: its seats would fall below none
	trial := h.Subscribe(h.AddMember("Eva"), h.AddPlan(credit.Plan{Kind: credit.Unlimited, Term: new(24 * time.Hour)}))
	h.Clock.Set(testkit.InTwoDays.Add(2 * time.Hour))
	done, err := h.App.Housekeeping.SweepTenant(context.Background(), h.Tenant)
	if err == nil || done != (housekeeping.SweepResult{NoShows: 2, Expired: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if got := [2]string{h.BookingStatus(good), h.BookingStatus(better)}; got != [2]string{"NO_SHOW", "NO_SHOW"} {
		t.Error(got)
	}
	if got := h.Text(`select status from subscriptions where id = $1`, trial.ID); got != "EXPIRED" {
		t.Error(got)
	}
}
