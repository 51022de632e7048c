package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// The slot starts in two days at 18:00. Each case is a reason for which an entry gets an offer, and its border.
func TestDecide_PromotesOnlyWhatSurprisesNoOne(t *testing.T) {
	t.Parallel()
	night := set{"QuietHours": waitlist.QuietHours{From: clock("21:00"), Until: clock("08:00")}}
	for name, tt := range map[string]struct {
		rules, entry, about set
		want                waitlist.VerdictReason
	}{
		"three days ahead":        {nil, set{"CancellationWindow": 24 * time.Hour}, nil, waitlist.Promoted},
		"within the cancellation": {nil, set{"CancellationWindow": 54 * time.Hour}, nil, waitlist.WasOffered},
		"just before it closes":   {nil, set{"CancellationWindow": 54*time.Hour - 1}, nil, waitlist.Promoted},
		"late, if the rules allow": {
			set{"PromoteAfterCancellationWindow": true}, set{"CancellationWindow": 99 * time.Hour}, nil, waitlist.Promoted,
		},
		"at the cutoff":      {set{"AutoPromoteCutoff": 54 * time.Hour}, nil, nil, waitlist.WasOffered},
		"in the exact hours": {nil, set{"Window": timeWindow(set{"Earliest": clock("18:00")})}, nil, waitlist.Promoted},
		"outside of the hours": {
			nil, set{"Window": timeWindow(set{"Earliest": clock("18:01")})}, nil, waitlist.WasOffered,
		},
		"another booking then": {nil, set{"Busy": true}, nil, waitlist.WasOffered},
		"promoted that day":    {nil, set{"Promoted": true}, nil, waitlist.WasOffered},
		"as quiet hours begin": {night, nil, set{"Now": now.Add(9 * time.Hour)}, waitlist.WasOffered},
		"before quiet hours":   {night, nil, set{"Now": now.Add(9*time.Hour - 1)}, waitlist.Promoted},
		"as quiet hours end":   {night, nil, set{"Now": now.Add(20 * time.Hour)}, waitlist.Promoted},
		"asleep at home":       {night, set{"Zone": "Asia/Tokyo"}, nil, waitlist.WasOffered},
		"offers by night do not change that": {
			with(night, set{"OffersInQuietHours": true}), nil, set{"Now": now.Add(14 * time.Hour)}, waitlist.WasOffered,
		},
		"the grace fits":         {nil, nil, set{"Now": starts.Add(-time.Hour)}, waitlist.Promoted},
		"the grace does not fit": {nil, nil, set{"Now": starts.Add(-time.Hour + 1)}, waitlist.WasOffered},
		"the grace does not fit around the night": {
			with(night, set{"PromotionGrace": 32*time.Hour + 1}), nil, nil, waitlist.WasOffered,
		},
		"the grace fits around the nights": {
			with(night, set{"PromotionGrace": 32 * time.Hour}), nil, nil, waitlist.Promoted,
		},
	} {
		c := vary.From(caseOf(queueOf(tt.entry)...), tt.about)
		got := c.Decide(rules(t, with(auto, tt.rules))).Verdicts[0].Reason
		test.EqOp(t, tt.want, got, test.Sprint(name))
	}
}

func TestGraceUntil_RunsOutsideQuietHoursAndEndsAtStart(t *testing.T) {
	t.Parallel()
	r := waitlist.Defaults()
	evening := now.Add(8*time.Hour + 30*time.Minute)
	for name, tc := range map[string]struct{ at, starts, want time.Time }{
		"an hour by default":              {now, now.Add(5 * time.Hour), now.Add(time.Hour)},
		"not beyond the start":            {now, now.Add(20 * time.Minute), now.Add(20 * time.Minute)},
		"none once the session has begun": {now, now.Add(-time.Minute), now.Add(-time.Minute)},
		"half before and half after the night": {
			evening, now.Add(48 * time.Hour), now.Add(20*time.Hour + 30*time.Minute),
		},
	} {
		test.EqOp(t, tc.want, r.GraceUntil(tc.at, tc.starts, time.UTC), test.Sprint(name))
	}
	r.PromotionGrace = 0
	night := now.Add(12 * time.Hour)
	test.EqOp(t, night, r.GraceUntil(night, now.Add(48*time.Hour), time.UTC), test.Sprint("none"))
}

func TestModeNow_SaysWhatAnEntryWouldGet(t *testing.T) {
	t.Parallel()
	c := queue(1)[0]
	busy := vary.From(c, set{"Busy": true})
	for want, got := range map[waitlist.Mode]waitlist.Mode{
		waitlist.AutoPromote:  waitlist.ModeNow(c, slot(1), rules(t, auto), now),
		waitlist.OfferInTurn:  waitlist.ModeNow(busy, slot(1), rules(t, auto), now),
		waitlist.FirstToClaim: waitlist.ModeNow(busy, slot(1), rules(t, first), now),
	} {
		must.EqOp(t, want, got)
	}
}
