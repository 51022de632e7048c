package worker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/worker"
)

// What was handed to whom and what became of it, how long that took, how late it was, and what guardrails held back.
func TestMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	h := newHouse(t, func(wc *worker.Config, _ *app.Config) { wc.Metrics = registry })
	mia := h.member("Mia")
	first := h.book(mia, h.session(noon.Add(48*time.Hour))).Booking.ID
	h.clock.Set(noon.Add(3 * time.Second)) // they are late
	h.post.failing(push, &notify.SendError{Kind: notify.Transient})
	h.run()
	h.post.failing(push, nil)
	_, err := h.app.Bookings.CancelBooking(h.ctx(), mia, bookings.CancelRequest{ID: first, Notify: true})
	h.ok(err)
	h.at(noon.Add(time.Minute))
	h.book(h.member("Noa"), h.session(noon.Add(72*time.Hour)))
	h.at(time.Date(2026, 3, 16, 22, 0, 0, 0, time.UTC)) // at night
	families, err := registry.Gather()
	h.ok(err)
	got := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += " " + label.GetName() + "=" + label.GetValue()
			}
			if m.GetHistogram() != nil {
				got[name] = float64(m.GetHistogram().GetSampleCount())
			} else {
				got[name] = m.GetCounter().GetValue()
			}
		}
	}
	want := map[string]float64{
		"berth_notification_attempts_total channel=email outcome=sent provider=smtp topic=booking_confirmed":    1,
		"berth_notification_attempts_total channel=push outcome=transient provider=fcm topic=booking_confirmed": 1,
		"berth_notification_attempts_total channel=email outcome=sent provider=smtp topic=booking_cancelled":    1,
		"berth_notifications_unsent_total reason=not_booked topic=booking_confirmed verdict=dropped":            1,
		"berth_notifications_unsent_total reason=quiet_hours topic=booking_confirmed verdict=deferred":          2,
		"berth_notification_lag_seconds":                3,
		"berth_notification_send_seconds provider=fcm":  1,
		"berth_notification_send_seconds provider=smtp": 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
