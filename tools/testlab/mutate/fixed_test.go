package mutate

import (
	"maps"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestRunFixed_FailsForSurvivors(t *testing.T) {
	t.Parallel()
	root := newModule(t, maps.Clone(code))
	options := Options{Dir: t.TempDir(), Say: func(string) {}}
	killed := Fixed{
		Harm: "a sign is wrong", Package: "a", Function: "Sign", Old: "return  -1", New: "return -2",
		Tests: []Test{{"a", "^TestSign$"}},
	}
	test.NoError(t, runFixed(t.Context(), options, root, []Fixed{killed}))
	for want, change := range map[string]func(*Fixed){
		"a sign is wrong: survived":          func(f *Fixed) { f.Tests = []Test{{"a", "^TestCount$"}} },
		`Sign of a has "return" 2 times`:     func(f *Fixed) { f.Old = "return" },
		`Sign of a has "i++" 0 times`:        func(f *Fixed) { f.Old = "i++" },
		"a has no (*sign).Sign":              func(f *Fixed) { f.Function = "(*sign).Sign" },
		"does not compile":                   func(f *Fixed) { f.New = "return x" },
		"no test of b fits TestSign":         func(f *Fixed) { f.Tests = []Test{{"b", "TestSign"}} },
		"no test of a fits ^TestSignOfNone$": func(f *Fixed) { f.Tests = []Test{{"a", "^TestSignOfNone$/^zero$"}} },
	} {
		f := killed
		change(&f)
		must.ErrorContains(t, runFixed(t.Context(), options, root, []Fixed{f}), want)
	}
}

func TestFixed_SayWhatHappens(t *testing.T) {
	t.Parallel()
	for _, f := range fixed {
		test.NotEqOp(t, "", f.Harm)
		test.SliceNotEmpty(t, f.Tests, test.Sprint(f.Harm))
		test.NotEq(t, f.Package == "", f.Schema == "", test.Sprint(f.Harm))
	}
}
