package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

const tooEarly = waitlist.VerdictReason(fault.AdvanceWindow)

// Until booking opens no entry gets a seat, whatever freed it, and staff get no note. The session awaits its opening.
func TestFilling_GivesNothingBeforeBookingOpens(t *testing.T) {
	t.Parallel()
	early := set{"Slot.Opens": now.Add(1), "Slot.Seats": 2}
	for _, by := range []waitlist.Trigger{waitlist.ByPublish, waitlist.ByCancellation, waitlist.ByRules} {
		c, _ := filling{entries: entries(queue(2)), differ: early, trigger: by}.run(t)
		want := outcome{Skipped: []waitlist.VerdictReason{tooEarly, tooEarly}, Recorded: true}
		if by == waitlist.ByRules {
			want = outcome{}
		}
		test.Eq(t, want, outcomeOf(c), test.Sprint(by))
		test.True(t, c.AwaitsOpening, test.Sprint(by))
		if c.Decision != nil {
			test.EqOp(t, "", c.Decision.Note)
		}
	}
	open := set{"Slot.Opens": now, "Slot.Seats": 2}
	c, _ := filling{entries: entries(queue(2)), differ: open, trigger: waitlist.ByPublish}.run(t)
	test.Eq(t, some(0, 1), outcomeOf(c).Offered)
	test.False(t, c.AwaitsOpening)
}

// At the opening at most half of the open seats are given, rounded up, one entry for each member.
func TestFilling_GivesHalfAtOpening(t *testing.T) {
	t.Parallel()
	twice := queue(3)
	twice[1].Member = twice[0].Member
	for name, tt := range map[string]struct {
		seats *int
		rules set
		queue []waitlist.Candidate
		want  []tenant.EntryID
		freed int
	}{
		"two of four":            {new(4), nil, queue(5), some(0, 1), 2},
		"two of three":           {new(3), nil, queue(5), some(0, 1), 2},
		"the only one":           {new(1), nil, queue(2), some(0), 1},
		"one entry for a member": {new(4), nil, twice, some(0, 2), 2},
		"a party that is larger": {new(4), nil, parties(3, 1), some(1), 2},
		"fewer than half":        {new(8), nil, queue(1), some(0), 4},
		"all, without a limit":   {nil, nil, queue(3), some(0, 1, 2), 3},
		"the first to claim":     {new(4), set{"Mode": waitlist.FirstToClaim}, queue(3), some(0, 1, 2), 2},
	} {
		c, _ := filling{
			rules: tt.rules, entries: entries(tt.queue), differ: set{"Slot.Seats": tt.seats}, trigger: waitlist.ByOpening,
		}.run(t)
		test.Eq(t, tt.want, outcomeOf(c).Offered, test.Sprint(name))
		must.NotNil(t, c.Opened, must.Sprint(name))
		test.EqOp(t, tt.freed, c.Opened.Freed, test.Sprint(name))
		test.EqOp(t, tt.seats != nil, c.Opened.Opening, test.Sprint(name))
		test.EqOp(t, "", c.Decision.Note, test.Sprint(name))
		if tt.seats != nil {
			test.EqOp(t, *tt.seats, *c.Decision.Case.Slot.Open, test.Sprint(name))
		}
	}
	nobody, _ := filling{
		entries: entries(queue(1)), refused: []int{0}, differ: set{"Slot.Seats": 4}, trigger: waitlist.ByOpening,
	}.run(t)
	test.EqOp(t, 2, nobody.Opened.Freed, test.Sprint("a later fill knows how many may be given"))
	booked, _ := filling{
		rules: set{"Mode": waitlist.AutoPromote}, entries: entries(queue(5)), differ: set{"Slot.Seats": 4},
		trigger: waitlist.ByOpening,
	}.run(t)
	test.EqOp(t, 2, len(booked.Promoted))
	test.EqOp(t, 0, booked.Opened.Freed, test.Sprint("no seat is left for another"))
}

// What comes back from an offer of the opening is given on. The other half stays open to all.
func TestFilling_KeepsToTheHalfOfItsOpening(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		given   int
		trigger waitlist.Trigger
		want    int
	}{
		"a declined offer":                        {1, waitlist.ByDecline, 1},
		"both have declined":                      {0, waitlist.ByDecline, 2},
		"rules that are edited give nothing more": {2, waitlist.ByRules, 0},
		"a member who can pay gets what is left":  {1, waitlist.ByRecheck, 1},
	} {
		round := waitlist.Round{ID: id[tenant.RoundID](5), Freed: 2, Opening: true, Given: tt.given}
		c, _ := filling{
			entries: entries(queue(4)), differ: set{"Slot.Seats": 3}, trigger: tt.trigger, round: &round,
		}.run(t)
		test.EqOp(t, tt.want, len(c.Entries), test.Sprint(name))
		for _, r := range c.Rounds {
			test.EqOp(t, 2, r.Freed, test.Sprint(name))
		}
	}
	later, _ := filling{entries: entries(queue(4)), differ: set{"Slot.Seats": 3}, trigger: waitlist.ByCancellation}.run(t)
	test.EqOp(t, 3, len(later.Entries), test.Sprint("what is freed later is given with all that is open"))
}

// Whatever the rules and the queue: an opening gives at most half, rounded up.
func TestFilling_NeverGivesMoreThanHalfAtOpening(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		if w.Slot.Seats == nil {
			return
		}
		f := waitlist.NewFill(waitlist.FillFacts{
			Slot: w.Slot, Rules: w.rules, Entries: entries(w.Queue), PageSize: 1000, NewID: newIDs(), Now: w.Now,
		}, waitlist.ByOpening, nil)
		step := f.Next()
		for step.Changes == nil {
			checks := make(map[tenant.EntryID]waitlist.Check)
			for _, e := range step.Check {
				checks[e.ID] = waitlist.Check{}
			}
			f.SetChecks(checks)
			step = f.Next()
		}
		if d := step.Changes.Decision; d != nil && 2*d.Decision.Given > *w.Slot.Seats+1 {
			t.Fatalf("%d of %d seats were given", d.Decision.Given, *w.Slot.Seats)
		}
	})
}

// A window is refused only for seats that can be booked now.
func TestCheckNoSeats_LooksAtWhatCanBeBookedNow(t *testing.T) {
	t.Parallel()
	window := waitlist.Window{
		Service: yoga, Location: lisbon, From: civil.DateOf(starts, time.UTC), Until: civil.DateOf(starts, time.UTC),
		Latest: clock("23:00"),
	}
	for name, tt := range map[string]struct {
		differ set
		want   bool
	}{
		"open":              {nil, true},
		"opens in a moment": {set{"Opens": now.Add(1)}, false},
		"opens now":         {set{"Opens": now}, true},
		"closes now":        {set{"Closes": now}, false},
		"closes later":      {set{"Closes": now.Add(time.Minute)}, true},
	} {
		err := waitlist.Entry{Window: &window}.CheckNoSeats([]waitlist.Slot{vary.From(slot(1), tt.differ)}, now)
		test.EqOp(t, tt.want, fault.ReasonOf(err) == fault.SeatsAvailable, test.Sprint(name))
	}
	test.False(t, waitlist.ByOpening.FreesSeats())
	test.True(t, waitlist.ByCancellation.FreesSeats())
}
