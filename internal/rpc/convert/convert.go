// Package convert has the conversions between the contract and the domain that several areas share.
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

// What has a type in the contract and one in the domain, and belongs to no
// concept. Formats were checked against the contract before: what does not parse
// here lacks its rule there, and that is a bug, not the caller's mistake.

// Reply has the shape of what handlers return.
func Reply[T any](message *T) (*connect.Response[T], error) { //nolint:unparam // see above
	return connect.NewResponse(message), nil
}

// ID reads an identifier; "" is the zero one.
func ID[I ~struct{ tenant.UUID }](text string) I {
	if text == "" {
		var none I
		return none
	}
	return tenant.MustParse[I](text)
}

// IDText writes an identifier; the zero one is "".
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

// Timestamp gives nil for the zero time.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Instant gives the zero time for nil.
func Instant(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func Duration(d time.Duration) *durationpb.Duration { return durationpb.New(d) }

// Span gives 0 for nil.
func Span(d *durationpb.Duration) time.Duration { return d.AsDuration() }

// DateMessage gives nil for the zero date.
func DateMessage(d civil.Date) *date.Date {
	if d.IsZero() {
		return nil
	}
	return &date.Date{Year: int32(d.Year), Month: int32(d.Month), Day: int32(d.Day)}
}

// CivilDate gives the zero date for nil. Whether a calendar has it is for the rules to judge.
func CivilDate(d *date.Date) civil.Date {
	return civil.Date{Year: int(d.GetYear()), Month: time.Month(d.GetMonth()), Day: int(d.GetDay())}
}

func TimeOfDayMessage(t civil.TimeOfDay) *timeofday.TimeOfDay {
	return &timeofday.TimeOfDay{Hours: int32(t.Hour), Minutes: int32(t.Minute), Seconds: int32(t.Second)}
}

// CivilTime gives midnight for nil.
func CivilTime(t *timeofday.TimeOfDay) civil.TimeOfDay {
	return civil.TimeOfDay{Hour: int(t.GetHours()), Minute: int(t.GetMinutes()), Second: int(t.GetSeconds())}
}

// Etag names a version of what staff edit together.
func Etag(version int) string { return "v" + strconv.Itoa(version) }

// Expected reads an etag that was sent back: the version that must still be the
// current one, or nil where the caller does not care. A text that was never an
// etag can be no current one: ETAG_MISMATCH.
func Expected(text string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	version, err := strconv.Atoi(strings.TrimPrefix(text, "v"))
	if err != nil || Etag(version) != text {
		return nil, fault.New(fault.Aborted, fault.ETagMismatch, "Someone else has edited it. Read it again, then decide.")
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
