package mutate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// newModule writes a module with the given files, and returns its folder.
func newModule(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example.test/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(root, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

// mutantsOf returns the mutants that compile of a package with one file, as kind and new lines.
func mutantsOf(t *testing.T, folder, code string) []string {
	t.Helper()
	const seal = "package seal\nvar ErrInvalid error"
	root := newModule(t, map[string]string{folder + "/a.go": code, "internal/seal/seal.go": seal})
	all, sources, err := enumerate(t.Context(), root, []string{"./..."})
	must.NoError(t, err)
	var got []string
	for _, m := range all {
		if sources[m.Package].compiles(&m) {
			got = append(got, string(m.Kind)+": "+strings.Join(m.New, " "))
		}
	}
	return got
}

func TestMutants_ChangeGoCode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code string
		want []string
	}{
		"comparison and logic": {
			`func f(a, b int) bool { return a < b && b != 3 }`,
			[]string{
				"and/or exchanged: func f(a, b int) bool { return a < b || b != 3 }",
				"comparison shifted: func f(a, b int) bool { return a <= b && b != 3 }",
				"comparison shifted: func f(a, b int) bool { return a < b && b == 3 }",
				"number moved: func f(a, b int) bool { return a < b && b != 4 }",
			},
		},
		"condition and guard": {
			"func f(ok bool) int {\nif ok {\nreturn 1\n}\nreturn 0\n}",
			[]string{
				"condition negated: if !(ok) {", "guard removed: ", "number moved: return 2", "one made zero: return 0",
				"number moved: return 1",
			},
		},
		"a guard leaves what the if begins with": {
			"func g() (n int, ok bool) { return }\nfunc f() {\nif n, ok := g(); ok {\n_ = n\nreturn\n}\nf()\n}",
			[]string{
				"condition negated: if n, ok := g(); !(ok) {", "guard removed: { n, ok := g(); _ = n; _ = ok }",
				"statement removed: ",
			},
		},
		"statements": {
			"func f(p *int) {\ndefer f(nil)\n*p = 2\n*p++\n*p += 3\n_ = p\n}",
			[]string{
				"statement removed: ", "statement removed: ", "number moved: *p = 3", "operator exchanged: *p--",
				"statement removed: ", "statement removed: ", "operator exchanged: *p -= 3", "number moved: *p += 4",
			},
		},
		"errors": {
			"func g() (n int, err error) { return }\nfunc f() (int, error) {\n" +
				"n, err := g()\nif err != nil {\nreturn 0, err\n}\nreturn n, err\n}",
			[]string{
				"guard removed: ", "comparison shifted: if err == nil {", "error dropped: return 0, nil",
				"error dropped: return n, nil",
			},
		},
		"a change may leave a name unused": {
			"import \"strings\"\nfunc f(s string) error {\nerr := g(s)\nreturn err\n}\n" +
				"func g(s string) error {\nf(s)\ns = strings.ToLower(s)\nreturn nil\n}",
			[]string{"error dropped: return nil", "statement removed: ", "statement removed: "},
		},
		"arguments of one type": {
			"func g(a, b string, n int) {}\nfunc f(x, y string) { g(x, y, 2); _ = min(1.0, 2.0) }",
			[]string{
				"statement removed: func f(x, y string) { ; _ = min(1.0, 2.0) }",
				"arguments swapped: func f(x, y string) { g(y, x, 2); _ = min(1.0, 2.0) }",
				"number moved: func f(x, y string) { g(x, y, 3); _ = min(1.0, 2.0) }",
				"number moved: func f(x, y string) { g(x, y, 2); _ = min((1+1.0), 2.0) }",
				"number moved: func f(x, y string) { g(x, y, 2); _ = min(1.0, (1+2.0)) }",
			},
		},
		"arguments whose order is the same": {
			"import (\n\"cmp\"\n\"slices\"\n)\nfunc f(a, b []int) bool { return slices.Equal(a, b) }\n" +
				"func g(a, b error) error { return cmp.Or(a, b) }",
			[]string{"error dropped: func g(a, b error) error { return nil }"},
		},
		"a rune that is dropped": {
			`func f(rune) rune { return -1 }`, []string{"one made zero: func f(rune) rune { return -0 }"},
		},
		"a sentence for people": {
			"type t struct{}\nfunc (t) New(a, b any, text string) t { return t{} }\nfunc (t) Missing(a any, text string) {}\n" +
				"var fault t\nvar _ = fault.New(nil, nil, \"Gone.\")\nfunc f() { fault.Missing(nil, \"Role\") }",
			[]string{"statement removed: func f() {  }"},
		},
		"constants": {
			"import \"time\"\nvar (\na = true\nb = time.Hour\nc = 2 * time.Minute\nd = \"code\"\n)",
			[]string{
				"boolean turned: a = false", "number moved: b = (2*time.Hour)", "operator exchanged: c = 2 / time.Minute",
				"number moved: c = 3 * time.Minute", "string emptied: d = \"\"",
			},
		},
		"wording is no code": {
			"import (\n\"errors\"\n\"fmt\"\n\"log/slog\"\n)\ntype t struct { A int `json:\"a\"` }\n" +
				"func f(a, b int) {\nslog.Info(\"x\", \"a\", a)\n_ = errors.New(\"y\")\n_ = fmt.Errorf(\"%d%d\", a, b)\n" +
				"_ = \"a text that people read\"\npanic(\"never\")\n}",
			[]string{"string emptied: panic(\"\")"},
		},
		"a value that is returned with an error is not looked at": {
			"import \"errors\"\nfunc f(n int) (int, error) {\n" +
				"_ = make([]int, 0, n+1)\n_ = make([]int, 0, 8)\nreturn 1, errors.New(\"x\")\n}",
			[]string{
				"number moved: _ = make([]int, 1, n+1)", "operator exchanged: _ = make([]int, 0, n-1)",
				"number moved: _ = make([]int, 0, n+2)", "one made zero: _ = make([]int, 0, n+0)",
				"number moved: _ = make([]int, 1, 8)", "error dropped: return 1, nil",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mutantsOf(t, "internal/rules/a", "package a\n"+tc.code)
			slices.Sort(got)
			slices.Sort(tc.want)
			test.Eq(t, tc.want, got)
		})
	}
}

// What makes a fault never returns nil, so the values that are returned with it do not matter.
func TestMutants_LeaveOutValuesWithAnError(t *testing.T) {
	t.Parallel()
	const code = "package fault\ntype Error struct{}\nfunc (*Error) Error() string { return `` }\n" +
		"func f() *Error { return new(Error) }\nfunc g() (int, error) { return 2, f() }"
	want := []string{"error dropped: func g() (int, error) { return 2, nil }"}
	test.Eq(t, want, mutantsOf(t, "internal/fault", code))
}

func TestMutants_LeaveOutGeneratedFiles(t *testing.T) {
	t.Parallel()
	code := "// Code generated by x. DO NOT EDIT.\n\npackage a\n\nconst a = 1\n"
	got := mutantsOf(t, "a", code)
	test.EqOp(t, 0, len(got), test.Sprintf("%q", got))
}
