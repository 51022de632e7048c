package fcm

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/rules/delivery"
)

// quotaPause is how long to wait after QUOTA_EXCEEDED if FCM does not say.
const quotaPause = time.Minute

type codeMeaning struct {
	kind   delivery.FailureKind
	reason string
}

// codes maps FCM's error codes
// (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
var codes = map[string]codeMeaning{
	"UNREGISTERED":           {delivery.Unregistered, "the device is not registered any more"},
	"INVALID_ARGUMENT":       {delivery.Permanent, "the message is not valid"},
	"SENDER_ID_MISMATCH":     {delivery.Misconfigured, "the device is registered with another project"},
	"THIRD_PARTY_AUTH_ERROR": {delivery.Misconfigured, "Apple or the browser's vendor does not accept the project's key"},
	"APNS_AUTH_ERROR":        {delivery.Misconfigured, "Apple does not accept the project's key"},
	"QUOTA_EXCEEDED":         {delivery.Transient, "the quota is used up"},
	"UNAVAILABLE":            {delivery.Transient, "the service is not available"},
	// FCM asks to retry these. It returned no name for the message, so there is none.
	"INTERNAL": {delivery.Transient, "the service failed"},
}

// refusal is the part of an error response that says why.
type errorResponse struct {
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

// failure says why a message was rejected, or got no answer.
func failure(exchange *provider.Exchange, err error) *delivery.Error {
	result := exchange.Failure(err)
	if exchange.NotSent() { // the library rejected the message
		result.Kind, result.Code, result.Reason = delivery.Permanent, "INVALID_ARGUMENT", "the message is not valid"
		return result
	}
	if cause, ok := errors.AsType[*oauth2.RetrieveError](result.Err); ok {
		return noAccessToken(result, cause)
	}
	code, badToken := readError(exchange.ErrorBody())
	if code != "" {
		result.Code = code
	}
	if known, ok := codes[code]; ok {
		result.Kind, result.Reason = known.kind, known.reason
	}
	if badToken {
		result.Kind, result.Reason = delivery.Unregistered, "the device's token is not valid"
	}
	if code == "QUOTA_EXCEEDED" && result.RetryAfter == 0 {
		result.RetryAfter = quotaPause
	}
	return result
}

// withoutToken is the failure if Google returned no access token.
func noAccessToken(result *delivery.Error, cause *oauth2.RetrieveError) *delivery.Error {
	result.Code = cause.ErrorCode
	result.Reason = "no access token was given for the service account's key"
	result.Kind = delivery.Transient
	status := cause.Response.StatusCode
	if status/100 == 4 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout {
		result.Kind = delivery.Misconfigured
	}
	return result
}

// read returns FCM's error code, or else Google's status, and whether the error is about the device's token.
func readError(body []byte) (code string, badToken bool) {
	var response errorResponse
	if json.Unmarshal(body, &response) != nil {
		return "", false
	}
	code = response.Error.Status
	for _, d := range response.Error.Details {
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
