package settingsapi

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/settings"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Every setting is written to its field of the message and read back, and no other field changes. Every field has a
// setting.
func TestSettings_RoundTripByName(t *testing.T) {
	t.Parallel()
	t.Run("policy", func(t *testing.T) { t.Parallel(); checkRoundTrip(t, catalog.PolicyFields, &v1.Policy{}, 0) })
	t.Run("tier", func(t *testing.T) { t.Parallel(); checkRoundTrip(t, catalog.TierFields, &v1.TierCancellation{}, 1) })
	t.Run("waitlist", func(t *testing.T) { t.Parallel(); checkRoundTrip(t, waitlist.Fields, &v1.WaitlistRules{}, 0) })
}

// A word that the contract does not know, as one that a newer server stored, is not set rather than a panic.
func TestFieldValue_LeavesUnknownWordsUnset(t *testing.T) {
	t.Parallel()
	fields := (&v1.WaitlistRules{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Kind() == protoreflect.EnumKind {
			test.EqOp(t, 0, fieldValue(f, "NONSENSE").Enum(), test.Sprint(f.Name()))
		}
	}
}

// checkRoundTrip checks a table against a message that has the given number of other fields.
func checkRoundTrip[S, R any](t *testing.T, table settings.Table[S, R], empty proto.Message, others int) {
	t.Helper()
	fields := empty.ProtoReflect().Descriptor().Fields()
	for _, row := range table {
		must.NotNil(t, fields.ByName(protoreflect.Name(row.Name())), must.Sprintf("the contract has no %s", row.Name()))
	}
	must.EqOp(t, len(table)+others, fields.Len(), must.Sprintf("%d fields and %d settings", fields.Len(), len(table)))
	for _, row := range table {
		f := fields.ByName(protoreflect.Name(row.Name()))
		t.Run(row.Name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				var set, got S
				row.Set(&set, anySetting(t, row.Pointer(&set), f))
				m := writeSettings(table, &set, proto.Clone(empty))
				m.ProtoReflect().Range(func(other protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
					test.EqOp(t, f, other, test.Sprintf("%s is set", other.Name()))
					return true
				})
				must.True(t, m.ProtoReflect().Has(f), must.Sprint("it is not set"))
				read := proto.Clone(empty)
				must.NoError(t, proto.Unmarshal(expect.Value(proto.Marshal(m))(t), read))
				readSettings(table, read, &got)
				must.Eq(t, set, got, must.Sprint(m))
				must.Eq(t, m, writeSettings(table, &got, proto.Clone(empty)), must.Cmp(protocmp.Transform()))
				// A field that is not set in the message is inherited.
				readSettings(table.Only([]string{row.Name()}), empty, &got)
				must.Nil(t, row.Value(&got), must.Sprint("it is not inherited"))
			})
		})
	}
}

// anySetting draws a random value for a setting.
func anySetting(t *rapid.T, of any, f protoreflect.FieldDescriptor) any {
	spans := rapid.Map(rapid.IntRange(0, 1<<30), func(n int) time.Duration { return time.Duration(n) * time.Second })
	names, points := rapid.StringN(1, 9, -1), rapid.IntRange(0, 50)
	clocks := rapid.Custom(func(t *rapid.T) civil.TimeOfDay {
		return civil.TimeOfDay{Hour: rapid.IntRange(0, 23).Draw(t, "hour"), Minute: rapid.IntRange(0, 59).Draw(t, "minute")}
	})
	switch of.(type) {
	case **time.Duration:
		return spans.Draw(t, "span")
	case **waitlist.QuietHours:
		return waitlist.QuietHours{From: clocks.Draw(t, "from"), Until: clocks.Draw(t, "until")}
	case **map[string]int:
		return rapid.MapOf(names, points).Draw(t, "bonuses")
	case **map[string]catalog.TierPolicy:
		return rapid.MapOf(names, rapid.Custom(func(t *rapid.T) catalog.TierPolicy {
			return catalog.TierPolicy{
				CancellationWindow: rapid.Ptr(spans, true).Draw(t, "window"),
				AllowReschedule:    rapid.Ptr(rapid.Bool(), true).Draw(t, "may"),
			}
		})).Draw(t, "tiers")
	case **bool:
		return rapid.Bool().Draw(t, "flag")
	case **int:
		if f.Kind() == protoreflect.MessageKind {
			return rapid.IntRange(0, 1000).Draw(t, "limit")
		}
		return rapid.Int32().Draw(t, "number")
	case **float64:
		return rapid.Int32().Draw(t, "number")
	}
	if f.Kind() == protoreflect.EnumKind {
		words := f.Enum().Values()
		word := words.Get(rapid.IntRange(1, words.Len()-1).Draw(t, "word"))
		return strings.TrimPrefix(string(word.Name()), strings.TrimSuffix(string(words.Get(0).Name()), "UNSPECIFIED"))
	}
	must.EqOp(t, reflect.TypeFor[**string](), reflect.TypeOf(of), must.Sprintf("%T is no kind of setting", of))
	return rapid.String().Draw(t, "text")
}

// Origins are in the order of the contract's fields.
func TestOriginMessages_KeepTheOrderOfFields(t *testing.T) {
	t.Parallel()
	rules := effectiveRulesMessage(waitlist.Resolve())
	policy := effectiveMessage(catalog.ResolveLayers())
	for m, origins := range map[proto.Message][]*v1.SettingOrigin{
		policy.Policy: policy.Origins, rules.Rules: rules.Origins,
	} {
		fields := m.ProtoReflect().Descriptor().Fields()
		var want, got []string
		for i := range fields.Len() {
			want = append(want, string(fields.Get(i).Name()))
		}
		for _, o := range origins {
			got = append(got, o.Field)
		}
		test.SliceEqOp(t, got, want)
	}
}

// UNSPECIFIED means the same as a field that is not set.
func TestReadSettings_TakesUnspecifiedForInherited(t *testing.T) {
	t.Parallel()
	s := waitlist.Settings{Mode: new(waitlist.FirstToClaim)}
	readSettings(waitlist.Fields, &v1.WaitlistRules{Mode: v1.WaitlistMode_WAITLIST_MODE_UNSPECIFIED.Enum()}, &s)
	test.Eq(t, waitlist.Settings{}, s)
}
