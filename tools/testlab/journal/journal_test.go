package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/tools/testlab/journal"
)

// A run that was killed while it wrote continues after the last whole line.
func TestJournal_SurvivesCutLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dir", "results.jsonl")
	first, err := journal.Open[string](path)
	must.NoError(t, err)
	for _, value := range []string{"first", "second"} {
		must.NoError(t, first.Add(value))
	}
	text, err := os.ReadFile(path)
	must.NoError(t, err)
	must.NoError(t, os.WriteFile(path, text[:len(text)-5], 0o600))
	for _, want := range [][]string{{"first"}, {"first", "third"}} {
		j, err := journal.Open[string](path)
		must.NoError(t, err)
		test.Eq(t, want, j.All())
		must.NoError(t, j.Add("third"))
	}
}
