package waitlists_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// From a cancellation to the next offer, durable, where ten thousand entries wait in the tenant: on twenty days, and
// all on one.
func BenchmarkCancelUntilTheNextOffer(b *testing.B) {
	for name, days := range map[string]int{"on twenty days": 20, "on one day": 1} {
		b.Run(name, func(b *testing.B) {
			const waiting = 10_000
			studio := testkit.New(b)
			studio.SetMode(waitlist.OfferInTurn)
			sessions := make([]tenant.SessionID, days)
			for i := range sessions {
				sessions[i] = studio.AddSession(testkit.Session{
					Starts: testkit.Noon.Add(time.Duration(44+24*i) * time.Hour), Capacity: 5000, Waitlist: waiting,
				})
			}
			queueUp(studio, waiting, sessions...)
			holder := studio.AddMember("Holder")
			took := make([]time.Duration, b.N)
			for i := range b.N {
				class := sessions[i%days]
				// By SQL, because the use case would offer the seat.
				studio.Exec(`update sessions set capacity = seats_taken + 1 where id = $1`, class)
				result := expect.Value(studio.App.Bookings.Book(
					context.Background(), holder, bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online},
				))(b)
				must.NotNil(b, result.Booking, must.Sprint(result))
				start := time.Now()
				expect.OK(b)(studio.Cancel(holder, result.Booking.ID))
				took[i] = time.Since(start)
			}
			b.StopTimer()
			n := studio.Count(`select count(*) from waitlist_offers where tenant_id = $1`, studio.Tenant)
			must.EqOp(b, b.N, n, must.Sprint(fmt.Sprint(n, " offers of ", b.N)))
			slices.Sort(took)
			at := func(share float64) float64 {
				return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
			}
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
			b.ReportMetric(0, "ns/op") // it books, too
		})
	}
}
