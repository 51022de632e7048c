package shuffle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/lab/journal"
	"github.com/berthhq/berth/internal/lab/shuffle"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The package in testdata has a test that fails if it is the first.
func TestRun_FindsTestsThatDependOnTheirOrder(t *testing.T) {
	t.Parallel()
	var said []string
	o := shuffle.Options{
		Packages: []string{"./testdata/order"}, Dir: t.TempDir(), Say: func(line string) { said = append(said, line) },
	}
	for _, o.Runs = range []int{6, 10, 10} {
		var out bytes.Buffer
		must.ErrorContains(t, shuffle.Run(t.Context(), o, &out), "runs failed")
		test.StrContains(t, out.String(), "testdata/order")
	}
	results := expect.Value(journal.Open[shuffle.Result](filepath.Join(o.Dir, "results.jsonl")))(t)
	test.Len(t, 10, results.All(), test.Sprint("a run was repeated"))
	failed := 0
	for _, r := range results.All() {
		if !r.Passed {
			failed++
		}
	}
	test.Between(t, 1, failed, 9)
	logs := expect.Value(filepath.Glob(filepath.Join(o.Dir, "order-*.log")))(t)
	must.Len(t, failed, logs)
	test.StrContains(t, string(expect.Value(os.ReadFile(logs[0]))(t)), "--- FAIL: TestSecond")
}
