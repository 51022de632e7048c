package admission

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// What is within the bounds of its fields never has too many values, in either format.
func TestDecodeLimits_AllowWhatBoundsAllow(t *testing.T) {
	t.Parallel()
	rules := expect.Value(Rules())(t)
	limits := newDecodeLimits(rules)
	for procedure, rule := range rules {
		full := atBounds(rule.request)
		wire := expect.Value(proto.Marshal(full.Interface()))(t)
		test.NoError(t, limits.count(rule.request).binary(wire, rule.request, 0), test.Sprint(procedure))
		text, err := protojson.Marshal(full.Interface())
		if err != nil { // some of the texts are times of day, masks and the like
			text = []byte(jsonOf(full))
		}
		test.NoError(t, limits.count(rule.request).json(text), test.Sprint(procedure))
	}
}

// atBounds returns a message with all fields, and with as many elements in each list as it may have.
func atBounds(m protoreflect.MessageDescriptor) protoreflect.Message {
	full := dynamicpb.NewMessage(m)
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		value := func() protoreflect.Value {
			switch {
			case field.Message() != nil:
				return protoreflect.ValueOfMessage(atBounds(field.Message()))
			case field.Kind() == protoreflect.StringKind:
				return protoreflect.ValueOfString("x")
			case field.Kind() == protoreflect.EnumKind:
				return protoreflect.ValueOfEnum(1)
			default:
				return field.Default()
			}
		}
		if !field.IsList() {
			full.Set(field, value())
			continue
		}
		for range boundOf(field).items {
			full.Mutable(field).List().Append(value())
		}
	}
	return full
}

// jsonOf writes a message in JSON without a form of their own for messages of others.
func jsonOf(m protoreflect.Message) string {
	var members []string
	for field, value := range m.Range {
		element := func(v protoreflect.Value) string {
			if field.Message() != nil {
				return jsonOf(v.Message())
			}
			return `"x"`
		}
		var text string
		if field.IsList() {
			var elements []string
			for i := range value.List().Len() {
				elements = append(elements, element(value.List().Get(i)))
			}
			text = "[" + strings.Join(elements, ",") + "]"
		} else {
			text = element(value)
		}
		members = append(members, `"`+field.JSONName()+`":`+text)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// Each of these would cost far more to decode than it weighs.
func TestValueCount_RefusesManySmallValues(t *testing.T) {
	t.Parallel()
	limits := newDecodeLimits(expect.Value(Rules())(t))
	const n = 40_000
	field := func(number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	number := func(m proto.Message, name protoreflect.Name) protowire.Number {
		return m.ProtoReflect().Descriptor().Fields().ByName(name).Number()
	}
	preferences := new(v1.UpdateNotificationPreferencesRequest)
	me, sessions := new(v1.UpdateMeRequest), new(v1.ListSessionsRequest)
	inside := number(preferences, "preferences")
	for name, tt := range map[string]struct {
		request proto.Message
		binary  []byte
		json    string
		field   string
	}{
		"messages": {
			preferences, field(inside, bytes.Repeat(field(1, nil), n)),
			`{"preferences":{"preferences":[` + strings.Repeat("{},", n) + `{}]}}`, "preferences",
		},
		"paths of a mask": {
			me, field(number(me, "update_mask"), bytes.Repeat(field(1, nil), n)),
			`{"updateMask":"` + strings.Repeat(",", n) + `"}`, "update",
		},
		"paths of a mask whose name is escaped": {
			me, nil, `{"update\u004dask":"` + strings.Repeat("a,", n) + `"}`, "update",
		},
		"numbers": {
			sessions, field(2, field(number(new(v1.SessionFilter), "statuses"), make([]byte, n))),
			`{"filter":{"statuses":[` + strings.Repeat("1,", n) + `1]}}`, "filter",
		},
		"the same field": {
			me, bytes.Repeat(field(1, nil), n), `{"tenantId":"",` + strings.Repeat(`"tenantId":"",`, n) + `}`, "tenant",
		},
		"unknown fields": {me, bytes.Repeat(field(9999, nil), n), "", ""},
		"arrays":         {me, nil, `{"a":[` + strings.Repeat("[],", n) + `]}`, "a"},
		"depth":          {me, nil, `{"a":` + strings.Repeat("[", n), "a"},
	} {
		m := tt.request.ProtoReflect().Descriptor()
		for format, err := range map[string]error{
			"binary": limits.count(m).binary(tt.binary, m, 0), "json": limits.count(m).json([]byte(tt.json)),
		} {
			if format == "binary" && tt.binary == nil || format == "json" && tt.json == "" {
				continue
			}
			test.EqOp(t, fault.InvalidField, fault.ReasonOf(err), test.Sprint(name, format))
			f, _ := errors.AsType[*fault.Error](err)
			must.NotNil(t, f, must.Sprint(name, format))
			test.StrHasPrefix(t, tt.field, f.Field, test.Sprint(name, format))
		}
	}
}

// A message in others without end is refused before its decoder recurses.
func TestValueCount_RefusesDepth(t *testing.T) {
	t.Parallel()
	limits := newDecodeLimits(expect.Value(Rules())(t))
	m := new(v1.UpdateMeRequest).ProtoReflect().Descriptor()
	test.Error(t, limits.count(m).binary(nil, m, maxDepth+1))
	test.NoError(t, limits.count(m).binary(nil, m, maxDepth))
	deep := func(n int) []byte { return slices.Concat(bytes.Repeat([]byte("["), n), bytes.Repeat([]byte("]"), n)) }
	test.NoError(t, limits.count(m).json(deep(2*maxDepth)))
	test.Error(t, limits.count(m).json(deep(2*maxDepth+1)))
}

// What is malformed is left to the decoder, which says what is wrong.
func TestValueCount_LeavesWhatIsMalformed(t *testing.T) {
	t.Parallel()
	limits := newDecodeLimits(expect.Value(Rules())(t))
	m := new(v1.UpdateMeRequest).ProtoReflect().Descriptor()
	for _, data := range []string{"", "\xff", "\x0a\xff", "\x0a\x05a", `{"a`, `{"a\`, `"`, `}`, `]]]]`, `{"a":"\"`} {
		test.NoError(t, limits.count(m).binary([]byte(data), m, 0), test.Sprintf("%q", data))
		test.NoError(t, limits.count(m).json([]byte(data)), test.Sprintf("%q", data))
	}
}

// A text may contain what separates values.
func TestValueCount_SkipsTexts(t *testing.T) {
	t.Parallel()
	limits := newDecodeLimits(expect.Value(Rules())(t))
	m := new(v1.BookRequest).ProtoReflect().Descriptor()
	note := strings.Repeat(`,{[\"\\`, 1000)
	test.NoError(t, limits.count(m).json([]byte(`{"note":"`+note+`","sessionId":"x"}`)))
}

// Whatever the decoder makes of a request, it was counted before.
func FuzzValueCount(f *testing.F) {
	rules, err := Rules()
	must.NoError(f, err)
	masks := newDecodeLimits(rules)
	f.Add([]byte(`{"preferences":{"preferences":[{},{"topic":1}]}}`))
	f.Add([]byte("\x12\x04\x0a\x00\x0a\x00"))
	f.Add([]byte(`{"updat\u0065Mask":"a,b"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, request := range []proto.Message{new(v1.UpdateNotificationPreferencesRequest), new(v1.UpdateMeRequest)} {
			m := request.ProtoReflect().Descriptor()
			count := func() *valueCount {
				return &valueCount{decodeLimit: decodeLimit{values: len(data) + 1, masks: masks[m.FullName()].masks}}
			}
			if c := count(); protojson.Unmarshal(data, request) == nil {
				must.NoError(t, c.json(data))
				must.LessEq(t, len(data)+1-c.values+1, elements(request.ProtoReflect()))
			}
			proto.Reset(request)
			if c := count(); proto.Unmarshal(data, request) == nil && c.binary(data, m, 0) == nil {
				must.LessEq(t, len(data)+1-c.values, elements(request.ProtoReflect()))
			}
		}
	})
}

// elements returns how many elements the lists of a message have.
func elements(m protoreflect.Message) int {
	n := 0
	for field, value := range m.Range {
		if field.IsList() {
			n += value.List().Len()
			for i := range value.List().Len() {
				if field.Message() != nil {
					n += elements(value.List().Get(i).Message())
				}
			}
		} else if field.Message() != nil {
			n += elements(value.Message())
		}
	}
	return n
}
