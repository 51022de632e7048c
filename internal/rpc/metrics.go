package rpc

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what an operator wants to see of the RPCs. Procedures are those of
// the contract, so that no stranger can make up new label values.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newMetrics(to prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_rpc_requests_total",
			Help: "Requests by procedure, code and error reason. The code is unread where the request broke off before its message was complete.",
		}, []string{"procedure", "code", "reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_rpc_duration_seconds",
			Help:    "Time from the complete request message to the answer; of a stream, to its end.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"procedure"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "berth_rpc_in_flight",
			Help: "Requests that are being answered now.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.duration, m.inFlight} {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) count(procedure, code, reason string) {
	m.requests.WithLabelValues(label(procedure), code, reason).Inc()
}

// measure begins a request; the function that it gives ends it.
func (m *metrics) measure(procedure string) func() {
	start := time.Now()
	m.inFlight.Inc()
	return func() {
		m.inFlight.Dec()
		m.duration.WithLabelValues(label(procedure)).Observe(time.Since(start).Seconds())
	}
}

// label is a procedure as gRPC's own metrics name it, without the slash in front.
func label(procedure string) string { return strings.TrimPrefix(procedure, "/") }
