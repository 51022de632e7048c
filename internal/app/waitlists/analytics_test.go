package waitlists_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/rules/waitstats"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Each figure is told by location, service and day, on the tenant's calendar, and of the span that is asked for.
func TestWaitlistAnalytics_Groups(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	massage := studio.AddService(catalog.Service{Name: "Massage"})
	quay := studio.AddLocation(catalog.Location{Name: "Quay", TimeZone: "America/New_York"})
	expect.OK(t)(studio.App.Settings.UpdateWaitlistRules(t.Context(), studio.Owner, settings.RulesEdit{
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
		waitstats.Counts
		Promoted int
		Depths   map[int]int
	}
	taken := waitstats.Counts{
		Entries: 2, Active: 1, Booked: 1, Offers: 1, Accepted: 1, ResponseTime: time.Minute, Tries: 1,
	}
	promoted := waitstats.Counts{Entries: 1, Booked: 1}
	lost := waitstats.Counts{Entries: 2, Active: 1, Offers: 2, Withdrawn: 1, RanOut: 1}
	first, second := figures{taken.Sum(promoted), 1, map[int]int{1: 1}}, figures{Counts: lost}
	by := func(groups []waitlists.WaitlistGroup) map[string]figures {
		all := make(map[string]figures)
		for _, g := range groups {
			all[g.Name] = figures{g.Counts, g.Promoted, g.Depths}
		}
		return all
	}
	span := civil.Span{Start: testkit.Noon.Add(-12 * time.Hour), End: testkit.Noon.Add(156 * time.Hour)}
	all := expect.Value(studio.App.Waitlists.GetWaitlistAnalytics(
		t.Context(), studio.Owner, waitlists.WaitlistQuery{Span: span},
	))(t)
	for what, tt := range map[string]struct{ want, got map[string]figures }{
		"days":      {map[string]figures{"2026-03-16": first, "2026-03-17": second}, by(all.Days)},
		"locations": {map[string]figures{"Pier 1": first, "Quay": second}, by(all.Locations)},
		"services": {
			map[string]figures{
				"Vinyasa": {Counts: taken.Sum(lost), Depths: map[int]int{1: 1}}, "Massage": {Counts: promoted, Promoted: 1},
			},
			by(all.Services),
		},
	} {
		test.Eq(t, tt.want, tt.got, test.Sprint(what))
	}
	for what, tt := range map[string]struct {
		q    waitlists.WaitlistQuery
		want waitstats.Counts
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
		"one at another": {waitlists.WaitlistQuery{Span: span, Service: massage, Location: quay}, waitstats.Counts{}},
	} {
		test.Eq(t, tt.want, expect.Value(
			studio.App.Waitlists.GetWaitlistAnalytics(t.Context(), studio.Owner, tt.q))(t).Total.Counts, test.Sprint(what))
	}
	for days, reason := range map[int]fault.Reason{367: "", 368: fault.InvalidField} {
		expect.Reason(t, reason, days)(studio.App.Waitlists.GetWaitlistAnalytics(
			t.Context(), studio.Owner,
			waitlists.WaitlistQuery{Span: civil.Span{Start: span.Start, End: span.Start.AddDate(0, 0, days)}},
		))
	}
	studio.Exec(`update tenants set time_zone = 'Nowhere'`)
	test.StrContains(t, expect.Error(studio.App.Waitlists.GetWaitlistAnalytics(
		t.Context(), studio.Owner, waitlists.WaitlistQuery{Span: span},
	)).Error(), "Nowhere")
}
