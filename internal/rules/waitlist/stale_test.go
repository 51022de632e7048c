package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestOver_ReportsPlacesThatCannotGetSeats(t *testing.T) {
	t.Parallel()
	r := waitlist.Defaults()
	ends := starts.Add(2 * time.Hour)
	session := waitlist.Place{
		Session: id[tenant.SessionID](1), Times: waitlist.Times{Starts: starts, Ends: ends}, Zone: "Europe/Lisbon",
	}
	single, early := vary.From(session, set{"Single": true}), vary.From(session, set{"BookingCloses": time.Hour})
	day := waitlist.Place{Queue: waitlist.Queue{Date: civiltest.Date("2026-03-18")}, Zone: "America/New_York"}
	midnight := time.Date(2026, 3, 19, 4, 0, 0, 0, time.UTC) // in New York
	gone := vary.From(session, set{"Gone": true})
	for name, tc := range map[string]struct {
		place waitlist.Place
		after time.Duration
		at    time.Time
		want  bool
	}{
		"before the start":                   {session, 0, starts.Add(-1), false},
		"at the start":                       {session, 0, starts, true},
		"while seats of no-shows are filled": {session, time.Hour, starts.Add(time.Hour - 1), false},
		"after that":                         {session, time.Hour, starts.Add(time.Hour), true},
		"never after the end":                {session, 3 * time.Hour, ends, true},
		"a chair that may still come free":   {single, 0, starts.Add(15*time.Minute - 1), false},
		"a chair after that":                 {single, 0, starts.Add(15 * time.Minute), true},
		"before booking closes":              {early, 0, starts.Add(-time.Hour - 1), false},
		"once booking closes":                {early, 0, starts.Add(-time.Hour), true},
		"closed, but filled after the start": {early, time.Minute, starts.Add(time.Minute - 1), false},
		"of a session that is gone":          {gone, 0, now, true},
		"before midnight at the location":    {day, 0, midnight.Add(-1), false},
		"after midnight at the location":     {day, 0, midnight, true},
	} {
		r.FillAfterStart = tc.after
		test.EqOp(t, tc.want, tc.place.Over(r, tc.at), test.Sprint(name))
	}
}

func TestStale_FollowsRules(t *testing.T) {
	t.Parallel()
	strict := vary.From(waitlist.Defaults(), set{"ExpireStale": true})
	for name, tt := range map[string]struct {
		rules waitlist.Rules
		after time.Duration
		want  bool
	}{
		"never by default": {waitlist.Defaults(), 1_000 * time.Hour, false}, "within a day": {
			strict, 24*time.Hour - 1, false,
		},
		"after a day": {strict, 24 * time.Hour, true},
	} {
		test.EqOp(t, tt.want, tt.rules.Stale(waitlist.Entry{CreatedAt: now}, now.Add(tt.after)), test.Sprint(name))
	}
}

func TestEndStale_ClosesEntriesThatCannotGetSeats(t *testing.T) {
	t.Parallel()
	rulesOf := func(q waitlist.Queue) waitlist.Rules {
		return waitlist.Rules{ExpireStale: q.Service == massage, StaleAfter: time.Hour}
	}
	at := func(n uint64, starts time.Time) waitlist.Place {
		return waitlist.Place{
			Session: id[tenant.SessionID](n), Times: waitlist.Times{Starts: starts, Ends: starts.Add(time.Hour)},
		}
	}
	past, ahead, old := at(1, now), at(2, starts), at(3, now.Add(-12*time.Hour))
	closed := vary.From(ahead, set{"BookingCloses": 30 * 24 * time.Hour})
	yesterday := waitlist.Place{
		Queue: waitlist.Queue{Date: civil.DateOf(now, time.UTC).AddDays(-1)}, Zone: "America/New_York",
	}
	before := waitlist.Place{Queue: waitlist.Queue{Date: civil.DateOf(now, time.UTC).AddDays(-2)}}
	over := func(told time.Duration) waitlist.LeaveOptions {
		return waitlist.LeaveOptions{Reason: "Its time has passed.", TellUntil: now.Add(told), Notify: told > 0}
	}
	strictly := vary.From(ahead, set{"Service": massage})
	for name, tt := range map[string]struct {
		status waitlist.Status
		places []waitlist.Place
		want   waitlist.LeaveOptions
	}{
		"nothing is over":          {waitlist.Waiting, []waitlist.Place{ahead}, waitlist.LeaveOptions{}},
		"one of two is over":       {waitlist.Waiting, []waitlist.Place{past, ahead}, waitlist.LeaveOptions{}},
		"all are over":             {waitlist.Waiting, []waitlist.Place{past}, over(12 * time.Hour)},
		"12 hours ago":             {waitlist.Waiting, []waitlist.Place{old}, over(0)},
		"the last less long ago":   {waitlist.Waiting, []waitlist.Place{old, past}, over(12 * time.Hour)},
		"booking closes, days ago": {waitlist.Waiting, []waitlist.Place{closed}, over(12 * time.Hour)},
		"its last day":             {waitlist.Waiting, []waitlist.Place{yesterday}, over(4 * time.Hour)},
		"its last day, long ago":   {waitlist.Waiting, []waitlist.Place{before}, over(0)},
		"too long for one":         {waitlist.Waiting, []waitlist.Place{strictly, ahead}, waitlist.LeaveOptions{}},
		"too long for all": {
			waitlist.Waiting, []waitlist.Place{strictly}, waitlist.LeaveOptions{Reason: "It waited too long.", Notify: true},
		},
		"while an offer to it is live": {waitlist.Offered, []waitlist.Place{past}, waitlist.LeaveOptions{}},
		"closed before":                {waitlist.Cancelled, []waitlist.Place{past}, waitlist.LeaveOptions{}},
	} {
		e := waitlist.Entry{ID: entry(0), Status: tt.status, CreatedAt: now.Add(-2 * time.Hour)}
		var want waitlist.Changes
		if tt.want.Reason != "" {
			want.Entries = []waitlist.EntryChange{{
				Entry: vary.From(e, set{"Status": waitlist.Expired, "ClosedAt": now}), LeaveOptions: tt.want,
			}}
		}
		test.Eq(t, want, waitlist.EndStale(e, tt.places, rulesOf, now), test.Sprint(name))
	}
}
