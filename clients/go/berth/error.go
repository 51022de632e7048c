package berth

import (
	"errors"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Refusal is the content of an error.
type Refusal struct {
	// Reason is for branching. It is UNSPECIFIED if this client does not know it, or the error is not from Berth.
	Reason v1.ErrorReason
	// ReasonName is the reason as Berth sent it, such as "SESSION_FULL", also if this client does not know it.
	ReasonName string
	Code       connect.Code
	// Message is for humans and may change.
	Message string
	// Metadata are details of the reason, which documents them. Times are RFC 3339 in UTC.
	Metadata map[string]string
}

// RefusalOf reads the error of a call.
func RefusalOf(err error) Refusal {
	r := Refusal{Code: connect.CodeOf(err)}
	if err != nil {
		r.Message = err.Error()
	}
	var refused *connect.Error
	if !errors.As(err, &refused) {
		return r
	}
	r.Message = refused.Message()
	for _, detail := range refused.Details() {
		value, err := detail.Value()
		if err != nil {
			continue // of a type that this client does not know
		}
		if info, ok := value.(*errdetails.ErrorInfo); ok && info.GetDomain() == "berth" {
			r.ReasonName, r.Metadata = info.GetReason(), info.GetMetadata()
			r.Reason = v1.ErrorReason(v1.ErrorReason_value["ERROR_REASON_"+r.ReasonName])
		}
	}
	return r
}

// IsReason reports whether a call failed with the reason.
func IsReason(err error, reason v1.ErrorReason) bool {
	return err != nil && RefusalOf(err).Reason == reason
}
