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
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
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
		"all":                      {app.EntryQuery{}, "[left one any window]"},
		"the newest first":         {app.EntryQuery{Newest: true}, "[window any one left]"},
		"those that wait":          {app.EntryQuery{Statuses: active}, "[one any window]"},
		"those that ended":         {app.EntryQuery{Statuses: []waitlist.Status{waitlist.Cancelled}}, "[left]"},
		"for a session":            {app.EntryQuery{Session: class, Statuses: active}, "[one any]"},
		"for another":              {app.EntryQuery{Session: later}, "[any]"},
		"at the location":          {app.EntryQuery{Location: h.Location, Statuses: active}, "[one any window]"},
		"at another location":      {app.EntryQuery{Location: newID[tenant.LocationID]()}, "[]"},
		"for the service":          {app.EntryQuery{Service: h.Service, Statuses: active}, "[one any window]"},
		"for another service":      {app.EntryQuery{Service: newID[tenant.ServiceID]()}, "[]"},
		"of a member":              {app.EntryQuery{Member: who[1].Member}, "[one]"},
		"desired on the last days": {app.EntryQuery{From: utc("2026-03-24T00:00:00Z"), Statuses: active}, "[window]"},
		"desired before":           {app.EntryQuery{Until: utc("2026-03-19T00:00:00Z"), Statuses: active}, "[one any]"},
		"a page":                   {app.EntryQuery{Limit: 1, Statuses: active}, "[one]"},
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
