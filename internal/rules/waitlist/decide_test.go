package waitlist_test

import (
	"cmp"
	"errors"
	"reflect"
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
	"github.com/berthhq/berth/internal/testkit/vary"
)

// judged is what a decision is, and its verdicts.
type judged struct {
	Move, Left waitlist.Move
	Given      int
	Verdicts   []waitlist.VerdictReason
}

func judgedOf(d waitlist.Decision) judged {
	j := judged{Move: d.Move, Left: d.LeftMove, Given: d.Given}
	for _, v := range d.Verdicts {
		j.Verdicts = append(j.Verdicts, v.Reason)
	}
	return j
}

func tried(all ...int) waitlist.Round {
	r := waitlist.Round{Freed: 1}
	for _, i := range all {
		r.AddOffer(waitlist.Entry{ID: entry(i), Member: id[tenant.MemberID](uint64(i + 1))})
	}
	return r
}

func TestDecide_ReturnsMoveAndReasons(t *testing.T) {
	t.Parallel()
	const (
		offer, roll, back, none = waitlist.MakeOffer, waitlist.RollOn, waitlist.HandBack, waitlist.NobodyFits
		offered, full, promoted = waitlist.WasOffered, waitlist.NoSeatsLeft, waitlist.Promoted
		had                     = waitlist.AlreadyOffered
		large                   = waitlist.VerdictReason(fault.PartySize)
		noCredits               = waitlist.VerdictReason(fault.NoCredits)
	)
	type words = []waitlist.VerdictReason
	poor := set{"Refusal": noCredits}
	declined, expired := waitlist.ByDecline, waitlist.ByExpiry
	for name, tt := range map[string]struct {
		rules, differ set // from a decision about one open seat
		queue         []waitlist.Candidate
		want          judged
	}{
		"the first entry is offered the seat": {nil, nil, queue(2), judged{offer, "", 1, words{offered, full}}},
		"who gave the seat up gets it by no other entry": {
			nil, set{"Round": waitlist.Round{Freed: 1, GaveUp: []tenant.MemberID{id[tenant.MemberID](1)}}}, queue(2),
			judged{offer, "", 1, words{waitlist.GaveUp, offered}},
		},
		"who declined it neither": {
			nil, set{"Round": vary.From(tried(0), set{"Declined": []tenant.MemberID{id[tenant.MemberID](1)}})},
			queueOf(nil, set{"Member": id[tenant.MemberID](1)}, nil),
			judged{roll, "", 1, words{had, waitlist.GaveUp, offered}},
		},
		"the limit of tries counts members": {
			set{"MaxTriesPerSlot": 2}, set{"Round": vary.From(tried(0, 1), set{
				"Asked": []tenant.MemberID{id[tenant.MemberID](1)},
			})}, queue(3), judged{roll, "", 1, words{had, had, offered}},
		},
		"the queue is empty": {nil, nil, nil, judged{none, none, 0, nil}},
		"no one fits": {
			nil, nil, queueOf(set{"Coach": rui}), judged{none, none, 0, words{waitlist.OtherStaff}},
		},
		"an offer that was declined rolls on": {
			nil, set{"Round": tried(0), "Trigger": declined}, queue(2), judged{roll, "", 1, words{had, offered}},
		},
		"an offer that ran out rolls on": {
			nil, set{"Round": tried(0), "Trigger": expired}, queue(2), judged{roll, "", 1, words{had, offered}},
		},
		"a list that is spent goes back to staff": {
			nil, set{"Round": tried(0, 1), "Trigger": expired}, queue(2), judged{back, back, 0, words{had, had}},
		},
		"the whole queue has left since": {nil, set{"Round": tried(0), "Trigger": declined}, nil, judged{back, back, 0, nil}},
		"enough were tried": {
			set{"MaxTriesPerSlot": 2}, set{"Round": tried(0, 1), "Trigger": expired}, queue(3),
			judged{back, back, 0, words{had, had, waitlist.MaxTries}},
		},
		"one more may be tried": {
			set{"MaxTriesPerSlot": 2}, set{"Round": tried(0), "Trigger": expired}, queue(3),
			judged{roll, "", 1, words{had, offered, full}},
		},
		"by default ten are tried for a seat": {
			nil, set{"Round": tried(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "Trigger": expired}, queue(12),
			judged{back, back, 0, append(slices.Repeat(words{had}, 10), waitlist.MaxTries, waitlist.MaxTries)},
		},
		"no cap": {
			set{"MaxTriesPerSlot": 0}, set{"Round": tried(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), "Trigger": expired}, queue(12),
			judged{roll, "", 1, append(slices.Repeat(words{had}, 11), offered)},
		},
		"the cap counts for each seat that was freed": {
			set{"MaxTriesPerSlot": 1}, set{"Slot.Seats": 3, "Round.Freed": 3}, queue(5),
			judged{offer, "", 3, words{offered, offered, offered, full, full}},
		},
		"the cap counts for each open seat in a new round": {
			set{"MaxTriesPerSlot": 1}, set{"Slot.Seats": 3}, queue(5),
			judged{offer, "", 3, words{offered, offered, offered, full, full}},
		},
		"the cap holds within a decision": {
			set{"MaxTriesPerSlot": 1}, set{"Slot.Seats": 3, "Round.Freed": 2}, queue(4),
			judged{offer, none, 2, words{offered, offered, waitlist.MaxTries, waitlist.MaxTries}},
		},
		"nothing cascades by itself": {
			set{"AutoCascade": false}, set{"Round": tried(0), "Trigger": expired}, queue(2),
			judged{back, back, 0, words{had, waitlist.NoCascade}},
		},
		"nothing cascades when rules change": {
			set{"AutoCascade": false}, set{"Round": tried(0), "Trigger": waitlist.ByRules}, queue(2),
			judged{back, back, 0, words{had, waitlist.NoCascade}},
		},
		"rules that change fill seats that no one was offered": {
			set{"AutoCascade": false}, set{"Trigger": waitlist.ByRules}, queue(1), judged{offer, "", 1, words{offered}},
		},
		"nothing cascades by itself, but later freed seats are offered": {
			set{"AutoCascade": false}, nil, queue(2), judged{offer, "", 1, words{offered, full}},
		},
		"several seats go to several entries": {
			nil, set{"Slot.Seats": 2}, queue(3), judged{offer, "", 2, words{offered, offered, full}},
		},
		"a party takes several": {
			nil, set{"Slot.Seats": 3}, parties(2, 1, 1), judged{offer, "", 3, words{offered, offered, full}},
		},
		"a party that is too large is skipped": {
			nil, set{"Slot.Seats": 3}, parties(2, 2, 1), judged{offer, "", 3, words{offered, large, offered}},
		},
		"a party of four and a table for two": {
			nil, set{"Slot.Seats": 2}, parties(4), judged{none, none, 0, words{large}},
		},
		"a party of two and a table for four": {
			nil, set{"Slot.Seats": 4}, parties(2), judged{offer, none, 2, words{offered}},
		},
		"a party of two and a table for four, which is not split": {
			set{"AllowDownFitting": false}, set{"Slot.Seats": 4}, parties(2, 4),
			judged{offer, "", 4, words{waitlist.DownFitting, offered}},
		},
		"two entries of one member": {
			nil, set{"Slot.Seats": 2}, queueOf(nil, set{"Member": id[tenant.MemberID](1)}, nil),
			judged{offer, "", 2, words{offered, waitlist.HasOffer, offered}},
		},
		"no seats are open": {nil, set{"Slot.Seats": 0}, queue(1), judged{none, "", 0, words{full}}},
		"a booking of theirs would be refused": {
			nil, nil, queueOf(poor, nil, nil), judged{offer, "", 1, words{noCredits, offered, full}},
		},
		"an entry with a live offer waits": {
			nil, nil, queueOf(set{"Asked": true}), judged{none, none, 0, words{waitlist.HasOffer}},
		},
		"three offers are enough by default": {
			nil, nil, queueOf(set{"Tries": 3}), judged{none, none, 0, words{waitlist.MaxOffers}},
		},
		"two are not": {nil, nil, queueOf(set{"Tries": 2}), judged{offer, "", 1, words{offered}}},
		"one is, if the rules say so": {
			set{"MaxOffersPerEntry": 1}, nil, queueOf(set{"Tries": 1}), judged{none, none, 0, words{waitlist.MaxOffers}},
		},
		"no offer is too many": {
			set{"MaxOffersPerEntry": 0}, nil, queueOf(set{"Tries": 99}), judged{offer, "", 1, words{offered}},
		},
		"the waitlist is off": {
			set{"Enabled": false}, nil, queue(1), judged{none, none, 0, words{waitlist.VerdictReason(fault.WaitlistClosed)}},
		},
		"the slot has closed": {nil, set{"Now": starts}, queue(1), judged{none, none, 0, words{waitlist.NoTime}}},
		"too little time is left for an offer": {
			nil, set{"Now": starts.Add(-4 * time.Minute)}, queue(1), judged{none, none, 0, words{waitlist.NoTime}},
		},

		"promoted at once": {
			auto, set{"Slot.Seats": 2}, queue(3), judged{offer, "", 2, words{promoted, promoted, full}},
		},
		"promotion skips those who cannot be booked": {
			auto, nil, queueOf(poor, nil, nil), judged{offer, "", 1, words{noCredits, promoted, full}},
		},
		"promotion does not count offers": {auto, nil, queueOf(set{"Tries": 3}), judged{offer, "", 1, words{promoted}}},
		"promotion needs no time to answer": {
			with(auto, set{"PromotionGrace": time.Duration(0)}), set{"Now": starts.Add(-time.Minute)}, queue(1),
			judged{offer, "", 1, words{promoted}},
		},
		"no promotion shortly before the start": {
			set{"Mode": waitlist.AutoPromote, "AutoPromoteCutoff": time.Hour}, set{"Now": starts.Add(-59 * time.Minute)},
			queue(1), judged{offer, "", 1, words{offered}},
		},
		"promoted at the last moment": {
			with(auto, set{"AutoPromoteCutoff": time.Hour}), set{"Now": starts.Add(-time.Hour - time.Second)},
			queue(1), judged{offer, "", 1, words{promoted}},
		},
		"who may not be promoted gets an offer in turn": {
			auto, set{"Slot.Seats": 2}, queueOf(set{"Busy": true}, nil, nil),
			judged{offer, "", 2, words{offered, promoted, full}},
		},
		"offers count where some are promoted": {
			with(auto, set{"MaxTriesPerSlot": 1}), set{"Slot.Seats": 2, "Round.Freed": 1},
			queueOf(nil, set{"Busy": true}), judged{offer, "", 2, words{promoted, offered}},
		},
		"who may not be promoted has a limit of offers": {
			with(auto, set{"MaxOffersPerEntry": 1}), nil, queueOf(set{"Tries": 1, "Busy": true}),
			judged{none, none, 0, words{waitlist.MaxOffers}},
		},
		"seats without end are offered to all": {
			first, set{"Slot.Seats": nil}, queueOf(nil, poor, nil),
			judged{offer, "", 2, words{offered, noCredits, offered}},
		},
		"seats without end are offered to more than may be asked for a seat": {
			set{"MaxTriesPerSlot": 1}, set{"Slot.Seats": nil}, queue(3), judged{offer, "", 3, words{offered, offered, offered}},
		},
		"seats without end are booked for all": {
			auto, set{"Slot.Seats": nil}, queue(2), judged{offer, "", 2, words{promoted, promoted}},
		},

		"all that fit get offers": {first, nil, queue(3), judged{offer, "", 1, words{offered, offered, offered}}},
		"all that fit get offers, despite the cap": {
			set{"Mode": waitlist.FirstToClaim, "MaxTriesPerSlot": 1}, nil, queue(3),
			judged{offer, "", 1, words{offered, offered, offered}},
		},
		"an entry that does not fit gets no offer": {
			first, set{"Slot.Seats": 2}, parties(1, 3, 2), judged{offer, "", 2, words{offered, large, offered}},
		},
		"entries that had an offer get no other": {
			first, set{"Round": tried(0, 1), "Trigger": expired}, queue(3), judged{roll, "", 1, words{had, had, offered}},
		},
		"there is none to claim": {first, nil, nil, judged{none, none, 0, nil}},
	} {
		test.Eq(t, tt.want, judgedOf(
			vary.From(caseOf(tt.queue...), tt.differ).Decide(rules(t, tt.rules))), test.Sprint(name))
	}
}

// If several reasons apply to an entry, its verdict is the first of them.
func TestDecide_ReturnsFirstReasonInOrder(t *testing.T) {
	t.Parallel()
	// Every check fails for this entry. Each step mends the one that the verdict before named.
	c := queueOf(set{
		"Asked": true, "Coach": rui, "Tries": 3, "Party": 5, "Refusal": waitlist.VerdictReason(fault.Overlap),
		"Window": timeWindow(set{
			"Service": massage, "Location": porto, "Resource": id[tenant.ResourceID](9),
			"From": civiltest.Date("2026-03-20"), "Until": civiltest.Date("2026-03-20"),
			"Earliest": clock("06:00"), "Latest": clock("07:00"),
		}),
	})[0]
	about := vary.From(caseOf(), set{"Slot.Seats": 3, "Slot.Closes": now, "Round": tried(0)})
	r := vary.From(waitlist.Defaults(), set{
		"Mode": waitlist.OfferInTurn, "MaxTriesPerSlot": 1, "AllowDownFitting": false, "EligibilityExpression": "false",
	})
	for _, step := range []struct {
		reason              waitlist.VerdictReason
		entry, rules, about set // what mends it
	}{
		{reason: waitlist.HasOffer, entry: set{"Asked": false}},
		{reason: waitlist.OtherService, entry: set{"Window.Service": yoga}},
		{reason: waitlist.OtherLocation, entry: set{"Window.Location": lisbon}},
		{reason: waitlist.OtherResource, entry: set{"Window.Resource": room}},
		{reason: waitlist.OtherDate, entry: set{"Window.From": civiltest.Date("2026-03-18")}},
		{reason: waitlist.OtherTime, entry: set{"Window.Latest": clock("18:00")}},
		{reason: waitlist.OtherStaff, entry: set{"Coach": jess}},
		{reason: waitlist.MaxOffers, entry: set{"Tries": 0}},
		{reason: waitlist.AlreadyOffered, about: set{"Round": tried(7)}},
		{reason: waitlist.NotEligible, rules: set{"EligibilityExpression": `member.tags[0] == "vip"`}},
		{reason: waitlist.RuleFailed, rules: set{"EligibilityExpression": ""}},
		{reason: waitlist.NoTime, about: set{"Slot.Closes": starts}},
		{reason: waitlist.MaxTries, rules: set{"MaxTriesPerSlot": 0}},
		{reason: waitlist.VerdictReason(fault.PartySize), entry: set{"Party": 2}},
		{reason: waitlist.DownFitting, entry: set{"Party": 3}},
		{reason: waitlist.VerdictReason(fault.Overlap), entry: set{"Refusal": ""}},
		{reason: waitlist.WasOffered},
	} {
		about.Queue = []waitlist.Candidate{c}
		must.EqOp(t, step.reason, about.Decide(expect.Value(waitlist.Compile(r))(t)).Verdicts[0].Reason)
		c, r, about = vary.From(c, step.entry), vary.From(r, step.rules), vary.From(about, step.about)
	}
}

func TestRefusalOf_ReturnsReasonOfError(t *testing.T) {
	t.Parallel()
	for want, err := range map[waitlist.VerdictReason]error{
		"":                                      nil,
		waitlist.VerdictReason(fault.Overlap):   fault.New(fault.FailedPrecondition, fault.Overlap, "x"),
		waitlist.VerdictReason(fault.NoCredits): errors.Join(fault.New(fault.FailedPrecondition, fault.NoCredits, "x")),
		waitlist.BookingRefused:                 errors.New("no fault"),
	} {
		test.EqOp(t, want, waitlist.RefusalOf(err), test.Sprintf("RefusalOf(%v)", err))
	}
	unknown := fault.New(fault.FailedPrecondition, fault.QRInvalid, "x")
	test.EqOp(t, waitlist.BookingRefused, waitlist.RefusalOf(unknown))
}

// proofs reports for each reason whether it holds for an entry, with the seats that are left and the grants before it.
// It is written independently of the rules.
func proofs(w world, c waitlist.Candidate, d waitlist.Decision, left, granted int) map[waitlist.VerdictReason]bool {
	r, limited, asks := w.rules.Rules, w.Slot.Seats != nil, !promotes(w, c)
	_, late := r.OfferUntil(w.Now, w.Slot.Closes, zone(cmp.Or(c.Zone, w.Slot.Zone)))
	tries, freed := len(w.Round.Asked), w.Round.Freed
	if freed == 0 && limited {
		freed = *w.Slot.Seats // the round starts with this decision
	}
	most := r.MaxTriesPerSlot * max(freed, 1)
	capped := r.MaxTriesPerSlot > 0 && r.Mode != waitlist.FirstToClaim && limited
	for _, g := range d.Grants[:granted] {
		if !g.Until.IsZero() && !slices.Contains(w.Round.Asked, g.Member) {
			tries++
		}
	}
	return map[waitlist.VerdictReason]bool{
		waitlist.HasOffer: c.Asked || slices.ContainsFunc(
			d.Grants[:granted], func(g waitlist.Grant) bool { return g.Member == c.Member },
		),
		waitlist.OtherService:   c.Window != nil && c.Window.Service != w.Slot.Service,
		waitlist.OtherLocation:  c.Window != nil && c.Window.Location != w.Slot.Location,
		waitlist.OtherDate:      c.Window != nil && !wishesDay(*c.Window, w.Slot),
		waitlist.OtherTime:      c.Window != nil && !wishesTime(*c.Window, w.Slot, r.TimeFlexibility),
		waitlist.OtherStaff:     !c.Coach.IsZero() && c.Coach != w.Slot.Coach,
		waitlist.MaxOffers:      asks && r.MaxOffersPerEntry > 0 && c.Tries >= r.MaxOffersPerEntry,
		waitlist.AlreadyOffered: slices.Contains(w.Round.Tried, c.Entry),
		waitlist.GaveUp: slices.Contains(w.Round.GaveUp, c.Member) ||
			slices.Contains(w.Round.Declined, c.Member),
		waitlist.NotEligible:                         !w.letsIn(c),
		waitlist.VerdictReason(fault.WaitlistClosed): !r.Enabled,
		waitlist.NoTime:                              !w.Now.Before(w.Slot.Closes) || asks && late == waitlist.NoTime,
		waitlist.InQuietHours:                        asks && late == waitlist.InQuietHours,
		waitlist.NoCascade: !r.AutoCascade &&
			(w.Trigger == waitlist.ByDecline || w.Trigger == waitlist.ByExpiry),
		waitlist.MaxTries:                       capped && (len(w.Round.Asked) >= most || asks && tries >= most),
		waitlist.NoSeatsLeft:                    limited && left == 0,
		waitlist.VerdictReason(fault.PartySize): limited && c.Party > left,
		waitlist.DownFitting:                    limited && !r.AllowDownFitting && c.Party < *w.Slot.Seats,
		waitlist.VerdictReason(fault.NoCredits): c.Refusal != "",
	}
}

// promotes says in other words than the rules whether an entry may be booked without an offer.
func promotes(w world, c waitlist.Candidate) bool {
	r, home := w.rules.Rules, zone(cmp.Or(c.Zone, w.Slot.Zone))
	sleeps := func(at time.Time) bool {
		clock := civil.TimeOf(at, home).SinceMidnight()
		return clock >= r.QuietHours.From.SinceMidnight() || clock < r.QuietHours.Until.SinceMidnight()
	}
	left := time.Duration(0) // outside of quiet hours, before the start
	for at := w.Now; at.Before(w.Slot.StartsAt) && left < r.PromotionGrace; at = at.Add(time.Minute) {
		if !sleeps(at) {
			left += time.Minute
		}
	}
	soon := w.Slot.StartsAt.Sub(w.Now) - r.AutoPromoteCutoff
	late := !r.PromoteAfterCancellationWindow && w.Slot.StartsAt.Sub(w.Now) <= c.CancellationWindow
	return r.Mode == waitlist.AutoPromote && !c.Busy && !c.Promoted && soon > 0 && !late && !sleeps(w.Now) &&
		left >= r.PromotionGrace && (c.Window == nil || wishesTime(*c.Window, w.Slot, 0))
}

func wishesDay(w waitlist.Window, s waitlist.Slot) bool {
	day := civil.DateOf(s.StartsAt, zone(s.Zone))
	return !day.Before(w.From) && !day.After(w.Until)
}

// wishesTime compares minutes of the day one by one, instead of computing on a circle.
func wishesTime(w waitlist.Window, s waitlist.Slot, flexibility time.Duration) bool {
	minute := func(c civil.TimeOfDay) int { return int(c.SinceMidnight() / time.Minute) }
	at, from, until := minute(civil.TimeOf(s.StartsAt, zone(s.Zone))), minute(w.Earliest), minute(w.Latest)
	slack, day, circle := int(flexibility/time.Minute), civil.DateOf(s.StartsAt, zone(s.Zone)), 24*60
	for m := from; m != at; m = (m + 1) % circle {
		if m == until {
			// Close to an edge, on the same day, or across midnight on another day of the window.
			early := at < from && from-at <= slack || at > from && day.Before(w.Until) && from+circle-at <= slack
			late := at > until && at-until <= slack || at < until && day.After(w.From) && at+circle-until <= slack
			return early || late
		}
	}
	return true
}

func TestDecide_MatchesIndependentProofs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		d := w.Decide(w.rules)

		must.Len(t, len(w.Queue), d.Verdicts)
		order, scores := slices.Clone(w.Queue), make(map[tenant.EntryID]int)
		for _, v := range d.Verdicts {
			if w.rules.Order != waitlist.ByJoining {
				scores[v.Entry] = v.Score
			}
		}
		flagged := map[bool]int{true: -1}
		slices.SortFunc(order, func(a, b waitlist.Candidate) int {
			return cmp.Or(
				cmp.Compare(flagged[a.Flagged], flagged[b.Flagged]), cmp.Compare(scores[b.Entry], scores[a.Entry]),
				cmp.Compare(a.Key, b.Key), cmp.Compare(a.Entry.String(), b.Entry.String()),
			)
		})

		left, granted := 0, 0
		if w.Slot.Seats != nil {
			left = *w.Slot.Seats
		}
		for i, v := range d.Verdicts {
			c := order[i]
			auto := promotes(w, c)
			must.EqOp(t, waitlist.Verdict{
				Entry: c.Entry, Member: c.Member, Party: c.Party, Reason: v.Reason, Score: v.Score,
			}, v)
			proof := proofs(w, c, d, left, granted)
			if v.Reason != waitlist.Promoted && v.Reason != waitlist.WasOffered {
				must.True(t, proof[v.Reason], must.Sprintf("entry %d was passed by for %s, which is not so", i, v.Reason))
				continue
			}
			for reason, holds := range proof {
				must.False(t, holds, must.Sprintf("entry %d was chosen in spite of %s", i, reason))
			}
			must.EqOp(t, auto, v.Reason == waitlist.Promoted)
			g := d.Grants[granted]
			must.EqOp(t, waitlist.Grant{Entry: c.Entry, Member: c.Member, Seats: c.Party, Score: v.Score, Until: g.Until}, g)
			must.EqOp(t, auto, g.Until.IsZero())
			if !auto {
				must.False(t, g.Until.After(w.Slot.Closes), must.Sprintf("%+v, of a slot that closes at %s", g, w.Slot.Closes))
				must.GreaterEq(t, w.rules.MinOfferWindow, g.Until.Sub(w.Now))
			}
			if granted++; d.Mode != waitlist.FirstToClaim {
				left -= c.Party
			}
		}
		must.EqOp(t, len(d.Grants), granted)
		checkSeats(t, w, d)
	})
}

// checkSeats checks that each freed seat has exactly one move.
func checkSeats(t *rapid.T, w world, d waitlist.Decision) {
	wants := map[bool]map[bool]waitlist.Move{
		false: {true: waitlist.MakeOffer, false: waitlist.NobodyFits},
		true:  {true: waitlist.RollOn, false: waitlist.HandBack},
	}[len(w.Round.Tried) > 0]
	must.EqOp(t, wants[len(d.Grants) > 0], d.Move)
	sum := 0
	for _, g := range d.Grants {
		sum += g.Seats
	}
	must.GreaterEq(t, 0, d.Given)
	must.GreaterEq(t, 0, d.Left())
	must.True(t, d.Given == sum || d.Mode == waitlist.FirstToClaim, must.Sprint(d))
	if w.Slot.Seats == nil {
		must.NotEqOp(t, waitlist.FirstToClaim, d.Mode)
	} else {
		must.EqOp(t, *w.Slot.Seats, d.Given+d.Left())
	}
	must.EqOp(t, map[bool]waitlist.Move{true: wants[false]}[d.Left() > 0], d.LeftMove)
}

func TestDecide_IgnoresOrderOfQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		want := w.Decide(w.rules)
		w.Queue = rapid.Permutation(w.Queue).Draw(t, "shuffled")
		before := slices.Clone(w.Queue)
		must.True(t, reflect.DeepEqual(want, w.Decide(w.rules)), must.Sprint("the same facts in another order"))
		must.True(t, reflect.DeepEqual(before, w.Queue), must.Sprint("a decision changed its facts"))
	})
}
