package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/fault"
)

// metrics measure transactions. Labels are names in the code, so their number is bounded.
type metrics struct {
	registerer prometheus.Registerer
	registered []prometheus.Collector

	attempts *prometheus.HistogramVec
	seconds  *prometheus.HistogramVec
	outcomes *prometheus.CounterVec
	retries  *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer, pools map[string]*pgxpool.Pool) (*metrics, error) {
	m := &metrics{
		registerer: registerer,
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_transaction_attempts",
			Help:    "Attempts per transaction, until it was committed, refused or given up.",
			Buckets: prometheus.LinearBuckets(1, 1, 16),
		}, []string{"transaction"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_transaction_seconds",
			Help:    "Duration of a transaction, including all attempts and the wait for a connection.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
		}, []string{"transaction"}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_transactions_total",
			Help: "Transactions by outcome: committed, refused, contended, unknown, cancelled, failed.",
		}, []string{"transaction", "outcome"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_transaction_retries_total",
			Help: "Attempts that were retried, by SQLSTATE; 08006 is a lost connection.",
		}, []string{"transaction", "sqlstate"}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.attempts, m.seconds, m.outcomes, m.retries, poolCollector(pools)} {
		if err := registerer.Register(c); err != nil {
			m.unregister()
			return nil, fmt.Errorf("database metrics: %w", err)
		}
		m.registered = append(m.registered, c)
	}
	return m, nil
}

func (m *metrics) unregister() {
	if m == nil {
		return
	}
	for _, c := range m.registered {
		m.registerer.Unregister(c)
	}
}

func (m *metrics) retried(name string, err error) {
	code := Code(err)
	if !contended(err) {
		code = "08006"
	}
	m.retries.WithLabelValues(name, code).Inc()
}

func (m *metrics) ran(name string, attempts int, took time.Duration, err error) {
	m.attempts.WithLabelValues(name).Observe(float64(attempts))
	m.seconds.WithLabelValues(name).Observe(took.Seconds())
	m.outcomes.WithLabelValues(name, outcome(err)).Inc()
}

func outcome(err error) string {
	var refusal *fault.Error
	switch {
	case err == nil, errors.Is(err, ErrCommitted):
		return "committed"
	case errors.Is(err, ErrCommitUnknown):
		return "unknown"
	case fault.ReasonOf(err) == fault.Contention:
		return "contended"
	case errors.As(err, &refusal):
		return "refused"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	default:
		return "failed"
	}
}

// poolCollector reads the statistics of the pools when it is scraped.
type poolCollector map[string]*pgxpool.Pool

var (
	poolConns = prometheus.NewDesc("berth_pool_connections",
		"Connections of a pool by state.", []string{"pool", "state"}, nil)
	poolSize = prometheus.NewDesc("berth_pool_connections_max",
		"The size of a pool.", []string{"pool"}, nil)
	poolWaits = prometheus.NewDesc("berth_pool_waits_total",
		"Acquisitions that found the pool empty.", []string{"pool"}, nil)
	poolWaitTime = prometheus.NewDesc("berth_pool_wait_seconds_total",
		"Time spent waiting for a connection.", []string{"pool"}, nil)
)

func (c poolCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{poolConns, poolSize, poolWaits, poolWaitTime} {
		descs <- d
	}
}

func (c poolCollector) Collect(out chan<- prometheus.Metric) {
	for name, pool := range c {
		s := pool.Stat()
		gauge := func(desc *prometheus.Desc, n int32, labels ...string) {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), append([]string{name}, labels...)...)
		}
		gauge(poolConns, s.AcquiredConns(), "acquired")
		gauge(poolConns, s.IdleConns(), "idle")
		gauge(poolConns, s.ConstructingConns(), "connecting")
		gauge(poolSize, s.MaxConns())
		out <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(s.EmptyAcquireCount()), name)
		waited := s.EmptyAcquireWaitTime().Seconds()
		out <- prometheus.MustNewConstMetric(poolWaitTime, prometheus.CounterValue, waited, name)
	}
}
