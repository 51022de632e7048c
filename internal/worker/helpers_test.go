package worker_test

import (
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

const (
	confirmed = notify.BookingConfirmed
	email     = delivery.Email
	push      = delivery.Push
	sms       = delivery.SMS
)

// deliver plans notices and sends what is due, with the worker's own loop.
func deliver(studio *messagetest.Studio) {
	studio.T.Helper()
	studio.Plan()
	studio.NoError(studio.Dispatcher.Deliver(studio.T.Context(), studio.Tenant))
}

// later moves the clock and delivers.
func later(studio *messagetest.Studio, d time.Duration) {
	studio.T.Helper()
	studio.Clock.Advance(d)
	deliver(studio)
}
