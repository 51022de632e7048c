package outbox

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what an operator wants to see of those who read the log.
type metrics struct {
	watchers prometheus.Gauge
	resumes  prometheus.Counter
	slow     prometheus.Counter
	catchUps prometheus.Counter
	held     prometheus.Counter
	lag      prometheus.Histogram
	consumed *prometheus.CounterVec
	failed   *prometheus.CounterVec
	behind   *prometheus.HistogramVec
}

func newMetrics(to prometheus.Registerer) (*metrics, error) {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	m := &metrics{
		watchers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "berth_event_watchers",
			Help: "Streams of events that are open now.",
		}),
		resumes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_resumes_total",
			Help: "Streams of events that began at a cursor.",
		}),
		slow: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_slow_watchers_total",
			Help: "Streams of events that were ended because the client did not keep up.",
		}),
		catchUps: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_catch_up_reads_total",
			Help: "Readings of the log for one watcher, which was not where the others are.",
		}),
		held: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_held_looks_total",
			Help: "Readings of the log that found events which an older transaction keeps back.",
		}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "berth_event_relay_lag_seconds",
			Help:    "Time from an event, which is before its commit, to the moment at which this node's watchers get it.",
			Buckets: buckets,
		}),
		consumed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_event_consumed_total",
			Help: "Events that a consumer has dealt with.",
		}, []string{"consumer"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_event_consumer_failures_total",
			Help: "Attempts of a consumer to deal with events that failed and will be made again.",
		}, []string{"consumer"}),
		behind: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_event_consumer_lag_seconds",
			Help:    "Time from an event to the moment at which a consumer had dealt with it.",
			Buckets: buckets,
		}, []string{"consumer"}),
	}
	if to == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.watchers, m.resumes, m.slow, m.catchUps, m.held, m.lag, m.consumed, m.failed, m.behind} {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("event metrics: %w", err)
		}
	}
	return m, nil
}
