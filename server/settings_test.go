package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// The table of settings in the docs is that of the code. -update writes it.
func TestSettings_AreInTheDocs(t *testing.T) {
	t.Parallel()
	const page, begin, end = "../docs/operations.md", "<!-- generated: settings -->\n", "<!-- end -->\n"
	text := string(expect.Value(os.ReadFile(page))(t))
	before, rest, found := strings.Cut(text, begin)
	must.True(t, found)
	have, after, found := strings.Cut(rest, end)
	must.True(t, found)
	want := settingsTable(t)
	if *updateRecording {
		must.NoError(t, os.WriteFile(page, []byte(before+begin+want+end+after), 0o644))
		return
	}
	test.EqOp(t, want, have, test.Sprint("go test ./server -run TestSettings -update"))
}

// settingsTable returns a table of all variables that commands read.
func settingsTable(t *testing.T) string {
	t.Helper()
	settings := make(map[string]*kong.Flag)
	parser := expect.Value(kong.New(new(commands), kong.Vars{"version": ""}))(t)
	for _, command := range parser.Model.Leaves(true) {
		for _, group := range command.AllFlags(true) {
			for _, flag := range group {
				for _, variable := range flag.Envs {
					settings[variable] = flag
				}
			}
		}
	}
	var table strings.Builder
	table.WriteString("| variable | default | what it is |\n|---|---|---|\n")
	for _, variable := range slices.Sorted(maps.Keys(settings)) {
		flag := settings[variable]
		value := flag.Default
		switch {
		case value != "":
			value = "`" + value + "`"
		case flag.IsBool():
			value = "off"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", variable, value, strings.ReplaceAll(flag.Help, "|", `\|`))
	}
	return table.String()
}
