package boot

import (
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// waitlistMetrics count what this node did with waitlists since it started. They have the names that other waitlist
// systems use, and therefore not the prefix of the other metrics.
type waitlistMetrics struct {
	entries  *prometheus.CounterVec
	offers   *prometheus.CounterVec
	response prometheus.Histogram
	depth    prometheus.Histogram
	repairs  *prometheus.CounterVec

	booked, ended atomic.Int64
}

func newWaitlistMetrics(to prometheus.Registerer) (*waitlistMetrics, error) {
	m := &waitlistMetrics{
		entries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waitlist_entries_total",
			Help: "Waitlist entries by status. WAITING counts those that joined, the others those that ended.",
		}, []string{"status"}),
		offers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waitlist_offers_total",
			Help: "Offers by outcome. CREATED counts new offers.",
		}, []string{"outcome"}),
		response: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "waitlist_offer_response_time",
			Help:    "Seconds from an offer to its acceptance or decline.",
			Buckets: []float64{5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400},
		}),
		depth: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "waitlist_cascade_depth",
			Help:    "Offers of freed seats until one was accepted, including that one.",
			Buckets: []float64{1, 2, 3, 4, 5, 7, 10, 15, 20},
		}),
		repairs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_waitlist_repairs_total",
			Help: "Repairs of wrong data by a sweep. It should stay at 0.",
		}, []string{"what"}),
	}
	conversion := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waitlist_conversion_rate",
		Help: "Share of the entries ended by this node since it started that ended with a booking, 0 to 1.",
	}, m.conversion)
	for _, c := range []prometheus.Collector{m.entries, m.offers, m.response, m.depth, m.repairs, conversion} {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	// Only series that exist from the start show their first increase.
	for _, s := range []waitlist.Status{waitlist.Waiting, waitlist.Booked, waitlist.Cancelled, waitlist.Expired} {
		m.entries.WithLabelValues(string(s))
	}
	for _, s := range []waitlist.OfferStatus{
		waitlist.Live, waitlist.Accepted, waitlist.Declined, waitlist.RanOut, waitlist.Withdrawn,
	} {
		m.offers.WithLabelValues(offerOutcome(s))
	}
	for _, what := range waitlists.RepairKinds() {
		m.repairs.WithLabelValues(what)
	}
	return m, nil
}

// offerOutcome names the outcome of an offer. A live offer has none yet: it counts as created.
func offerOutcome(s waitlist.OfferStatus) string {
	if s == waitlist.Live {
		return "CREATED"
	}
	return string(s)
}

// count adds the statistics of one use case.
func (m *waitlistMetrics) count(stats waitlists.Stats) {
	for status, n := range stats.Entries {
		m.entries.WithLabelValues(string(status)).Add(float64(n))
		if status == waitlist.Booked {
			m.booked.Add(int64(n))
		}
		if !status.Active() {
			m.ended.Add(int64(n))
		}
	}
	for status, n := range stats.Offers {
		m.offers.WithLabelValues(offerOutcome(status)).Add(float64(n))
	}
	for _, d := range stats.Responses {
		m.response.Observe(d.Seconds())
	}
	for _, n := range stats.Depths {
		m.depth.Observe(float64(n))
	}
	for what, n := range stats.Repaired {
		m.repairs.WithLabelValues(what).Add(float64(n))
	}
}

func (m *waitlistMetrics) conversion() float64 {
	ended := m.ended.Load()
	if ended == 0 {
		return 0
	}
	return float64(m.booked.Load()) / float64(ended)
}
