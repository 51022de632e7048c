package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/lab/bench/report"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// BenchmarkBookings measures booking in the same process, and each kind of work over gRPC on loopback. Both use a
// Postgres with fsync on. It compares them with pgbench, which sends the SQL of a booking to the same Postgres:
//
//	go test ./internal/lab/bench -run '^$' -bench Bookings/book -benchtime 5s
//
// `make bench` measures in turns and shows medians.
func BenchmarkBookings(b *testing.B) {
	bed := expect.Value(openTestbed(b.Context(), dbSize{tenants: 1}, 0, func(line string) { b.Log(line) }))(b)
	b.Cleanup(func() {
		test.NoError(b, bed.close())
	})
	limit := expect.Value(bed.pgbench(b.Context(), 3*time.Second))(b)
	options := Options{
		Work: []string{bookOnly, "hold+confirm", "reschedule"}, Workloads: []string{spreadLoad, mixedLoad},
		Via: []string{report.Direct, report.GRPC}, Clients: []int{1, 8, 32, 128}, Nodes: []int{1},
	}
	for _, c := range options.cases(bed.size) {
		b.Run(fmt.Sprintf("%s/%s/callers=%d", c.Work, c.Via, c.Callers), func(b *testing.B) {
			// ns/op would count the callers that wait.
			for b.Loop() {
				run := expect.Value(bed.measure(b.Context(), c, 3*time.Second))(b)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(run.PerSecond, "turns/s")
				b.ReportMetric(run.PerSecond/limit.PerSecond, "of-pgbench")
				b.ReportMetric(float64(run.P50.Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(run.P99.Microseconds())/1000, "p99-ms")
				b.ReportMetric(run.Together, "together")
				b.ReportMetric(run.Retries, "retries/turn")
				b.ReportMetric(run.OwnCPU+run.PostgresCPU, "cpu-µs/turn")
			}
		})
	}
	must.NoError(b, bed.verify(b.Context(), func(line string) { b.Log(line) }))
}
