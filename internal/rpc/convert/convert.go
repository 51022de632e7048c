// Package convert has the conversions between the contract and the domain that several areas share.
//
// Formats were checked against the rules of the contract before. A value that cannot be converted here lacks its rule
// in the contract, which is a bug and not a mistake of the caller.
package convert

import (
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Response returns a message as handlers return it. The error is always nil.
func Response[M any](message *M) (*connect.Response[M], error) {
	return connect.NewResponse(message), nil
}

// ID converts the text of an identifier. "" becomes the zero ID.
func ID[I ~struct{ tenant.UUID }](text string) I {
	if text == "" {
		var zero I
		return zero
	}
	return tenant.MustParse[I](text)
}

// IDText returns the text of an identifier. The zero ID becomes "".
func IDText[I interface {
	~struct{ tenant.UUID }
	IsZero() bool
	String() string
}](id I) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// Timestamp converts an instant. The zero time becomes nil.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Time converts a timestamp. Nil becomes the zero time.
func Time(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// DurationMessage converts a duration to the contract's type.
func DurationMessage(d time.Duration) *durationpb.Duration { return durationpb.New(d) }

// DurationValue converts a duration of the contract. Nil becomes 0.
func DurationValue(d *durationpb.Duration) time.Duration { return d.AsDuration() }

// DateMessage converts a date. The zero date becomes nil.
func DateMessage(d civil.Date) *date.Date {
	if d.IsZero() {
		return nil
	}
	return &date.Date{Year: int32(d.Year), Month: int32(d.Month), Day: int32(d.Day)}
}

// DateValue converts a date of the contract. Nil becomes the zero date. The rules check that the date exists.
func DateValue(d *date.Date) civil.Date {
	return civil.Date{Year: int(d.GetYear()), Month: time.Month(d.GetMonth()), Day: int(d.GetDay())}
}

// TimeOfDayMessage converts a time of day.
func TimeOfDayMessage(t civil.TimeOfDay) *timeofday.TimeOfDay {
	return &timeofday.TimeOfDay{Hours: int32(t.Hour), Minutes: int32(t.Minute), Seconds: int32(t.Second)}
}

// TimeOfDayValue converts a time of day of the contract. Nil becomes midnight.
func TimeOfDayValue(t *timeofday.TimeOfDay) civil.TimeOfDay {
	return civil.TimeOfDay{Hour: int(t.GetHours()), Minute: int(t.GetMinutes()), Second: int(t.GetSeconds())}
}

// Etag returns the etag of a version.
func Etag(version int) string { return "v" + strconv.Itoa(version) }

// ExpectedVersion returns the version that must still be current according to the etag of a request, or nil if the
// request has no etag. A text that is not an etag matches no version: ETAG_MISMATCH.
func ExpectedVersion(text string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	version, err := strconv.Atoi(strings.TrimPrefix(text, "v"))
	if err != nil || Etag(version) != text {
		return nil, fault.New(
			fault.Aborted, fault.ETagMismatch, "Someone else has edited this. Read it again, then try again.",
		)
	}
	return &version, nil
}

// Messages converts a list.
func Messages[T, M any](values []T, convert func(T) *M) []*M {
	out := make([]*M, len(values))
	for i, v := range values {
		out[i] = convert(v)
	}
	return out
}
