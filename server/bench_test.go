package main

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkBook books in the same process and over real gRPC on loopback, on a durable Postgres of its own, beside pgbench sending the
// same SQL to it:
//
//	go test ./server -run '^$' -bench Book -benchtime 5s
//
// `berth bench` takes turns and medians.
func BenchmarkBook(b *testing.B) {
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
	for _, through := range []string{"direct", "grpc"} {
		for _, callers := range []int{1, 8, 32, 128} {
			b.Run(fmt.Sprintf("%s/callers=%d", through, callers), func(b *testing.B) {
				// The run is as long as the benchmark has time; ns/op would count callers that wait.
				for b.Loop() {
					run, err := house.measure(b.Context(), benchCase{through, "spread", callers}, 3*time.Second)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(run.PerSecond, "bookings/s")
					b.ReportMetric(run.PerSecond/limit.PerSecond, "of-pgbench")
					b.ReportMetric(float64(run.P50.Microseconds())/1000, "p50-ms")
					b.ReportMetric(float64(run.P99.Microseconds())/1000, "p99-ms")
					b.ReportMetric(run.Together, "bookings/transaction")
					b.ReportMetric(run.Retries, "retries/booking")
					b.ReportMetric(run.OwnCPU+run.PostgresCPU, "cpu-µs/booking")
				}
			})
		}
	}
	if err := house.verify(b.Context(), func(line string) { b.Log(line) }); err != nil {
		b.Fatal(err)
	}
}
