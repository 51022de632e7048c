package worker_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// What was handed to whom and what became of it, how long that took, how late it was, and what guardrails held back.
func TestMetrics_CountAttemptsAndReasons(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	studio := messagetest.New(t, func(wc *worker.Config, ac *app.Config) {
		wc.Metrics = registry
		ac.SendingQuotas = notify.SendingLimits{delivery.Email: {Total: 1}}
	})
	mia := studio.AddReachable("Mia")
	first := studio.MustPlace(mia, studio.SessionAt(testkit.Noon.Add(48*time.Hour))).Booking.ID
	studio.Clock.Set(testkit.Noon.Add(3 * time.Second)) // they are late
	studio.Provider.Fail(push, &delivery.Error{Kind: delivery.Transient})
	deliver(studio)
	studio.Provider.Fail(push, nil)
	expect.OK(studio.T)(
		studio.App.Bookings.CancelBooking(studio.T.Context(), mia, bookings.CancelRequest{ID: first, Notify: true}),
	)
	studio.Clock.Set(testkit.Noon.Add(time.Minute))
	deliver(studio) // uses up the quota
	studio.MustPlace(studio.AddReachable("Pia"), studio.SessionAt(testkit.Noon.Add(96*time.Hour)))
	deliver(studio)
	studio.MustPlace(studio.AddReachable("Noa"), studio.SessionAt(testkit.Noon.Add(72*time.Hour)))
	studio.Clock.Set(time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC))
	deliver(studio) // at night: push waits for the morning, and mail for room in the quota
	got := expect.Metrics(studio.T, registry, "")
	maps.DeleteFunc(got, func(name string, n float64) bool {
		return strings.HasPrefix(name, "berth_sending_quota_reached_total") && n == 0
	})
	want := map[string]float64{
		"berth_notification_attempts_total channel=email outcome=sent provider=smtp topic=booking_confirmed":    1,
		"berth_notification_attempts_total channel=push outcome=transient provider=fcm topic=booking_confirmed": 1,
		"berth_notification_attempts_total channel=email outcome=sent provider=smtp topic=booking_cancelled":    1,
		"berth_notifications_unsent_total reason=not_booked topic=booking_confirmed verdict=dropped":            1,
		"berth_notifications_unsent_total reason=quiet_hours topic=booking_confirmed verdict=deferred":          1,
		"berth_notifications_unsent_total reason=sending_quota topic=booking_confirmed verdict=deferred":        2,
		"berth_sending_quota_held_total channel=email verdict=deferred":                                         2,
		"berth_sending_quota_reached_total channel=email percent=100":                                           1,
		"berth_notification_attempts_total channel=push outcome=sent provider=fcm topic=booking_confirmed":      1,
		"berth_notification_lag_seconds":                4,
		"berth_notification_send_seconds provider=fcm":  2,
		"berth_notification_send_seconds provider=smtp": 2,
	}
	test.Eq(t, want, got)
}
