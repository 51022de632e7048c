package berth

import (
	"errors"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Refusal is what a refused call says.
type Refusal struct {
	// Reason is what to branch on. UNSPECIFIED where it is newer than this client, or the error is not Berth's own.
	Reason v1.ErrorReason
	Code   connect.Code
	// Message is for people and may change.
	Message string
	// Metadata are facts of the refusal, as the reason documents them. Times are RFC 3339 in UTC.
	Metadata map[string]string
}

// RefusalOf reads whatever a call failed with.
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
			continue // of a kind that this client does not know
		}
		if info, ok := value.(*errdetails.ErrorInfo); ok && info.GetDomain() == "berth" {
			r.Reason = v1.ErrorReason(v1.ErrorReason_value["ERROR_REASON_"+info.GetReason()])
			r.Metadata = info.GetMetadata()
		}
	}
	return r
}

// IsReason reports whether a call was refused for that reason.
func IsReason(err error, reason v1.ErrorReason) bool {
	return err != nil && RefusalOf(err).Reason == reason
}
