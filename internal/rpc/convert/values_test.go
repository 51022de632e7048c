package convert_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const someID = "0190a000-0000-7000-8000-000000000001"

// Values keep their parts in both directions, and what is absent stays absent.
func TestValues_ConvertBothWays(t *testing.T) {
	t.Parallel()
	id := tenant.MustParse[tenant.MemberID](someID)
	at := time.Date(2026, 3, 29, 1, 30, 4, 123456789, time.UTC)
	minute, seven, seven32 := time.Minute, 7, int32(7)
	for name, tt := range map[string]struct{ want, got any }{
		"id":                   {id, convert.ID[tenant.MemberID](someID)},
		"no brand":             {(*v1.Brand)(nil), convert.BrandMessage(brand.Brand{})},
		"no id":                {tenant.MemberID{}, convert.ID[tenant.MemberID]("")},
		"text of an id":        {someID, convert.IDText(id)},
		"text of no id":        {"", convert.IDText(tenant.MemberID{})},
		"text of any id":       {someID, convert.UUIDText(id.UUID)},
		"text of no id of any": {"", convert.UUIDText(tenant.UUID{})},
		"no actor":             {(*v1.Actor)(nil), convert.Actor("", "Ann")},
		"a member": {
			&v1.Actor{Kind: v1.ActorKind_ACTOR_KIND_MEMBER, Id: someID, Name: "Ann"}, convert.Actor(someID, "Ann"),
		},
		"a service account": {
			&v1.Actor{Kind: v1.ActorKind_ACTOR_KIND_SERVICE_ACCOUNT, Id: someID, Name: "Portal"},
			convert.Actor("sa:"+someID, "Portal"),
		},
		"the system":               {&v1.Actor{Kind: v1.ActorKind_ACTOR_KIND_SYSTEM}, convert.Actor("system", "")},
		"timestamp":                {timestamppb.New(at), convert.Timestamp(at)},
		"no timestamp":             {(*timestamppb.Timestamp)(nil), convert.Timestamp(time.Time{})},
		"time":                     {at, convert.Time(timestamppb.New(at))},
		"no time":                  {time.Time{}, convert.Time(nil)},
		"time or zero":             {at, convert.OrZero(&at)},
		"zero":                     {time.Time{}, convert.OrZero(nil)},
		"duration of the contract": {durationpb.New(minute), convert.DurationMessage(minute)},
		"duration":                 {minute, convert.DurationValue(durationpb.New(minute))},
		"optional of the contract": {durationpb.New(minute), convert.OptionalDurationMessage(&minute)},
		"none of the contract":     {(*durationpb.Duration)(nil), convert.OptionalDurationMessage(nil)},
		"optional duration":        {&minute, convert.OptionalDurationValue(durationpb.New(minute))},
		"no duration":              {(*time.Duration)(nil), convert.OptionalDurationValue(nil)},
		"optional number":          {&seven, convert.OptionalInt(&seven32)},
		"no number":                {(*int)(nil), convert.OptionalInt(nil)},
		"number of the contract":   {&seven32, convert.OptionalInt32(&seven)},
		"no number of it":          {(*int32)(nil), convert.OptionalInt32(nil)},
		"date of the contract": {
			&date.Date{Year: 2026, Month: 3, Day: 29}, convert.DateMessage(civil.Date{Year: 2026, Month: 3, Day: 29}),
		},
		"no date of the contract": {(*date.Date)(nil), convert.DateMessage(civil.Date{})},
		"date": {
			civil.Date{Year: 2026, Month: 3, Day: 29}, convert.DateValue(&date.Date{Year: 2026, Month: 3, Day: 29}),
		},
		"no date": {civil.Date{}, convert.DateValue(nil)},
		"time of day of the contract": {
			&timeofday.TimeOfDay{Hours: 1, Minutes: 2, Seconds: 3},
			convert.TimeOfDayMessage(civil.TimeOfDay{Hour: 1, Minute: 2, Second: 3}),
		},
		"time of day": {
			civil.TimeOfDay{Hour: 1, Minute: 2, Second: 3},
			convert.TimeOfDayValue(&timeofday.TimeOfDay{Hours: 1, Minutes: 2, Seconds: 3}),
		},
		"enum": {
			v1.BookingChannel_BOOKING_CHANNEL_PHONE,
			convert.Enum[v1.BookingChannel](v1.BookingChannel_value, convert.ChannelPrefix, catalog.Phone),
		},
		"enum that is not there": {
			v1.BookingChannel_BOOKING_CHANNEL_UNSPECIFIED,
			convert.Enum[v1.BookingChannel](v1.BookingChannel_value, convert.ChannelPrefix, "FAX"),
		},
		"name": {
			catalog.Phone, convert.EnumName[catalog.Channel](convert.ChannelPrefix, v1.BookingChannel_BOOKING_CHANNEL_PHONE),
		},
		"no name": {
			catalog.Channel(""), convert.EnumName[catalog.Channel](convert.ChannelPrefix, v1.BookingChannel(0)),
		},
		"NUL":                              {true, convert.HasNUL([]byte(`{"Name":"a\u0000"}`))},
		"NUL alone":                        {true, convert.HasNUL([]byte(`"a\u0000"`))},
		"five characters":                  {false, convert.HasNUL([]byte(`"u0000"`))},
		"another control character":        {false, convert.HasNUL([]byte(`"\u0001"`))},
		"no JSON":                          {false, convert.HasNUL(nil)},
		"six characters after a backslash": {false, convert.HasNUL([]byte(`{"Name":"a\\u0000"}`))},
		"NUL after a backslash":            {true, convert.HasNUL([]byte(`{"Name":"a\\\u0000"}`))},
	} {
		test.Eq(t, tt.want, tt.got, test.Cmp(protocmp.Transform()), test.Sprint(name))
	}
}

func TestExpectedVersion_IsThatOfTheEtag(t *testing.T) {
	t.Parallel()
	for _, version := range []int{0, 1, 12} {
		test.EqOp(t, version, *expect.Value(convert.ExpectedVersion(convert.Etag(version)))(t))
	}
	test.Nil(t, expect.Value(convert.ExpectedVersion(""))(t))
	for _, text := range []string{"1", "v", "v01", "V1", "v1 ", "w1", "vv1", `W/"1"`} {
		expect.Reason(t, fault.ETagMismatch)(convert.ExpectedVersion(text))
	}
}

func TestFields_SetWhatPathsName(t *testing.T) {
	t.Parallel()
	var name, note string
	fields := convert.Fields{"name": convert.Field(&name, "Mia"), "note": convert.Field(&note, "Hello")}
	test.EqOp(t, "", fields.Set([]string{"name"}))
	test.EqOp(t, "Mia", name)
	test.EqOp(t, "", note)
	test.EqOp(t, "other", fields.Set([]string{"other", "note", "name.x"}), test.Sprint("the first that is unknown"))
	test.EqOp(t, "Hello", note)
}
