package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var updateAnswers = flag.Bool("update-answers", false, "write testdata/answers.golden")

// wantAnswers compares the form of the answers that are stored under idempotency keys with the golden one. An answer is
// replayed for a day, by a server of the next release, too: renaming a Go field or type must not change it.
func (l *liveNode) wantAnswers(t *testing.T, id tenant.TenantID) {
	t.Helper()
	rows := expect.Value(l.DB.Owner.Query(t.Context(),
		"select procedure, answer::text from idempotency_keys where tenant_id = $1 and answer is not null", id))(t)
	defer rows.Close()
	paths := make(map[string]bool)
	for rows.Next() {
		var procedure, text string
		var answer any
		must.NoError(t, rows.Scan(&procedure, &text))
		must.NoError(t, json.Unmarshal([]byte(text), &answer))
		addPaths(paths, procedure, answer)
	}
	must.NoError(t, rows.Err())
	got := strings.Join(slices.Sorted(maps.Keys(paths)), "\n") + "\n"
	golden := filepath.Join("testdata", "answers.golden")
	if *updateAnswers {
		must.NoError(t, os.MkdirAll("testdata", 0o755))
		must.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want := expect.Value(os.ReadFile(golden))(t)
	test.Eq(t, strings.Split(string(want), "\n"), strings.Split(got, "\n"),
		test.Sprint("stored answers have another form"))
}

// dataKeys are ids, and names that tests create.
var dataKeys = regexp.MustCompile(`^[0-9a-f]{8}-|^n\d+$`)

// addPaths adds the path of each value in a JSON document. Only the outermost list has its positions in paths: it
// holds one value for each part of the answer. Keys that are ids or names of the data are written as *.
func addPaths(paths map[string]bool, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			if dataKeys.MatchString(key) {
				key = "*"
			}
			addPaths(paths, at+"."+key, child)
		}
		if len(v) == 0 {
			paths[at+" {}"] = true
		}
	case []any:
		if !strings.ContainsAny(at[strings.LastIndex(at, "/"):], ".[") {
			paths[fmt.Sprintf("%s: %d values", at, len(v))] = true
			for i, child := range v {
				addPaths(paths, fmt.Sprintf("%s[%d]", at, i), child)
			}
			return
		}
		for _, child := range v {
			addPaths(paths, at+"[]", child)
		}
		if len(v) == 0 {
			paths[at] = true // like null, which decodes to the same
		}
	default:
		paths[at] = true
	}
}
