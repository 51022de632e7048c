package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/waitlist"
)

func TestTally_ComputesRates(t *testing.T) {
	t.Parallel()
	var tally waitlist.Tally
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
	want := waitlist.Tally{
		Entries: 5, Active: 2, Booked: 1, Offers: 6, Accepted: 2, Declined: 1, RanOut: 1, Withdrawn: 1, Live: 1,
		ResponseTime: 15 * time.Minute, Tries: 5,
	}
	test.Eq(t, want, tally)
	a, c, d, r := tally.AcceptanceRate(), tally.ConversionRate(), tally.CascadeDepth(), tally.AverageResponse()
	test.True(
		t, a == 2.0/6 && c == 0.2 && d == 2.5 && r == 5*time.Minute,
		test.Sprintf("acceptance %g, conversion %g, depth %g, response %s", a, c, d, r),
	)
}

func TestTally_IsZeroWithoutEntries(t *testing.T) {
	t.Parallel()
	var none waitlist.Tally
	test.True(
		t, none.AcceptanceRate() == 0 && none.ConversionRate() == 0 && none.CascadeDepth() == 0 &&
			none.AverageResponse() == 0,
		test.Sprint("a share of nothing is not 0"),
	)
}
