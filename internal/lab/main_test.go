package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func run(t *testing.T, args ...string) (status int, printed string) {
	t.Helper()
	var out bytes.Buffer
	status = program().Run(t.Context(), args, &out, &out)
	return status, out.String()
}

func TestCommandLine_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--help"}, 0, "simulate"},
		{[]string{"bench", "--help"}, 0, "Numbers of concurrent callers"},
		{[]string{"fly"}, 1, "unexpected argument fly"},
		{[]string{"simulate", "--seeds=0"}, 1, "nothing to simulate"},
		{[]string{"campaign", "--callers=0"}, 1, "at least one server, one worker and one caller"},
		{[]string{"campaign", "--berth", filepath.Join(t.TempDir(), "none")}, 1, "no such file"},
		{[]string{"bench", "--via=window"}, 1, "--via must be one of"},
	} {
		status, said := run(t, tt.args...)
		test.EqOp(t, tt.status, status,
			test.Sprintf("%v: status %d, and it says %q, want %q", tt.args, status, said, tt.says))
		test.StrContains(t, said, tt.says,
			test.Sprintf("%v: status %d, and it says %q, want %q", tt.args, status, said, tt.says))
	}
}

func TestSimulate_RepeatsASeed(t *testing.T) {
	t.Parallel()
	var runs []string
	for range 2 {
		status, said := run(t, "simulate", "--small", "--seeds", "2", "--days", "3")
		must.EqOp(t, 0, status, must.Sprintf("status %d: %s", status, said))
		must.StrContains(t, said, "every invariant held in 2 simulations", must.Sprintf("status %d: %s", status, said))
		counts, _, _ := strings.Cut(said, " transactions a second") // the last line is about speed
		runs = append(runs, counts[:strings.LastIndex(counts, "\n")])
	}
	test.Eq(t, runs[0], runs[1], test.Sprint("the second run differs (-first +second)"))
}
