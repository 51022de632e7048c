package mutate

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// forms has a function of each form, with a number that a test checks.
var forms = map[string]string{
	"a/a.go": `package a

type num struct{ n int }

type list[T any] struct{ all []T }

func plain(a int, _ string, more ...int) (n int, err error) { n = a + len(more) + 1; return n, nil }

func unnamed(int, string) int { return 2 }

func nothing(p *int) { *p = 3 }

func generic[K comparable, V any](m map[K]V, _ ...K) int { return len(m) + 4 }

func (num) value() int { return 5 }

func (n *num) pointer() { n.n = 6 }

func (l list[T]) ofType() int { return len(l.all) + 7 }

func recovers() { _, got = recover(), 8 }

var got = 9

func init() { got += 10 }
`,
	"a/a_test.go": `package a

import (
	"fmt"
	"testing"
)

func TestForms(t *testing.T) {
	start := got
	p, _ := plain(1, "", 2, 3)
	var q int
	nothing(&q)
	n := num{}
	n.pointer()
	func() { defer recovers(); panic(1) }()
	is := fmt.Sprint(start, p, unnamed(1, ""), q, generic(map[int]bool{}), n.value(), n.n, list[int]{}.ofType(), got)
	if is != "19 4 2 3 4 5 6 7 8" {
		t.Error(is)
	}
}
`,
}

func TestRun_KillsEveryFormOfMutantInABundle(t *testing.T) {
	t.Parallel()
	root := newModule(t, forms)
	all, sources, err := enumerate(t.Context(), root, []string{"./..."})
	must.NoError(t, err)
	r, err := newTester(root, t.TempDir(), time.Minute)
	must.NoError(t, err)
	var mutants []Mutant
	for _, m := range all {
		if sources["a"].compiles(&m) {
			mutants = append(mutants, m)
		}
	}
	b, err := r.bundle(sources["a"], mutants)
	must.NoError(t, err)
	p, err := r.open(t.Context(), "a")
	must.NoError(t, err)
	for _, m := range mutants {
		var text []byte
		if b.numbers[m.ID] == 0 {
			text = apply(sources["a"].files[0].text, m.edits)
			test.SliceContains(t, []string{"recovers", "got", "init"}, m.Function)
		}
		result, err := r.judge(t.Context(), m, text, b, []target{{p, ""}})
		must.NoError(t, err)
		test.EqOp(t, Killed, result.Verdict, test.Sprintf("%s %v", m.place(), m.New))
	}
	test.NotEq(t, map[string]string{"a:": ""}, b.binaries, test.Sprint("the bundle does not compile"))
	must.NoError(t, b.remove())
}
