package twilio

import (
	"strconv"

	"github.com/berthhq/berth/internal/rules/notify"
)

type codeMeaning struct {
	kind   notify.FailureKind
	reason string
}

// codes maps the error codes of Twilio's error dictionary (https://www.twilio.com/docs/api/errors).
// Those from 30001 on come in status callbacks, after the carrier was asked. The others come in responses.
var codes = map[int]codeMeaning{
	// The account.
	10001: {notify.Misconfigured, "the account is not active"},
	20003: {notify.Misconfigured, "the credentials are not accepted"},
	20005: {notify.Misconfigured, "the account is not active"},
	20008: {notify.Misconfigured, "test credentials cannot send"},
	20404: {notify.Misconfigured, "the account does not exist"},
	21222: {notify.Misconfigured, "the account or key contains invalid characters"},
	21224: {notify.Misconfigured, "the token contains invalid characters"},
	21408: {notify.Misconfigured, "the account may not send to the recipient's country"},
	21608: {notify.Misconfigured, "a trial account sends to verified numbers only"},
	30002: {notify.Misconfigured, "the account is suspended"},

	// The sender.
	21212: {notify.Misconfigured, "the sender is not valid"},
	21267: {notify.Misconfigured, "a trial account has no alphanumeric sender"},
	21603: {notify.Misconfigured, "no sender is given"},
	21606: {notify.Misconfigured, "the sender cannot send to this destination"},
	21609: {notify.Misconfigured, "the status callback is not a valid address"},
	21659: {notify.Misconfigured, "the sender is not a Twilio number"},
	21660: {notify.Misconfigured, "the sender belongs to another account"},
	21661: {notify.Misconfigured, "the sender cannot send SMS"},
	21701: {notify.Misconfigured, "the messaging service does not exist"},
	21703: {notify.Misconfigured, "the messaging service has no number for this"},
	21704: {notify.Misconfigured, "the messaging service has no numbers"},
	21705: {notify.Misconfigured, "the messaging service is not valid"},
	30024: {notify.Misconfigured, "the carrier does not know the sender"},
	30032: {notify.Misconfigured, "the toll-free sender is not verified"},
	30034: {notify.Misconfigured, "the sender is not registered for application messages in the US"},
	63007: {notify.Misconfigured, "the messaging service's sender does not exist on its channel"},

	// The recipient.
	21211: {notify.Unregistered, "the number is not valid"},
	21265: {notify.Unregistered, "the number is a short code"},
	21610: {notify.OptedOut, "the recipient replied STOP"},
	21614: {notify.Unregistered, "the number is not a mobile number"},
	21635: {notify.Unregistered, "the number is a landline"},
	30005: {notify.Unregistered, "the number is not in service"},
	30006: {notify.Unregistered, "the number is a landline, or its carrier cannot be reached"},
	63003: {notify.Unregistered, "the number does not exist on the messaging service's channel"},
	63024: {notify.Unregistered, "the recipient is not valid"},

	// The message or its delivery.
	21266: {notify.Permanent, "sender and recipient are the same"},
	21602: {notify.Permanent, "the text is empty"},
	21612: {notify.Permanent, "there is no route from the sender to the recipient"},
	21617: {notify.Permanent, "the text is too long"},
	30003: {notify.Permanent, "the phone is off or out of coverage"},
	30004: {notify.Permanent, "the recipient or the carrier blocks the sender"},
	30007: {notify.Permanent, "a filter took it for spam"},
	30008: {notify.Permanent, "the carrier gave no reason"},
	30010: {notify.Permanent, "it would have cost more than allowed"},
	30036: {notify.Permanent, "it expired before the carrier took it"},

	// Temporary.
	14107: {notify.Transient, "the sender's rate limit is exceeded"},
	20429: {notify.Transient, "too many requests"},
	20503: {notify.Transient, "the service is not available"},
	21611: {notify.Transient, "the sender's queue is full"},
	30001: {notify.Transient, "the queue is full"},
	30017: {notify.Transient, "the carrier's network is congested"},
	30022: {notify.Transient, "the carrier's rate limit is exceeded"},
	30023: {notify.Transient, "the carrier's daily limit is reached"},
	30027: {notify.Transient, "the carrier's daily limit is reached"},
	63018: {notify.Transient, "the channel's rate limit is exceeded"},
	63038: {notify.Transient, "the account's daily limit is reached"},
}

// refusal is the error of a message that Twilio accepted and could not deliver.
func refusal(code int) *notify.SendError {
	known, ok := codes[code]
	if !ok {
		known = codeMeaning{notify.Permanent, "it could not be delivered"}
	}
	e := &notify.SendError{Kind: known.kind, Reason: known.reason}
	if code != 0 {
		e.Code = strconv.Itoa(code)
	}
	return e
}

// statuses maps Twilio's statuses of outbound messages
// (https://www.twilio.com/docs/messaging/api/message-resource#message-status-values).
var statuses = map[string]notify.DeliveryStatus{
	"accepted":    notify.Queued,
	"scheduled":   notify.Queued,
	"queued":      notify.Queued,
	"sending":     notify.Queued,
	"sent":        notify.Sent,
	"delivered":   notify.Delivered,
	"read":        notify.Read,
	"undelivered": notify.Undelivered,
	"failed":      notify.Failed,
	"canceled":    notify.Failed,
}
