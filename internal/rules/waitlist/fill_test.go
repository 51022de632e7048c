package waitlist_test

import (
	"bytes"
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// entries returns the entries of candidates.
func entries(queue []waitlist.Candidate) []waitlist.Entry {
	all := make([]waitlist.Entry, len(queue))
	for i, c := range queue {
		all[i] = waitlist.Entry{
			ID: c.Entry, Member: c.Member, Party: c.Party, Window: c.Window, Coach: c.Coach, MemberTier: c.Tier,
			MemberTags: c.Tags, MemberZone: c.Zone, CreatedAt: c.Joined, Key: c.Key, Flagged: c.Flagged, Score: c.Score,
			Tries: c.Tries,
		}
		all[i].Status = map[bool]waitlist.Status{false: waitlist.Waiting, true: waitlist.Offered}[c.Asked]
	}
	return all
}

// newIDs returns ids that count up, from one that tests do not use otherwise.
func newIDs() func() tenant.UUID {
	n := uint64(1000)
	return func() tenant.UUID { n++; return id[tenant.OfferID](n).UUID }
}

// run runs a Fill. It answers from a queue, and records the questions.
type run struct {
	queue   []waitlist.Entry // after the first page
	checks  map[tenant.EntryID]waitlist.Check
	limits  []int // of pages
	checked []tenant.EntryID
}

// fill runs a filling to its end.
func (r *run) fill(f *waitlist.Fill) waitlist.Changes {
	for {
		switch step := f.Next(); {
		case step.Changes != nil:
			return *step.Changes
		case step.Page != nil:
			limit := step.Page.Limit
			r.limits = append(r.limits, limit)
			if limit == 0 {
				limit = len(r.queue)
			}
			page := r.queue[:min(limit, len(r.queue))]
			r.queue = r.queue[len(page):]
			f.AddEntries(page)
		default:
			answers := make(map[tenant.EntryID]waitlist.Check)
			for _, e := range step.Check {
				r.checked = append(r.checked, e.ID)
				answers[e.ID] = r.checks[e.ID]
			}
			f.SetChecks(answers)
		}
	}
}

// filling is a decision about a slot, with the entries whose bookings would be refused.
type filling struct {
	rules   set
	entries []waitlist.Entry
	differ  set // from a scene with one open seat
	trigger waitlist.Trigger
	round   *waitlist.Round
	refused []int
}

func (f filling) run(t *testing.T) (waitlist.Changes, *run) {
	t.Helper()
	r := &run{checks: make(map[tenant.EntryID]waitlist.Check)}
	for _, i := range f.refused {
		r.checks[entry(i)] = waitlist.Check{Refusal: waitlist.VerdictReason(fault.NoCredits)}
	}
	scene := vary.From(waitlist.FillFacts{
		Slot: slot(1), Rules: rules(t, f.rules), Version: 7, PageSize: 100, NewID: newIDs(), Now: now,
	}, f.differ)
	scene.Entries = f.entries[:min(scene.PageSize, len(f.entries))]
	r.queue = f.entries[len(scene.Entries):]
	return r.fill(waitlist.NewFill(scene, f.trigger, f.round)), r
}

// outcome is the part of changes that most tests check.
type outcome struct {
	Offered, Promoted []tenant.EntryID
	Skipped           []waitlist.VerdictReason
	Seats             int
	Opened            bool
	Rounds            []waitlist.Round
	Recorded          bool
}

func outcomeOf(c waitlist.Changes) outcome {
	o := outcome{Seats: c.Seats, Opened: c.Opened != nil, Rounds: c.Rounds, Recorded: c.Decision != nil}
	for _, e := range c.Entries {
		o.Offered = append(o.Offered, e.Entry.ID)
	}
	for _, p := range c.Promoted {
		o.Promoted = append(o.Promoted, p.Entry.ID)
	}
	for _, v := range c.Skipped {
		o.Skipped = append(o.Skipped, v.Reason)
	}
	return o
}

func TestFilling_ReturnsChangesOfDecision(t *testing.T) {
	t.Parallel()
	const declined, had = waitlist.ByDecline, waitlist.AlreadyOffered
	before, closed := waitlist.Round{ID: id[tenant.RoundID](5), Freed: 1, Tried: some(0), Offers: 1}, now.Add(-time.Hour)
	shut := vary.From(before, set{"Closed": closed})
	passed := []waitlist.VerdictReason{had}
	poor := []waitlist.VerdictReason{waitlist.VerdictReason(fault.NoCredits)}
	known := entries(queue(2))
	known[0].PassedOver = poor[0]
	for name, tt := range map[string]struct {
		filling
		want outcome
	}{
		"no entries": {},
		"disabled":   {filling{rules: set{"Enabled": false}, entries: entries(queue(1))}, outcome{}},
		"an offer reserves its seats in a new round": {
			filling{entries: entries(queue(2))}, outcome{Offered: some(0), Seats: 1, Opened: true, Recorded: true},
		},
		"a promotion reserves none: the booking takes them": {
			filling{rules: auto, entries: entries(queue(2))}, outcome{Promoted: some(0), Recorded: true},
		},
		"a refused booking passes its entry over": {
			filling{entries: entries(queue(2)), refused: []int{0}},
			outcome{Offered: some(1), Skipped: poor, Seats: 1, Opened: true, Recorded: true},
		},
		"a known reason is not written again": {
			filling{entries: known, refused: []int{0}}, outcome{Offered: some(1), Seats: 1, Opened: true, Recorded: true},
		},
		"no entry fits: staff get a note": {
			filling{entries: entries(queue(1)), refused: []int{0}}, outcome{Skipped: poor, Recorded: true},
		},
		"the queue of a round is empty: staff get a note": {
			filling{trigger: declined, round: &before}, outcome{Recorded: true},
		},
		"edited rules that give no seat are not recorded": {
			filling{entries: entries(queue(1)), refused: []int{0}, trigger: waitlist.ByRules}, outcome{},
		},
		"an offer that was let go goes on in its round": {
			filling{entries: entries(queue(2)), trigger: declined, round: &before},
			outcome{Offered: some(1), Skipped: passed, Seats: 1, Recorded: true, Rounds: []waitlist.Round{before}},
		},
		"a round grows by seats that were open": {
			filling{
				entries: entries(queue(3)), trigger: declined, round: &before, differ: set{
					"Slot.Seats": 2, "Live": []waitlist.Offer{
						{Round: before.ID, Seats: 3, Status: waitlist.Live},
						{Round: id[tenant.RoundID](6), Seats: 9, Status: waitlist.Live},
					},
				},
			},
			outcome{
				Offered: some(1, 2), Skipped: passed, Seats: 2, Recorded: true,
				Rounds: []waitlist.Round{vary.From(before, set{"Freed": 5})},
			},
		},
		"all that fit get offers, and the round keeps the seats": {
			filling{rules: first, entries: entries(queue(3))},
			outcome{Offered: some(0, 1, 2), Seats: 1, Opened: true, Recorded: true},
		},
		"a closed round that keeps seats again is open": {
			filling{rules: first, entries: entries(queue(2)), trigger: declined, round: &shut},
			outcome{
				Offered: some(1), Skipped: passed, Seats: 1, Recorded: true,
				Rounds: []waitlist.Round{vary.From(before, set{"Keeps": 1})},
			},
		},
		"a closed round stays closed if its seats are offered in turn": {
			filling{entries: entries(queue(2)), trigger: declined, round: &shut},
			outcome{Offered: some(1), Skipped: passed, Seats: 1, Recorded: true, Rounds: []waitlist.Round{shut}},
		},
		"a round keeps the new seats in addition": {
			filling{
				rules: first, entries: entries(queue(2)), trigger: waitlist.ByRules,
				round: new(vary.From(before, set{"Freed": 3, "Keeps": 2})),
			},
			outcome{
				Offered: some(1), Skipped: passed, Seats: 1, Recorded: true,
				Rounds: []waitlist.Round{vary.From(before, set{"Freed": 3, "Keeps": 3})},
			},
		},
		"a member with a live offer gets none through another entry, on any page": {
			filling{entries: entries(queue(3)), refused: []int{0}, differ: set{
				"PageSize": 1,
				"Live":     []waitlist.Offer{{Member: id[tenant.MemberID](2), Seats: 1, Status: waitlist.Live}},
			}},
			outcome{Offered: some(2), Skipped: poor, Seats: 1, Opened: true, Recorded: true},
		},
	} {
		c, _ := tt.run(t)
		test.Eq(t, tt.want, outcomeOf(c), test.Sprint(name))
		test.Nil(t, c.Refill, test.Sprint("a decision asks for another one"))
	}
}

func TestFilling_FillsInEveryFieldOfOffer(t *testing.T) {
	t.Parallel()
	round := waitlist.Round{ID: id[tenant.RoundID](5), Freed: 1, Tried: some(7), Offers: 3}
	before := vary.From(entries(queue(1))[0], set{"Tries": 1, "PassedOver": waitlist.OtherTime})
	c, _ := filling{entries: []waitlist.Entry{before}, trigger: waitlist.ByExpiry, round: &round}.run(t)
	test.Eq(t, []waitlist.EntryChange{{
		Entry: vary.From(before, set{"Status": waitlist.Offered, "Tries": 2, "PassedOver": ""}),
		Offer: &waitlist.Offer{
			ID: id[tenant.OfferID](1001), Round: round.ID, Session: slot(1).Session, Entry: entry(0),
			Member: id[tenant.MemberID](1), Seats: 1, Status: waitlist.Live, Try: 4, Score: 100, CreatedAt: now,
			ExpiresAt: now.Add(30 * time.Minute),
		},
	}}, c.Entries)
	test.Eq(t,
		waitlist.Record{Round: round.ID, Rules: 7, Case: c.Decision.Case, Decision: c.Decision.Decision}, *c.Decision)
	test.Eq(t, some(7), c.Decision.Case.Round.Tried)
	test.Eq(t, waitlist.Round{ID: round.ID, Freed: 1, Tried: some(7), Offers: 3}, round, test.Sprint("the caller's round"))
}

func TestFilling_LetsCancelUntilTold(t *testing.T) {
	t.Parallel()
	all := entries(queue(1))
	grace := set{"Mode": waitlist.AutoPromote, "PromotionGrace": 90 * time.Minute}
	c, _ := filling{rules: grace, entries: all}.run(t)
	test.Eq(t, []waitlist.Promotion{{Entry: all[0], GraceUntil: starts}}, c.Promoted)
}

func TestFilling_ReadsOnlyNeededPages(t *testing.T) {
	t.Parallel()
	pages := func(differ set) set { return set{"PageSize": 3, "Slot": vary.From(slot(1), differ)} }
	for name, tt := range map[string]struct {
		filling
		limits  []int // of the pages that it requests
		offered int
	}{
		"the seat goes to the first page": {filling{entries: entries(queue(9)), differ: pages(nil)}, nil, 1},
		"the first page is refused": {
			filling{entries: entries(queue(9)), differ: pages(nil), refused: []int{0, 1, 2}}, []int{3}, 1,
		},
		"more seats than a page has entries": {
			filling{entries: entries(queue(9)), differ: pages(set{"Seats": 5})}, []int{3}, 5,
		},
		"the last page is full":  {filling{entries: entries(queue(6)), differ: pages(set{"Seats": 8})}, []int{3, 3}, 6},
		"the last page is short": {filling{entries: entries(queue(5)), differ: pages(set{"Seats": 8})}, []int{3}, 5},
		"a session without a limit: all are promoted": {
			filling{entries: entries(queue(7)), differ: pages(set{"Seats": nil})}, []int{3, 3}, 7,
		},
		"the order depends on all": {
			filling{rules: set{"Order": waitlist.ByPriority}, entries: entries(queue(9)), differ: pages(nil)}, []int{0}, 1,
		},
		"all get offers": {filling{rules: first, entries: entries(queue(9)), differ: pages(nil)}, []int{0}, 9},
	} {
		c, r := tt.run(t)
		test.Eq(t, tt.limits, r.limits, test.Sprint(name))
		test.EqOp(t, tt.offered, len(c.Entries)+len(c.Promoted), test.Sprint(name))
	}
}

// A page of entries is checked ahead, in case one of the first is refused. Each is checked once.
func TestFilling_ChecksSomeEntriesAhead(t *testing.T) {
	t.Parallel()
	_, r := filling{entries: entries(queue(40)), refused: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}.run(t)
	test.Len(t, 22, r.checked, test.Sprint("the first with 10 behind it, and the next with 10 behind that"))
}

// For any page size and order of questions, the grants are the same as with all facts from the start.
func TestFilling_DecidesAlikeForAnyPageSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		slices.SortFunc(w.Queue, inPages)
		known, r := w.Case, &run{checks: make(map[tenant.EntryID]waitlist.Check)}
		policy := catalog.BookingPolicy{CancellationWindow: 5 * time.Hour}
		for i, c := range w.Queue {
			r.checks[c.Entry], w.Queue[i].CancellationWindow = c.Check, policy.CancellationWindow
		}
		known.Queue = slices.Clone(w.Queue)
		page := rapid.IntRange(1, 30).Draw(t, "page")
		r.queue = entries(w.Queue)
		first := r.queue[:min(page, len(r.queue))]
		r.queue = r.queue[len(first):]
		var round *waitlist.Round
		if len(w.Round.Tried) > 0 {
			round = new(vary.From(w.Round, set{"ID": id[tenant.RoundID](5), "Offers": len(w.Round.Tried)}))
		}
		c := r.fill(waitlist.NewFill(waitlist.FillFacts{
			Slot: w.Slot, Rules: w.rules, Policy: policy, Entries: first, PageSize: page, NewID: newIDs(), Now: w.Now,
		}, w.Trigger, round))
		if !w.rules.Enabled || len(w.Queue) == 0 && round == nil {
			must.Eq(t, waitlist.Changes{}, c, must.Sprint("changes without a waitlist"))
			return
		}
		d := c.Decision
		known.Round = d.Case.Round
		must.Eq(t, known.Decide(w.rules).Grants, d.Decision.Grants)
		must.Eq(t, d.Decision, d.Case.Decide(w.rules), must.Sprint("the record does not lead to its decision (-kept +again)"))
		once := make(map[tenant.EntryID]bool)
		for _, e := range r.checked {
			must.False(t, once[e], must.Sprint("checked twice"))
			once[e] = true
		}
		wantOffers(t, c, round)
	})
}

// inPages compares entries in the order in which pages are read.
func inPages(a, b waitlist.Candidate) int {
	flagged := map[bool]int{true: -1}
	return cmp.Or(cmp.Compare(flagged[a.Flagged], flagged[b.Flagged]), cmp.Compare(a.Key, b.Key),
		bytes.Compare(a.Entry.UUID[:], b.Entry.UUID[:]))
}

// wantOffers compares the changes of a decision with the decision.
func wantOffers(t *rapid.T, c waitlist.Changes, before *waitlist.Round) {
	d := c.Decision.Decision
	var offers []waitlist.Grant
	seats, booked := 0, 0
	for _, g := range d.Grants {
		if g.Until.IsZero() {
			must.EqOp(t, g.Entry, c.Promoted[booked].Entry.ID)
			booked++
			continue
		}
		offers, seats = append(offers, g), seats+g.Seats
	}
	must.SliceLen(t, booked, c.Promoted)
	must.SliceLen(t, len(offers), c.Entries)
	if len(offers) == 0 {
		must.Eq(t, waitlist.Changes{Session: c.Session, Decision: c.Decision, Promoted: c.Promoted, Skipped: c.Skipped}, c)
		return
	}
	if d.Mode == waitlist.FirstToClaim {
		seats = d.Given
	}
	must.EqOp(t, seats, c.Seats)
	round, tries, shared := c.Opened, 0, d.Mode == waitlist.FirstToClaim
	if before != nil {
		must.Nil(t, round)
		must.SliceLen(t, 1, c.Rounds)
		round, tries = &c.Rounds[0], before.Offers
	}
	must.EqOp(t, map[bool]int{true: d.Given}[shared], round.Keeps)
	must.True(t, round.Closed == nil)
	for i, e := range c.Entries {
		g := offers[i]
		must.Eq(t, waitlist.Offer{
			ID: e.Offer.ID, Round: round.ID, Session: c.Session, Entry: g.Entry, Member: g.Member, Seats: g.Seats,
			Shared: shared, Status: waitlist.Live, Try: tries + i + 1, Score: g.Score, CreatedAt: c.Decision.Case.Now,
			ExpiresAt: g.Until,
		}, *e.Offer)
		must.EqOp(t, waitlist.Offered, e.Entry.Status)
	}
}

func TestClosesAt_AddsFillAfterStart(t *testing.T) {
	t.Parallel()
	ends := starts.Add(time.Hour)
	for name, tt := range map[string]struct {
		before, after time.Duration
		at, want      time.Time
		single        bool
	}{
		"with booking": {before: 2 * time.Hour, at: now, want: starts.Add(-2 * time.Hour)},
		"after the start once booking closed": {
			before: 2 * time.Hour, after: 15 * time.Minute, at: starts.Add(-time.Hour), want: starts.Add(15 * time.Minute),
		},
		"not before that": {
			before: 2 * time.Hour, after: 15 * time.Minute, at: now, want: starts.Add(-2 * time.Hour),
		},
		"not at all once booking closed, unless the rules say so": {
			before: 2 * time.Hour, at: starts.Add(-time.Hour), want: starts.Add(-2 * time.Hour),
		},
		"at the end at the latest": {after: 2 * time.Hour, at: starts, want: ends},
		"longer with a single seat": {
			after: 5 * time.Minute, at: starts, single: true, want: starts.Add(15 * time.Minute),
		},
		"not between, with a single seat": {
			before: 2 * time.Hour, after: 5 * time.Minute, at: starts.Add(-time.Hour), single: true,
			want: starts.Add(-2 * time.Hour),
		},
		"with a single seat before booking closes": {before: time.Hour, at: now, single: true, want: starts.Add(-time.Hour)},
	} {
		rules := waitlist.Rules{FillAfterStart: tt.after, FillAfterStartSingle: 15 * time.Minute}
		times := waitlist.Times{Starts: starts, Ends: ends, BookingCloses: tt.before, Single: tt.single}
		test.EqOp(t, tt.want, rules.ClosesAt(times, tt.at), test.Sprint(name))
	}
	defaults := waitlist.Defaults()
	test.EqOp(t, 0, defaults.FillAfterStart)
	test.EqOp(t, 15*time.Minute, defaults.FillAfterStartSingle)
}
