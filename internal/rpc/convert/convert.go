// Package convert has the conversions between the contract and the domain that several areas share.
//
// Formats were checked against the rules of the contract before. A value that cannot be converted here lacks its rule
// in the contract, which is a bug and not a mistake of the caller.
package convert

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

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

// PlanKindPrefix is the prefix of the kinds of plans.
const PlanKindPrefix = "PLAN_KIND_"

// MoneyValue converts an amount of money of the contract.
func MoneyValue(m *money.Money) credit.Money {
	return credit.Money{Currency: m.GetCurrencyCode(), Units: m.GetUnits(), Nanos: m.GetNanos()}
}

// MoneyMessage converts an amount of money. The zero amount becomes nil.
func MoneyMessage(m credit.Money) *money.Money {
	if m == (credit.Money{}) {
		return nil
	}
	return &money.Money{CurrencyCode: m.Currency, Units: m.Units, Nanos: m.Nanos}
}

// OrZero returns *t, or the zero time if t is nil.
func OrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// OptionalDurationMessage converts an optional duration to the contract's type.
func OptionalDurationMessage(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

// OptionalDurationValue converts an optional duration of the contract.
func OptionalDurationValue(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	return new(d.AsDuration())
}

// OptionalInt32 converts an optional number to the contract's type.
func OptionalInt32(n *int) *int32 {
	if n == nil {
		return nil
	}
	return new(int32(*n))
}

// OptionalInt converts an optional number of the contract.
func OptionalInt(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// TrueUnlessSet returns the value of an optional field whose default is true.
func TrueUnlessSet(value *bool) bool { return value == nil || *value }

// Enum returns the value of an enum of the contract whose name is the prefix and the domain's name of it. A name that
// the contract does not have becomes UNSPECIFIED.
func Enum[E ~int32, S ~string](values map[string]int32, prefix string, name S) E {
	return E(values[prefix+string(name)])
}

// EnumNames is EnumName for a list.
func EnumNames[S ~string, E interface {
	~int32
	String() string
}](prefix string, values []E) []S {
	names := make([]S, len(values))
	for i, v := range values {
		names[i] = EnumName[S](prefix, v)
	}
	return names
}

// EnumName is the inverse of Enum: it returns the name of a value without the prefix. UNSPECIFIED becomes "".
func EnumName[S ~string, E interface {
	~int32
	String() string
}](prefix string, value E) S {
	if value == 0 {
		return ""
	}
	return S(strings.TrimPrefix(value.String(), prefix))
}
