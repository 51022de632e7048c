package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"testing"
	"time"

	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Values that people, programs and attackers put into fields.
var (
	oddTexts = []string{
		"", " ", strings.Repeat("x", 10_000), strings.Repeat("🤸🏽", 60), "مرحبا بالعالم", "\u202eflow\u202c e\u0301\u200b",
		"a\x00b", "\x01\x1b[31m\x7f\ufffe",
		"one\ntwo\r\n\tthree", `' or 1=1 -- %_\`, "<script>alert(1)</script>", "(", "-1", "A",
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
	}
	oddIDs   = []string{"", "x", "a\x00b", "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"}
	oddRules = []string{
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=5", "FREQ=SECONDLY;COUNT=10000",
		"FREQ=DAILY;COUNT=0", "FREQ=DAILY;COUNT=-1",
		"FREQ=DAILY;INTERVAL=999999999999", "FREQ=DAILY;UNTIL=00010101", "FREQ=DAILY;UNTIL=99991231T235959Z",
		"FREQ=YEARLY;BYSETPOS=366;BYDAY=MO;BYMONTH=2",
		"FREQ=WEEKLY;BYDAY=XX", "RRULE:FREQ=DAILY;COUNT=2", "FREQ=DAILY;COUNT=2;FREQ=DAILY", "FREQ=DAILY;COUNT=10000",
		"FREQ=DAILY",
	}
	oddNumbers = []int64{0, 1, -1, 7, math.MaxInt32, math.MinInt32}
	oddBytes   = [][]byte{
		{}, {0}, []byte("\xff\xfe\x00"), []byte("name\n"), []byte("name,name\na,b\n"), []byte("\ufeffname\n\"unclosed\n"),
		bytes.Repeat([]byte("a"), 100_000),
		bytes.Repeat([]byte(","), 10_000), bytes.Repeat([]byte("\n"), 100_000), []byte("name,email\n\x00,\x00\n"),
		[]byte("name,email,phone\nمرحبا,🧘@x,+1\n=1+1,@,\n"),
		[]byte("service,location,date,start,duration_minutes\nx,y,2026-02-30,25:61,-1\n\x00,\x00,9999-12-31,23:59,10080\n"),
	}
	// Message values that are valid for their types, but not for their meaning.
	oddValues = map[protoreflect.FullName][]proto.Message{
		"google.protobuf.Timestamp": {
			&timestamppb.Timestamp{}, timestamppb.New(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)),
			timestamppb.New(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)),
			&timestamppb.Timestamp{Seconds: math.MaxInt64}, &timestamppb.Timestamp{Seconds: math.MinInt64},
			&timestamppb.Timestamp{Nanos: -1}, &timestamppb.Timestamp{Nanos: math.MaxInt32},
			timestamppb.New(time.Date(2099, 1, 1, 0, 0, 0, 1, time.UTC)),
		},
		"google.protobuf.Duration": {
			&durationpb.Duration{}, durationpb.New(-time.Second), durationpb.New(1), durationpb.New(90*time.Second + 1),
			&durationpb.Duration{Seconds: math.MaxInt64}, &durationpb.Duration{Seconds: math.MinInt64},
			&durationpb.Duration{Seconds: 1, Nanos: -1}, &durationpb.Duration{Nanos: math.MaxInt32},
			durationpb.New(24 * time.Hour),
		},
		"google.protobuf.FieldMask": {
			&fieldmaskpb.FieldMask{}, paths(""), paths("*"), paths("no_such_field"), paths("id"), paths("name", "name"),
			paths("name.x"), paths("a\x00b"), paths(strings.Repeat("x", 10_000)),
		},
		"google.type.Date": {
			&date.Date{}, &date.Date{Year: 2026, Month: 2, Day: 30}, &date.Date{Year: 2026},
			&date.Date{Year: 2026, Month: 13, Day: 1}, &date.Date{Year: -1, Month: 1, Day: 1},
			&date.Date{Year: 1, Month: 1, Day: 1}, &date.Date{Year: 9999, Month: 12, Day: 31},
			&date.Date{Year: math.MaxInt32, Month: math.MaxInt32, Day: math.MaxInt32}, &date.Date{Month: 2, Day: 29},
		},
		"google.type.TimeOfDay": {
			&timeofday.TimeOfDay{}, timeOfDay(24, 0), timeOfDay(25, 61), timeOfDay(-1, -1),
			timeOfDay(math.MaxInt32, math.MinInt32),
			&timeofday.TimeOfDay{Hours: 23, Minutes: 59, Seconds: 60}, &timeofday.TimeOfDay{Nanos: -1},
		},
		"google.type.LatLng": {
			&latlng.LatLng{}, &latlng.LatLng{Latitude: 91}, &latlng.LatLng{Longitude: -181},
			&latlng.LatLng{Latitude: math.NaN(), Longitude: math.NaN()},
			&latlng.LatLng{Latitude: math.Inf(1)},
			&latlng.LatLng{Latitude: math.SmallestNonzeroFloat64, Longitude: math.Copysign(0, -1)},
			&latlng.LatLng{Latitude: 90, Longitude: 180},
		},
		"berth.v1.TimeRange": {
			timeRange(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Hour),
			timeRange(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), time.Hour),
			&v1.TimeRange{
				Start: &timestamppb.Timestamp{Seconds: math.MaxInt64 - 1}, End: &timestamppb.Timestamp{Seconds: math.MaxInt64},
			},
			&v1.TimeRange{
				Start: &timestamppb.Timestamp{Seconds: math.MinInt64}, End: &timestamppb.Timestamp{Seconds: math.MaxInt64},
			},
			timeRange(time.Now(), -time.Hour), timeRange(time.Now(), 0), timeRange(time.Now(), 1), timeRange(
				time.Now(), 400*24*time.Hour,
			),
		},
		"google.type.Money": {
			&money.Money{}, &money.Money{CurrencyCode: "euro", Units: 1}, &money.Money{CurrencyCode: "\x00\x00\x00"},
			&money.Money{CurrencyCode: "EUR", Units: math.MinInt64}, &money.Money{CurrencyCode: "EUR", Units: math.MaxInt64},
			&money.Money{CurrencyCode: "EUR", Nanos: math.MaxInt32}, &money.Money{CurrencyCode: "EUR", Units: 1, Nanos: -1},
			&money.Money{Units: 5}, &money.Money{CurrencyCode: strings.Repeat("E", 10_000)},
		},
	}
)

func timeRange(start time.Time, length time.Duration) *v1.TimeRange {
	return &v1.TimeRange{Start: timestamppb.New(start), End: timestamppb.New(start.Add(length))}
}

// oddValues returns odd values for a place.
func oddValuesFor(at fieldRef) []protoreflect.Value {
	var all []protoreflect.Value
	field := at.leaf()
	switch field.Kind() {
	case protoreflect.StringKind:
		texts := oddTexts
		switch {
		case at.isID():
			texts = oddIDs
		case field.Name() == "rule":
			texts = slices.Concat(texts, oddRules)
		}
		for _, text := range texts {
			all = append(all, protoreflect.ValueOfString(text))
		}
	case protoreflect.BytesKind:
		for _, raw := range oddBytes {
			all = append(all, protoreflect.ValueOfBytes(raw))
		}
	case protoreflect.Int32Kind:
		for _, n := range oddNumbers {
			all = append(all, protoreflect.ValueOfInt32(int32(n)))
		}
	case protoreflect.EnumKind:
		for _, n := range oddNumbers {
			all = append(all, protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)))
		}
	case protoreflect.BoolKind:
		all = append(all, protoreflect.ValueOfBool(false), protoreflect.ValueOfBool(true))
	case protoreflect.MessageKind:
		for _, m := range oddValues[at.messageKind()] {
			all = append(all, protoreflect.ValueOfMessage(m.ProtoReflect()))
		}
		if field.Message().ParentFile().Package() == "berth.v1" {
			all = append(all, protoreflect.ValueOfMessage(newMessage(field.Message()).ProtoReflect()))
		}
	}
	return all
}

// Any value in any field gets a response or an error with a reason, which names the field if that is invalid. Nothing
// breaks, then or later.
func TestEveryRPC_HandlesOddValuesInEveryField(t *testing.T) {
	withoutRaceDetector(t)
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	// Those that read come first, while there is little to read.
	reads := slices.DeleteFunc(slices.Clone(procedures()), func(p procedure) bool { return !p.IsReadOnly() })
	for _, p := range slices.Concat(reads, slices.DeleteFunc(slices.Clone(procedures()), procedure.IsReadOnly)) {
		// Not in parallel: the RPCs share a tenant and would conflict.
		t.Run(p.Short(), func(t *testing.T) {
			g := &oddValueTest{
				t: t, live: live, p: p, w: w.in(t), token: w.token(tenant.RoleOwner), swept: make(map[string]bool),
			}
			for _, b := range requests[p.Short()] {
				g.sweep(b)
			}
		})
	}
	// Everything that was accepted can be read.
	for _, p := range reads {
		for _, b := range requests[p.Short()] {
			live.try(t.Context(), w.token(tenant.RoleOwner), p, b(w)).has(t, "OK", p.Short(), " afterwards")
		}
	}
	test.StrNotContains(t, live.log.String(), "level=ERROR", test.Sprint("something broke; see the log"))
	live.verify(t)
}

// oddValueTest is the state of the test of one RPC.
type oddValueTest struct {
	t     *testing.T
	live  *liveNode
	p     procedure
	w     *world
	token string
	swept map[string]bool // places that an earlier request has set
}

func (t *oddValueTest) sweep(b build) {
	good := b(t.w)
	try := func(what string, request proto.Message) {
		if t.send(what, request).Code == codes.OK && t.p.IsOneTime() {
			good = b(t.w)
		}
	}
	first := len(t.swept) == 0
	if first {
		try("nothing", t.p.NewRequest())
	}
	for _, at := range fieldRefsOf(t.p.Input()) {
		_, filled := at.get(good)
		if t.swept[at.String()] || !first && !filled {
			continue
		}
		t.swept[at.String()] = filled
		for _, odd := range oddValuesFor(at) {
			try(at.String(), at.with(good, odd))
		}
		if at.leaf().Name() == "etag" && !ignoresEtags.MatchString(t.p.Short()) {
			t.send("an etag of another kind", at.with(good, protoreflect.ValueOfString("x"))).has(
				t.t, "ETAG_MISMATCH", at.String(),
			)
		}
		if at.leaf().IsList() {
			odd, ok := at.get(good)
			if !ok {
				continue
			}
			try(at.String()+" twice", at.with(good, odd, odd))
			try(at.String()+" many times", at.with(good, slices.Repeat([]protoreflect.Value{odd}, 2_000)...))
		}
		if _, ok := at.get(good); ok {
			without := proto.Clone(good)
			at.holder(without).Clear(at.leaf())
			try("no "+at.String(), without)
		}
	}
}

// ignoresEtags matches the RPCs that change nothing that has an etag.
var ignoresEtags = regexp.MustCompile(`/Create|/Preview`)

// maxErrorSize is the size of headers that proxies accept, in bytes.
const maxErrorSize = 8 << 10

func (t *oddValueTest) send(what string, request proto.Message) outcome {
	t.t.Helper()
	answer, err := invoke(withToken(t.t.Context(), t.token), t.live.conn, t.p, request)
	got := outcomeOf(answer, err)
	describe := func() string {
		text := strings.ToValidUTF8(protoText(request), "?")
		return text[:min(len(text), 600)]
	}
	switch {
	case got.Code == codes.OK:
	case got.Code == codes.Internal, got.Code == codes.Unknown, got.Code == codes.Unavailable,
		got.Code == codes.DeadlineExceeded,
		got.Code == codes.DataLoss, got.Code == codes.Unimplemented, got.Reason == "":
		t.t.Errorf("%s: %.300s\n%s", what, got, describe())
	case got.Code == codes.InvalidArgument && got.Metadata["field"] == "":
		t.t.Errorf("%s: no field is named: %.300s\n%s", what, got, describe())
	}
	if err != nil {
		size := proto.Size(status.Convert(err).Proto())
		test.True(t.t, size <= maxErrorSize, test.Sprintf("%s: an error of %d bytes: %.300s", what, size, got))
	}
	return got
}

func protoText(m proto.Message) string {
	text, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Every RPC rejects input that is not a message in the same way.
func TestEveryRPC_RejectsInputThatIsNotAMessage(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	raw := newWorld(t, live).token(tenant.RoleOwner)
	for _, p := range procedures() {
		if p.IsStreamingServer() {
			continue // its messages have an envelope; see below
		}
		for body, field := range map[string]string{
			`{"noSuchField": 1}`:        "noSuchField",
			`{"tenantId": 5}`:           "tenantId",
			`[]`:                        "",
			`{`:                         "",
			`{"tenantId": "\ud800"}`:    "",
			strings.Repeat("[", 60_000): "",
			"\xff\xfe":                  "",
		} {
			if p.Input().Fields().ByName("tenant_id") == nil && strings.Contains(body, "tenantId") {
				continue
			}
			got := post(t, live, raw, p, "application/json", []byte(body))
			test.EqOp(t, http.StatusBadRequest, got.status, test.Sprintf("%s of %.40q: %+v", p.Short(), body, got))
			test.EqOp(t, "INVALID_FIELD", got.reason, test.Sprintf("%s of %.40q: %+v", p.Short(), body, got))
			test.True(t, field == "" || got.metadata["field"] == field,
				test.Sprintf("%s of %.40q: %+v", p.Short(), body, got))
		}
		for _, body := range []string{"\xff", "\x0a\xff\xff\xff\xff\x0f", "\x0a\x01\xff", strings.Repeat(
			"\x0a\x00", 1000,
		) + "\x08"} {
			got := post(t, live, raw, p, "application/proto", []byte(body))
			test.EqOp(t, http.StatusBadRequest, got.status, test.Sprintf("%s of %.40q: %+v", p.Short(), body, got))
			test.EqOp(t, "INVALID_FIELD", got.reason, test.Sprintf("%s of %.40q: %+v", p.Short(), body, got))
		}
	}
	test.StrNotContains(t, live.log.String(), "level=ERROR", test.Sprint("something broke; see the log"))
}

// httpResult is the result of an HTTP request.
type httpResult struct {
	status   int
	reason   string
	metadata map[string]string
	body     string
}

func post(t *testing.T, live *liveNode, raw string, p procedure, contentType string, body []byte) httpResult {
	t.Helper()
	header := http.Header{"Content-Type": {contentType}, "Authorization": {"Bearer " + raw}}
	status, text := sendHTTP(t, http.MethodPost, "http://"+live.Address+p.Path(), header, string(body))
	got := httpResult{status: status, body: text}
	var wire struct {
		Details []struct {
			Type  string
			Debug struct {
				Reason   string
				Metadata map[string]string
			}
		}
	}
	_ = json.Unmarshal([]byte(text), &wire) // the caller checks errors without a reason
	for _, detail := range wire.Details {
		if detail.Type == "google.rpc.ErrorInfo" {
			got.reason, got.metadata = detail.Debug.Reason, detail.Debug.Metadata
		}
	}
	return got
}

// A page token is valid only for its query. A token of another tenant is rejected. A forged token returns nothing that
// the query does not, and breaks nothing.
func TestPageTokens_RevealNothingWhenForged(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	ours, theirs := newWorld(t, live), newWorld(t, live)
	both := ours.token(tenant.RoleOwner, theirs)
	tried := 0
	for _, p := range procedures() {
		field := p.Input().Fields().ByName("page_token")
		if field == nil {
			continue
		}
		found := false
		for i := range requests[p.Short()] {
			b := requests[p.Short()][i]
			page := func(w *world, request proto.Message, token string) (next string, got outcome) {
				request = proto.Clone(request)
				setTenantID(request, w.ID)
				request.ProtoReflect().Set(field, protoreflect.ValueOfString(token))
				answer, err := invoke(withToken(t.Context(), both), live.conn, p, request)
				if err == nil {
					m := answer.ProtoReflect()
					next = m.Get(m.Descriptor().Fields().ByName("next_page_token")).String()
				}
				return next, outcomeOf(answer, err)
			}
			request := b(theirs)
			if page1 := p.Input().Fields().ByName("page_size"); request.ProtoReflect().Get(page1).Int() == 0 {
				continue
			}
			token, got := page(theirs, request, "")
			if token == "" {
				t.Errorf("%s has one page only: %s", p.Short(), got)
				continue
			}
			found = true
			_, got = page(ours, request, token)
			got.has(t, "INVALID_FIELD page_token", p.Short(), " with another tenant's token")
			for _, forged := range forgedTokens(t, token) {
				tried++
				switch _, got := page(theirs, request, forged); got.Code {
				case codes.OK:
				case codes.InvalidArgument:
					test.EqOp(t, "page_token", got.Metadata["field"], test.Sprintf("%s: %s", p.Short(), got))
				default:
					raw, _ := base64.RawURLEncoding.DecodeString(forged)
					t.Errorf("%s with %.200q: %s", p.Short(), raw, got)
				}
			}
		}
		test.True(t, found, test.Sprintf("no request of %s in this test asks for a page of a few", p.Short()))
	}
	test.GreaterEq(t, 100, tried, test.Sprintf("%d tokens were tried", tried))
	test.StrNotContains(t, live.log.String(), "level=ERROR", test.Sprintf("%d tokens were tried", tried))
}

// forgedTokens puts odd values into the position in a page token, after the hash of the query.
func forgedTokens(t *testing.T, token string) []string {
	t.Helper()
	raw := expect.Value(base64.RawURLEncoding.DecodeString(token))(t)
	const mark = 8
	encode := func(position any) string {
		return base64.RawURLEncoding.EncodeToString(
			append(bytes.Clone(raw[:mark]), expect.Value(json.Marshal(position))(t)...),
		)
	}
	odd := []any{
		"", "x", "a\x00b", strings.Repeat("x", 700), "🧘", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999999Z", "9999-12-31", "0001-01-01", "2026-02-30",
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", 0, -1, 1 << 40, math.MaxInt64, 1.5,
		true, nil, []any{}, map[string]any{},
	}
	forged := []string{token[:len(token)/2], token + "AAAA", token[:10], encode([]any{}), encode(nil)}
	for _, value := range odd {
		forged = append(forged, encode(value))
	}
	var position map[string]any
	if json.Unmarshal(raw[mark:], &position) != nil {
		return forged // its position is one value
	}
	for key, own := range position {
		for _, value := range odd {
			position[key] = value
			forged = append(forged, encode(position))
		}
		position[key] = own
	}
	return forged
}
