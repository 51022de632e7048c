package outbox

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are about the readers of the log.
type metrics struct {
	watchers         prometheus.Gauge
	resumes          prometheus.Counter
	slow             prometheus.Counter
	catchUps         prometheus.Counter
	held             prometheus.Counter
	lag              prometheus.Histogram
	consumed         *prometheus.CounterVec
	consumerFailures *prometheus.CounterVec
	consumerLag      *prometheus.HistogramVec
}

func newMetrics(to prometheus.Registerer) (*metrics, error) {
	buckets := prometheus.ExponentialBuckets(.001, 2, 17)
	m := &metrics{
		watchers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "berth_event_watchers",
			Help: "Open event streams.",
		}),
		resumes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_resumes_total",
			Help: "Event streams that started at a cursor.",
		}),
		slow: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_slow_watchers_total",
			Help: "Event streams that were ended because the client did not keep up.",
		}),
		catchUps: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_catch_up_reads_total",
			Help: "Reads of the log for a single watcher that was behind the others.",
		}),
		held: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "berth_event_held_reads_total",
			Help: "Reads of the log that found events held back by an older transaction.",
		}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "berth_event_relay_lag_seconds",
			Help:    "Time from an event, which is before its commit, until this node's watchers get it.",
			Buckets: buckets,
		}),
		consumed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_event_consumed_total",
			Help: "Events that a consumer has handled.",
		}, []string{"consumer"}),
		consumerFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_event_consumer_failures_total",
			Help: "Failed attempts of a consumer to handle events. They are retried.",
		}, []string{"consumer"}),
		consumerLag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_event_consumer_lag_seconds",
			Help:    "Time from an event until a consumer has handled it.",
			Buckets: buckets,
		}, []string{"consumer"}),
	}
	if to == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.watchers, m.resumes, m.slow, m.catchUps, m.held, m.lag, m.consumed, m.consumerFailures, m.consumerLag,
	} {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("event metrics: %w", err)
		}
	}
	return m, nil
}
