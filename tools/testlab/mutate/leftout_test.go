package mutate

import (
	"slices"
	"testing"

	"github.com/shoenig/test"
)

// Each code is in one package with what comes before it. The mutants that are left out are not in want.
func TestMutants_LeaveOutKinds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		folder, code string
		want         []string
	}{
		"errors of libraries": {
			"internal/app/a",
			`import ("errors"; "fmt"; "os")
func f(name string) (n int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, fmt.Errorf("open: %w", err)
	}
	if err := file.Sync(); err != nil {
		g()
		return 0, errBusy
	}
	switch _, err = file.Stat(); {
	case err != nil:
		return 0, err
	}
	return len(name), errors.Join(err, file.Close())
}
var errBusy error
func g() {}`,
			[]string{"number moved: return 1, errBusy", "statement removed: "},
		},
		"errors of the product": {
			"internal/app/a",
			`func f() error {
	if err := g(); err != nil {
		return err
	}
	err := call(f)
	if err != nil {
		return err
	}
	return err
}
func g() (err error) { return }
func call(f func() error) error { return f() }`,
			[]string{
				"comparison shifted: if err := g(); err == nil {", "comparison shifted: if err == nil {",
				"error dropped: func call(f func() error) error { return nil }", "error dropped: return nil",
				"error dropped: return nil", "error dropped: return nil", "guard removed: ",
				"guard removed: { err := g(); _ = err }",
			},
		},
		"errors that come back through a library": {
			"internal/app/a",
			`import "path/filepath"
func f() error {
	return filepath.WalkDir("", nil)
}
func g(walk filepath.WalkFunc) error {
	return filepath.Walk("", walk)
}`,
			[]string{"error dropped: return nil"},
		},
		"defaults of closed sets": {
			"internal/rules/a",
			`type kind string
const (a kind = "a"; b kind = "b")
func f(k kind) int {
	switch k {
	case a:
		return 2
	case b:
	default:
		return 3
	}
	return 4
}
func g(k kind) int {
	switch k {
	case a:
		return 5
	case b:
		return 6
	}
	return 7
}
func h(k kind) int {
	switch k {
	case a:
		return 8
	}
	return 9
}`,
			[]string{
				"number moved: return 10", "number moved: return 3", "number moved: return 5", "number moved: return 6",
				"number moved: return 7", "number moved: return 9",
				`string emptied: const (a kind = ""; b kind = "b")`, `string emptied: const (a kind = "a"; b kind = "")`,
			},
		},
		"bounds of constants": {
			"internal/rules/a",
			`import "time"
const most = 8 * 2
func f(n int, d time.Duration) bool { return n < 0 || n >= most || n > 1<<4 || d > 0 }`,
			[]string{
				"and/or exchanged: func f(n int, d time.Duration) bool { return n < 0 && n >= most || n > 1<<4 || d > 0 }",
				"and/or exchanged: func f(n int, d time.Duration) bool { return n < 0 || n >= most && n > 1<<4 || d > 0 }",
				"and/or exchanged: func f(n int, d time.Duration) bool { return n < 0 || n >= most || n > 1<<4 && d > 0 }",
				"comparison shifted: func f(n int, d time.Duration) bool { return n <= 0 || n >= most || n > 1<<4 || d > 0 }",
				"comparison shifted: func f(n int, d time.Duration) bool { return n < 0 || n >= most || n > 1<<4 || d >= 0 }",
				"number moved: func f(n int, d time.Duration) bool { return n < 1 || n >= most || n > 1<<4 || d > 0 }",
			},
		},
		"paces and sizes are no rules": {
			"internal/app/a",
			"import \"time\"\nvar a, b, c = 5 * time.Second, 64 << 10, 3",
			[]string{"number moved: var a, b, c = 5 * time.Second, 64 << 10, 4"},
		},
		"guards that refuse": {
			"internal/token",
			`type refusal struct{}
func (refusal) Error() string { return "" }
func (refusal) check() error { return nil }
func refuse() error { return nil }
func f(n, m int) error {
	if n <= m || n == 0 {
		return refusal{}
	}
	if n == m {
		return nil
	}
	for range n {
		if n > m {
			continue
		}
		return refusal{}.check()
	}
	return refuse()
}`,
			[]string{
				"comparison shifted: if n != m {", "comparison shifted: if n <= m || n != 0 {",
				"condition negated: if !(n <= m || n == 0) {", "condition negated: if !(n > m) {",
				"error dropped: return nil", "guard removed: ", "number moved: if n <= m || n == 1 {",
			},
		},
		"refusals with an error of a guarded package": {
			"internal/app/a",
			`import "example.test/m/internal/seal"
func read(link []byte) error {
	if len(link) == 0 {
		return seal.ErrInvalid
	}
	return nil
}`,
			[]string{"comparison shifted: if len(link) != 0 {", "number moved: if len(link) == 1 {"},
		},
		"functions that parse": {
			"internal/rules/a",
			`func parseSign(s string) (n int, ok bool) {
	if s != "+" {
		return n, false
	}
	return n, true
}
func sign(s string) (n int, ok bool) {
	if s != "+" {
		return n, false
	}
	return n, true
}`,
			[]string{
				"boolean turned: return n, false", "boolean turned: return n, false", "boolean turned: return n, true",
				"boolean turned: return n, true", `comparison shifted: if s == "+" {`, `comparison shifted: if s == "+" {`,
				"guard removed: ", `string emptied: if s != "" {`, `string emptied: if s != "" {`,
			},
		},
		"what is done anyway": {
			"internal/data/a",
			`import ("context"; "sync")
func f(ctx context.Context, pool *sync.Pool, ids []int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer pool.Put(ctx)
	if len(ids) == 0 {
		return
	}
	_ = make(chan int, 1)
	_ = -1
	names("a", "b")
}
func names(all ...string) {}`,
			[]string{
				"comparison shifted: if len(ids) != 0 {", "number moved: if len(ids) == 1 {", "one made zero: _ = -0",
				"one made zero: _ = make(chan int, 0)", "statement removed: ", `string emptied: names("", "b")`,
				`string emptied: names("a", "")`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mutantsOf(t, tc.folder, "package a\n"+tc.code)
			slices.Sort(got)
			slices.Sort(tc.want)
			test.Eq(t, tc.want, got)
		})
	}
}
