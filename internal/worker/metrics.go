package worker

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
)

type metrics struct {
	attempts *prometheus.CounterVec
	took     *prometheus.HistogramVec
	unsent   *prometheus.CounterVec
	late     prometheus.Histogram
	held     *prometheus.CounterVec
	reached  *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_notification_attempts_total", Help: "Messages sent to providers, by outcome.",
		}, []string{"topic", "channel", "provider", "outcome"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "berth_notification_send_seconds", Help: "Time that providers take for a message.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"provider"}),
		unsent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_notifications_unsent_total", Help: "Messages that a guardrail dropped or deferred, by its reason.",
		}, []string{"topic", "verdict", "reason"}),
		late: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "berth_notification_lag_seconds", Help: "Time from when a message was due until it was sent to its provider.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		held: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_sending_quota_held_total", Help: "Messages that a sending quota deferred or dropped.",
		}, []string{"channel", "verdict"}),
		reached: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_sending_quota_reached_total",
			Help: "Tenants that reached a share of a sending quota, in percent; each once a day.",
		}, []string{"channel", "percent"}),
	}
	for _, c := range []delivery.Channel{delivery.SMS, delivery.Email} {
		for _, percent := range notify.AlarmShares() { // an alert sees an increase only of what exists
			m.reached.WithLabelValues(label(c), strconv.Itoa(percent))
		}
	}
	if registry == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.attempts, m.took, m.unsent, m.late, m.held, m.reached} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) taken(t messages.DueNotices) {
	for why, n := range t.Unsent {
		m.unsent.WithLabelValues(label(why.Topic), label(why.Status), label(why.Reason)).Add(float64(n))
		if why.Reason == notify.SendingQuotaReason {
			m.held.WithLabelValues(label(why.Channel), label(why.Status)).Add(float64(n))
		}
	}
	for _, a := range t.Alarms {
		m.reached.WithLabelValues(label(a.Channel), strconv.Itoa(a.Percent)).Inc()
	}
	for _, o := range t.Out {
		m.late.Observe(t.At.Sub(o.Notice.DueAt).Seconds())
	}
}

func (m *metrics) sent(o messages.Outgoing, took time.Duration, err error) {
	outcome := "sent"
	if err != nil {
		outcome = "unknown"
		if failed, ok := errors.AsType[*delivery.Error](err); ok {
			outcome = label(failed.Kind)
		}
	}
	m.attempts.WithLabelValues(label(o.Notice.Topic), label(o.Message.Channel), o.Provider, outcome).Inc()
	m.took.WithLabelValues(o.Provider).Observe(took.Seconds())
}

func label[S ~string](word S) string { return strings.ToLower(string(word)) }
