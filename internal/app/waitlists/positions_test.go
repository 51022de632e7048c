package waitlists_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// What people are told of where they stand is what happens, whatever a formula speaks of: the session, its place and
// its clock, or the target.
func TestFill_OffersInOrderOfPositions(t *testing.T) {
	t.Parallel()
	type row struct {
		formula string
		first   int // of a session's plain member, a golden one, and a window
	}
	testkit.Each(t, map[string]row{
		"the member":     {`member.tier == "gold" ? 2 : 1`, 1},
		"the service":    {`slot.service == "Vinyasa" && member.tier == "gold" ? 2 : 1`, 1},
		"the location":   {`slot.location == "Pier 1" && member.tier == "gold" ? 2 : 1`, 1},
		"the time there": {`slot.time == "13:00" && member.tier == "gold" ? 2 : 1`, 1}, // noon by UTC
		"the weekday":    {`slot.weekday == 3 && member.tier == "gold" ? 2 : 1`, 1},
		"the start":      {`slot.hours_until_start < 48.0 && member.tier == "gold" ? 2 : 1`, 1},
		"the target":     {`entry.kind == "WINDOW" ? 2 : 1`, 2},
		"nothing of it":  {`7`, 0},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetRules(func(s *waitlist.Settings) {
			s.Mode, s.Order, s.PriorityExpression = new(waitlist.OfferInTurn), new(waitlist.ByFormula), &tt.formula
		})
		class, who, booked := studio.AddFullSession(1)
		waiters, ids := studio.AddWaiters(2, testkit.ForSessions(class))
		studio.SetTier(waiters[1], "gold")
		ids = append(
			ids, studio.MustJoin(studio.AddMember("Window"), studio.ForWindow("2026-03-18", "2026-03-18", "00:00", "23:59")).ID,
		)
		e := studio.Entry(ids[tt.first])
		test.EqOp(studio.T, 1, e.Position, test.Sprintf("it stands at %d with %+v", e.Position, e.Scoring))
		studio.MustCancel(who[0], booked[0])
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{ids[tt.first]: waitlist.Offered})
		wantDecisionsFollow(studio, studio.T)
	})
}

// An entry for several days or sessions shows its best position, and its score there. Of equal positions the earliest
// session counts.
func TestPositions_ReportTheBest(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) { s.Order, s.EarlyBirdPointsPerDay = new(waitlist.ByPriority), new(1) })
	crowded, _, _ := studio.AddFullSession(1)
	late, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(120*time.Hour)))
	studio.Tick() // so that the id of the earlier session is the greater one
	empty, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
	studio.AddWaiters(3, testkit.ForSessions(crowded))
	week := studio.MustJoin(studio.AddMember("Window"), studio.ForWindow("2026-03-16", "2026-03-22", "00:00", "23:59")).ID
	either := studio.MustJoin(studio.AddMember("Any"), testkit.ForSessions(crowded, late, empty)).ID
	for range 5 { // whatever order they are looked at in
		for id, want := range map[tenant.EntryID]waitlist.Rank{
			// on its first day, which has begun
			week: {Position: 1, Scoring: waitlist.Scoring{Score: 100, Sum: true, Base: 100}},
			// behind the window, on the fourth day
			either: {Position: 2, Scoring: waitlist.Scoring{Score: 103, Sum: true, Base: 100, EarlyBird: 3}},
		} {
			e := studio.Entry(id)
			must.Eq(t, want, waitlist.Rank{Position: e.Position, Scoring: e.Scoring})
		}
	}
}

// Staff see what an entry is worth and why: the sum of its parts, what they gave it themselves, or what a formula
// says.
func TestPositions_ReportTheScore(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) {
		s.Order, s.TierBonuses, s.EarlyBirdPointsPerDay = new(waitlist.ByPriority), &map[string]int{"gold": 20}, new(2)
	})
	class, _, _ := studio.AddFullSession(1)
	who, ids := studio.AddWaiters(1, testkit.ForSessions(class))
	studio.SetTier(who[0], "gold")
	scoring := func(want waitlist.Scoring) {
		t.Helper()
		entries := expect.Value(
			studio.App.Waitlists.ListWaitlistEntries(t.Context(), studio.Coach, waitlists.EntryQuery{Session: class, Limit: 10}),
		)(t)
		must.EqOp(t, 1, len(entries), must.Sprint(entries))
		roster := expect.Value(studio.App.Bookings.GetSessionRoster(t.Context(), studio.Coach, class))(t)
		for where, got := range map[string]waitlist.Scoring{
			"in the list": entries[0].Scoring, "on the roster": roster.Entries[0].Scoring,
			"by itself": studio.Entry(ids[0]).Scoring,
		} {
			test.EqOp(t, want, got, test.Sprint(where))
		}
	}
	set := func(edit waitlists.PriorityEdit) {
		t.Helper()
		expect.OK(t)(studio.App.Waitlists.SetWaitlistPriority(t.Context(), studio.Owner, ids[0], edit))
	}
	// it joined two days ahead, but for a moment
	scoring(waitlist.Scoring{Score: 122, Sum: true, Base: 100, TierBonus: 20, EarlyBird: 2})
	set(waitlists.PriorityEdit{Score: new(7)})
	set(waitlists.PriorityEdit{Flagged: new(false)})
	scoring(waitlist.Scoring{Score: 7})
	set(waitlists.PriorityEdit{ClearScore: true})
	edit(studio, func(s *waitlist.Settings) {
		s.Order, s.PriorityExpression = new(waitlist.ByFormula), new(`member.tier == "gold" ? 500 : 1`)
	})
	scoring(waitlist.Scoring{Score: 500})
	e := expect.Value(studio.App.Waitlists.LeaveWaitlist(t.Context(), testkit.SelfOnly(who[0]), ids[0], "", true))(t)
	test.EqOp(t, (waitlist.Scoring{}), e.Scoring, test.Sprintf("of one that waits no longer: %+v", e.Scoring))
}

// An offer by hand stands as long as staff say, or else as the rules do; where by their lights there is too little
// time it stands until booking closes. It is of its entry's score, by which messages go.
func TestOfferPlace_UsesGivenWindow(t *testing.T) {
	t.Parallel()
	type row struct {
		made, starts string
		window       time.Duration // of the rules; 0: theirs
		until, ends  string
	}
	testkit.Each(t, map[string]row{
		"half an hour": {
			made: "2026-03-16T14:00:00Z", starts: "2026-03-18T12:00:00Z", ends: "2026-03-16T14:30:00Z",
		},
		"as long as the rules say": {
			made: "2026-03-16T14:00:00Z", starts: "2026-03-18T12:00:00Z", window: 2 * time.Hour, ends: "2026-03-16T16:00:00Z",
		},
		"as long as staff say": {
			made: "2026-03-16T14:00:00Z", starts: "2026-03-18T12:00:00Z", until: "2026-03-17T09:00:00Z",
			ends: "2026-03-17T09:00:00Z",
		},
		"even by night": {
			made: "2026-03-16T21:00:00Z", starts: "2026-03-18T12:00:00Z", until: "2026-03-16T21:10:00Z",
			ends: "2026-03-16T21:10:00Z",
		},
		// 20:50 and 08:20 in Berlin
		"it sleeps at night": {
			made: "2026-03-16T19:50:00Z", starts: "2026-03-18T12:00:00Z", ends: "2026-03-17T07:20:00Z",
		},
		"a quarter of what is left": {
			made: "2026-03-18T11:00:00Z", starts: "2026-03-18T12:00:00Z", ends: "2026-03-18T11:15:00Z",
		},
		"too little is left": {
			made: "2026-03-18T11:58:00Z", starts: "2026-03-18T12:00:00Z", ends: "2026-03-18T12:00:00Z",
		},
		"by morning it would be over": {
			made: "2026-03-17T22:00:00Z", starts: "2026-03-18T05:00:00Z", ends: "2026-03-18T05:00:00Z",
		},
		"no longer than there is time": {
			made: "2026-03-17T19:50:00Z", starts: "2026-03-18T07:10:00Z", ends: "2026-03-18T07:10:00Z",
		},
	}, func(studio *testkit.Studio, tt row) {
		nights(studio)
		edit(studio, func(s *waitlist.Settings) {
			s.OffersInQuietHours, s.Order, s.BaseScore = nil, new(waitlist.ByPriority), new(42)
			if tt.window > 0 {
				s.OfferWindow = &tt.window
			}
		})
		full, _, _ := studio.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
		open := studio.AddSession(testkit.Session{Starts: testkit.UTC(tt.starts), Capacity: 1})
		_, ids := studio.AddWaiters(1, testkit.ForSessions(full))
		studio.Clock.Set(testkit.UTC(tt.made))
		ask := waitlists.OfferRequest{Session: open, Entry: ids[0]}
		if tt.until != "" {
			ask.Until = testkit.UTC(tt.until)
		}
		o := expect.Value(studio.App.Waitlists.CreateWaitlistOffer(context.Background(), studio.Owner, ask))(studio.T)
		test.EqOp(studio.T, tt.ends+" 42", fmt.Sprint(o.ExpiresAt.UTC().Format(time.RFC3339), " ", o.Score),
			test.Sprintf("it ends, and is worth, want %s 42", tt.ends))
		v := studio.LastDecision(open).Decision.Verdicts[0]
		test.EqOp(studio.T, 42, v.Score, test.Sprintf("%+v", v))
	})
}
