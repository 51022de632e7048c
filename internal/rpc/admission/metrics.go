package admission

// At the end: what is counted of every call.

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// metrics are the metrics of the RPCs. Only procedures of the contract are counted, so that clients cannot create new
// label values.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge

	// Metrics with the names that booking systems commonly use.
	bookingLatency map[string]prometheus.Histogram // by procedure
	bookingErrors  *prometheus.CounterVec
	bookingReplays *prometheus.CounterVec
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
			Help:    "Time from the complete request message to the response, or to the end of a stream.",
			Buckets: latencyBuckets,
		}, []string{"procedure"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "berth_rpc_in_flight",
			Help: "Requests that are being processed now.",
		}),
		bookingLatency: map[string]prometheus.Histogram{
			berthv1connect.BookingServiceHoldBookingProcedure: newBookingLatency(
				"booking_hold_latency", "Seconds from the request for a hold to its response.",
			),
			berthv1connect.BookingServiceConfirmBookingProcedure: newBookingLatency(
				"booking_confirm_latency", "Seconds from the request for a confirmation to its response.",
			),
		},
		bookingErrors: prometheus.NewCounterVec(prometheus.CounterOpts{ //nolint:promlinter // dashboards use this name
			Name: "booking_errors",
			Help: "Failed requests about bookings, by operation and type. The type is the reason of the error.",
		}, []string{"operation", "type"}),
		//nolint:promlinter // dashboards use this name
		bookingReplays: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "booking_idempotent_hits",
			Help: "Requests about bookings that got the answer of an earlier request, by operation.",
		}, []string{"operation"}),
	}
	all := []prometheus.Collector{m.requests, m.duration, m.inFlight, m.bookingErrors, m.bookingReplays}
	for _, h := range m.bookingLatency {
		all = append(all, h)
	}
	for _, c := range all {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) count(procedure, code, reason string) {
	m.requests.WithLabelValues(procedureLabel(procedure), code, reason).Inc()
	if operation, ok := bookingOperation(procedure); ok && reason != "" {
		m.bookingErrors.WithLabelValues(operation, reason).Inc()
	}
}

// countReplay counts a response that repeats an earlier one.
func (m *metrics) countReplay(procedure string) {
	if operation, ok := bookingOperation(procedure); ok {
		m.bookingReplays.WithLabelValues(operation).Inc()
	}
}

func newBookingLatency(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencyBuckets})
}

var latencyBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

// bookingOperation returns the method of an RPC of BookingService.
func bookingOperation(procedure string) (string, bool) {
	return strings.CutPrefix(procedure, "/"+berthv1connect.BookingServiceName+"/")
}

// measure starts measuring a request. The returned function ends it.
func (m *metrics) measure(procedure string) func() {
	start := time.Now()
	m.inFlight.Inc()
	return func() {
		m.inFlight.Dec()
		seconds := time.Since(start).Seconds()
		m.duration.WithLabelValues(procedureLabel(procedure)).Observe(seconds)
		if h, ok := m.bookingLatency[procedure]; ok {
			h.Observe(seconds)
		}
	}
}

// procedureLabel returns a procedure without the leading slash, as in gRPC's own metrics.
func procedureLabel(procedure string) string { return strings.TrimPrefix(procedure, "/") }
