package mutate

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestDraw_FollowsFromTheSeed(t *testing.T) {
	t.Parallel()
	order := func(seed uint64) (ids string, constants int) {
		var all []Mutant
		for i := range 90 {
			all = append(all, Mutant{ID: string(rune('a' + i)), Kind: Constant})
		}
		for i, kind := range []Kind{Guard, Failure, Logic, Condition, Text} {
			all = append(all, Mutant{ID: string(rune('A' + i)), Kind: kind}, Mutant{ID: string(rune('0' + i)), Kind: kind})
		}
		drawn := 0
		for m := range draw(seed, all) {
			if drawn++; drawn <= 20 && m.Kind == Constant {
				constants++
			}
			ids += m.ID
		}
		return ids, constants
	}
	one, constants := order(1)
	again, _ := order(1)
	test.EqOp(t, one, again, test.Sprintf("%s, then %s", one, again))
	other, _ := order(2)
	test.NotEqOp(t, one, other, test.Sprintf("seed 2: %s", other))
	test.EqOp(t, len(one), len(other), test.Sprintf("seed 2: %s", other))
	test.Between(t, 8, constants, 19, test.Sprint("of 20, of the most frequent kind"))
}

// code has a mutant for each verdict; its tests check the sign only.
var code = map[string]string{
	"a/a.go": `package a

func Sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

func Count(n int) int {
	i := 0
	for i < n {
		i++
	}
	return i
}

var Limit = 3
`,
	"a/a_test.go": `package a

import "testing"

func TestSign(t *testing.T) {
	t.Run("of two", func(t *testing.T) {
		if Sign(2) != 1 || Sign(-2) != -1 {
			t.Error("wrong")
		}
	})
}

func TestCount(t *testing.T) { Count(2) }

func TestBroken(t *testing.T) { t.Error("always") }
`,
}

func TestRun_JudgesMutantsAndContinues(t *testing.T) {
	t.Parallel()
	root, dir := newModule(t, maps.Clone(code)), t.TempDir()
	judge := func() map[string]string {
		report, err := Run(t.Context(), Options{
			Root: root, Packages: []string{"./..."}, Seed: 1, Count: 100, Jobs: 2, Dir: dir,
			Say: func(string) {}, Grace: 5 * time.Second,
		})
		must.NoError(t, err)
		verdicts := make(map[string]string)
		for _, r := range report.Results {
			verdicts[string(r.Kind)+": "+strings.Join(r.New, " ")] = strings.TrimSpace(r.Verdict + " " + r.Killer)
		}
		return verdicts
	}
	killed := "killed a TestSign/of_two"
	want := map[string]string{
		"guard removed: ":                  killed,
		"condition negated: if !(n < 0) {": killed,
		"comparison shifted: if n <= 0 {":  "survived",
		"number moved: if n < 1 {":         "survived",
		"operator exchanged: i--":          "timeout a",
	}
	got := judge()
	for mutant, verdict := range want {
		test.EqOp(t, verdict, got[mutant], test.Sprint(mutant))
	}
	before, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	must.NoError(t, err)
	test.Eq(t, got, judge(), test.Sprint("the second run (-first +second)"))
	after, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	must.NoError(t, err)
	test.EqOp(t, string(before), string(after), test.Sprint("the second run tested mutants again"))
}

// A run that may take no longer ends without an error, and its results so far count.
func TestRun_EndsAtItsLimit(t *testing.T) {
	t.Parallel()
	report, err := Run(t.Context(), Options{
		Root: newModule(t, maps.Clone(code)), Packages: []string{"./..."}, Count: 100, Limit: time.Nanosecond,
		Dir: t.TempDir(), Say: func(string) {},
	})
	test.NoError(t, err)
	test.SliceEmpty(t, report.Results)
}

func TestLeaves_AreTheTestsThatFailed(t *testing.T) {
	t.Parallel()
	output := "--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/one (0.00s)\n        a_test.go:1: x\n" +
		"--- FAIL: TestB (0.00s)\npanic: x [recovered]\nnot a line --- FAIL: TestC (0.00s)\n"
	test.Eq(t, []string{"TestA/one", "TestB"}, leaves(output))
	test.EqOp(t, `^TestA$/^a\+b$`, only("TestA/a+b"))
}
