package fcm

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/notify"
)

// quotaPause is how long FCM wants to be left alone where it does not say.
const quotaPause = time.Minute

type meaning struct {
	kind   notify.FailureKind
	reason string
}

// codes is what follows from FCM's error codes
// (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
var codes = map[string]meaning{
	"UNREGISTERED":           {notify.Unregistered, "the device is not registered any more"},
	"INVALID_ARGUMENT":       {notify.Permanent, "the message is not valid"},
	"SENDER_ID_MISMATCH":     {notify.Misconfigured, "the device is registered with another project"},
	"THIRD_PARTY_AUTH_ERROR": {notify.Misconfigured, "Apple or the browser's vendor does not accept the project's key"},
	"APNS_AUTH_ERROR":        {notify.Misconfigured, "Apple does not accept the project's key"},
	"QUOTA_EXCEEDED":         {notify.Transient, "the quota is used up"},
	"UNAVAILABLE":            {notify.Transient, "the service is not available"},
	// FCM asks to repeat these; it gave no name to the message, so it has none.
	"INTERNAL": {notify.Transient, "the service failed"},
}

// refusal is the part of an error's body that tells why.
type refusal struct {
	Error struct {
		Status  string `json:"status"`
		Details []struct {
			Type      string `json:"@type"`
			ErrorCode string `json:"errorCode"`
			Fields    []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		} `json:"details"`
	} `json:"error"`
}

const (
	fcmError   = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
	badRequest = "type.googleapis.com/google.rpc.BadRequest"
)

// failure tells why a message was refused, or got no answer.
func failure(exchange *provider.Exchange, err error) *notify.SendError {
	result := exchange.Failure(err)
	if exchange.Unasked() { // the library refused to
		result.Kind, result.Code, result.Reason = notify.Permanent, "INVALID_ARGUMENT", "the message is not valid"
		return result
	}
	if cause, ok := errors.AsType[*oauth2.RetrieveError](result.Err); ok {
		return withoutToken(result, cause)
	}
	code, badToken := read(exchange.Refusal())
	if code != "" {
		result.Code = code
	}
	if known, ok := codes[code]; ok {
		result.Kind, result.Reason = known.kind, known.reason
	}
	if badToken {
		result.Kind, result.Reason = notify.Unregistered, "the device's token is not one"
	}
	if code == "QUOTA_EXCEEDED" && result.RetryAfter == 0 {
		result.RetryAfter = quotaPause
	}
	return result
}

// withoutToken is what follows where Google gave no access token.
func withoutToken(result *notify.SendError, cause *oauth2.RetrieveError) *notify.SendError {
	result.Code = cause.ErrorCode
	result.Reason = "no access token was given for the service account's key"
	result.Kind = notify.Transient
	if status := cause.Response.StatusCode; status/100 == 4 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout {
		result.Kind = notify.Misconfigured
	}
	return result
}

// read gives FCM's error code, or else Google's status, and whether the device's token is
// what is wrong.
func read(body []byte) (code string, badToken bool) {
	var said refusal
	if json.Unmarshal(body, &said) != nil {
		return "", false
	}
	code = said.Error.Status
	for _, d := range said.Error.Details {
		switch d.Type {
		case fcmError:
			code = d.ErrorCode
		case badRequest:
			for _, f := range d.Fields {
				badToken = badToken || f.Field == "message.token"
			}
		}
	}
	return code, badToken && code == "INVALID_ARGUMENT"
}
