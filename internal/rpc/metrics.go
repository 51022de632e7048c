package rpc

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// metrics are what an operator wants to see of the RPCs. Procedures are those of
// the contract, so that no stranger can make up new label values.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge

	// What people who sell slots watch, under the names that such systems give it.
	latency  map[string]prometheus.Histogram // by procedure
	refused  *prometheus.CounterVec
	repeated *prometheus.CounterVec
}

func newMetrics(to prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_rpc_requests_total",
			Help: "Requests by procedure, code and error reason. The code is unread if the request ended before its message " +
				"was complete.",
		}, []string{"procedure", "code", "reason"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_rpc_duration_seconds",
			Help:    "Time from the complete request message to the answer, or to the end of a stream.",
			Buckets: latencyBuckets,
		}, []string{"procedure"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "berth_rpc_in_flight",
			Help: "Requests that are being answered now.",
		}),
		latency: map[string]prometheus.Histogram{
			berthv1connect.BookingServiceHoldBookingProcedure: bookingLatency(
				"booking_hold_latency", "Seconds from the request for a hold to its answer.",
			),
			berthv1connect.BookingServiceConfirmBookingProcedure: bookingLatency(
				"booking_confirm_latency", "Seconds from the request for a confirmation to its answer.",
			),
		},
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{ //nolint:promlinter // dashboards know it by this name
			Name: "booking_errors",
			Help: "Failed requests about bookings, by operation and type. The type is the reason of the error.",
		}, []string{"operation", "type"}),
		repeated: prometheus.NewCounterVec(prometheus.CounterOpts{ //nolint:promlinter // dashboards know it by this name
			Name: "booking_idempotent_hits",
			Help: "Requests about bookings that got the answer of an earlier request, by operation.",
		}, []string{"operation"}),
	}
	collectors := []prometheus.Collector{m.requests, m.duration, m.inFlight, m.refused, m.repeated}
	for _, h := range m.latency {
		collectors = append(collectors, h)
	}
	for _, c := range collectors {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) count(procedure, code, reason string) {
	m.requests.WithLabelValues(label(procedure), code, reason).Inc()
	if operation, ok := bookingOperation(procedure); ok && reason != "" {
		m.refused.WithLabelValues(operation, reason).Inc()
	}
}

// repeat counts an answer that was given before.
func (m *metrics) repeat(procedure string) {
	if operation, ok := bookingOperation(procedure); ok {
		m.repeated.WithLabelValues(operation).Inc()
	}
}

func bookingLatency(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencyBuckets})
}

var latencyBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

// bookingOperation names an RPC of BookingService by its method.
func bookingOperation(procedure string) (string, bool) {
	return strings.CutPrefix(procedure, "/"+berthv1connect.BookingServiceName+"/")
}

// measure begins a request; the function that it gives ends it.
func (m *metrics) measure(procedure string) func() {
	start := time.Now()
	m.inFlight.Inc()
	return func() {
		m.inFlight.Dec()
		seconds := time.Since(start).Seconds()
		m.duration.WithLabelValues(label(procedure)).Observe(seconds)
		if h, ok := m.latency[procedure]; ok {
			h.Observe(seconds)
		}
	}
}

// label is a procedure as gRPC's own metrics name it, without the slash in front.
func label(procedure string) string { return strings.TrimPrefix(procedure, "/") }
