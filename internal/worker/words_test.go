package worker_test

import (
	"time"

	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

const (
	confirmed = notify.BookingConfirmed
	email     = notify.Email
	push      = notify.Push
	sms       = notify.SMS
)

// deliver plans notices and sends what is due, with the worker's own loop.
func deliver(h *messagetest.Studio) {
	h.T.Helper()
	h.Plan()
	h.NoError(h.Dispatcher.Deliver(h.T.Context(), h.Tenant))
}

// later moves the clock and delivers.
func later(h *messagetest.Studio, d time.Duration) {
	h.T.Helper()
	h.Clock.Advance(d)
	deliver(h)
}
