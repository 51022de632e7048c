package waitlists_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// What people are told of where they stand is what happens, whatever a formula speaks of: the session, its place and
// its clock, or the wish.
func TestFill_OffersInOrderOfPositions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		formula string
		first   int // of a session's plain member, a golden one, and a window
	}{
		"the member":     {`member.tier == "gold" ? 2 : 1`, 1},
		"the service":    {`slot.service == "Vinyasa" && member.tier == "gold" ? 2 : 1`, 1},
		"the location":   {`slot.location == "Pier 1" && member.tier == "gold" ? 2 : 1`, 1},
		"the time there": {`slot.time == "13:00" && member.tier == "gold" ? 2 : 1`, 1}, // noon by UTC
		"the weekday":    {`slot.weekday == 3 && member.tier == "gold" ? 2 : 1`, 1},
		"the start":      {`slot.hours_until_start < 48.0 && member.tier == "gold" ? 2 : 1`, 1},
		"the wish":       {`entry.kind == "WINDOW" ? 2 : 1`, 2},
		"nothing of it":  {`7`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetRules(func(s *waitlist.Settings) {
				s.Mode, s.Order, s.PriorityExpression = new(waitlist.OfferInTurn), new(waitlist.ByFormula), &tt.formula
			})
			class, who, booked := h.AddFullSession(1)
			waiters, ids := h.AddWaiters(2, testkit.ForSessions(class))
			h.SetTier(waiters[1], "gold")
			ids = append(ids, h.MustJoin(h.AddMember("Window"), h.ForWindow("2026-03-18", "2026-03-18", "00:00", "23:59")).ID)
			if e := h.Entry(ids[tt.first]); e.Position != 1 {
				t.Errorf("it stands at %d with %+v", e.Position, e.Worth)
			}
			h.MustCancel(who[0], booked[0])
			h.WantEntries(map[tenant.EntryID]waitlist.Status{ids[tt.first]: waitlist.Offered})
			wantDecisionsFollow(h, t)
			h.WantSound()
		})
	}
}

// Whoever waits on several days, or for any of several sessions, is told where they stand best, and what they are worth
// there; of places that are as good the first counts.
func TestPositions_ReportTheBest(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.Order, s.EarlyBirdPerDay = new(waitlist.ByPriority), new(1) })
	crowded, _, _ := h.AddFullSession(1)
	empty, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
	late, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(120*time.Hour)))
	h.AddWaiters(3, testkit.ForSessions(crowded))
	week := h.MustJoin(h.AddMember("Window"), h.ForWindow("2026-03-16", "2026-03-22", "00:00", "23:59")).ID
	either := h.MustJoin(h.AddMember("Any"), testkit.ForSessions(crowded, late, empty)).ID
	for range 5 { // whatever order they are looked at in
		for id, want := range map[tenant.EntryID]waitlist.Rank{
			// on its first day, which has begun
			week: {Position: 1, Worth: waitlist.Worth{Score: 100, Sum: true, Base: 100}},
			// behind the window, on the fourth day
			either: {Position: 2, Worth: waitlist.Worth{Score: 103, Sum: true, Base: 100, EarlyBird: 3}},
		} {
			e := h.Entry(id)
			if diff := cmp.Diff(want, waitlist.Rank{Position: e.Position, Worth: e.Worth}); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	}
	h.WantSound()
}

// Staff see what an entry is worth and why: the sum of its parts, what they gave it themselves, or what a formula says.
func TestPositions_ReportTheScore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) {
		s.Order, s.TierBonus, s.EarlyBirdPerDay = new(waitlist.ByPriority), &map[string]int{"gold": 20}, new(2)
	})
	class, _, _ := h.AddFullSession(1)
	who, ids := h.AddWaiters(1, testkit.ForSessions(class))
	h.SetTier(who[0], "gold")
	worth := func(want waitlist.Worth) {
		t.Helper()
		entries, err := h.App.Waitlists.ListEntries(ctx, h.Coach, waitlists.EntryQuery{Session: class, Limit: 10})
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		roster, err := h.App.Bookings.ListRoster(ctx, h.Coach, class, false)
		if err != nil {
			t.Fatal(err)
		}
		for where, got := range map[string]waitlist.Worth{
			"in the list": entries[0].Worth, "on the roster": roster.Entries[0].Worth, "by itself": h.Entry(ids[0]).Worth,
		} {
			if got != want {
				t.Errorf("%s: %+v, want %+v", where, got, want)
			}
		}
	}
	score := func(n int) {
		t.Helper()
		if _, err := h.App.Waitlists.SetPriority(ctx, h.Owner, ids[0], waitlists.PriorityEdit{Score: &n}); err != nil {
			t.Fatal(err)
		}
	}
	// it joined two days ahead, but for a moment
	worth(waitlist.Worth{Score: 122, Sum: true, Base: 100, TierBonus: 20, EarlyBird: 2})
	score(7)
	worth(waitlist.Worth{Score: 7})
	score(-1)
	edit(h, func(s *waitlist.Settings) {
		s.Order, s.PriorityExpression = new(waitlist.ByFormula), new(`member.tier == "gold" ? 500 : 1`)
	})
	worth(waitlist.Worth{Score: 500})
	if e, err := h.App.Waitlists.LeaveWaitlist(ctx, testkit.SelfOnly(who[0]), ids[0], "", true); err != nil ||
		e.Worth != (waitlist.Worth{}) {
		t.Errorf("of one that waits no longer: %+v, %v", e.Worth, err)
	}
}

// An offer by hand stands as long as staff say, or else as the rules do; where by their lights there is too little time
// it stands until booking closes. It is of its entry's score, by which messages go.
func TestOfferPlace_UsesGivenWindow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		made, starts string
		window       time.Duration // of the rules; 0: theirs
		until, ends  string
	}{
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			nights(h)
			edit(h, func(s *waitlist.Settings) {
				s.OffersInQuietHours, s.Order, s.BaseScore = nil, new(waitlist.ByPriority), new(42)
				if tt.window > 0 {
					s.OfferWindow = &tt.window
				}
			})
			full, _, _ := h.AddFullSession(1, testkit.StartingAt(testkit.Noon.Add(96*time.Hour)))
			open := h.AddSession(testkit.Session{Starts: testkit.UTC(tt.starts), Capacity: 1})
			_, ids := h.AddWaiters(1, testkit.ForSessions(full))
			h.Clock.Set(testkit.UTC(tt.made))
			ask := waitlists.OfferRequest{Session: open, Entry: ids[0]}
			if tt.until != "" {
				ask.Until = testkit.UTC(tt.until)
			}
			o, err := h.App.Waitlists.OfferPlace(context.Background(), h.Owner, ask)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(o.ExpiresAt.UTC().Format(time.RFC3339), " ", o.Score); got != tt.ends+" 42" {
				t.Errorf("it ends, and is worth, %s; want %s 42", got, tt.ends)
			}
			if v := h.LastDecision(open).Decision.Verdicts[0]; v.Score != 42 {
				t.Errorf("%+v", v)
			}
			h.WantSound()
		})
	}
}
