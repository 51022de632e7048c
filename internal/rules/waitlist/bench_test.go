package waitlist_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// BenchmarkDecide decides about one seat, and about a seat with a hundred tries before, for queues of several lengths.
func BenchmarkDecide(b *testing.B) {
	mixed := func(n int) []waitlist.Candidate {
		all := queue(n)
		for i := range all {
			if i%2 == 0 {
				all[i].Window = timeWindow(nil)
			}
			all[i].Tier, all[i].Tags = []string{"", "silver", "gold"}[i%3], []string{"vip", "new"}[:i%3]
		}
		return all
	}
	kinds := []struct {
		name  string
		rules set
		queue func(int) []waitlist.Candidate
	}{
		{"session", nil, queue},
		{"windows", nil, mixed},
		{"priority", set{"Order": waitlist.ByPriority, "TierBonuses": map[string]int{"gold": 50, "silver": 20}}, mixed},
		{
			"first to claim at night", set{"Mode": waitlist.FirstToClaim, "OffersInQuietHours": false},
			mixed,
		},
		{"eligibility", set{
			"EligibilityExpression": `member.tier != "" && entry.waiting_hours > 0.5 || "vip" in member.tags`,
		}, mixed},
		{"formula", set{
			"Order":              waitlist.ByFormula,
			"PriorityExpression": `100 + (member.tier == "gold" ? 50 : 0) + int(math.least(entry.waiting_hours, 48.0))`,
		}, mixed},
	}
	for _, kind := range kinds {
		for _, n := range []int{10, 1_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(kind.name, " ", "_"), n), func(b *testing.B) {
				all, r := kind.queue(n), rules(b, kind.rules)
				r.MaxTriesPerSlot = 0
				round := waitlist.Round{Freed: 1}
				for i := range min(n/2, 100) {
					round.Tried = append(round.Tried, all[n-1-i].Entry)
				}
				b.ReportAllocs()
				for b.Loop() {
					d := waitlist.Decide(slot(1), all, round, waitlist.ByCancellation, r, now)
					must.True(b, len(d.Grants) != 0, must.Sprint(d.Verdicts[0]))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
			})
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	r := waitlist.Defaults()
	r.EligibilityExpression, r.PriorityExpression = `member.tier != ""`, `entry.waiting_hours`
	for _, fresh := range []bool{false, true} {
		b.Run(fmt.Sprintf("fresh=%t", fresh), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if fresh {
					r.EligibilityExpression = fmt.Sprintf("entry.party_size != %d", i)
				}
				expect.OK(b)(waitlist.Compile(r))
			}
		})
	}
}

func BenchmarkOfferUntil(b *testing.B) {
	r, lisbon := waitlist.Defaults(), zone("Europe/Lisbon")
	late := now.Add(10 * time.Hour)
	for b.Loop() {
		r.OfferUntil(late, starts, lisbon)
	}
}

func BenchmarkMoveBefore(b *testing.B) {
	all, r := queue(10_000), rules(b, nil)
	for b.Loop() {
		waitlist.MoveBefore(slot(1), all, entry(9_000), entry(3), r, now)
	}
}
