package mutate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthhq/berth/tools/testlab/journal"
)

// Options say what is mutated, and how it is tested.
type Options struct {
	Root     string        // folder of the module; empty: that of the working directory
	Packages []string      // patterns, as `go list` reads them; ./migrations stands for the migrated database
	Tests    []string      // folders whose tests run, or folder:pattern, the nearest first; none: those near each package
	Seed     uint64        // decides which mutants are drawn
	Count    int           // how many are drawn
	Jobs     int           // how many run at once
	Limit    time.Duration // when to stop, however many have run; zero: never
	Dir      string        // where results are kept
	Say      func(string)  // prints a line of progress
	Grace    time.Duration // what tests get beyond five times what they take without a mutant; zero: 30 seconds
}

// rootOr returns the folder of the module, if it is not given.
func rootOr(ctx context.Context, given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}

// run is one drawing of mutants.
type run struct {
	Options
	*tester

	sources map[string]*source // by folder
	results *journal.Journal[Result]
	known   map[string]Result // by key and ID
	began   time.Time

	mu     sync.Mutex
	report []Result
	done   int // in this run
}

// Run draws mutants, tests them, and reports all results. It continues a run that was stopped.
func Run(ctx context.Context, o Options) (Report, error) {
	began := time.Now()
	root, err := rootOr(ctx, o.Root)
	if err != nil {
		return Report{}, err
	}
	all, sources, err := enumerate(ctx, root, o.Packages)
	if err != nil {
		return Report{}, err
	}
	if len(all) == 0 {
		return Report{}, fmt.Errorf("%v has nothing to mutate", o.Packages)
	}
	if o.Seed == 0 {
		if o.Seed, err = seedOf(root, sources); err != nil {
			return Report{}, err
		}
	}
	t, err := newTester(root, o.Dir, cmp.Or(o.Grace, 30*time.Second))
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(t.temp)
	r := &run{Options: o, tester: t, sources: sources, known: make(map[string]Result), began: began}
	if r.results, err = journal.Open[Result](filepath.Join(o.Dir, "results.jsonl")); err != nil {
		return Report{}, err
	}
	for _, result := range r.results.All() {
		r.known[result.Key+" "+result.ID] = result
	}
	o.Say(fmt.Sprintf("seed %d: %d mutants of %d in %d packages", o.Seed, o.Count, len(all), len(sources)))
	results, err := r.all(ctx, all)
	return Report{Results: results, Stale: stale(equivalents, all, sources)}, err
}

func newTester(root, dir string, grace time.Duration) (*tester, error) {
	temp, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return nil, err
	}
	known, err := journal.Open[baseline](filepath.Join(dir, "unmutated.jsonl"))
	return &tester{
		root: root, temp: temp, grace: grace, slow: 2 * time.Second, baseline: known,
		packages: make(map[string]*testPackage),
	}, err
}

// enumerate returns all mutants of packages.
func enumerate(ctx context.Context, root string, patterns []string) ([]Mutant, map[string]*source, error) {
	var all []Mutant
	folders := make(map[string]*source)
	var code []string
	for _, pattern := range patterns {
		if strings.Trim(pattern, "./") != database {
			code = append(code, pattern)
			continue
		}
		mutants, err := schemaMutants(ctx, root)
		if err != nil {
			return nil, nil, err
		}
		all, folders[database] = append(all, mutants...), nil
	}
	if len(code) == 0 {
		return all, folders, nil
	}
	sources, err := load(ctx, root, code)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sources {
		if isProduct(s.folder) {
			all, folders[s.folder] = append(all, s.mutants()...), s
		}
	}
	return all, folders, nil
}

// seedOf returns a seed that follows from the code.
func seedOf(root string, sources map[string]*source) (uint64, error) {
	var folders []string
	for folder := range sources {
		folders = append(folders, filepath.Join(root, folder))
	}
	slices.Sort(folders)
	sum, err := digest(folders...)
	if err != nil {
		return 0, err
	}
	var seed uint64
	_, err = fmt.Sscanf(sum[:8], "%x", &seed)
	return seed, err
}

// all tests mutants until enough have run.
func (r *run) all(ctx context.Context, mutants []Mutant) ([]Result, error) {
	if r.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, r.began.Add(r.Limit))
		defer cancel()
	}
	next, stop := iter.Pull(draw(r.Seed, mutants))
	defer stop()
	for more := true; more && r.counted() < r.Count; {
		var drawn []Mutant
		for missing := r.Count - r.counted(); missing > 0 && ctx.Err() == nil; missing-- {
			var m Mutant
			if m, more = r.draw(next); !more {
				break
			}
			drawn = append(drawn, m)
		}
		err := cmp.Or(r.these(ctx, drawn), ctx.Err())
		if r.Limit > 0 && errors.Is(err, context.DeadlineExceeded) {
			return r.report, nil
		}
		if err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

// these tests mutants.
func (r *run) these(ctx context.Context, mutants []Mutant) error {
	var unknown []Mutant
	for _, m := range mutants {
		_, key, err := r.testsOf(ctx, m)
		if err != nil {
			return err
		}
		if _, known := r.known[key+" "+m.ID]; !known {
			unknown = append(unknown, m)
		}
	}
	b, err := r.bundle(ctx, r.sources, unknown)
	if err != nil {
		return err
	}
	group, in := errgroup.WithContext(ctx)
	group.SetLimit(max(1, r.Jobs))
	for _, m := range mutants {
		group.Go(func() error { return r.one(in, m, b) })
	}
	return cmp.Or(group.Wait(), b.remove())
}

// draw returns the next mutant that compiles and is not known to be equivalent.
func (r *run) draw(next func() (Mutant, bool)) (Mutant, bool) {
	for {
		m, ok := next()
		if !ok {
			return m, false
		}
		if s := r.sources[m.Package]; (s == nil || s.compiles(&m)) && !equivalent(equivalents, m) {
			return m, true
		}
	}
}

// counted returns how many mutants have a result. One whose tests do not compile is none.
func (r *run) counted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, result := range r.report {
		if result.Verdict != NoMutant {
			count++
		}
	}
	return count
}

// one tests a mutant, unless it is known.
func (r *run) one(ctx context.Context, m Mutant, b *bundle) error {
	tests, key, err := r.testsOf(ctx, m)
	if err != nil {
		return err
	}
	result, known := r.known[key+" "+m.ID]
	if !known {
		var text []byte
		if m.Schema == "" {
			for _, f := range r.sources[m.Package].files {
				if f.name == m.File {
					text = apply(f.text, m.edits)
				}
			}
		}
		if result, err = r.judge(ctx, m, text, b, tests); err != nil {
			return err
		}
		result.Key = key
		if err := r.results.Add(result); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = append(r.report, result)
	r.progress(known)
	return nil
}

// testsOf returns the tests for a mutant, and the key of its result.
func (r *run) testsOf(ctx context.Context, m Mutant) ([]target, string, error) {
	specs := r.Tests
	if len(specs) == 0 {
		specs = testsFor(m.Package)
	}
	var tests []target
	parts := []string{fmt.Sprint(r.Seed)}
	for _, spec := range specs {
		folder, pattern, _ := strings.Cut(spec, ":")
		p, err := r.open(ctx, strings.Trim(folder, "./"))
		if err != nil {
			return nil, "", err
		}
		if p == nil || m.Schema == "" && !p.deps[r.sources[m.Package].path] {
			continue
		}
		tests = append(tests, target{p, pattern})
		parts = append(parts, spec, p.digest)
	}
	if m.Schema != "" {
		if err := nearest(r.root, m, tests); err != nil {
			return nil, "", err
		}
	}
	return tests, identify(parts...), nil
}

// progress prints how far the run is.
func (r *run) progress(known bool) {
	if known {
		return
	}
	r.done++
	count := make(map[string]int)
	for _, result := range r.report {
		count[result.Verdict]++
	}
	last := r.report[len(r.report)-1]
	left := time.Duration(float64(time.Since(r.began)) / float64(r.done) * float64(r.Count-len(r.report)))
	line := fmt.Sprintf("%d/%d: %d killed, %d survived, %d timeouts; %v left",
		len(r.report), r.Count, count[Killed], count[Survived], count[TimedOut], left.Round(time.Second))
	if last.Verdict == Survived {
		line += "\n" + last.place() + "\n" + strings.TrimSuffix(last.Diff(), "\n")
	}
	r.Say(line)
}

// Read reports the last result of each mutant in a folder of results.
func Read(dir string) (Report, error) {
	j, err := journal.Open[Result](filepath.Join(dir, "results.jsonl"))
	if err != nil {
		return Report{}, err
	}
	var last []Result
	index := make(map[string]int)
	for _, result := range j.All() {
		if i, ok := index[result.ID]; ok {
			last[i] = result
			continue
		}
		index[result.ID] = len(last)
		last = append(last, result)
	}
	return Report{Results: last}, nil
}
