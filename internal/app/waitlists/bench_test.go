package waitlists_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// From a cancellation to the next offer, durable, where ten thousand entries wait in the tenant: on twenty days, and
// all on one.
func BenchmarkCancelUntilTheNextOffer(b *testing.B) {
	for name, days := range map[string]int{"on twenty days": 20, "on one day": 1} {
		b.Run(name, func(b *testing.B) {
			const waiting = 10_000
			h := testkit.New(b)
			h.SetMode(waitlist.OfferInTurn)
			sessions := make([]tenant.SessionID, days)
			for i := range sessions {
				sessions[i] = h.AddSession(testkit.Session{
					Starts: testkit.Noon.Add(time.Duration(44+24*i) * time.Hour), Capacity: 5000, Waitlist: waiting,
				})
			}
			queueUp(h, waiting, sessions...)
			holder := h.AddMember("Holder")
			took := make([]time.Duration, b.N)
			for i := range b.N {
				class := sessions[i%days]
				// By SQL, because the use case would offer the seat.
				h.Exec(`update sessions set capacity = seats_taken + 1 where id = $1`, class)
				place, err := h.App.Bookings.Book(
					context.Background(), holder, bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online},
				)
				if err != nil || place.Booking == nil {
					b.Fatal(place, err)
				}
				start := time.Now()
				if _, err := h.Cancel(holder, place.Booking.ID); err != nil {
					b.Fatal(err)
				}
				took[i] = time.Since(start)
			}
			b.StopTimer()
			if n := h.Count(`select count(*) from waitlist_offers where tenant_id = $1`, h.Tenant); n != b.N {
				b.Fatal(fmt.Sprint(n, " offers of ", b.N))
			}
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
