package mutate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/lab/journal"
)

// answers has the tests of the whole server that are about answers. The others are about processes, and take minutes.
// So do the sweep over what a tenant reads of others, which is about statements, and odd input, which is for handlers.
const (
	answers = "server:^(TestEvery(RPC_(Fails|Allows)|Mutation_Happens)|" + stories
	server  = "server:^(TestEvery(RPC_(Fails|Allows|Reveals)|Mutation_Happens)|" + stories
	stories = "TestRecording$|TestSelf|TestPublic|TestFreedSeat|TestExplain|TestPageTokens)"
	odd     = "server:^TestEveryRPC_HandlesOddValues"
)

// near has the tests that are run for a mutant, after those of its own package, from the nearest to the farthest. The
// first prefix that fits decides. What follows a colon is a pattern of tests.
var near = []struct {
	prefix string
	tests  []string
}{
	{"internal/pg", []string{"internal/data", "internal/data/outbox", "internal/app/engine"}},
	{"internal/alarm", []string{"internal/data/outbox", "internal/app/housekeeping", "internal/app/waitlists"}},
	{"internal/data/outbox", []string{"internal/worker", "internal/app/messages", "internal/rpc", answers}},
	{"internal/data/bookingdb", []string{
		"internal/app/bookings", "internal/app/waitlists", "internal/app/schedules", "internal/app/accounts",
		"internal/app/housekeeping", "internal/rpc", server,
	}},
	{"internal/data/waitlistdb", []string{
		"internal/app/waitlists", "internal/app/schedules", "internal/app/housekeeping", "internal/rpc", server,
	}},
	{"internal/data/scheduledb", []string{
		"internal/app/schedules", "internal/app/bookings", "internal/app/waitlists", "internal/rpc", server,
	}},
	{"internal/data/messagedb", []string{"internal/app/messages", "internal/app/waitlists", "internal/rpc", server}},
	{"internal/data/accountdb", []string{
		"internal/app/accounts", "internal/app/messages", "internal/access", "internal/rpc", server,
	}},
	{"internal/data/catalogdb", []string{"internal/app/catalog", "internal/app/settings", "internal/rpc", server}},
	{"internal/data/coredb", []string{
		"internal/app/engine", "internal/app/bookings", "internal/app/settings", "internal/app/accounts",
		"internal/app/waitlists", "internal/app/schedules", "internal/app/housekeeping", "internal/rpc", server,
	}},
	{"internal/app/seats", []string{
		"internal/app/bookings", "internal/app/waitlists", "internal/app/schedules", "internal/rpc", answers,
	}},
	{"internal/app/engine", []string{"internal/app/bookings", "internal/app/housekeeping", answers}},
	{"internal/app/accounts", []string{"internal/app", "internal/app/messages", "internal/rpc", answers}},
	{"internal/app/bookings", []string{"internal/app/waitlists", "internal/rpc", answers}},
	{"internal/app/waitlists", []string{"internal/app/bookings", "internal/app/schedules", "internal/rpc", answers}},
	{"internal/app/catalog", []string{"internal/app/bookings", "internal/rpc", answers}},
	{"internal/app/contacts", []string{"internal/app/accounts", "internal/app/messages", "internal/rpc", answers}},
	{"internal/app/housekeeping", []string{
		"internal/app/waitlists", "internal/app/accounts", "internal/app/messages", "internal/rpc", answers,
	}},
	{"internal/app/schedules", []string{"internal/app", "internal/app/waitlists", "internal/rpc", answers}},
	{"internal/app/settings", []string{"internal/app/waitlists", "internal/rpc", answers}},
	{"internal/app", []string{"internal/rpc", answers}},
	{"internal/rpc", []string{"internal/rpc", answers, odd}},
	{"internal/web", []string{answers}},
	{"internal/boot", []string{answers}},
	{"internal/worker", []string{answers}},
	{"migrations", []string{
		"internal/data", "internal/app/engine", "internal/app/bookings", "internal/app/waitlists",
		"internal/app/schedules", "internal/app/accounts", "internal/app/catalog", "internal/app/settings",
		"internal/app/messages", "internal/app/housekeeping", "internal/rpc", server,
	}},
}

// testsFor returns the tests that may kill a mutant of a folder, in the order in which they run.
func testsFor(folder string) []string {
	tests := []string{folder}
	if strings.HasPrefix(folder, "internal/data/") {
		tests = append(tests, "internal/data") // it tests all of them in seconds
	}
	for _, row := range near {
		if folder == row.prefix || strings.HasPrefix(folder, row.prefix+"/") {
			for _, other := range row.tests {
				if other != folder {
					tests = append(tests, other)
				}
			}
			break
		}
	}
	return tests
}

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

// Verdicts.
const (
	Killed   = "killed"
	Survived = "survived"
	TimedOut = "timeout"
	NoMutant = "does not compile"
)

// A Result is what became of a mutant.
type Result struct {
	Mutant

	Key     string   `json:"key"` // digest of the code and the tests, and seed
	Verdict string   `json:"verdict"`
	Killer  string   `json:"killer,omitempty"` // folder and test
	Tests   []string `json:"tests"`            // folders whose tests ran
	Note    string   `json:"note,omitempty"`
	Seconds float64  `json:"seconds"`
}

// A target is a package whose tests run: those that fit a pattern, or all.
type target struct {
	*testPackage

	pattern string
}

// judge runs tests on a mutant, the nearest first, until one kills it. The mutant may be one of a bundle, or nil.
func (t *tester) judge(ctx context.Context, m Mutant, text []byte, b *bundle, tests []target) (Result, error) {
	begun := time.Now()
	r := Result{Mutant: m, Verdict: Survived}
	overlay := ""
	if m.Schema == "" {
		var err error
		if overlay, err = t.overlay(t.root, m, text); err != nil {
			return r, err
		}
	}
	for _, p := range tests {
		r.Tests = append(r.Tests, p.folder)
		verdict, killer, err := t.judgeIn(ctx, m, overlay, b, p, &r)
		if err != nil {
			return r, err
		}
		if verdict != Survived {
			r.Verdict, r.Killer = verdict, killer
			break
		}
	}
	for _, left := range []string{".go", ".json", ".test"} {
		if err := os.Remove(filepath.Join(t.temp, m.ID+left)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	r.Seconds = time.Since(begun).Seconds()
	return r, nil
}

// limit is how long tests may take with a mutant.
func (t *tester) limit(whole baseline) time.Duration {
	return t.grace + time.Duration(5*whole.Seconds*float64(time.Second)).Round(time.Millisecond)
}

// judgeIn runs the tests of one package on a mutant.
func (t *tester) judgeIn(
	ctx context.Context, m Mutant, overlay string, b *bundle, p target, r *Result,
) (verdict, killer string, err error) {
	whole, err := t.passes(ctx, p.testPackage, p.pattern, m.Off)
	if err != nil {
		return "", "", err
	}
	if !whole.Passes {
		r.Note += p.folder + " fails without the mutant: " + cmp.Or(whole.Skip, "no test is named") + ". "
	}
	c := call{binary: p.binary, skip: whole.Skip, schema: cmp.Or(m.Schema, m.Off), limit: t.limit(whole)}
	patterns := []string{p.pattern}
	if b != nil && b.numbers[m.ID] > 0 {
		tests, err := b.binary(ctx, p, whole)
		if err != nil {
			return "", "", err
		}
		if tests.binary != "" {
			c.binary, c.mutant = tests.binary, b.numbers[m.ID]
			patterns = tests.trace.patterns(c.mutant, b.marks[c.mutant], p.pattern)
		}
	}
	if overlay != "" && c.mutant == 0 {
		c.binary = filepath.Join(t.temp, m.ID+".test")
		ok, _, err := t.build(ctx, p.testPackage, overlay, c.binary)
		if err != nil {
			return "", "", err
		}
		if !ok {
			return NoMutant, "", nil
		}
	}
	for _, pattern := range patterns {
		c.pattern = pattern
		verdict, killer, err := t.judgeBy(ctx, m, c, p, r)
		if verdict != Survived || err != nil {
			return verdict, killer, err
		}
	}
	return Survived, "", nil
}

// judgeBy makes one call of the tests on a mutant.
func (t *tester) judgeBy(
	ctx context.Context, m Mutant, c call, p target, r *Result,
) (verdict, killer string, err error) {
	first, err := t.run(ctx, p.testPackage, c)
	switch {
	case err != nil:
		return "", "", err
	case first.passed:
		return Survived, "", nil
	case first.exhausted:
		return TimedOut, p.folder, nil
	}
	// A failure counts if it repeats, and if the same test passes without the mutant. A panic may end the process
	// before a test is named, or name another; then all tests are run again.
	all := c.pattern
	for _, name := range append(first.failed[:min(len(first.failed), 3)], "") {
		if c.pattern = all; name != "" {
			c.pattern = only(name)
		}
		again, err := t.run(ctx, p.testPackage, c)
		if err != nil {
			return "", "", err
		}
		if again.passed || again.exhausted {
			continue
		}
		unchanged, err := t.passes(ctx, p.testPackage, c.pattern, m.Off)
		if err != nil {
			return "", "", err
		}
		if unchanged.Passes || name == "" && unchanged.Skip != "" {
			return Killed, strings.TrimSpace(p.folder + " " + name), nil
		}
	}
	r.Note += "A failure in " + p.folder + " did not repeat, or is there without the mutant. "
	return Survived, "", nil
}
