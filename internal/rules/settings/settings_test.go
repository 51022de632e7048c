package settings_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/settings"
)

type mode string

// A level sets options. Rules are the effective values.
type (
	options struct {
		Open   *bool
		Size   *int
		Least  *int
		Window *time.Duration
		Mode   *mode
		Bonus  *map[string]int
	}
	rules struct {
		Open   bool
		Size   int
		Least  int
		Window time.Duration
		Mode   mode
		Bonus  map[string]int
	}
)

var table = settings.Table[options, rules]{
	settings.New("is_open", func(s *options, r *rules) (**bool, *bool) { return &s.Open, &r.Open }).
		Default(true).In("open"),
	settings.New("size", func(s *options, r *rules) (**int, *int) { return &s.Size, &r.Size }).
		Default(50).Check(settings.Number(1, 100)),
	settings.New("least", func(s *options, r *rules) (**int, *int) { return &s.Least, &r.Least }).CheckWith(leastSize),
	settings.New("window", func(s *options, r *rules) (**time.Duration, *time.Duration) { return &s.Window, &r.Window }).
		Default(time.Hour).Check(settings.Span(time.Minute, 24*time.Hour)),
	settings.New("mode", func(s *options, r *rules) (**mode, *mode) { return &s.Mode, &r.Mode }).
		Check(settings.OneOf[mode]("FAST", "FAIR")),
	settings.New("bonus", func(s *options, r *rules) (**map[string]int, *map[string]int) { return &s.Bonus, &r.Bonus }),
}

func leastSize(s *options, field string, value int) error {
	if s.Size != nil && value > *s.Size {
		return fault.Invalid(field, "It is at most the size.")
	}
	return nil
}

// anyOptions sets each field or leaves it open.
func anyOptions(t *rapid.T) options {
	return options{
		Open: rapid.Ptr(rapid.Bool(), true).Draw(t, "open"), Size: rapid.Ptr(rapid.Int(), true).Draw(t, "size"),
		Least: rapid.Ptr(rapid.Int(), true).Draw(t, "least"), Mode: rapid.Ptr(rapid.Just(mode("FAIR")), true).Draw(t, "mode"),
		Window: rapid.Ptr(rapid.Map(rapid.Int64(), fromInt), true).Draw(t, "window"),
		Bonus:  rapid.Ptr(rapid.MapOf(rapid.String(), rapid.Int()), true).Draw(t, "bonus"),
	}
}

func fromInt(n int64) time.Duration { return time.Duration(n) }

func anyRules(t *rapid.T) rules {
	r := table.Defaults()
	s := anyOptions(t)
	table.Apply(&s, &r)
	return r
}

func TestDefaults_ComeFromRows(t *testing.T) {
	t.Parallel()
	test.Eq(t, rules{Open: true, Size: 50, Window: time.Hour}, table.Defaults())
}

func TestNew_FindsTheField(t *testing.T) {
	t.Parallel()
	var fields, columns []string
	for _, row := range table {
		fields, columns = append(fields, row.Field()), append(columns, row.Column())
	}
	test.Eq(t, []string{"Open", "Size", "Least", "Window", "Mode", "Bonus"}, fields)
	test.Eq(t, []string{"open", "", "", "", "", ""}, columns)
}

// Each effective value is that of the last layer that sets it, as a whole, and its origin is that layer's level.
func TestResolve_LastLayerThatSetsWins(t *testing.T) {
	t.Parallel()
	type layer struct {
		level string
		options
	}
	rapid.Check(t, func(t *rapid.T) {
		layers := make([]layer, rapid.IntRange(0, 3).Draw(t, "layers"))
		for i := range layers {
			layers[i] = layer{[]string{"tenant", "location", "service"}[i], anyOptions(t)}
		}
		got, origins := settings.Resolve(table, "built in", layers,
			func(l *layer) (string, *options) { return l.level, &l.options })
		for field, value := range reflect.ValueOf(got).Fields() {
			want, origin := reflect.ValueOf(table.Defaults()).FieldByName(field.Name).Interface(), "built in"
			for _, l := range layers {
				if v := reflect.ValueOf(l.options).FieldByName(field.Name); !v.IsNil() {
					want, origin = v.Elem().Interface(), l.level
				}
			}
			diff := cmp.Diff(want, value.Interface())
			must.EqOp(t, "", diff,
				must.Sprintf("%s comes from %q, want %q: %s", field.Name, origins[field.Name], origin, diff))
			must.EqOp(t, origin, origins[field.Name],
				must.Sprintf("%s comes from %q, want %q: %s", field.Name, origins[field.Name], origin, diff))
		}
	})
}

func TestLayer_AppliesWhatIsSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, want := anyOptions(t), anyRules(t)
		if s.Size != nil {
			sized := want
			table.Apply(&s, &sized)
			must.EqOp(t, *s.Size, sized.Size)
		}
		got := want
		table.Apply(&s, &want)
		table.Layer(&s)(&got)
		must.Eq(t, want, got)
	})
}

func TestExplicit_InheritsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want, got := anyRules(t), anyRules(t)
		s := table.Explicit(want)
		table.Apply(&s, &got)
		must.Eq(t, want, got)
		for name, value := range table.Values(&s) {
			must.True(t, value != nil, must.Sprintf("%s is inherited", name))
		}
	})
}

// Setting by name what was read by name gives the same value, and changes no other field.
func TestRow_SetsWhatItReads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want, got := anyOptions(t), anyOptions(t)
		values := table.Values(&want)
		must.EqOp(t, len(table), len(values), must.Sprintf("%d of %d values", len(values), len(table)))
		names := rapid.SliceOfDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(values))), rapid.ID[string]).Draw(t, "names")
		before := got
		only := table.Only(names)
		for _, row := range only {
			row.Set(&got, values[row.Name()])
		}
		must.EqOp(t, len(names), len(only), must.Sprintf("%d rows of %v", len(only), names))
		for _, row := range table {
			from := &before
			if slices.Contains(names, row.Name()) {
				from = &want
			}
			must.EqOp(t, "", cmp.Diff(row.Value(from), row.Value(&got)), must.Sprintf("%s", row.Name()))
		}
	})
}

func TestRow_ConvertsValues(t *testing.T) {
	t.Parallel()
	var got options
	for name, value := range map[string]any{"is_open": false, "size": int32(7), "window": time.Minute, "mode": "FAST"} {
		table.Only([]string{name})[0].Set(&got, value)
	}
	test.Eq(t, options{Open: new(false), Size: new(7), Window: new(time.Minute), Mode: new(mode("FAST"))}, got)
}

func TestValidate_NamesTheFirstInvalidField(t *testing.T) {
	t.Parallel()
	const size, window = "rules.size: It is 1 to 100.", "rules.window: It is 1m0s to 24h0m0s long."
	least := options{Size: new(1), Least: new(1), Window: new(61 * time.Second), Mode: new(mode("FAST"))}
	most := options{Size: new(100), Least: new(100), Window: new(24 * time.Hour), Mode: new(mode("FAIR"))}
	fraction := options{Window: new(90*time.Second + time.Nanosecond)}
	for name, c := range map[string]struct {
		options
		want string // the field and the message
	}{
		"nothing set":             {options{}, ""},
		"the shortest":            {options{Window: new(time.Minute)}, ""},
		"within the bounds":       {least, ""},
		"at the upper bounds":     {most, ""},
		"below the least":         {options{Size: new(0)}, size},
		"above the most":          {options{Size: new(101)}, size},
		"shorter than the least":  {options{Window: new(time.Second)}, window},
		"longer than the most":    {options{Window: new(25 * time.Hour)}, window},
		"a fraction of a second":  {fraction, "rules.window: It is a whole number of seconds."},
		"a word that is not one":  {options{Mode: new(mode("fast"))}, "rules.mode: It is one of [FAST FAIR]."},
		"wrong with another":      {options{Size: new(5), Least: new(6)}, "rules.least: It is at most the size."},
		"right without the other": {options{Least: new(6)}, ""},
		"the first of two":        {options{Mode: new(mode("")), Size: new(0)}, size},
	} {
		got, err := "", table.Validate(&c.options, "rules.")
		if f, ok := errors.AsType[*fault.Error](err); ok {
			got = f.Field + ": " + f.Message
		}
		test.EqOp(t, c.want, got, test.Sprint(name))
		test.EqOp(t, c.want != "", fault.ReasonOf(err) == fault.InvalidField, test.Sprint(name))
	}
}
