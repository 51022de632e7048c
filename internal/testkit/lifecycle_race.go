package testkit

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app"
)

// Each race here is run with its guards, which it has to pass, and without them, which it has to fail: it would
// prove nothing otherwise.

// Elsewhere is the house as another node has it: on one of its own, who wants the same session takes turns.
func (h *House) Elsewhere() *House {
	other := *h
	other.App = app.New(app.Config{DB: h.DB.DB, Now: h.Clock.Now})
	return &other
}

// RetriesFor counts the transactions that were run again because of an SQLSTATE.
func RetriesFor(t *testing.T, registry *prometheus.Registry, code string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for _, family := range families {
		if family.GetName() != "berth_transaction_retries_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetValue() == code {
					n += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}
