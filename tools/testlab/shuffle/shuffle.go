// Package shuffle runs the tests of packages many times, each time in another order, to find those that depend on it
// or on luck.
package shuffle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berthhq/berth/tools/testlab/journal"
)

// Options say which tests run, and how often.
type Options struct {
	Packages []string // patterns, as `go test` has them
	Runs     int      // of each package
	Race     bool     // with the race detector
	Dir      string   // where results are kept; runs in it are not repeated while the test binary is the same
	Say      func(string)
}

// A Result is one run of a package's tests.
type Result struct {
	Binary  string  `json:"binary"` // digest of the test binary
	Package string  `json:"package"`
	Seed    int     `json:"seed"` // of the order
	Passed  bool    `json:"passed"`
	Seconds float64 `json:"seconds"`
}

// Run runs the tests that have not run yet. It prints the runs of each package, and fails if one of them did. The
// output of a failed run is in the folder of results.
func Run(ctx context.Context, o Options, to io.Writer) error {
	results, err := journal.Open[Result](filepath.Join(o.Dir, "results.jsonl"))
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "berth-shuffle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	packages, err := withTests(ctx, o.Packages)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\truns\tfailed\tslowest")
	failed := 0
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		bad, err := o.shuffle(ctx, results, path, packages[path], filepath.Join(temp, "tests"), table)
		if err != nil {
			return errors.Join(err, table.Flush())
		}
		failed += bad
	}
	if failed > 0 {
		err = fmt.Errorf("%d runs failed: read what they printed in %s", failed, o.Dir)
	}
	return errors.Join(table.Flush(), err)
}

// withTests returns the folders of packages that have tests, by their import paths.
func withTests(ctx context.Context, patterns []string) (map[string]string, error) {
	const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-f", format}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	folders := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		folders[path] = dir
	}
	return folders, nil
}

// shuffle runs the tests of one package. It returns how many runs of this binary failed, former ones included.
func (o Options) shuffle(
	ctx context.Context, results *journal.Journal[Result], path, dir, binary string, table io.Writer,
) (failed int, err error) {
	if err := o.build(ctx, path, binary); err != nil {
		return 0, err
	}
	code, err := os.ReadFile(binary)
	if err != nil {
		return 0, err
	}
	sum := sha256.Sum256(code)
	digest := hex.EncodeToString(sum[:8])
	done := make(map[int]Result)
	for _, r := range results.All() {
		if r.Binary == digest && r.Package == path {
			done[r.Seed] = r
		}
	}
	slowest := 0.0
	for seed := 1; seed <= o.Runs; seed++ {
		r, ok := done[seed]
		if !ok {
			if r, err = o.once(ctx, Result{Binary: digest, Package: path, Seed: seed}, dir, binary); err != nil {
				return failed, err
			}
			if err := results.Add(r); err != nil {
				return failed, err
			}
		}
		if !r.Passed {
			failed++
		}
		slowest = max(slowest, r.Seconds)
	}
	fmt.Fprintf(table, "%s\t%d\t%d\t%.1f s\n", path, o.Runs, failed, slowest)
	o.Say(fmt.Sprintf("%s: %d runs, %d failed", path, o.Runs, failed))
	return failed, nil
}

// build compiles the tests of a package. The same code gives the same binary.
func (o Options) build(ctx context.Context, path, binary string) error {
	args := []string{"test", "-c", "-o", binary}
	if o.Race {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, path)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the tests of %s: %w\n%s", path, err, out)
	}
	return nil
}

// once runs the tests in one order.
func (o Options) once(ctx context.Context, r Result, dir, binary string) (Result, error) {
	cmd := exec.CommandContext(ctx, binary, "-test.count=1", "-test.timeout=30m",
		fmt.Sprintf("-test.parallel=%d", 2*runtime.GOMAXPROCS(0)), // as in `make test`
		fmt.Sprintf("-test.shuffle=%d", r.Seed))
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Run()
	r.Seconds, r.Passed = time.Since(begun).Seconds(), err == nil
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if exited := new(exec.ExitError); err != nil && !errors.As(err, &exited) {
		return r, err
	}
	if r.Passed {
		return r, nil
	}
	log := filepath.Join(o.Dir, fmt.Sprintf("%s-%s-%d.log", filepath.Base(r.Package), r.Binary, r.Seed))
	o.Say(fmt.Sprintf("%s: order %d failed, see %s", r.Package, r.Seed, log))
	return r, os.WriteFile(log, out.Bytes(), 0o600)
}
