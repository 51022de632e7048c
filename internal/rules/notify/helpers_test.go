package notify

import "github.com/berthhq/berth/internal/rules/delivery"

const (
	sms   = delivery.SMS
	push  = delivery.Push
	email = delivery.Email
)
