package migrations_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/migrations"
)

var updateReleased = flag.Bool("update", false, "write released.txt, for a release")

// releasedList has the migrations of all releases: name and digest. There is none before the first release.
const releasedList = "released.txt"

// version is a heading of a release in the changelog.
var version = regexp.MustCompile(`(?m)^## \[\d+\.\d+\.\d+`)

// Until the changelog has a release, migrations are edited in place. From then on what was released never changes, and
// there are only new files.
func TestMigrations_DoNotChangeOnceReleased(t *testing.T) {
	t.Parallel()
	changelog := string(expect.Value(os.ReadFile("../CHANGELOG.md"))(t))
	if *updateReleased {
		must.NoError(t, os.WriteFile(releasedList, []byte(listReleased(t, migrations.FS)), 0o600))
	}
	released, err := os.ReadFile(releasedList)
	if !os.IsNotExist(err) {
		must.NoError(t, err)
	}
	for _, problem := range changedSinceRelease(t, changelog, string(released), migrations.FS) {
		test.Unreachable(t, test.Sprint(problem))
	}
}

func TestChangedSinceRelease_AllowsOnlyNewFiles(t *testing.T) {
	t.Parallel()
	const draft = "# Changelog\n\n## [Unreleased]\n"
	const release = draft + "\n## [1.0.0] - 2030-01-31\n"
	files := func(of ...string) fstest.MapFS {
		all := make(fstest.MapFS)
		for _, name := range of {
			name, text, _ := strings.Cut(name, ":")
			all[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return all
	}
	first := files("00001_a.sql:x", "00003_b.sql:y")
	list := listReleased(t, first)
	for name, tt := range map[string]struct {
		changelog, list string
		files           fstest.MapFS
		says            string
	}{
		"edited before the first release": {draft, "", files("00001_a.sql:other"), ""},
		"a list before the first release": {draft, list, first, "there was no release"},
		"released":                        {release, list, first, ""},
		"a new file":                      {release, list, files("00001_a.sql:x", "00003_b.sql:y", "00004_c.sql:z"), ""},
		"no list":                         {release, "", first, "make the list"},
		"edited": {
			release, list, files("00001_a.sql:X", "00003_b.sql:y"), "00001_a.sql was released",
		},
		"removed": {release, list, files("00001_a.sql:x"), "00003_b.sql was released"},
		"a number in between": {
			release, list, files("00001_a.sql:x", "00002_c.sql:z", "00003_b.sql:y"), "00002_c.sql",
		},
		"a new file with a number of before": {
			release, list, files("00001_a.sql:x", "00003_b.sql:y", "00003_c.sql:z"), "00003_c.sql",
		},
	} {
		problems := changedSinceRelease(t, tt.changelog, tt.list, tt.files)
		if tt.says == "" {
			test.SliceEmpty(t, problems, test.Sprint(name))
			continue
		}
		must.SliceLen(t, 1, problems, must.Sprint(name))
		test.StrContains(t, problems[0], tt.says, test.Sprint(name))
	}
}

// changedSinceRelease returns what is wrong with the migrations, one sentence for each file.
func changedSinceRelease(t *testing.T, changelog, list string, files fs.FS) (problems []string) {
	t.Helper()
	switch released := version.MatchString(changelog); {
	case !released && list == "":
		return nil
	case !released:
		return []string{"there was no release, so there must be no " + releasedList}
	case list == "":
		return []string{"make the list of released migrations: go test ./migrations -run Released -update"}
	}
	before, last := make(map[string]string), ""
	for line := range strings.Lines(list) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		before[name], last = digest, max(last, name)
	}
	for line := range strings.Lines(listReleased(t, files)) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		number, _, _ := strings.Cut(name, "_")
		newest, _, _ := strings.Cut(last, "_")
		switch old, known := before[name]; {
		case known && old != digest:
			problems = append(problems, name+" was released, so it never changes: write a new file")
		case !known && number <= newest:
			problems = append(problems, name+" needs a number after that of "+last)
		}
		delete(before, name)
	}
	for name := range before {
		problems = append(problems, name+" was released, so it stays")
	}
	return problems
}

// listReleased lists the migrations as sha256sum does.
func listReleased(t *testing.T, files fs.FS) string {
	t.Helper()
	var list strings.Builder
	for _, name := range expect.Value(fs.Glob(files, "*.sql"))(t) {
		text := expect.Value(fs.ReadFile(files, name))(t)
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(text), name)
	}
	return list.String()
}
