package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Staff find entries by what they are for, whose they are, what became of them, and when they would take place.
func TestEntriesAreFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class, _, _ := h.full(1)
	later, _, _ := h.full(1, starting(noon.Add(96*time.Hour)))
	who, ids := h.waiters(2, names(class))
	_, either := h.waiters(1, names(class, later))
	_, window := h.waiters(1, h.window("2026-03-25", "2026-03-26", "08:00", "09:00"))
	if _, err := h.app.LeaveWaitlist(context.Background(), own(who[0]), ids[0], "", false); err != nil {
		t.Fatal(err)
	}
	called := map[tenant.EntryID]string{ids[0]: "left", ids[1]: "one", either[0]: "any", window[0]: "window"}
	active := []waitlist.Status{waitlist.Waiting, waitlist.Offered}
	for name, tt := range map[string]struct {
		q    app.EntryQuery
		want string
	}{
		"all":                           {app.EntryQuery{}, "[left one any window]"},
		"the newest first":              {app.EntryQuery{Newest: true}, "[window any one left]"},
		"those that wait":               {app.EntryQuery{Statuses: active}, "[one any window]"},
		"those that ended":              {app.EntryQuery{Statuses: []waitlist.Status{waitlist.Cancelled}}, "[left]"},
		"for a session":                 {app.EntryQuery{Session: class, Statuses: active}, "[one any]"},
		"for another":                   {app.EntryQuery{Session: later}, "[any]"},
		"at the location":               {app.EntryQuery{Location: h.Location, Statuses: active}, "[one any window]"},
		"at another location":           {app.EntryQuery{Location: newID[tenant.LocationID]()}, "[]"},
		"for the service":               {app.EntryQuery{Service: h.Service, Statuses: active}, "[one any window]"},
		"for another service":           {app.EntryQuery{Service: newID[tenant.ServiceID]()}, "[]"},
		"of a member":                   {app.EntryQuery{Member: who[1].Member}, "[one]"},
		"desired on the last days":      {app.EntryQuery{From: utc("2026-03-24T00:00:00Z"), Statuses: active}, "[window]"},
		"desired before":                {app.EntryQuery{Until: utc("2026-03-19T00:00:00Z"), Statuses: active}, "[one any]"},
		"in the span of any of several": {app.EntryQuery{From: utc("2026-03-20T00:00:00Z"), Until: utc("2026-03-21T00:00:00Z"), Statuses: active}, "[any]"},
		"a page":                        {app.EntryQuery{Limit: 1, Statuses: active}, "[one]"},
	} {
		if tt.q.Limit == 0 {
			tt.q.Limit = 10
		}
		entries, err := h.app.ListEntries(context.Background(), h.Owner, tt.q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := []string{}
		for _, e := range entries {
			got = append(got, called[e.ID])
		}
		if diff := cmp.Diff(tt.want, fmt.Sprint(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	others, err := h.app.ListEntries(context.Background(), h.another().Owner, app.EntryQuery{Limit: 10})
	if err != nil || len(others) > 0 {
		t.Errorf("%v, %v", others, err)
	}
}

// Figures are those of the location and the service that are asked for.
func TestWaitlistAnalyticsOfAPart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class, _, _ := h.full(1)
	h.waiters(2, names(class))
	span := civil.Span{Start: noon.Add(-12 * time.Hour), End: noon.Add(156 * time.Hour)}
	for name, tt := range map[string]struct {
		q    app.WaitlistQuery
		want int
	}{
		"all":                 {app.WaitlistQuery{Span: span}, 2},
		"the location":        {app.WaitlistQuery{Span: span, Location: h.Location}, 2},
		"the service":         {app.WaitlistQuery{Span: span, Service: h.Service}, 2},
		"another location":    {app.WaitlistQuery{Span: span, Location: newID[tenant.LocationID]()}, 0},
		"another service":     {app.WaitlistQuery{Span: span, Service: newID[tenant.ServiceID]()}, 0},
		"the days before now": {app.WaitlistQuery{Span: civil.Span{Start: noon.Add(-156 * time.Hour), End: noon.Add(-12 * time.Hour)}}, 0},
	} {
		figures, err := h.app.WaitlistAnalytics(context.Background(), h.Owner, tt.q)
		if reason := fault.ReasonOf(err); err != nil && reason != fault.LocationNotFound && reason != fault.ServiceNotFound {
			t.Errorf("%s: %v", name, err)
		}
		if figures.Total.Entries != tt.want {
			t.Errorf("%s: %d entries, want %d", name, figures.Total.Entries, tt.want)
		}
	}
}

// Each figure is told by location, service and day, on the tenant's calendar, and of the span that is asked for.
func TestWaitlistAnalyticsByPart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	h.mode(waitlist.OfferInTurn)
	massage, quay := newID[tenant.ServiceID](), newID[tenant.LocationID]()
	h.exec(`insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at) values ($1, $2, 'Massage', 3600, $3, $3)`, h.Tenant, massage, noon)
	h.exec(`insert into locations (tenant_id, id, name, time_zone, created_at, updated_at) values ($1, $2, 'Quay', 'America/New_York', $3, $3)`, h.Tenant, quay, noon)
	h.exec(`update tenants set house_version = house_version + 1 where tenant_id = $1`, h.Tenant)
	if _, err := h.app.UpdateRules(ctx, h.Owner, app.RulesEdit{
		Target: app.PolicyTarget{Service: massage}, Edit: func(s *waitlist.Settings) { s.Mode = new(waitlist.AutoPromote) },
	}); err != nil {
		t.Fatal(err)
	}

	// On the first day one of two is offered a class and takes it after a minute, and somebody is promoted to a massage.
	class, who, booked := h.full(1)
	waiters, entries := h.waiters(2, names(class))
	h.mustCancel(who[0], booked[0])
	h.clock.Set(h.clock.Now().Add(time.Minute - time.Millisecond))
	if _, err := h.accept(waiters[0], h.live(entries[0])); err != nil {
		t.Fatal(err)
	}
	rub, who, booked := h.full(1, starting(noon.Add(60*time.Hour)), func(s *slot) { s.Service = massage })
	h.waiters(1, names(rub))
	h.mustCancel(who[0], booked[0])

	// On the next, which has begun in Berlin alone, one of two leaves with an offer, and that of the other runs out.
	h.clock.Set(utc("2026-03-16T23:30:00Z"))
	over, who, booked := h.full(1, starting(noon.Add(72*time.Hour)), func(s *slot) { s.Location = quay })
	waiters, entries = h.waiters(2, names(over))
	h.mustCancel(who[0], booked[0])
	h.tick()
	if _, err := h.app.LeaveWaitlist(ctx, own(waiters[0]), entries[0], "", true); err != nil {
		t.Fatal(err)
	}
	h.clock.Set(h.live(entries[1]).ExpiresAt)
	if _, err := h.app.ExpireOffers(ctx, h.Tenant); err != nil {
		t.Fatal(err)
	}

	type figures struct {
		waitlist.Tally
		Promoted int
		Depths   map[int]int
	}
	taken := waitlist.Tally{Entries: 2, Active: 1, Booked: 1, Offers: 1, Accepted: 1, ResponseTime: time.Minute, Tries: 1}
	promoted := waitlist.Tally{Entries: 1, Booked: 1}
	lost := waitlist.Tally{Entries: 2, Active: 1, Offers: 2, Withdrawn: 1, RanOut: 1}
	first, second := figures{taken.Sum(promoted), 1, map[int]int{1: 1}}, figures{Tally: lost}
	by := func(groups []app.WaitlistGroup) map[string]figures {
		all := make(map[string]figures)
		for _, g := range groups {
			all[g.Name] = figures{g.Tally, g.Promoted, g.Depths}
		}
		return all
	}
	span := civil.Span{Start: noon.Add(-12 * time.Hour), End: noon.Add(156 * time.Hour)}
	all, err := h.app.WaitlistAnalytics(ctx, h.Owner, app.WaitlistQuery{Span: span})
	if err != nil {
		t.Fatal(err)
	}
	for what, tt := range map[string]struct{ want, got map[string]figures }{
		"days":      {map[string]figures{"2026-03-16": first, "2026-03-17": second}, by(all.Days)},
		"locations": {map[string]figures{"Pier 1": first, "Quay": second}, by(all.Locations)},
		"services":  {map[string]figures{"Vinyasa": {Tally: taken.Sum(lost), Depths: map[int]int{1: 1}}, "Massage": {Tally: promoted, Promoted: 1}}, by(all.Services)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for what, tt := range map[string]struct {
		q    app.WaitlistQuery
		want waitlist.Tally
	}{
		"all":            {app.WaitlistQuery{Span: span}, taken.Sum(promoted).Sum(lost)},
		"the first day":  {app.WaitlistQuery{Span: civil.Span{Start: span.Start, End: utc("2026-03-16T23:00:00Z")}}, taken.Sum(promoted)},
		"the next day":   {app.WaitlistQuery{Span: civil.Span{Start: utc("2026-03-16T23:00:00Z"), End: span.End}}, lost},
		"a location":     {app.WaitlistQuery{Span: span, Location: quay}, lost},
		"a service":      {app.WaitlistQuery{Span: span, Service: massage}, promoted},
		"one at another": {app.WaitlistQuery{Span: span, Service: massage, Location: quay}, waitlist.Tally{}},
	} {
		some, err := h.app.WaitlistAnalytics(ctx, h.Owner, tt.q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, some.Total.Tally); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for days, reason := range map[int]fault.Reason{366: "", 368: fault.InvalidField} {
		_, err := h.app.WaitlistAnalytics(ctx, h.Owner, app.WaitlistQuery{Span: civil.Span{Start: span.Start, End: span.Start.AddDate(0, 0, days)}})
		if fault.ReasonOf(err) != reason {
			t.Errorf("%d days: %v", days, err)
		}
	}
}
