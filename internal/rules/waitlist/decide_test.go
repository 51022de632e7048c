package waitlist_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestDecide_ReturnsMoveAndReasons(t *testing.T) {
	t.Parallel()
	const offered, full, promoted = waitlist.WasOffered, waitlist.NoSeatsLeft, waitlist.Promoted
	refused := func(i int) []waitlist.Candidate {
		all := queue(3)
		all[i].Refusal = string(fault.NoCredits)
		return all
	}
	parties := func(sizes ...int) []waitlist.Candidate {
		all := queue(len(sizes))
		for i, size := range sizes {
			all[i].Party = size
		}
		return all
	}
	tried := func(all ...int) waitlist.Round {
		r := waitlist.Round{Freed: 1}
		for _, i := range all {
			r.Tried = append(r.Tried, entry(i))
		}
		return r
	}
	auto := func(r *waitlist.Rules) { r.Mode = waitlist.AutoPromote }
	first := func(r *waitlist.Rules) { r.Mode = waitlist.FirstToClaim }
	tests := map[string]struct {
		rules   func(*waitlist.Rules)
		slot    waitlist.Slot
		queue   []waitlist.Candidate
		round   waitlist.Round
		trigger waitlist.Trigger
		at      time.Time
		move    waitlist.Move
		left    waitlist.Move
		given   int
		reasons []string
	}{
		"the first entry is offered the seat": {
			queue: queue(2), move: waitlist.MakeOffer, given: 1, reasons: []string{offered, full},
		},
		"the queue is empty": {move: waitlist.NobodyFits, left: waitlist.NobodyFits},
		"no one fits": {queue: one(func(c *waitlist.Candidate) { c.Coach = rui }), move: waitlist.NobodyFits,
			left:    waitlist.NobodyFits,
			reasons: []string{waitlist.OtherStaff}},
		"an offer that was declined rolls on": {queue: queue(2), round: tried(0), trigger: waitlist.ByDecline,
			move: waitlist.RollOn, given: 1,
			reasons: []string{waitlist.AlreadyOffered, offered}},
		"an offer that ran out rolls on": {queue: queue(2), round: tried(0), trigger: waitlist.ByExpiry,
			move: waitlist.RollOn, given: 1,
			reasons: []string{waitlist.AlreadyOffered, offered}},
		"a list that is spent goes back to staff": {queue: queue(2), round: tried(0, 1), trigger: waitlist.ByExpiry,
			move: waitlist.HandBack, left: waitlist.HandBack, reasons: []string{
				waitlist.AlreadyOffered, waitlist.AlreadyOffered,
			}},
		"the whole queue has left since": {
			round: tried(0), trigger: waitlist.ByDecline, move: waitlist.HandBack, left: waitlist.HandBack,
		},
		"enough were tried": {rules: func(r *waitlist.Rules) { r.MaxTriesPerSlot = 2 }, queue: queue(3), round: tried(0, 1),
			trigger: waitlist.ByExpiry,
			move:    waitlist.HandBack, left: waitlist.HandBack, reasons: []string{
				waitlist.AlreadyOffered, waitlist.AlreadyOffered, waitlist.MaxTries,
			}},
		"one more may be tried": {rules: func(r *waitlist.Rules) { r.MaxTriesPerSlot = 2 }, queue: queue(3), round: tried(0),
			trigger: waitlist.ByExpiry,
			move:    waitlist.RollOn, given: 1, reasons: []string{waitlist.AlreadyOffered, offered, full}},
		"by default ten are tried for a seat": {queue: queue(12), round: tried(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
			trigger: waitlist.ByExpiry,
			move:    waitlist.HandBack, left: waitlist.HandBack,
			reasons: append(slices.Repeat([]string{waitlist.AlreadyOffered}, 10), waitlist.MaxTries, waitlist.MaxTries)},
		"no cap": {rules: func(r *waitlist.Rules) { r.MaxTriesPerSlot = 0 }, queue: queue(12),
			round:   tried(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
			trigger: waitlist.ByExpiry, move: waitlist.RollOn, given: 1, reasons: append(
				slices.Repeat([]string{waitlist.AlreadyOffered}, 11), offered,
			)},
		"the cap counts for each seat that was freed": {rules: func(r *waitlist.Rules) { r.MaxTriesPerSlot = 1 },
			slot: slot(3), queue: queue(5),
			round: waitlist.Round{Freed: 3}, move: waitlist.MakeOffer, given: 3, reasons: []string{
				offered, offered, offered, full, full,
			}},
		"the cap counts for each open seat in a new round": {
			rules: func(r *waitlist.Rules) { r.MaxTriesPerSlot = 1 }, slot: slot(3),
			queue: queue(5), move: waitlist.MakeOffer, given: 3, reasons: []string{offered, offered, offered, full, full}},
		"the cap holds within a decision": {rules: func(r *waitlist.Rules) { r.MaxTriesPerSlot = 1 }, slot: slot(3),
			queue: queue(4),
			round: waitlist.Round{Freed: 2}, move: waitlist.MakeOffer, left: waitlist.NobodyFits, given: 2,
			reasons: []string{offered, offered, waitlist.MaxTries, waitlist.MaxTries}},
		"nothing cascades by itself": {rules: func(r *waitlist.Rules) { r.AutoCascade = false }, queue: queue(2),
			round: tried(0), trigger: waitlist.ByExpiry,
			move: waitlist.HandBack, left: waitlist.HandBack, reasons: []string{waitlist.AlreadyOffered, waitlist.NoCascade}},
		"nothing cascades by itself, but later freed seats are offered": {
			rules: func(r *waitlist.Rules) { r.AutoCascade = false }, queue: queue(2),
			move: waitlist.MakeOffer, given: 1, reasons: []string{offered, full}},
		"several seats go to several entries": {
			slot: slot(2), queue: queue(3), move: waitlist.MakeOffer, given: 2, reasons: []string{offered, offered, full},
		},
		"a party takes several": {
			slot: slot(3), queue: parties(2, 1, 1), move: waitlist.MakeOffer, given: 3,
			reasons: []string{offered, offered, full},
		},
		"a party that is too large is skipped": {slot: slot(3), queue: parties(2, 2, 1), move: waitlist.MakeOffer, given: 3,
			reasons: []string{offered, string(fault.PartySize), offered}},
		"a party of four and a table for two": {slot: slot(2), queue: parties(4), move: waitlist.NobodyFits,
			left:    waitlist.NobodyFits,
			reasons: []string{string(fault.PartySize)}},
		"a party of two and a table for four": {slot: slot(4), queue: parties(2), move: waitlist.MakeOffer,
			left: waitlist.NobodyFits, given: 2,
			reasons: []string{offered}},
		"a party of two and a table for four, which is not split": {
			rules: func(r *waitlist.Rules) { r.AllowDownFitting = false }, slot: slot(4),
			queue: parties(2, 4), move: waitlist.MakeOffer, given: 4, reasons: []string{waitlist.DownFitting, offered}},
		"two entries of one member": {slot: slot(2),
			queue: func() []waitlist.Candidate { q := queue(3); q[1].Member = q[0].Member; return q }(),
			move:  waitlist.MakeOffer, given: 2, reasons: []string{offered, waitlist.HasOffer, offered}},
		"no seats are open": {slot: slot(0), queue: queue(1), move: waitlist.NobodyFits, reasons: []string{full}},
		"a booking of theirs would be refused": {queue: refused(0), move: waitlist.MakeOffer, given: 1,
			reasons: []string{string(fault.NoCredits), offered, full}},
		"an entry with a live offer waits": {queue: one(func(c *waitlist.Candidate) { c.Asked = true }),
			move: waitlist.NobodyFits,
			left: waitlist.NobodyFits, reasons: []string{waitlist.HasOffer}},
		"three offers are enough by default": {queue: one(func(c *waitlist.Candidate) { c.Tries = 3 }),
			move: waitlist.NobodyFits,
			left: waitlist.NobodyFits, reasons: []string{waitlist.MaxOffers}},
		"two are not": {
			queue: one(func(c *waitlist.Candidate) { c.Tries = 2 }), move: waitlist.MakeOffer, given: 1,
			reasons: []string{offered},
		},
		"one is, if the rules say so": {rules: func(r *waitlist.Rules) { r.MaxOffersPerEntry = 1 },
			queue: one(func(c *waitlist.Candidate) { c.Tries = 1 }),
			move:  waitlist.NobodyFits, left: waitlist.NobodyFits, reasons: []string{waitlist.MaxOffers}},
		"no offer is too many": {rules: func(r *waitlist.Rules) { r.MaxOffersPerEntry = 0 },
			queue: one(func(c *waitlist.Candidate) { c.Tries = 99 }),
			move:  waitlist.MakeOffer, given: 1, reasons: []string{offered}},
		"the waitlist is off": {rules: func(r *waitlist.Rules) { r.Enabled = false }, queue: queue(1),
			move: waitlist.NobodyFits, left: waitlist.NobodyFits,
			reasons: []string{string(fault.WaitlistClosed)}},
		"the slot has closed": {
			at: starts, queue: queue(1), move: waitlist.NobodyFits, left: waitlist.NobodyFits,
			reasons: []string{waitlist.NoTime},
		},
		"too little time is left for an offer": {at: starts.Add(-4 * time.Minute), queue: queue(1), move: waitlist.NobodyFits,
			left:    waitlist.NobodyFits,
			reasons: []string{waitlist.NoTime}},

		"promoted at once": {
			rules: auto, slot: slot(2), queue: queue(3), move: waitlist.MakeOffer, given: 2,
			reasons: []string{promoted, promoted, full},
		},
		"promotion skips those who cannot be booked": {rules: auto, queue: refused(0), move: waitlist.MakeOffer, given: 1,
			reasons: []string{string(fault.NoCredits), promoted, full}},
		"promotion does not count offers": {rules: auto, queue: one(func(c *waitlist.Candidate) { c.Tries = 3 }),
			move: waitlist.MakeOffer, given: 1,
			reasons: []string{promoted}},
		"promotion needs no time to answer": {rules: auto, at: starts.Add(-time.Minute), queue: queue(1),
			move: waitlist.MakeOffer, given: 1,
			reasons: []string{promoted}},
		"no promotion shortly before the start": {
			rules: func(r *waitlist.Rules) { auto(r); r.AutoPromoteCutoff = time.Hour }, at: starts.Add(-59 * time.Minute),
			queue: queue(1), move: waitlist.MakeOffer, given: 1, reasons: []string{offered}},
		"promoted at the last moment": {rules: func(r *waitlist.Rules) { auto(r); r.AutoPromoteCutoff = time.Hour },
			at:    starts.Add(-time.Hour),
			queue: queue(1), move: waitlist.MakeOffer, given: 1, reasons: []string{promoted}},
		"seats without end go to all": {rules: first, slot: func() waitlist.Slot { s := slot(1); s.Seats = nil; return s }(),
			queue: refused(1),
			move:  waitlist.MakeOffer, given: 2, reasons: []string{promoted, string(fault.NoCredits), promoted}},

		"all that fit get offers": {
			rules: first, queue: queue(3), move: waitlist.MakeOffer, given: 1, reasons: []string{offered, offered, offered},
		},
		"all that fit get offers, despite the cap": {rules: func(r *waitlist.Rules) { first(r); r.MaxTriesPerSlot = 1 },
			queue: queue(3),
			move:  waitlist.MakeOffer, given: 1, reasons: []string{offered, offered, offered}},
		"an entry that does not fit gets no offer": {
			rules: first, slot: slot(2), queue: parties(1, 3, 2), move: waitlist.MakeOffer,
			given:   2,
			reasons: []string{offered, string(fault.PartySize), offered}},
		"entries that had an offer get no other": {rules: first, queue: queue(3), round: tried(0, 1),
			trigger: waitlist.ByExpiry,
			move:    waitlist.RollOn, given: 1, reasons: []string{waitlist.AlreadyOffered, waitlist.AlreadyOffered, offered}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.rules == nil {
				tc.rules = asIs
			}
			if tc.slot.Service.IsZero() {
				tc.slot = slot(1)
			}
			if tc.trigger == "" {
				tc.trigger = waitlist.ByCancellation
			}
			if tc.at.IsZero() {
				tc.at = now
			}
			d := waitlist.Decide(tc.slot, tc.queue, tc.round, tc.trigger, rules(t, tc.rules), tc.at)
			test.True(
				t, d.Move == tc.move && d.LeftMove == tc.left && d.Given == tc.given,
				test.Sprintf(
					"%s, gives %d, leaves %d to %q; want %s, %d, %q",
					d.Move, d.Given, d.Left(), d.LeftMove, tc.move, tc.given, tc.left,
				),
			)
			test.Eq(t, tc.reasons, reasons(d), test.Sprint("reasons"))
		})
	}
}

// If several reasons apply to an entry, its verdict is the first of them.
func TestDecide_ReturnsFirstReasonInOrder(t *testing.T) {
	t.Parallel()
	// Every check fails for this entry. Each step fixes the one that the verdict before named.
	c := queue(1)[0]
	c.Asked, c.Coach, c.Tries, c.Party, c.Refusal = true, rui, 3, 5, string(fault.Overlap)
	c.Window = wish(func(w *waitlist.Window) {
		w.Service, w.Location, w.Resource = massage, porto, id[tenant.ResourceID](9)
		w.From, w.Until = civiltest.Date("2026-03-20"), civiltest.Date("2026-03-20")
		w.Earliest, w.Latest = clock("06:00"), clock("07:00")
	})
	round := waitlist.Round{Freed: 1, Tried: []tenant.EntryID{c.Entry}}
	r := waitlist.Defaults()
	r.Mode, r.MaxTriesPerSlot, r.AllowDownFitting, r.EligibilityExpression = waitlist.OfferInTurn, 1, false, "false"
	s := slot(3)
	s.Closes = now
	steps := []struct {
		reason string
		mend   func()
	}{
		{waitlist.HasOffer, func() { c.Asked = false }},
		{waitlist.OtherService, func() { c.Window.Service = yoga }},
		{waitlist.OtherLocation, func() { c.Window.Location = lisbon }},
		{waitlist.OtherResource, func() { c.Window.Resource = room }},
		{waitlist.OtherDate, func() { c.Window.From = civiltest.Date("2026-03-18") }},
		{waitlist.OtherTime, func() { c.Window.Latest = clock("18:00") }},
		{waitlist.OtherStaff, func() { c.Coach = jess }},
		{waitlist.MaxOffers, func() { c.Tries = 0 }},
		{waitlist.AlreadyOffered, func() { round.Tried[0] = entry(7) }},
		{waitlist.NotEligible, func() { r.EligibilityExpression = `member.tags[0] == "vip"` }},
		{waitlist.RuleFailed, func() { r.EligibilityExpression = "" }},
		{waitlist.NoTime, func() { s.Closes = starts }},
		{waitlist.MaxTries, func() { r.MaxTriesPerSlot = 0 }},
		{string(fault.PartySize), func() { c.Party = 2 }},
		{waitlist.DownFitting, func() { c.Party = 3 }},
		{string(fault.Overlap), func() { c.Refusal = "" }},
		{waitlist.WasOffered, func() {}},
	}
	for _, step := range steps {
		compiled := expect.Value(waitlist.Compile(r))(t)
		d := waitlist.Decide(s, []waitlist.Candidate{c}, round, waitlist.ByCancellation, compiled, now)
		must.EqOp(t, step.reason, d.Verdicts[0].Reason)
		step.mend()
	}
}

func TestRefusalOf_ReturnsReasonOfError(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"":                          nil,
		string(fault.Overlap):       fault.New(fault.FailedPrecondition, fault.Overlap, "x"),
		string(fault.NoCredits):     errors.Join(fault.New(fault.ResourceExhausted, fault.NoCredits, "x")),
		string(fault.InternalError): errors.New("no fault"),
	} {
		test.EqOp(t, want, waitlist.RefusalOf(err), test.Sprintf("RefusalOf(%v)", err))
	}
}

func TestGraceUntil_EndsAtStartAtTheLatest(t *testing.T) {
	t.Parallel()
	r := waitlist.Defaults()
	for name, tc := range map[string]struct{ starts, want time.Time }{
		"an hour by default":              {now.Add(5 * time.Hour), now.Add(time.Hour)},
		"not beyond the start":            {now.Add(20 * time.Minute), now.Add(20 * time.Minute)},
		"none once the session has begun": {now.Add(-time.Minute), now.Add(-time.Minute)},
	} {
		got := r.GraceUntil(now, tc.starts)
		test.True(t, got.Equal(tc.want), test.Sprintf("%s: %s, want %s", name, got, tc.want))
	}
}

// proofs reports for each reason whether it holds for an entry, with the seats that are left and the grants before it.
// It is written independently of the rules.
func proofs(w world, c waitlist.Candidate, d waitlist.Decision, left, granted int) map[string]bool {
	mode, before := d.Mode, d.Grants[:granted]
	r, limited := w.rules.Rules, w.Slot.Seats != nil
	home := w.Slot.Zone
	if c.Zone != "" {
		home = c.Zone
	}
	zone, err := time.LoadLocation(home)
	if err != nil {
		panic(err)
	}
	_, late := r.OfferUntil(w.Now, w.Slot.Closes, zone)
	tries := len(w.Round.Tried)
	freed := w.Round.Freed
	if freed == 0 && limited {
		freed = *w.Slot.Seats // the round starts with this decision
	}
	most := r.MaxTriesPerSlot * max(freed, 1)
	capped := r.MaxTriesPerSlot > 0 && r.Mode != waitlist.FirstToClaim
	asks := mode != waitlist.AutoPromote
	return map[string]bool{
		waitlist.HasOffer: c.Asked || slices.ContainsFunc(
			before, func(g waitlist.Grant) bool { return g.Member == c.Member },
		),
		waitlist.OtherService:        c.Window != nil && c.Window.Service != w.Slot.Service,
		waitlist.OtherLocation:       c.Window != nil && c.Window.Location != w.Slot.Location,
		waitlist.OtherDate:           c.Window != nil && !wishesDay(*c.Window, w.Slot),
		waitlist.OtherTime:           c.Window != nil && !wishesTime(*c.Window, w.Slot, r.TimeFlexibility),
		waitlist.OtherStaff:          !c.Coach.IsZero() && c.Coach != w.Slot.Coach,
		waitlist.MaxOffers:           asks && r.MaxOffersPerEntry > 0 && c.Tries >= r.MaxOffersPerEntry,
		waitlist.AlreadyOffered:      slices.Contains(w.Round.Tried, c.Entry),
		waitlist.NotEligible:         !w.letsIn(c),
		string(fault.WaitlistClosed): !r.Enabled,
		waitlist.NoTime:              !w.Now.Before(w.Slot.Closes) || asks && late == waitlist.NoTime,
		waitlist.InQuietHours:        asks && late == waitlist.InQuietHours,
		waitlist.NoCascade:           !r.AutoCascade && (w.Trigger == waitlist.ByDecline || w.Trigger == waitlist.ByExpiry),
		waitlist.MaxTries:            capped && (tries >= most || asks && tries+granted >= most),
		waitlist.NoSeatsLeft:         limited && left == 0,
		string(fault.PartySize):      limited && c.Party > left,
		waitlist.DownFitting:         limited && !r.AllowDownFitting && c.Party < *w.Slot.Seats,
		string(fault.NoCredits):      c.Refusal != "",
	}
}

func wishesDay(w waitlist.Window, s waitlist.Slot) bool {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		panic(err)
	}
	day := civil.DateOf(s.StartsAt, zone)
	return !day.Before(w.From) && !day.After(w.Until)
}

// wishesTime compares minutes of the day one by one, instead of computing on a circle.
func wishesTime(w waitlist.Window, s waitlist.Slot, flexibility time.Duration) bool {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		panic(err)
	}
	minute := func(c civil.TimeOfDay) int { return int(c.SinceMidnight() / time.Minute) }
	at, from, until, slack := minute(
		civil.TimeOf(s.StartsAt, zone),
	), minute(w.Earliest), minute(w.Latest), int(flexibility/time.Minute)
	day, circle := civil.DateOf(s.StartsAt, zone), 24*60
	for m := from; ; m = (m + 1) % circle {
		if m == at {
			return true
		}
		if m == until {
			break
		}
	}
	// Close to an edge, on the same day, or across midnight on another day of the window.
	early := at < from && from-at <= slack || at > from && day.Before(w.Until) && from+circle-at <= slack
	late := at > until && at-until <= slack || at < until && day.After(w.From) && at+circle-until <= slack
	return early || late
}

func TestDecide_MatchesIndependentProofs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		d := w.Decide(w.rules)

		order := slices.Clone(w.Queue)
		score := func(c waitlist.Candidate) int {
			return d.Verdicts[slices.IndexFunc(d.Verdicts, func(v waitlist.Verdict) bool { return v.Entry == c.Entry })].Score
		}
		must.EqOp(t, len(w.Queue), len(d.Verdicts), must.Sprintf("%d verdicts on %d entries", len(d.Verdicts), len(w.Queue)))
		slices.SortFunc(order, func(a, b waitlist.Candidate) int {
			before := func(a, b waitlist.Candidate) bool {
				switch {
				case a.Flagged != b.Flagged:
					return a.Flagged
				case w.rules.Order != waitlist.ByJoining && score(a) != score(b):
					return score(a) > score(b)
				case a.Key != b.Key:
					return a.Key < b.Key
				}
				return a.Entry.String() < b.Entry.String()
			}
			if before(a, b) {
				return -1
			}
			return 1
		})

		left, granted := 0, 0
		if w.Slot.Seats != nil {
			left = *w.Slot.Seats
		}
		for i, v := range d.Verdicts {
			c := order[i]
			must.True(
				t, v.Entry == c.Entry && v.Member == c.Member && v.Party == c.Party,
				must.Sprintf("verdict %d is on %s, and it is the turn of %s", i, v.Entry, c.Entry),
			)
			proof := proofs(w, c, d, left, granted)
			if v.Reason != waitlist.Promoted && v.Reason != waitlist.WasOffered {
				must.True(t, proof[v.Reason], must.Sprintf("entry %d was passed by for %s, which is not so", i, v.Reason))
				continue
			}
			for reason, holds := range proof {
				must.False(t, holds, must.Sprintf("entry %d was chosen in spite of %s", i, reason))
			}
			must.EqOp(t, (d.Mode == waitlist.AutoPromote), (v.Reason == waitlist.Promoted),
				must.Sprintf("%s in the mode %s", v.Reason, d.Mode))
			g := d.Grants[granted]
			must.True(
				t, g.Entry == v.Entry && g.Seats == c.Party && g.Score == v.Score &&
					g.Until.IsZero() == (d.Mode == waitlist.AutoPromote),
				must.Sprintf("grant %d: %+v, of the verdict %+v", granted, g, v),
			)
			must.False(
				t, !g.Until.IsZero() && (g.Until.After(w.Slot.Closes) || g.Until.Sub(w.Now) < w.rules.MinOfferWindow),
				must.Sprintf("an offer until %s, made at %s, of a slot that closes at %s", g.Until, w.Now, w.Slot.Closes),
			)
			granted++
			if d.Mode != waitlist.FirstToClaim {
				left -= c.Party
			}
		}
		must.EqOp(t, len(d.Grants), granted, must.Sprintf("%d grants, %d verdicts say so", len(d.Grants), granted))
		checkSeats(t, w, d)
	})
}

// checkSeats checks that each freed seat has exactly one move.
func checkSeats(t *rapid.T, w world, d waitlist.Decision) {
	wants := map[bool]map[bool]waitlist.Move{
		false: {true: waitlist.MakeOffer, false: waitlist.NobodyFits},
		true:  {true: waitlist.RollOn, false: waitlist.HandBack},
	}[len(w.Round.Tried) > 0]
	must.EqOp(t, wants[len(d.Grants) > 0], d.Move,
		must.Sprintf("%s with %d grants after %d tries", d.Move, len(d.Grants), len(w.Round.Tried)))
	sum := 0
	for _, g := range d.Grants {
		sum += g.Seats
	}
	if w.Slot.Seats == nil {
		must.True(
			t, d.Given == sum && d.Left() == 0 && d.LeftMove == "" && d.Mode == waitlist.AutoPromote,
			must.Sprintf("without limit: %+v", d),
		)
		return
	}
	must.True(
		t, d.Given >= 0 && d.Left() >= 0 && d.Given+d.Left() == *w.Slot.Seats && (d.Left() > 0) == (d.LeftMove != ""),
		must.Sprintf("%d given, %d left to %q, of %d", d.Given, d.Left(), d.LeftMove, *w.Slot.Seats),
	)
	must.False(
		t, d.LeftMove != "" && d.LeftMove != wants[false],
		must.Sprintf("left to %s after %d tries", d.LeftMove, len(w.Round.Tried)),
	)
	must.False(
		t, d.Mode != waitlist.FirstToClaim && sum != d.Given, must.Sprintf("grants of %d seats, %d given", sum, d.Given),
	)
}

func TestDecide_IgnoresOrderOfQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		want := w.Decide(w.rules)
		w.Queue = rapid.Permutation(w.Queue).Draw(t, "shuffled")
		before := slices.Clone(w.Queue)
		must.Eq(t, want, w.Decide(w.rules), must.Sprint("the same facts in another order (-first +second)"))
		must.Eq(t, before, w.Queue, must.Sprint("a decision changed its facts"))
	})
}
