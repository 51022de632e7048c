package admission

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestMetrics_UseStandardBookingNames(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := expect.Value(newMetrics(registry))(t)
	m.measure(berthv1connect.BookingServiceHoldBookingProcedure)()
	m.measure(berthv1connect.BookingServiceConfirmBookingProcedure)()
	m.measure(berthv1connect.BookingServiceConfirmBookingProcedure)()
	m.count(berthv1connect.BookingServiceHoldBookingProcedure, "failed_precondition", "SESSION_FULL")
	m.count(berthv1connect.BookingServiceHoldBookingProcedure, "ok", "")
	m.count(berthv1connect.SessionServiceGetSessionProcedure, "not_found", "SESSION_NOT_FOUND")
	m.countReplay(berthv1connect.BookingServiceBookProcedure)
	m.countReplay(berthv1connect.CreditServiceCreatePlanProcedure)

	test.Eq(t, map[string]float64{
		"booking_hold_latency":                                   1,
		"booking_confirm_latency":                                2,
		"booking_errors operation=HoldBooking type=SESSION_FULL": 1,
		"booking_idempotent_hits operation=Book":                 1,
	}, expect.Metrics(t, registry, "booking_"))
}
