package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestCommands_AreThoseOfMake(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"mutate run ./internal/rules/... --seed 1 --count 100 --tests a:^TestB$ --dir .mutate", "mutate ./migrations -n 5",
		"mutate report --dir x", "mutate fixed --jobs 1", "mutate check", "mutate sample", "shuffle ./... --runs 2",
	} {
		parser, err := kong.New(new(commands))
		must.NoError(t, err)
		_, err = parser.Parse(append([]string{"-C", t.TempDir()}, strings.Fields(args)...))
		test.NoError(t, err, test.Sprint(args))
	}
}

func TestReport_IsPrinted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const result = `{"id": "x", "package": "a", "function": "f", "kind": "guard removed", "verdict": "survived"}`
	must.NoError(t, os.WriteFile(filepath.Join(dir, "results.jsonl"), []byte(result+"\n"), 0o600))
	var out bytes.Buffer
	must.NoError(t, (&mutateReport{Dir: dir}).Run(&console{out: &out}))
	test.StrContains(t, out.String(), "| a | 1 | 0 | 0 | 1 |")
}

func TestShuffle_NeedsRuns(t *testing.T) {
	t.Parallel()
	test.ErrorContains(t, (&shuffleCommand{}).Run(t.Context(), new(console)), "nothing to run")
}
