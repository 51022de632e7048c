package waitlist_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// entries returns the entries of candidates.
func entries(queue []waitlist.Candidate) []waitlist.Entry {
	all := make([]waitlist.Entry, len(queue))
	for i, c := range queue {
		all[i] = waitlist.Entry{
			ID: c.Entry, Member: c.Member, Party: c.Party, Window: c.Window, Coach: c.Coach, MemberTier: c.Tier,
			MemberTags: c.Tags, MemberZone: c.Zone, CreatedAt: c.Joined, Key: c.Key, Flagged: c.Flagged, Score: c.Score,
			Tries: c.Tries, Status: waitlist.Waiting,
		}
		if c.Asked {
			all[i].Status = waitlist.Offered
		}
	}
	return all
}

// newIDs returns ids that count up, from one that tests do not use otherwise.
func newIDs() func() tenant.UUID {
	n := uint64(1000)
	return func() tenant.UUID { n++; return id[tenant.OfferID](n).UUID }
}

// run runs a Filling. It answers from a queue, and records the questions.
type run struct {
	queue    []waitlist.Entry // after the first page
	refusals map[tenant.EntryID]error
	limits   []int // of pages
	checked  []tenant.EntryID
}

// fill runs a filling to its end.
func (r *run) fill(f *waitlist.Filling) waitlist.Changes {
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
			answers := make(map[tenant.EntryID]error)
			for _, e := range step.Check {
				r.checked = append(r.checked, e.ID)
				answers[e.ID] = r.refusals[e.ID]
			}
			f.SetRefusals(answers)
		}
	}
}

// filling is a decision about a slot, and its expected result.
type filling struct {
	slot    waitlist.Slot
	rules   func(*waitlist.Rules)
	entries []waitlist.Entry
	page    int // size; 0 is 100
	live    []waitlist.Offer
	trigger waitlist.Trigger
	round   *waitlist.Round
	refused []int // entries whose bookings would be refused
}

func (tt filling) run(t *testing.T) (waitlist.Changes, *run) {
	t.Helper()
	if tt.rules == nil {
		tt.rules = asIs
	}
	if tt.page == 0 {
		tt.page = 100
	}
	if tt.slot.Session.IsZero() {
		tt.slot = slot(1)
	}
	r := &run{refusals: make(map[tenant.EntryID]error)}
	for _, i := range tt.refused {
		r.refusals[entry(i)] = fault.New(fault.ResourceExhausted, fault.NoCredits, "No credits.")
	}
	first := tt.entries[:min(tt.page, len(tt.entries))]
	r.queue = tt.entries[len(first):]
	return r.fill(waitlist.NewFilling(waitlist.Scene{
		Slot: tt.slot, Rules: rules(t, tt.rules), Version: 7, Entries: first, PageSize: tt.page, Live: tt.live,
		NewID: newIDs(), Now: now,
	}, tt.trigger, tt.round)), r
}

// outcome is the part of changes that most tests check.
type outcome struct {
	offered, promoted []tenant.EntryID
	skipped           []string
	seats             int
	opened            bool
	rounds            []waitlist.Round
	recorded          bool
}

func outcomeOf(c waitlist.Changes) outcome {
	o := outcome{seats: c.Seats, opened: c.Opened != nil, rounds: c.Rounds, recorded: c.Decision != nil}
	for _, e := range c.Entries {
		o.offered = append(o.offered, e.Entry.ID)
	}
	for _, p := range c.Promoted {
		o.promoted = append(o.promoted, p.Entry.ID)
	}
	for _, v := range c.Skipped {
		o.skipped = append(o.skipped, v.Reason)
	}
	return o
}

func some(of ...int) []tenant.EntryID {
	var all []tenant.EntryID
	for _, i := range of {
		all = append(all, entry(i))
	}
	return all
}

func TestFilling_ReturnsChangesOfDecision(t *testing.T) {
	t.Parallel()
	first := func(r *waitlist.Rules) { r.Mode = waitlist.FirstToClaim }
	roundID, closed := id[tenant.RoundID](5), now.Add(-time.Hour)
	tests := map[string]struct {
		filling
		want outcome
	}{
		"no entries": {want: outcome{}},
		"disabled":   {filling{entries: entries(queue(1)), rules: func(r *waitlist.Rules) { r.Enabled = false }}, outcome{}},
		"an offer reserves its seats in a new round": {
			filling{entries: entries(queue(2))}, outcome{offered: some(0), seats: 1, opened: true, recorded: true},
		},
		"a promotion reserves none: the booking takes them": {
			filling{entries: entries(queue(2)), rules: func(r *waitlist.Rules) { r.Mode = waitlist.AutoPromote }},
			outcome{promoted: some(0), recorded: true},
		},
		"a refused booking passes its entry over": {
			filling{entries: entries(queue(2)), refused: []int{0}},
			outcome{offered: some(1), skipped: []string{string(fault.NoCredits)}, seats: 1, opened: true, recorded: true},
		},
		"a known reason is not written again": {
			filling{entries: func() []waitlist.Entry {
				all := entries(queue(2))
				all[0].PassedOver = string(fault.NoCredits)
				return all
			}(), refused: []int{0}},
			outcome{offered: some(1), seats: 1, opened: true, recorded: true},
		},
		"no entry fits: staff get a note": {
			filling{entries: entries(queue(1)), refused: []int{0}},
			outcome{skipped: []string{string(fault.NoCredits)}, recorded: true},
		},
		"the queue of a round is empty: staff get a note": {
			filling{trigger: waitlist.ByDecline, round: &waitlist.Round{ID: roundID, Freed: 1, Tried: some(0)}},
			outcome{recorded: true},
		},
		"edited rules that give no seat are not recorded": {
			filling{entries: entries(queue(1)), refused: []int{0}, trigger: waitlist.ByRules}, outcome{},
		},
		"an offer that was let go goes on in its round": {
			filling{
				entries: entries(queue(2)), trigger: waitlist.ByDecline,
				round: &waitlist.Round{ID: roundID, Freed: 1, Tried: some(0), Offers: 1},
			},
			outcome{
				offered: some(1), skipped: []string{waitlist.AlreadyOffered}, seats: 1, recorded: true,
				rounds: []waitlist.Round{{ID: roundID, Freed: 1, Tried: some(0), Offers: 1}},
			},
		},
		"a round grows by seats that were open": {
			filling{
				entries: entries(queue(3)), slot: slot(2), trigger: waitlist.ByDecline,
				round: &waitlist.Round{ID: roundID, Freed: 1, Tried: some(0), Offers: 1},
				live: []waitlist.Offer{
					{Round: roundID, Seats: 3, Status: waitlist.Live}, {Round: id[tenant.RoundID](6), Seats: 9, Status: waitlist.Live},
				},
			},
			outcome{
				offered: some(1, 2), skipped: []string{waitlist.AlreadyOffered}, seats: 2, recorded: true,
				rounds: []waitlist.Round{{ID: roundID, Freed: 5, Tried: some(0), Offers: 1}},
			},
		},
		"all that fit get offers, and the round keeps the seats": {
			filling{
				entries: entries(queue(3)), rules: first}, outcome{offered: some(0, 1, 2), seats: 1, opened: true, recorded: true},
		},
		"a closed round that keeps seats again is open": {
			filling{
				entries: entries(queue(2)), rules: first, trigger: waitlist.ByDecline,
				round: &waitlist.Round{ID: roundID, Freed: 1, Tried: some(0), Offers: 1, Closed: &closed},
			},
			outcome{
				offered: some(1), skipped: []string{waitlist.AlreadyOffered}, seats: 1, recorded: true,
				rounds: []waitlist.Round{{ID: roundID, Freed: 1, Keeps: 1, Tried: some(0), Offers: 1}},
			},
		},
		"a closed round stays closed if its seats are offered in turn": {
			filling{
				entries: entries(queue(2)), trigger: waitlist.ByDecline,
				round: &waitlist.Round{ID: roundID, Freed: 1, Tried: some(0), Offers: 1, Closed: &closed},
			},
			outcome{
				offered: some(1), skipped: []string{waitlist.AlreadyOffered}, seats: 1, recorded: true,
				rounds: []waitlist.Round{{ID: roundID, Freed: 1, Tried: some(0), Offers: 1, Closed: &closed}},
			},
		},
		"a round keeps the new seats in addition": {
			filling{
				entries: entries(queue(2)), rules: first, trigger: waitlist.ByRules,
				round: &waitlist.Round{ID: roundID, Freed: 3, Keeps: 2, Tried: some(0), Offers: 1},
			},
			outcome{
				offered: some(1), skipped: []string{waitlist.AlreadyOffered}, seats: 1, recorded: true,
				rounds: []waitlist.Round{{ID: roundID, Freed: 3, Keeps: 3, Tried: some(0), Offers: 1}},
			},
		},
		"a member with a live offer gets none through another entry, on any page": {
			filling{
				entries: entries(queue(3)), page: 1, refused: []int{0},
				live: []waitlist.Offer{{Member: id[tenant.MemberID](2), Seats: 1, Status: waitlist.Live}},
			},
			outcome{offered: some(2), skipped: []string{string(fault.NoCredits)}, seats: 1, opened: true, recorded: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := tt.run(t)
			test.Eq(t, tt.want, outcomeOf(c), test.Cmp(cmp.AllowUnexported(outcome{})))
			test.Nil(t, c.Refill, test.Sprint("a decision asks for another one"))
		})
	}
}

func TestFilling_FillsInEveryFieldOfOffer(t *testing.T) {
	t.Parallel()
	round := waitlist.Round{ID: id[tenant.RoundID](5), Freed: 1, Tried: some(7), Offers: 3}
	all := entries(queue(1))
	all[0].Tries, all[0].PassedOver = 1, waitlist.OtherTime
	c, _ := filling{entries: all, trigger: waitlist.ByExpiry, round: &round}.run(t)
	want := all[0]
	want.Status, want.Tries, want.PassedOver = waitlist.Offered, 2, ""
	test.Eq(t, []waitlist.EntryChange{{Entry: want, Offer: &waitlist.Offer{
		ID: id[tenant.OfferID](1001), Round: round.ID, Session: slot(1).Session, Entry: entry(0),
		Member: id[tenant.MemberID](1), Seats: 1, Status: waitlist.Live, Try: 4, Score: 100, CreatedAt: now,
		ExpiresAt: now.Add(30 * time.Minute),
	}}}, c.Entries)
	test.True(
		t, c.Decision.Round == round.ID && c.Decision.Rules == 7 && slices.Equal(c.Decision.Case.Round.Tried, some(7)),
		test.Sprintf("%+v", c.Decision),
	)
	test.True(t, round.Offers == 3 && len(round.Tried) == 1, test.Sprintf("the caller's round has changed: %+v", round))
}

func TestFilling_SetsGraceOfPromotion(t *testing.T) {
	t.Parallel()
	c, _ := filling{entries: entries(queue(1)), rules: func(r *waitlist.Rules) {
		r.Mode, r.PromotionGrace = waitlist.AutoPromote, 90*time.Minute
	}}.run(t)
	want := now.Add(90 * time.Minute)
	test.True(
		t, len(c.Promoted) == 1 && c.Promoted[0].GraceUntil.Equal(want),
		test.Sprintf("%+v, want until %s", c.Promoted, want),
	)
}

func TestFilling_ReadsOnlyNeededPages(t *testing.T) {
	t.Parallel()
	unlimited := slot(1)
	unlimited.Seats = nil
	tests := map[string]struct {
		filling
		limits  []int // of the pages that it requests
		offered int
	}{
		"the seat goes to the first page": {filling{entries: entries(queue(9)), page: 3}, nil, 1},
		"the first page is refused": {
			filling{entries: entries(queue(9)), page: 3, refused: []int{0, 1, 2}}, []int{3}, 1,
		},
		"more seats than a page has entries": {
			filling{entries: entries(queue(9)), page: 3, slot: slot(5)}, []int{3}, 5,
		},
		"the last page is full": {
			filling{entries: entries(queue(6)), page: 3, slot: slot(8)}, []int{3, 3}, 6,
		},
		"the last page is short": {
			filling{entries: entries(queue(5)), page: 3, slot: slot(8)}, []int{3}, 5,
		},
		"a session without a limit: all are promoted": {
			filling{entries: entries(queue(7)), page: 3, slot: unlimited}, []int{3, 3}, 7,
		},
		"the order depends on all": {
			filling{entries: entries(queue(9)), page: 3, rules: func(r *waitlist.Rules) { r.Order = waitlist.ByPriority }},
			[]int{0}, 1,
		},
		"all get offers": {
			filling{entries: entries(queue(9)), page: 3, rules: func(r *waitlist.Rules) { r.Mode = waitlist.FirstToClaim }},
			[]int{0}, 9,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, r := tt.run(t)
			got := len(c.Entries) + len(c.Promoted)
			test.True(
				t, slices.Equal(r.limits, tt.limits) && got == tt.offered,
				test.Sprintf("pages of %v, and %d get seats; want %v and %d", r.limits, got, tt.limits, tt.offered),
			)
		})
	}
}

// A page of entries is checked ahead, in case one of the first is refused. Each is checked once.
func TestFilling_ChecksSomeEntriesAhead(t *testing.T) {
	t.Parallel()
	_, r := filling{entries: entries(queue(40)), refused: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}.run(t)
	test.EqOp(t, 22, len(r.checked),
		test.Sprintf("%d were checked, want the first with 10 behind it, and the next with 10 behind that", len(r.checked)))
}

// For any page size and order of questions, the grants are the same as with all facts from the start.
func TestFilling_DecidesAlikeForAnyPageSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		slices.SortFunc(w.Queue, inPages)
		known := w.Case
		known.Queue = slices.Clone(w.Queue)
		r := &run{refusals: make(map[tenant.EntryID]error)}
		for i, c := range w.Queue {
			w.Queue[i].Refusal = ""
			if c.Refusal != "" {
				r.refusals[c.Entry] = fault.New(fault.ResourceExhausted, fault.NoCredits, "No credits.")
			}
		}
		all := entries(w.Queue)
		page := rapid.IntRange(1, 30).Draw(t, "page")
		first := all[:min(page, len(all))]
		r.queue = all[len(first):]
		round := &waitlist.Round{
			ID: id[tenant.RoundID](5), Freed: w.Round.Freed, Tried: w.Round.Tried, Offers: len(w.Round.Tried),
		}
		if len(round.Tried) == 0 {
			round = nil
		}
		f := waitlist.NewFilling(waitlist.Scene{
			Slot: w.Slot, Rules: w.rules, Entries: first, PageSize: page, NewID: newIDs(), Now: w.Now,
		}, w.Trigger, round)
		c := r.fill(f)
		if !w.rules.Enabled || len(all) == 0 && round == nil {
			must.Eq(t, waitlist.Changes{}, c, must.Sprint("changes without a waitlist"))
			return
		}
		d := c.Decision
		known.Round = d.Case.Round
		want := known.Decide(w.rules)
		must.Eq(t, want.Grants, d.Decision.Grants)
		must.Eq(t, d.Decision, d.Case.Decide(w.rules), must.Sprint("the record does not lead to its decision (-kept +again)"))
		checked := slices.SortedFunc(slices.Values(r.checked), func(a, b tenant.EntryID) int {
			return slices.Compare(a.UUID[:], b.UUID[:])
		})
		must.EqOp(t, len(checked), len(slices.Compact(checked)), must.Sprintf("checked twice: %v", r.checked))
		wantOffers(t, c, round)
	})
}

// inPages compares entries in the order in which pages are read.
func inPages(a, b waitlist.Candidate) int {
	switch {
	case a.Flagged && !b.Flagged:
		return -1
	case b.Flagged && !a.Flagged:
		return 1
	case a.Key != b.Key:
		return int(a.Key - b.Key)
	}
	return slices.Compare(a.Entry.UUID[:], b.Entry.UUID[:])
}

func opened(c waitlist.Changes) []waitlist.Round {
	if c.Opened == nil {
		return nil
	}
	return []waitlist.Round{*c.Opened}
}

// wantOffers compares the changes of a decision with the decision.
func wantOffers(t *rapid.T, c waitlist.Changes, before *waitlist.Round) {
	d := c.Decision.Decision
	if d.Mode == waitlist.AutoPromote {
		must.True(
			t, len(c.Promoted) == len(d.Grants) && len(c.Entries) == 0 && c.Seats == 0 && c.Opened == nil && c.Rounds == nil,
			must.Sprintf("promotions: %+v", c),
		)
		return
	}
	must.True(
		t, len(c.Entries) == len(d.Grants) && c.Seats == d.Given && len(c.Promoted) == 0,
		must.Sprintf("%d offers and %d seats for %d grants of %d seats", len(c.Entries), c.Seats, len(d.Grants), d.Given),
	)
	if len(d.Grants) == 0 {
		return
	}
	must.True(
		t, (before == nil) == (c.Opened != nil) && (before != nil) == (len(c.Rounds) == 1),
		must.Sprintf("rounds: %+v, %+v", c.Opened, c.Rounds),
	)
	tries := 0
	if before != nil {
		tries = before.Offers
	}
	round := slices.Concat(opened(c), c.Rounds)[0]
	shared := d.Mode == waitlist.FirstToClaim
	must.True(
		t, (!shared || round.Keeps == d.Given && round.Closed == nil) && (shared || round.Keeps == 0),
		must.Sprintf("%+v keeps other seats than it should: %d in mode %s", round, d.Given, d.Mode),
	)
	for i, e := range c.Entries {
		g, o := d.Grants[i], e.Offer
		must.True(
			t, o.Entry == g.Entry && o.Seats == g.Seats && o.ExpiresAt.Equal(g.Until) && o.Try == tries+i+1 &&
				o.Round == round.ID && o.Shared == shared && o.Status == waitlist.Live && e.Entry.Status == waitlist.Offered,
			must.Sprintf("offer %d is %+v, and its grant %+v", i, o, g),
		)
	}
}

func TestNewManualOffer_OffersToChosenEntry(t *testing.T) {
	t.Parallel()
	all := entries(queue(3))
	scene := waitlist.Scene{
		Slot: slot(4), Rules: rules(t, asIs), Entries: all[:2], PageSize: 2, NewID: newIDs(), Now: now,
		Live: []waitlist.Offer{{Member: all[2].Member, Seats: 1, Status: waitlist.Live}}, // to another entry of the member
	}
	for name, tt := range map[string]struct {
		until, ends time.Time
		refused     bool
	}{
		"as the rules say":      {ends: now.Add(30 * time.Minute)},
		"until a time of staff": {until: now.Add(5 * time.Hour), ends: now.Add(5 * time.Hour)},
		"until booking closes":  {until: starts, ends: starts},
		"later than that":       {until: starts.Add(time.Second), refused: true},
		"in the past":           {until: now, refused: true},
	} {
		f, err := waitlist.NewManualOffer(scene, all[2], tt.until)
		if tt.refused {
			test.EqOp(t, fault.InvalidField, fault.ReasonOf(err), test.Sprintf("%s: %v", name, err))
			continue
		}
		must.NoError(t, err, must.Sprint(name))
		refused := fault.New(fault.ResourceExhausted, fault.NoCredits, "No credits.")
		r := &run{refusals: map[tenant.EntryID]error{entry(2): refused}}
		c := r.fill(f)
		must.True(
			t, len(c.Entries) == 1 && c.Opened != nil && c.Opened.Freed == 1 && c.Seats == 1, must.Sprintf("%s: %+v", name, c),
		)
		o := c.Entries[0].Offer
		test.True(t, o.Entry == entry(2) && o.ByHand && o.ExpiresAt.Equal(tt.ends), test.Sprintf("%s: %+v", name, o))
		// Staff may overrule the refusal. The record shows it.
		kept := c.Decision.Case
		test.True(
			t, kept.Trigger == waitlist.ByHand && len(kept.Queue) == 1 && kept.Queue[0].Refusal == string(fault.NoCredits) &&
				!kept.Queue[0].Asked,
			test.Sprintf("%s: %+v", name, kept),
		)
	}
}

func TestClosesAt_AddsFillAfterStart(t *testing.T) {
	t.Parallel()
	ends := starts.Add(time.Hour)
	for name, tt := range map[string]struct {
		before, after time.Duration
		at, want      time.Time
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
	} {
		got := (waitlist.Rules{FillAfterStart: tt.after}).ClosesAt(starts, ends, tt.before, tt.at)
		test.True(t, got.Equal(tt.want), test.Sprintf("%s: %s, want %s", name, got, tt.want))
	}
}
