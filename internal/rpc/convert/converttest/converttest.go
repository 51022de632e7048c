// Package converttest finds out which field a conversion writes to which, so that tests can compare that with what is
// meant.
package converttest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Lines collects what conversions do.
type Lines struct{ text []string }

// Add adds a conversion of a domain value to a message: a line for each field of the message with the field that it
// comes from, and a line for each field that is left out. Set sets what cannot be made up, such as names of enums.
func Add[D any, M proto.Message](l *Lines, convert func(D) M, set ...func(*D)) {
	var from D
	n := 0
	fill(reflect.ValueOf(&from).Elem(), &n)
	for _, f := range set {
		f(&from)
	}
	fields := func(from D) (map[string]string, map[string]string) {
		in, out := make(map[string]string), make(map[string]string)
		flatten(in, "", reflect.ValueOf(from))
		flattenMessage(out, "", convert(from).ProtoReflect())
		return in, out
	}
	in, out := fields(from)
	// Booleans are not distinct, so each is changed on its own.
	effects := make(map[string]string)
	walk(reflect.ValueOf(&from).Elem(), "", func(path string, v reflect.Value) {
		if v.Kind() == reflect.Bool && v.CanSet() {
			before := v.Bool()
			v.SetBool(!before)
			_, with := fields(from)
			v.SetBool(before)
			effects[path] = changes(out, with)
		}
	})
	name := proto.Message(*new(M)).ProtoReflect().Descriptor().Name()
	l.compare(fmt.Sprintf("%T to %s", from, name), in, out, effects)
}

// AddBack adds a conversion of a message to a domain value.
func AddBack[M proto.Message, D any](l *Lines, convert func(M) D, set ...func(M)) {
	from := proto.Message(*new(M)).ProtoReflect().New()
	n := 0
	fillMessage(from, &n)
	// A boolean that is absent may have another default than false.
	bools := make([]protoreflect.FieldDescriptor, 0)
	for i := range from.Descriptor().Fields().Len() {
		f := from.Descriptor().Fields().Get(i)
		if f.Kind() == protoreflect.BoolKind && f.Cardinality() != protoreflect.Repeated {
			bools = append(bools, f)
			from.Set(f, protoreflect.ValueOfBool(false))
		}
	}
	for _, f := range set {
		f(from.Interface().(M))
	}
	fields := func() (map[string]string, map[string]string) {
		in, out := make(map[string]string), make(map[string]string)
		flattenMessage(in, "", from)
		flatten(out, "", reflect.ValueOf(convert(from.Interface().(M))))
		return in, out
	}
	in, out := fields()
	effects := make(map[string]string)
	for _, f := range bools {
		from.Set(f, protoreflect.ValueOfBool(true))
		_, with := fields()
		from.Set(f, protoreflect.ValueOfBool(false))
		effects[string(f.Name())] = changes(out, with)
	}
	l.compare(fmt.Sprintf("%s to %T", from.Descriptor().Name(), *new(D)), in, out, effects)
}

func changes(before, after map[string]string) string {
	var changed []string
	for path := range maps.Keys(after) {
		if before[path] != after[path] {
			changed = append(changed, path)
		}
	}
	for path := range before {
		if _, still := after[path]; !still {
			changed = append(changed, "no "+path)
		}
	}
	slices.Sort(changed)
	return strings.Join(changed, ", ")
}

func (l *Lines) compare(title string, in, out, effects map[string]string) {
	l.text = append(l.text, title)
	used := make(map[string]bool)
	for _, to := range slices.Sorted(maps.Keys(out)) {
		source := "?"
		for _, from := range slices.Sorted(maps.Keys(in)) {
			if same(in[from], out[to]) {
				source, used[from] = from, true
			}
		}
		l.text = append(l.text, "  "+to+" = "+source)
	}
	for _, from := range slices.Sorted(maps.Keys(effects)) {
		if effects[from] != "" {
			l.text = append(l.text, "  "+effects[from]+" if "+from)
			used[from] = true
		}
		in[from] = ""
	}
	// What is left out as a whole is one line.
	whole := func(path string) string {
		top, _, nested := strings.Cut(path, ".")
		for other := range in {
			if nested && used[other] && strings.HasPrefix(other, top+".") {
				return path
			}
		}
		return top
	}
	var without []string
	for from := range in {
		if !used[from] {
			without = append(without, "  without "+whole(from))
		}
	}
	slices.Sort(without)
	l.text = append(l.text, slices.Compact(without)...)
}

// same reports whether two texts say the same in the domain and in the contract. In the contract, names of enums have
// prefixes, and an etag is a version with a prefix.
func same(a, b string) bool {
	return a == b || "v"+a == b || "v"+b == a ||
		strings.HasSuffix(a, "_"+b) && strings.ToUpper(b) == b || strings.HasSuffix(b, "_"+a) && strings.ToUpper(a) == a
}

// Check compares the lines with a file. In the file, each field that is left out, and each value that comes from no
// single field, has a reason after a #.
func (l *Lines) Check(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	var want []string
	for line := range strings.Lines(string(text)) {
		line, reason, _ := strings.Cut(strings.TrimRight(line, "\n"), " #")
		line = strings.TrimRight(line, " ")
		if (strings.HasPrefix(line, "  without ") || strings.HasSuffix(line, " = ?")) && strings.TrimSpace(reason) == "" {
			t.Errorf("no reason: %s", line)
		}
		if strings.TrimSpace(line) != "" {
			want = append(want, line)
		}
	}
	if diff := gocmp.Diff(want, l.text); diff != "" {
		t.Errorf("the conversions differ from %s (-want +got):\n%s\nall:\n%s", file, diff, strings.Join(l.text, "\n"))
	}
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bytesType    = reflect.TypeFor[[]byte]()
	start        = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
)

func instant(n int) time.Time {
	return start.Add(time.Duration(n)*time.Hour + time.Duration(n)*time.Microsecond)
}
func length(n int) time.Duration {
	return time.Duration(n)*time.Minute + time.Duration(n)*time.Millisecond
}

func uuidText(n int) string { return fmt.Sprintf("0190a000-0000-7000-8000-%012x", n) }

// fill gives every field a value of its own, except booleans, which stay false.
func fill(v reflect.Value, n *int) {
	*n++
	switch {
	case v.Type() == timeType:
		v.Set(reflect.ValueOf(instant(*n)))
		return
	case v.Type() == durationType:
		v.SetInt(int64(length(*n)))
		return
	case v.Type() == bytesType:
		v.SetBytes([]byte("text " + strconv.Itoa(*n)))
		return
	}
	switch v.Kind() { //nolint:exhaustive // other kinds keep their zero value
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Array: // a UUID
		raw := [16]byte{0x01, 0x90, 0xa0, 0, 0, 0, 0x70, 0, 0x80}
		binary.BigEndian.PutUint32(raw[12:], uint32(*n))
		reflect.Copy(v, reflect.ValueOf(raw))
	case reflect.String:
		v.SetString("text " + strconv.Itoa(*n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	}
}

// walk visits the fields that have a value of their own.
func walk(v reflect.Value, path string, visit func(string, reflect.Value)) {
	switch {
	case v.Type() == timeType, v.Type() == durationType, v.Type() == bytesType, v.Kind() == reflect.Array:
		visit(path, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			at := strings.TrimPrefix(path+"."+field.Name, ".")
			if field.Anonymous {
				at = path
			}
			if field.IsExported() {
				walk(v.Field(i), at, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), path+"[]", visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			walk(v.MapIndex(key), fmt.Sprintf("%s[%v]", path, key), visit)
		}
	case reflect.Func, reflect.Interface, reflect.Chan:
	default:
		visit(path, v)
	}
}

func flatten(into map[string]string, path string, root reflect.Value) {
	walk(root, path, func(path string, v reflect.Value) {
		switch value := v.Interface().(type) {
		case bool:
			if value {
				into[path] = "true"
			}
		case time.Time:
			if !value.IsZero() {
				into[path] = value.UTC().Format(time.RFC3339Nano)
			}
		case time.Duration:
			into[path] = value.String()
		default:
			text := fmt.Sprint(value)
			if v.Kind() == reflect.Int { // also of types that have names for their values
				text = strconv.FormatInt(v.Int(), 10)
			}
			if !v.IsZero() {
				into[path] = text
			}
		}
	})
}

func fillMessage(m protoreflect.Message, n *int) {
	for i := range m.Descriptor().Fields().Len() {
		*n++
		f := m.Descriptor().Fields().Get(i)
		switch {
		case f.IsMap(), f.Kind() == protoreflect.BoolKind:
		case f.IsList():
			list := m.Mutable(f).List()
			if f.Message() == nil {
				list.Append(scalar(f, *n))
				continue
			}
			element := list.NewElement()
			fillAny(element.Message(), n)
			list.Append(element)
		case f.Message() != nil:
			fillAny(m.Mutable(f).Message(), n)
		default:
			m.Set(f, scalar(f, *n))
		}
	}
}

func fillAny(m protoreflect.Message, n *int) {
	switch m := m.Interface().(type) {
	case *timestamppb.Timestamp:
		proto.Merge(m, timestamppb.New(instant(*n)))
	case *durationpb.Duration:
		proto.Merge(m, durationpb.New(length(*n)))
	default:
		fillMessage(m.ProtoReflect(), n)
	}
}

func scalar(f protoreflect.FieldDescriptor, n int) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		if name := string(f.Name()); name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids") {
			return protoreflect.ValueOfString(uuidText(n))
		}
		return protoreflect.ValueOfString("text " + strconv.Itoa(n))
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(1 + n%(values.Len()-1)).Number())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("text " + strconv.Itoa(n)))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n) + 0.5)
	default:
		panic("converttest: " + f.FullName())
	}
}

func flattenMessage(into map[string]string, path string, m protoreflect.Message) {
	switch m := m.Interface().(type) {
	case *timestamppb.Timestamp:
		into[path] = m.AsTime().Format(time.RFC3339Nano)
		return
	case *durationpb.Duration:
		into[path] = m.AsDuration().String()
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		at := strings.TrimPrefix(path+"."+string(f.Name()), ".")
		one := func(at string, v protoreflect.Value) {
			switch {
			case f.Message() != nil:
				flattenMessage(into, at, v.Message())
			case f.Kind() == protoreflect.EnumKind:
				into[at] = string(f.Enum().Values().ByNumber(v.Enum()).Name())
			default:
				into[at] = fmt.Sprint(v.Interface())
			}
		}
		switch {
		case f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				one(at+"[]", v.List().Get(i))
			}
		default:
			one(at, v)
		}
		return true
	})
}
