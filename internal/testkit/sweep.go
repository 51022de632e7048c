package testkit

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/session"
)

// Sweep sweeps the house, and fails where that fails.
func (h *House) Sweep() housekeeping.SweepResult {
	h.T.Helper()
	done, err := h.App.Housekeeping.SweepTenant(context.Background(), h.Tenant)
	if err != nil {
		h.T.Errorf("sweep: %v", err)
	}
	return done
}

// OpenSeries makes a series without an end, at 18:00 in Berlin.
func (h *House) OpenSeries(rule string) session.Series {
	h.T.Helper()
	series, _, err := h.App.Schedules.CreateSeries(context.Background(), h.Owner, schedules.SeriesInput{
		Template: session.Input{Service: h.Service, Location: h.Location},
		Pattern:  session.Pattern{Rule: rule, Date: civil.MustParseDate("2026-03-16"), Time: civil.TimeOfDay{Hour: 18}, Duration: time.Hour},
		Publish:  true,
	})
	if err != nil {
		h.T.Fatal(err)
	}
	return series
}
