package traffic

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// SecurityEvents returns the counter of events of security, by event and reason. It registers it once: calls and pages
// count in the same one.
func SecurityEvents(to prometheus.Registerer) (*prometheus.CounterVec, error) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_security_events_total",
		Help: "Events of security: what was refused, by reason, and changes that deserve attention.",
	}, []string{"event", "reason"})
	err := to.Register(events)
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if events, ok = known.ExistingCollector.(*prometheus.CounterVec); ok {
			return events, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return events, nil
}
