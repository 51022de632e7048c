package mutate

import (
	"fmt"
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

var got = len(name) + len(table) + table[0](1)

const name = "sixsix"

var table = []func(int) int{func(n int) int { return n + 1 }}

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

// A package that does not compile in a bundle, here because it uses a name of it, is left out.
func TestBundle_LeavesOutWhatDoesNotCompile(t *testing.T) {
	t.Parallel()
	root := newModule(t, map[string]string{
		"a/a.go": "package a\n\nfunc F(n int) int { return n + 1 }\n",
		"b/b.go": "package b\n\nvar mutantChosen = 1\n\nfunc F(n int) int { return n + mutantChosen }\n",
	})
	mutants, sources, err := enumerate(t.Context(), root, []string{"./..."})
	must.NoError(t, err)
	r, err := newTester(root, t.TempDir(), time.Minute)
	must.NoError(t, err)
	b, err := r.bundle(t.Context(), sources, mutants)
	must.NoError(t, err)
	for _, m := range mutants {
		test.EqOp(t, m.Package == "a", b.numbers[m.ID] > 0, test.Sprint(m.place()))
	}
}

func TestRun_KillsEveryFormOfMutantInABundle(t *testing.T) {
	t.Parallel()
	root := newModule(t, forms)
	all, sources, err := enumerate(t.Context(), root, []string{"./..."})
	must.NoError(t, err)
	r, err := newTester(root, t.TempDir(), time.Minute)
	must.NoError(t, err)
	r.slow = 0
	var mutants []Mutant
	for _, m := range all {
		if sources["a"].compiles(&m) {
			mutants = append(mutants, m)
		}
	}
	b, err := r.bundle(t.Context(), sources, mutants)
	must.NoError(t, err)
	p, err := r.open(t.Context(), "a")
	must.NoError(t, err)
	for _, m := range mutants {
		var text []byte
		if b.numbers[m.ID] == 0 {
			text = apply(sources["a"].files[0].text, m.edits)
			test.SliceContains(t, []string{"recovers", "init"}, m.Function)
		}
		result, err := r.judge(t.Context(), m, text, b, []target{{p, ""}})
		must.NoError(t, err)
		test.EqOp(t, Killed, result.Verdict, test.Sprintf("%s %v", m.place(), m.New))
	}
	test.NotEq(t, "", b.binaries["a:"].binary, test.Sprint("the bundle does not compile"))
	test.NotNil(t, b.binaries["a:"].trace, test.Sprint("the tests were not traced"))
	must.NoError(t, b.remove())
}

// Only tests that reach a mutant run, those that reach few others first.
func TestTrace_NamesTheTestsThatReachAMutant(t *testing.T) {
	t.Parallel()
	output := "=== RUN   TestBroad\n=== PAUSE TestBroad\n=== RUN   TestA\nmutant reached 1\n" +
		"=== RUN   TestB\n=== PAUSE TestB/part\n\nmutant reached 3\n=== CONT  TestBroad/part\n\nmutant reached 1\n" +
		"\nmutant reached 2\n=== CONT  TestB/part/of\n\nmutant reached 2\n" +
		"=== NAME  TestC\nmutant reached often 4\nmutant reached 6\n"
	for i := range 9 {
		output += fmt.Sprintf("=== RUN   TestMany%d\nmutant reached 5\n", i)
	}
	marks := map[int]mark{1: inCode, 2: inCode, 3: inSQL, 4: inCode, 5: inCode, 6: inCode, 7: inCode, 8: inSQL, 9: noMark}
	traced, unseen := readTrace(output, marks), readTrace("mutant reached 1\n", marks)
	for number, want := range map[int][]string{
		1: {"^TestA$|^TestBroad$"},
		2: {"^TestB$/^part$|^TestBroad$"},
		3: {"^TestB$"},
		4: {"all"}, // more often than was printed
		5: {"^TestMany0$|^TestMany1$|^TestMany2$|^TestMany3$", "^TestMany4$|^TestMany5$|^TestMany6$|^TestMany7$|^TestMany8$"},
		6: {"^TestC$"},
		7: nil,
		8: nil,
		9: {"all"}, // it has no mark
	} {
		test.Eq(t, want, traced.patterns(number, marks[number], "all"), test.Sprint(number))
	}
	// No statement was seen, the only code was reached before any test, and there is no trace.
	for number, of := range map[int]*trace{8: unseen, 1: unseen, 2: nil} {
		test.Eq(t, []string{"all"}, of.patterns(number, marks[number], "all"), test.Sprint(number))
	}
}
