package settingsapi

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoimpl"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/settings"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Settings have the same names in their tables and in the contract, so both directions convert by name. A setting that
// a level inherits is not set in its message.

// writeSettings writes the settings of s to the fields of m, and returns m.
func writeSettings[S, R any, M proto.Message](t settings.Table[S, R], s *S, m M) M {
	into := m.ProtoReflect()
	for _, row := range t {
		if value := row.Value(s); value != nil {
			f := fieldNamed(into, row.Name())
			into.Set(f, fieldValue(f, value))
		}
	}
	return m
}

// readSettings writes the fields of m to the settings of s. A field that is not set is inherited.
func readSettings[S, R any](t settings.Table[S, R], m proto.Message, s *S) {
	from := m.ProtoReflect()
	for _, row := range t {
		if f := fieldNamed(from, row.Name()); from.Has(f) {
			row.Set(s, settingValue(f, from.Get(f)))
		} else {
			row.Set(s, nil)
		}
	}
}

// originMessages returns the level from which each field of m comes, in the order of m's fields.
func originMessages[S, R any](
	t settings.Table[S, R], m proto.Message, origins map[string]catalog.Level, target func(catalog.Level) string,
) []*v1.SettingOrigin {
	fields := m.ProtoReflect().Descriptor().Fields()
	messages := make([]*v1.SettingOrigin, fields.Len())
	for _, row := range t {
		level := origins[row.Field()]
		messages[fields.ByName(protoreflect.Name(row.Name())).Index()] = &v1.SettingOrigin{
			Field: row.Name(), Level: policyLevelMessage(level), TargetId: target(level),
		}
	}
	return messages
}

func fieldNamed(m protoreflect.Message, name string) protoreflect.FieldDescriptor {
	return m.Descriptor().Fields().ByName(protoreflect.Name(name))
}

// fieldValue converts the value of a setting to the value of a message's field.
func fieldValue(f protoreflect.FieldDescriptor, value any) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.Int32Kind:
		return protoreflect.ValueOf(reflect.ValueOf(value).Convert(reflect.TypeFor[int32]()).Interface())
	case protoreflect.EnumKind:
		word := f.Enum().Values().ByName(enumPrefix(f) + protoreflect.Name(reflect.ValueOf(value).String()))
		if word == nil {
			return protoreflect.ValueOfEnum(0) // UNSPECIFIED
		}
		return protoreflect.ValueOfEnum(word.Number())
	case protoreflect.MessageKind:
		return protoreflect.ValueOfMessage(settingMessage(value).ProtoReflect())
	default:
		return protoreflect.ValueOf(value)
	}
}

// settingValue is the inverse of fieldValue. UNSPECIFIED becomes nil.
func settingValue(f protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch {
	case f.Kind() == protoreflect.MessageKind:
		return messageValue(value.Message().Interface())
	case f.Kind() != protoreflect.EnumKind:
		return value.Interface()
	case value.Enum() == 0:
		return nil
	default:
		return strings.TrimPrefix(protoimpl.X.EnumStringOf(f.Enum(), value.Enum()), string(enumPrefix(f)))
	}
}

// enumPrefix returns the prefix of all values of a field's enum: the first value is the prefix and UNSPECIFIED.
func enumPrefix(f protoreflect.FieldDescriptor) protoreflect.Name {
	return protoreflect.Name(strings.TrimSuffix(string(f.Enum().Values().Get(0).Name()), "UNSPECIFIED"))
}

// settingMessage converts a value that is a message in the contract.
func settingMessage(value any) proto.Message {
	switch v := value.(type) {
	case time.Duration:
		return durationpb.New(v)
	case waitlist.QuietHours:
		return &v1.QuietHours{Start: convert.TimeOfDayMessage(v.From), End: convert.TimeOfDayMessage(v.Until)}
	case int:
		m := &v1.WaitlistLimit{}
		if v > 0 {
			m.Max = new(int32(v))
		}
		return m
	case map[string]int:
		m := &v1.WaitlistTierBonuses{}
		for _, tier := range slices.Sorted(maps.Keys(v)) {
			m.Bonuses = append(m.Bonuses, &v1.WaitlistTierBonus{Tier: tier, Points: int32(v[tier])})
		}
		return m
	case map[string]catalog.TierPolicy:
		m := &v1.TierCancellations{}
		for _, tier := range slices.Sorted(maps.Keys(v)) {
			m.Overrides = append(m.Overrides, writeSettings(catalog.TierFields, new(v[tier]), &v1.TierCancellation{Tier: tier}))
		}
		return m
	}
	return nil
}

// messageValue is the inverse of settingMessage.
func messageValue(m proto.Message) any {
	switch m := m.(type) {
	case *durationpb.Duration:
		return m.AsDuration()
	case *v1.QuietHours:
		return waitlist.QuietHours{From: convert.TimeOfDayValue(m.Start), Until: convert.TimeOfDayValue(m.End)}
	case *v1.WaitlistLimit:
		return int(m.GetMax())
	case *v1.WaitlistTierBonuses:
		bonuses := make(map[string]int, len(m.Bonuses))
		for _, b := range m.Bonuses {
			bonuses[b.Tier] = int(b.Points)
		}
		return bonuses
	case *v1.TierCancellations:
		tiers := make(map[string]catalog.TierPolicy, len(m.Overrides))
		for _, o := range m.Overrides {
			var p catalog.TierPolicy
			readSettings(catalog.TierFields, o, &p)
			tiers[o.Tier] = p
		}
		return tiers
	}
	return nil
}
