package waitlist_test

import (
	"testing"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// For any text: Compile does not panic, a rejection names line and column, and an accepted expression ranks a queue
// with scores within their limit.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		"member.tier == 'gold' ? 100 : 0", "'vip' in member.tags", "entry.waited > duration('1h')", "1/0",
		"[1,2,3].map(x, x*x)[2]",
		"member.name.matches('(a+)+$')", "9223372036854775807 + 1", "member.tags.all(t, member.tags.exists(u, u == t))",
		"((((", "\x00",
		"session.start.getDayOfWeek('Europe/Berlin') == 0",
		"double('NaN')", "true", "{'a': 1}.a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []waitlist.Rules{
			{EligibilityExpression: text}, {Order: waitlist.ByFormula, PriorityExpression: text},
		} {
			compiled, err := waitlist.Compile(r)
			if err != nil {
				must.EqOp(t, fault.RulesInvalid, fault.ReasonOf(err), must.Sprint(err))
				continue
			}
			c := waitlist.Case{Slot: slot(1), Queue: queue(2), Trigger: waitlist.ByCancellation, Now: now}
			c.Decide(compiled)
			for _, candidate := range c.Queue {
				rank := waitlist.RankOf(candidate.Entry, c.Slot, c.Queue, compiled, now)
				must.LessEq(t, waitlist.MaxScore, max(rank.Scoring.Score, -rank.Scoring.Score))
			}
		}
	})
}

// For any text: ReadClaim does not panic, and accepts a token only in the one way in which it is written.
func FuzzReadClaim(f *testing.F) {
	key := expect.Value(waitlist.NewClaimKey(make([]byte, 32)))(f)
	f.Add(key.Token(tenant.TenantID{UUID: tenant.UUID{1}}, tenant.OfferID{UUID: tenant.UUID{2}}))
	f.Add(key.Token(tenant.TenantID{}, tenant.OfferID{}))
	f.Add("AQAAAAAAAAAAAAAAAAAAAPp5UBv7Jx0eyNZzSmnVbV=")
	f.Fuzz(func(t *testing.T, text string) {
		if found, err := waitlist.ReadClaim(text); err == nil {
			must.False(t, found.IsZero())
			must.EqOp(t, 43, len(text)) // 32 bytes in base64
		}
	})
}
