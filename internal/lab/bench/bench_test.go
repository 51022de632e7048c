package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/lab/bench/report"
)

// BenchmarkBookings measures booking in the same process, and each kind of work over real gRPC on loopback, on a durable Postgres of
// its own, beside pgbench sending the SQL of a booking to it:
//
//	go test ./internal/lab/bench -run '^$' -bench Bookings/book -benchtime 5s
//
// `make bench` takes turns and medians.
func BenchmarkBookings(b *testing.B) {
	house, err := openTestbed(b.Context(), dbSize{tenants: 1}, func(line string) { b.Log(line) })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := house.close(); err != nil {
			b.Error(err)
		}
	})
	limit, err := house.pgbench(b.Context(), 3*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	command := Options{
		Work: []string{justBook, "hold+confirm", "reschedule"}, Workloads: []string{spreadLoad, mixedLoad}, Doors: []string{report.Direct, report.GRPC},
		Clients: []int{1, 8, 32, 128}, Nodes: []int{1},
	}
	for _, c := range command.cases(house.size) {
		b.Run(fmt.Sprintf("%s/%s/callers=%d", c.Work, c.Door, c.Callers), func(b *testing.B) {
			// The run is as long as the benchmark has time; ns/op would count callers that wait.
			for b.Loop() {
				run, err := house.measure(b.Context(), c, 3*time.Second)
				if err != nil {
					b.Fatal(err)
				}
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
	if err := house.verify(b.Context(), func(line string) { b.Log(line) }); err != nil {
		b.Fatal(err)
	}
}
