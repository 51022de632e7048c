package waitlists_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Staff find entries by what they are for, whose they are, what became of them, and when they would take place.
func TestListEntries_Filters(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, _, _ := studio.AddFullSession(1)
	later, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
	who, ids := studio.AddWaiters(2, testkit.ForSessions(class))
	_, either := studio.AddWaiters(1, testkit.ForSessions(class, later))
	_, window := studio.AddWaiters(1, studio.ForWindow("2026-03-25", "2026-03-26", "08:00", "09:00"))
	expect.OK(t)(studio.App.Waitlists.LeaveWaitlist(
		context.Background(), testkit.SelfOnly(who[0]), ids[0], "", false,
	))
	called := map[tenant.EntryID]string{ids[0]: "left", ids[1]: "one", either[0]: "any", window[0]: "window"}
	active := []waitlist.Status{waitlist.Waiting, waitlist.Offered}
	for name, tt := range map[string]struct {
		q    waitlists.EntryQuery
		want string
	}{
		"all":                 {waitlists.EntryQuery{}, "[left one any window]"},
		"the newest first":    {waitlists.EntryQuery{Newest: true}, "[window any one left]"},
		"those that wait":     {waitlists.EntryQuery{Statuses: active}, "[one any window]"},
		"those that ended":    {waitlists.EntryQuery{Statuses: []waitlist.Status{waitlist.Cancelled}}, "[left]"},
		"for a session":       {waitlists.EntryQuery{Session: class, Statuses: active}, "[one any]"},
		"for another":         {waitlists.EntryQuery{Session: later}, "[any]"},
		"at the location":     {waitlists.EntryQuery{Location: studio.Location, Statuses: active}, "[one any window]"},
		"at another location": {waitlists.EntryQuery{Location: testkit.NewID[tenant.LocationID]()}, "[]"},
		"for the service":     {waitlists.EntryQuery{Service: studio.Service, Statuses: active}, "[one any window]"},
		"for another service": {waitlists.EntryQuery{Service: testkit.NewID[tenant.ServiceID]()}, "[]"},
		"of a member":         {waitlists.EntryQuery{Member: who[1].Member}, "[one]"},
		"desired on the last days": {
			waitlists.EntryQuery{From: testkit.UTC("2026-03-24T00:00:00Z"), Statuses: active}, "[window]",
		},
		"desired before": {
			waitlists.EntryQuery{Until: testkit.UTC("2026-03-19T00:00:00Z"), Statuses: active}, "[one any]",
		},
		"in the span of any of several": {
			waitlists.EntryQuery{
				From: testkit.UTC("2026-03-20T00:00:00Z"), Until: testkit.UTC("2026-03-21T00:00:00Z"), Statuses: active,
			},
			"[any]",
		},
		"a page": {waitlists.EntryQuery{Limit: 1, Statuses: active}, "[one]"},
	} {
		if tt.q.Limit == 0 {
			tt.q.Limit = 10
		}
		entries := expect.Value(studio.App.Waitlists.ListEntries(context.Background(), studio.Owner, tt.q))(t)
		got := []string{}
		for _, e := range entries {
			got = append(got, called[e.ID])
		}
		test.Eq(t, tt.want, fmt.Sprint(got), test.Sprint(name))
	}
	others := expect.Value(studio.App.Waitlists.ListEntries(
		context.Background(), studio.OtherTenant().Owner, waitlists.EntryQuery{Limit: 10},
	))(t)
	test.True(t, len(others) == 0, test.Sprintf("%v", others))
}

// Figures are those of the location and the service that are asked for.
func TestWaitlistAnalytics_Filters(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class, _, _ := studio.AddFullSession(1)
	studio.AddWaiters(2, testkit.ForSessions(class))
	span := civil.Span{Start: testkit.Noon.Add(-12 * time.Hour), End: testkit.Noon.Add(156 * time.Hour)}
	for name, tt := range map[string]struct {
		q    waitlists.WaitlistQuery
		want int
	}{
		"all":              {waitlists.WaitlistQuery{Span: span}, 2},
		"the location":     {waitlists.WaitlistQuery{Span: span, Location: studio.Location}, 2},
		"the service":      {waitlists.WaitlistQuery{Span: span, Service: studio.Service}, 2},
		"another location": {waitlists.WaitlistQuery{Span: span, Location: testkit.NewID[tenant.LocationID]()}, 0},
		"another service":  {waitlists.WaitlistQuery{Span: span, Service: testkit.NewID[tenant.ServiceID]()}, 0},
		"the days before now": {
			waitlists.WaitlistQuery{
				Span: civil.Span{Start: testkit.Noon.Add(-156 * time.Hour), End: testkit.Noon.Add(-12 * time.Hour)},
			},
			0,
		},
	} {
		figures, err := studio.App.Waitlists.WaitlistAnalytics(context.Background(), studio.Owner, tt.q)
		reason := fault.ReasonOf(err)
		test.False(
			t, err != nil && reason != fault.LocationNotFound && reason != fault.ServiceNotFound,
			test.Sprintf("%s: %v", name, err),
		)
		test.EqOp(t, tt.want, figures.Total.Entries,
			test.Sprintf("%s: %d entries, want %d", name, figures.Total.Entries, tt.want))
	}
}

// Each figure is told by location, service and day, on the tenant's calendar, and of the span that is asked for.
func TestWaitlistAnalytics_Groups(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	massage := studio.AddService(catalog.Service{Name: "Massage"})
	quay := studio.AddLocation(catalog.Location{Name: "Quay", TimeZone: "America/New_York"})
	expect.OK(t)(studio.App.Settings.UpdateRules(t.Context(), studio.Owner, settings.RulesEdit{
		Target: settings.PolicyTarget{Service: massage},
		Edit:   func(s *waitlist.Settings) { s.Mode = new(waitlist.AutoPromote) },
	}))

	// On the first day one of two entries gets an offer of a class and accepts it after a minute, and another is promoted
	// to a massage.
	class, who, booked := studio.AddFullSession(1)
	waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
	studio.MustCancel(who[0], booked[0])
	studio.Clock.Set(studio.Clock.Now().Add(time.Minute - time.Millisecond))
	expect.OK(t)(studio.Accept(waiters[0], studio.LiveOffer(entries[0])))
	rub, who, booked := studio.AddFullSession(
		1, testkit.StartingAt(testkit.Noon.Add(60*time.Hour)), func(s *testkit.Session) { s.Service = massage },
	)
	studio.AddWaiters(1, testkit.ForSessions(rub))
	studio.MustCancel(who[0], booked[0])

	// On the next, which has begun in Berlin alone, one of two leaves with an offer, and that of the other runs out.
	studio.Clock.Set(testkit.UTC("2026-03-16T23:30:00Z"))
	over, who, booked := studio.AddFullSession(
		1, testkit.StartingAt(testkit.Noon.Add(72*time.Hour)), func(s *testkit.Session) { s.Location = quay },
	)
	waiters, entries = studio.AddWaiters(2, testkit.ForSessions(over))
	studio.MustCancel(who[0], booked[0])
	studio.Tick()
	expect.OK(t)(studio.App.Waitlists.LeaveWaitlist(t.Context(), testkit.SelfOnly(waiters[0]), entries[0], "", true))
	studio.Clock.Set(studio.LiveOffer(entries[1]).ExpiresAt)
	expect.OK(t)(studio.App.Waitlists.ExpireDueOffers(t.Context(), studio.Tenant))

	type figures struct {
		waitlist.Tally
		Promoted int
		Depths   map[int]int
	}
	taken := waitlist.Tally{Entries: 2, Active: 1, Booked: 1, Offers: 1, Accepted: 1, ResponseTime: time.Minute, Tries: 1}
	promoted := waitlist.Tally{Entries: 1, Booked: 1}
	lost := waitlist.Tally{Entries: 2, Active: 1, Offers: 2, Withdrawn: 1, RanOut: 1}
	first, second := figures{taken.Sum(promoted), 1, map[int]int{1: 1}}, figures{Tally: lost}
	by := func(groups []waitlists.WaitlistGroup) map[string]figures {
		all := make(map[string]figures)
		for _, g := range groups {
			all[g.Name] = figures{g.Tally, g.Promoted, g.Depths}
		}
		return all
	}
	span := civil.Span{Start: testkit.Noon.Add(-12 * time.Hour), End: testkit.Noon.Add(156 * time.Hour)}
	all := expect.Value(studio.App.Waitlists.WaitlistAnalytics(
		t.Context(), studio.Owner, waitlists.WaitlistQuery{Span: span},
	))(t)
	for what, tt := range map[string]struct{ want, got map[string]figures }{
		"days":      {map[string]figures{"2026-03-16": first, "2026-03-17": second}, by(all.Days)},
		"locations": {map[string]figures{"Pier 1": first, "Quay": second}, by(all.Locations)},
		"services": {
			map[string]figures{
				"Vinyasa": {Tally: taken.Sum(lost), Depths: map[int]int{1: 1}}, "Massage": {Tally: promoted, Promoted: 1},
			},
			by(all.Services),
		},
	} {
		test.Eq(t, tt.want, tt.got, test.Sprint(what))
	}
	for what, tt := range map[string]struct {
		q    waitlists.WaitlistQuery
		want waitlist.Tally
	}{
		"all": {waitlists.WaitlistQuery{Span: span}, taken.Sum(promoted).Sum(lost)},
		"the first day": {
			waitlists.WaitlistQuery{Span: civil.Span{Start: span.Start, End: testkit.UTC("2026-03-16T23:00:00Z")}},
			taken.Sum(promoted),
		},
		"the next day": {
			waitlists.WaitlistQuery{Span: civil.Span{Start: testkit.UTC("2026-03-16T23:00:00Z"), End: span.End}}, lost,
		},
		"a location":     {waitlists.WaitlistQuery{Span: span, Location: quay}, lost},
		"a service":      {waitlists.WaitlistQuery{Span: span, Service: massage}, promoted},
		"one at another": {waitlists.WaitlistQuery{Span: span, Service: massage, Location: quay}, waitlist.Tally{}},
	} {
		some := expect.Value(studio.App.Waitlists.WaitlistAnalytics(t.Context(), studio.Owner, tt.q))(t)
		test.Eq(t, tt.want, some.Total.Tally, test.Sprint(what))
	}
	for days, reason := range map[int]fault.Reason{366: "", 368: fault.InvalidField} {
		_, err := studio.App.Waitlists.WaitlistAnalytics(
			t.Context(), studio.Owner,
			waitlists.WaitlistQuery{Span: civil.Span{Start: span.Start, End: span.Start.AddDate(0, 0, days)}},
		)
		test.EqOp(t, reason, fault.ReasonOf(err), test.Sprintf("%d days: %v", days, err))
	}
}
