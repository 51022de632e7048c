package main

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkBookings measures each kind of work over real gRPC on loopback, on a durable Postgres of its own, beside pgbench
// sending the SQL of a booking to it:
//
//	go test ./server -run '^$' -bench Bookings/book -benchtime 5s
//
// `berth bench` takes turns and medians.
func BenchmarkBookings(b *testing.B) {
	house, err := openBench(b.Context(), func(line string) { b.Log(line) })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := house.close(); err != nil {
			b.Error(err)
		}
	})
	script, err := house.script(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	limit, err := house.pgbench(b.Context(), script, 3*time.Second)
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range works {
		for _, callers := range []int{1, 8, 32, 128} {
			b.Run(fmt.Sprintf("%s/callers=%d", w.name, callers), func(b *testing.B) {
				// The run is as long as the benchmark has time; ns/op would count callers that wait.
				for b.Loop() {
					run, err := house.load(b.Context(), w, callers, 3*time.Second)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(run.perSecond, "turns/s")
					b.ReportMetric(run.perSecond/limit, "of-pgbench")
					b.ReportMetric(float64(run.p50.Microseconds())/1000, "p50-ms")
					b.ReportMetric(float64(run.p99.Microseconds())/1000, "p99-ms")
					b.ReportMetric(run.retries, "retries/turn")
				}
			})
		}
	}
	if err := house.verify(b.Context(), func(line string) { b.Log(line) }); err != nil {
		b.Fatal(err)
	}
}
