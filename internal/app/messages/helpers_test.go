package messages_test

import (
	"strings"

	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Short names for what tests speak of all the time.
type (
	choice      = notify.PreferenceKey
	memberValue = member.Member
	contact     = booking.Contact
)

const (
	confirmed = notify.BookingConfirmed
	email     = notify.Email
	push      = notify.Push
	sms       = notify.SMS
)

var contains = strings.Contains
