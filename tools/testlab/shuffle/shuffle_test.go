package shuffle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/tools/testlab/journal"
	"github.com/berthhq/berth/tools/testlab/shuffle"
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
	results, err := journal.Open[shuffle.Result](filepath.Join(o.Dir, "results.jsonl"))
	must.NoError(t, err)
	test.Len(t, 10, results.All(), test.Sprint("a run was repeated"))
	failed := 0
	for _, r := range results.All() {
		if !r.Passed {
			failed++
		}
	}
	test.Between(t, 1, failed, 9)
	logs, err := filepath.Glob(filepath.Join(o.Dir, "order-*.log"))
	must.NoError(t, err)
	must.Len(t, failed, logs)
	text, err := os.ReadFile(logs[0])
	must.NoError(t, err)
	test.StrContains(t, string(text), "--- FAIL: TestSecond")
}
