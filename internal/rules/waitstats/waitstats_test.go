package waitstats_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/rules/waitstats"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

func TestTally_ComputesRates(t *testing.T) {
	t.Parallel()
	var tally waitstats.Counts
	for _, status := range []waitlist.Status{
		waitlist.Waiting, waitlist.Offered, waitlist.Booked, waitlist.Cancelled, waitlist.Expired,
	} {
		tally.Add(waitlist.Entry{Status: status})
	}
	after := func(minutes int) *time.Time { return new(now.Add(time.Duration(minutes) * time.Minute)) }
	for _, o := range []waitlist.Offer{
		{Status: waitlist.Accepted, Try: 1, ClosedAt: after(2)},
		{Status: waitlist.Accepted, Try: 4, ClosedAt: after(3)},
		{Status: waitlist.Declined, Try: 2, ClosedAt: after(10)},
		{Status: waitlist.RanOut, Try: 3, ClosedAt: after(30)},
		{Status: waitlist.Withdrawn, Try: 1, ClosedAt: after(30)},
		{Status: waitlist.Live, Try: 2},
	} {
		o.CreatedAt = now
		tally.AddOffer(o)
	}
	want := waitstats.Counts{
		Entries: 5, Active: 2, Booked: 1, Offers: 6, Accepted: 2, Declined: 1, RanOut: 1, Withdrawn: 1, Live: 1,
		ResponseTime: 15 * time.Minute, Tries: 5,
	}
	test.Eq(t, want, tally)
	for want, tally := range map[rates]waitstats.Counts{{2.0 / 6, 0.2, 2.5, 5 * time.Minute}: want, {}: {}} {
		test.EqOp(t, want, rates{
			tally.AcceptanceRate(), tally.ConversionRate(), tally.CascadeDepth(), tally.AverageResponse(),
		})
	}
}

// rates are those of a Tally: of acceptance and of conversion, the depth of cascades, and the time of an answer.
type rates struct {
	Acceptance, Conversion, Depth float64
	Response                      time.Duration
}

func TestTally_AddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var whole waitstats.Counts
		parts := make([]waitstats.Counts, 2)
		for range rapid.IntRange(0, 20).Draw(t, "offers") {
			o := waitlist.Offer{Try: rapid.IntRange(1, 5).Draw(t, "try"), CreatedAt: now}.Close(
				rapid.SampledFrom([]waitlist.OfferStatus{
					waitlist.Live, waitlist.Accepted, waitlist.Declined, waitlist.RanOut, waitlist.Withdrawn,
				}).Draw(t, "status"), "", now.Add(time.Duration(rapid.IntRange(0, 99).Draw(t, "minutes"))*time.Minute))
			e := waitlist.Entry{
				Status: rapid.SampledFrom([]waitlist.Status{waitlist.Waiting, waitlist.Booked, waitlist.Expired}).Draw(t, "entry"),
			}
			for _, tally := range []*waitstats.Counts{&whole, &parts[rapid.IntRange(0, 1).Draw(t, "part")]} {
				tally.Add(e)
				tally.AddOffer(o)
			}
		}
		must.EqOp(t, whole, parts[0].Sum(parts[1]))
	})
}
