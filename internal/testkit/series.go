package testkit

import (
	"context"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// Tuesdays is a series on Tuesdays and Thursdays at six in the evening, from the tests' tomorrow on; Europe's clocks go forward meanwhile.
func (h *House) Tuesdays() schedules.SeriesInput {
	return schedules.SeriesInput{
		Template: session.Input{Service: h.Service, Location: h.Location},
		Pattern: session.Pattern{
			Rule: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=6", Date: civil.MustParseDate("2026-03-17"), Time: civil.MustParseTimeOfDay("18:00"),
		},
		Publish: true,
	}
}

// CreateSeries makes a series, as the owner.
func (h *House) CreateSeries(in schedules.SeriesInput) (session.Series, []tenant.SessionID) {
	h.T.Helper()
	s, ids, err := h.App.Schedules.CreateSeries(context.Background(), h.Owner, in)
	if err != nil {
		h.T.Fatalf("create series: %v", err)
	}
	return s, ids
}

// EditSeries edits a series, as the owner.
func (h *House) EditSeries(e schedules.SeriesEdit) schedules.SeriesEditResult {
	h.T.Helper()
	done, err := h.App.Schedules.UpdateSeries(context.Background(), h.Owner, e)
	if err != nil {
		h.T.Fatalf("update series: %v", err)
	}
	return done
}
