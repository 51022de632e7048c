package mutate

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestEquivalents_HaveReasons(t *testing.T) {
	t.Parallel()
	for _, e := range equivalents {
		test.NotEqOp(t, "", strings.TrimSpace(e.Reason), test.Sprint(e))
	}
}

// An entry names what is changed, not the lines around it.
func TestEquivalent_FitsByFunctionKindAndWords(t *testing.T) {
	t.Parallel()
	const code = "package a\n\nfunc f(a, b int) bool {\n\treturn a <  b && b <\n\t\ta+1\n}\n"
	root := newModule(t, map[string]string{"a/a.go": code})
	all, loaded, err := enumerate(t.Context(), root, []string{"./..."})
	must.NoError(t, err)
	for want, e := range map[int]Equivalent{
		0: {Package: "a", Function: "g", Kind: Comparison},
		1: {Package: "a", Function: "f", Kind: Comparison, At: "a < b"},
		2: {Package: "a", Function: "f", Kind: Comparison},
	} {
		fits := 0
		for _, m := range all {
			if equivalent([]Equivalent{e}, m) {
				fits++
			}
		}
		test.EqOp(t, want, fits, test.Sprint(e))
		test.EqOp(t, want == 0, len(stale([]Equivalent{e}, all, loaded)) > 0, test.Sprint(e))
	}
	unloaded := []Equivalent{{Package: "b", Function: "f", Kind: Comparison}}
	test.SliceEmpty(t, stale(unloaded, all, loaded))
	elsewhere := Equivalent{Package: "a", Function: "f", Kind: Logic, At: "a < b && a"}
	test.SliceLen(t, 1, stale([]Equivalent{elsewhere}, all, loaded))
}
