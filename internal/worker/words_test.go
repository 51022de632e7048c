package worker_test

import (
	"strings"

	"github.com/berthhq/berth/internal/notify"
)

// Short names for what tests speak of all the time.
type choice = notify.Choice

const (
	confirmed = notify.BookingConfirmed
	email     = notify.Email
	push      = notify.Push
	sms       = notify.SMS
)

var contains = strings.Contains
