package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berthhq/berth/tools/testlab/journal"
)

// A testPackage is a package with tests, and what is known of its run without a mutant.
type testPackage struct {
	folder, dir string
	deps        map[string]bool // import paths that the test binary links
	digest      string          // of the folder's files
	flags       []string

	once   sync.Once
	binary string // built without a mutant
	err    error
	mu     sync.Mutex
	passes map[string]bool // what run of it passes without a mutant, by its pattern
}

// tester builds and runs tests.
type tester struct {
	root, temp string
	grace      time.Duration
	slow       time.Duration // tests that take as long are traced
	baseline   *journal.Journal[baseline]

	mu       sync.Mutex
	packages map[string]*testPackage
}

// A baseline is what is known of tests without a mutant.
type baseline struct {
	Key     string  `json:"key"`
	Pattern string  `json:"pattern"`
	Off     string  `json:"off,omitempty"` // the guard that was off
	Passes  bool    `json:"passes"`
	Seconds float64 `json:"seconds"`

	// Skip is the pattern of the tests that fail even so: they say nothing about a mutant.
	Skip string `json:"skip,omitempty"`
}

// open returns the tests of a folder; nil if it has none.
func (t *tester) open(ctx context.Context, folder string) (*testPackage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, ok := t.packages[folder]; ok {
		return p, nil
	}
	found, err := list(ctx, t.root, "-test", "-deps", "./"+folder)
	if err != nil {
		return nil, err
	}
	p := &testPackage{
		folder: folder, dir: filepath.Join(t.root, folder), deps: make(map[string]bool), passes: make(map[string]bool),
	}
	var hasTests bool
	var ours []string
	for _, l := range found {
		path, _, _ := strings.Cut(l.ImportPath, " ")
		p.deps[path] = true
		hasTests = hasTests || l.Dir == p.dir && len(l.TestGoFiles)+len(l.XTestGoFiles) > 0
		if strings.HasPrefix(l.Dir, t.root+string(filepath.Separator)) {
			ours = append(ours, l.Dir)
		}
	}
	if !hasTests {
		t.packages[folder] = nil
		return nil, nil //nolint:nilnil // a package without tests is none
	}
	if p.deps["pgregory.net/rapid"] {
		// A failfile would be written into the tree. A smaller example of a failure is of no use here.
		p.flags = []string{"-rapid.nofailfile", "-rapid.shrinktime=1ms"}
	}
	slices.Sort(ours)
	if p.digest, err = digest(slices.Compact(ours)...); err != nil {
		return nil, err
	}
	t.packages[folder] = p
	return p, nil
}

// build compiles the tests of a package. It reports whether they compile.
func (t *tester) build(ctx context.Context, p *testPackage, overlay, binary string) (bool, string, error) {
	args := []string{"test", "-c", "-vet=off", "-ldflags=-w", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+p.folder)...)
	cmd.Dir = t.root
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return false, string(out), nil
	}
	return err == nil, string(out), err
}

// outcome is how a run of tests ended.
type outcome struct {
	passed, exhausted bool // exhausted: out of time or memory
	failed            []string
	seconds           float64
	output            string
}

var (
	failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+) \(`)
	outOfTime  = regexp.MustCompile(
		`(?m)^panic: test timed out after|^fatal error: .*(out of memory|cannot allocate memory)`)
)

// A call says how a binary of tests is run.
type call struct {
	binary, pattern, skip string
	schema                string // statement that changes the schema
	mutant                int    // the one of a bundle; 0: none
	limit                 time.Duration
	toTheEnd              bool // also after a failure
}

// run runs tests.
func (t *tester) run(all context.Context, p *testPackage, c call) (outcome, error) {
	ctx, cancel := context.WithTimeout(all, c.limit+10*time.Second)
	defer cancel()
	// A loop that no longer ends must not take the machine's memory.
	args := []string{"-c", `ulimit -v 8388608 2>/dev/null; exec "$0" "$@"`, c.binary, "-test.count=1",
		"-test.timeout=" + c.limit.String(), "-test.paniconexit0", "-test.run=" + c.pattern, "-test.skip=" + c.skip,
		fmt.Sprintf("-test.failfast=%t", !c.toTheEnd)}
	if c.mutant == tracing {
		args = append(args, "-test.v", "-test.parallel=1")
	}
	cmd := exec.CommandContext(ctx, "sh", append(args, p.flags...)...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "TEST_DATABASE_URL=", "BERTH_TEST_SCHEMA_EDIT="+c.schema,
		chosen+"="+strconv.Itoa(c.mutant))
	if c.mutant == tracing {
		cmd.Env = append(cmd.Env, "BERTH_TEST_MARKS="+reached)
	}
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Run()
	o := outcome{seconds: time.Since(begun).Seconds(), output: out.String(), passed: err == nil}
	if all.Err() != nil {
		return o, all.Err()
	}
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) && ctx.Err() == nil {
		return o, err
	}
	o.exhausted = ctx.Err() != nil || !o.passed && outOfTime.MatchString(o.output)
	o.failed = leaves(o.output)
	return o, nil
}

// leaves returns the tests that failed, without those that only failed because a part of them did.
func leaves(output string) []string {
	var all []string
	for _, found := range failedTest.FindAllStringSubmatch(output, -1) {
		all = append(all, found[1])
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}

// only returns the pattern that runs one test.
func only(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// prepare builds the tests without a mutant.
func (t *tester) prepare(ctx context.Context, p *testPackage) error {
	p.once.Do(func() {
		p.binary = filepath.Join(t.temp, strings.ReplaceAll(p.folder, "/", "-")+".test")
		ok, said, err := t.build(ctx, p, "", p.binary)
		if err == nil && !ok {
			err = fmt.Errorf("%s does not compile without a mutant: %s", p.folder, said)
		}
		p.err = err
	})
	return p.err
}

// passes reports whether tests pass without a mutant, and how long they take. It runs them once.
func (t *tester) passes(ctx context.Context, p *testPackage, pattern, off string) (baseline, error) {
	if err := t.prepare(ctx, p); err != nil {
		return baseline{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := p.folder + " " + p.digest
	for _, known := range t.baseline.All() {
		if known.Key == key && known.Pattern == pattern && known.Off == off {
			return known, nil
		}
	}
	o, err := t.run(ctx, p, call{binary: p.binary, pattern: pattern, schema: off, limit: unmutated, toTheEnd: true})
	if err != nil {
		return baseline{}, err
	}
	b := baseline{Key: key, Pattern: pattern, Off: off, Passes: o.passed, Seconds: o.seconds}
	var skip []string
	for _, name := range o.failed {
		skip = append(skip, only(name))
	}
	b.Skip = strings.Join(skip, "|")
	return b, t.baseline.Add(b)
}

// unmutated is how long tests may take without a mutant.
const unmutated = 30 * time.Minute

// overlay writes the file that makes the compiler read a mutant.
func (t *tester) overlay(root string, m Mutant, text []byte) (string, error) {
	changed := filepath.Join(t.temp, m.ID+".go")
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	replaced, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, m.File): changed},
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(t.temp, m.ID+".json")
	return path, os.WriteFile(path, replaced, 0o600)
}
