package rpc

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

// reply has the shape of what handlers return.
func reply[T any](message *T) (*connect.Response[T], error) { //nolint:unparam // see above
	return connect.NewResponse(message), nil
}

// id reads an identifier; "" is the zero one.
func id[I ~struct{ tenant.UUID }](text string) I {
	if text == "" {
		var none I
		return none
	}
	return tenant.MustParse[I](text)
}

// idText writes an identifier; the zero one is "".
func idText[I interface {
	~struct{ tenant.UUID }
	IsZero() bool
	String() string
}](id I) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// timestamp gives nil for the zero time.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// instant gives the zero time for nil.
func instant(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func duration(d time.Duration) *durationpb.Duration { return durationpb.New(d) }

// span gives 0 for nil.
func span(d *durationpb.Duration) time.Duration { return d.AsDuration() }

// dateMessage gives nil for the zero date.
func dateMessage(d civil.Date) *date.Date {
	if d.IsZero() {
		return nil
	}
	return &date.Date{Year: int32(d.Year), Month: int32(d.Month), Day: int32(d.Day)}
}

// civilDate gives the zero date for nil. Whether a calendar has it is for the rules to judge.
func civilDate(d *date.Date) civil.Date {
	return civil.Date{Year: int(d.GetYear()), Month: time.Month(d.GetMonth()), Day: int(d.GetDay())}
}

func timeOfDayMessage(t civil.TimeOfDay) *timeofday.TimeOfDay {
	return &timeofday.TimeOfDay{Hours: int32(t.Hour), Minutes: int32(t.Minute), Seconds: int32(t.Second)}
}

// civilTime gives midnight for nil.
func civilTime(t *timeofday.TimeOfDay) civil.TimeOfDay {
	return civil.TimeOfDay{Hour: int(t.GetHours()), Minute: int(t.GetMinutes()), Second: int(t.GetSeconds())}
}

// etag names a version of what staff edit together.
func etag(version int) string { return "v" + strconv.Itoa(version) }

// expected reads an etag that was sent back: the version that must still be the
// current one, or nil where the caller does not care. A text that was never an
// etag can be no current one: ETAG_MISMATCH.
func expected(text string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	version, err := strconv.Atoi(strings.TrimPrefix(text, "v"))
	if err != nil || etag(version) != text {
		return nil, fault.New(fault.Aborted, fault.ETagMismatch, "Someone else has edited it. Read it again, then decide.")
	}
	return &version, nil
}
