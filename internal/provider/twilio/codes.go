package twilio

import (
	"strconv"

	"github.com/berthhq/berth/internal/rules/delivery"
)

type codeMeaning struct {
	kind   delivery.FailureKind
	reason string
}

// codes maps the error codes of Twilio's error dictionary (https://www.twilio.com/docs/api/errors).
// Those from 30001 on come in status callbacks, after the carrier was asked. The others come in responses.
var codes = map[int]codeMeaning{
	// The account.
	10001: {delivery.Misconfigured, "the account is not active"},
	20003: {delivery.Misconfigured, "the credentials are not accepted"},
	20005: {delivery.Misconfigured, "the account is not active"},
	20008: {delivery.Misconfigured, "test credentials cannot send"},
	20404: {delivery.Misconfigured, "the account does not exist"},
	21222: {delivery.Misconfigured, "the account or key contains invalid characters"},
	21224: {delivery.Misconfigured, "the token contains invalid characters"},
	21408: {delivery.Misconfigured, "the account may not send to the recipient's country"},
	21608: {delivery.Misconfigured, "a trial account sends to verified numbers only"},
	30002: {delivery.Misconfigured, "the account is suspended"},

	// The sender.
	21212: {delivery.Misconfigured, "the sender is not valid"},
	21267: {delivery.Misconfigured, "a trial account has no alphanumeric sender"},
	21603: {delivery.Misconfigured, "no sender is given"},
	21606: {delivery.Misconfigured, "the sender cannot send to this destination"},
	21609: {delivery.Misconfigured, "the status callback is not a valid address"},
	21659: {delivery.Misconfigured, "the sender is not a Twilio number"},
	21660: {delivery.Misconfigured, "the sender belongs to another account"},
	21661: {delivery.Misconfigured, "the sender cannot send SMS"},
	21701: {delivery.Misconfigured, "the messaging service does not exist"},
	21703: {delivery.Misconfigured, "the messaging service has no number for this"},
	21704: {delivery.Misconfigured, "the messaging service has no numbers"},
	21705: {delivery.Misconfigured, "the messaging service is not valid"},
	30024: {delivery.Misconfigured, "the carrier does not know the sender"},
	30032: {delivery.Misconfigured, "the toll-free sender is not verified"},
	30034: {delivery.Misconfigured, "the sender is not registered for application messages in the US"},
	63007: {delivery.Misconfigured, "the messaging service's sender does not exist on its channel"},

	// The recipient.
	21211: {delivery.Unregistered, "the number is not valid"},
	21265: {delivery.Unregistered, "the number is a short code"},
	21610: {delivery.OptedOut, "the recipient replied STOP"},
	21614: {delivery.Unregistered, "the number is not a mobile number"},
	21635: {delivery.Unregistered, "the number is a landline"},
	30005: {delivery.Unregistered, "the number is not in service"},
	30006: {delivery.Unregistered, "the number is a landline, or its carrier cannot be reached"},
	63003: {delivery.Unregistered, "the number does not exist on the messaging service's channel"},
	63024: {delivery.Unregistered, "the recipient is not valid"},

	// The message or its delivery.
	21266: {delivery.Permanent, "sender and recipient are the same"},
	21602: {delivery.Permanent, "the text is empty"},
	21612: {delivery.Permanent, "there is no route from the sender to the recipient"},
	21617: {delivery.Permanent, "the text is too long"},
	30003: {delivery.Permanent, "the phone is off or out of coverage"},
	30004: {delivery.Permanent, "the recipient or the carrier blocks the sender"},
	30007: {delivery.Permanent, "a filter took it for spam"},
	30008: {delivery.Permanent, "the carrier gave no reason"},
	30010: {delivery.Permanent, "it would have cost more than allowed"},
	30036: {delivery.Permanent, "it expired before the carrier took it"},

	// Temporary.
	14107: {delivery.Transient, "the sender's rate limit is exceeded"},
	20429: {delivery.Transient, "too many requests"},
	20503: {delivery.Transient, "the service is not available"},
	21611: {delivery.Transient, "the sender's queue is full"},
	30001: {delivery.Transient, "the queue is full"},
	30017: {delivery.Transient, "the carrier's network is congested"},
	30022: {delivery.Transient, "the carrier's rate limit is exceeded"},
	30023: {delivery.Transient, "the carrier's daily limit is reached"},
	30027: {delivery.Transient, "the carrier's daily limit is reached"},
	63018: {delivery.Transient, "the channel's rate limit is exceeded"},
	63038: {delivery.Transient, "the account's daily limit is reached"},
}

// refusal is the error of a message that Twilio accepted and could not deliver.
func refusal(code int) *delivery.Error {
	known, ok := codes[code]
	if !ok {
		known = codeMeaning{delivery.Permanent, "it could not be delivered"}
	}
	e := &delivery.Error{Kind: known.kind, Reason: known.reason}
	if code != 0 {
		e.Code = strconv.Itoa(code)
	}
	return e
}

// statuses maps Twilio's statuses of outbound messages
// (https://www.twilio.com/docs/messaging/api/message-resource#message-status-values).
var statuses = map[string]delivery.Status{
	"accepted":    delivery.Queued,
	"scheduled":   delivery.Queued,
	"queued":      delivery.Queued,
	"sending":     delivery.Queued,
	"sent":        delivery.Sent,
	"delivered":   delivery.Delivered,
	"read":        delivery.Read,
	"undelivered": delivery.Undelivered,
	"failed":      delivery.Failed,
	"canceled":    delivery.Failed,
}
