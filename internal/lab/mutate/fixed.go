package mutate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Fixed is a mutant that tests must kill: a bug that none noticed once.
type Fixed struct {
	Harm     string // what would happen
	File     string
	Old, New string // Old is in the file once
	Schema   string // or the statement that changes the migrated database
	Tests    []Test // one of them kills it
}

// A Test is what runs of a folder's tests.
type Test struct{ Folder, Pattern string }

// mutant returns the mutant, and the changed text of its file.
func (f Fixed) mutant(root string) (Mutant, []byte, error) {
	m := Mutant{File: f.File, Function: f.Harm, Schema: f.Schema, block: -1}
	if f.Schema != "" {
		m.ID, m.New = identify(f.Schema), []string{f.Schema}
		return m, nil, nil
	}
	text, err := os.ReadFile(filepath.Join(root, f.File))
	if err != nil {
		return m, nil, err
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		return m, nil, fmt.Errorf("%s: %d places in %s have %q, not one", f.Harm, n, f.File, f.Old)
	}
	at := strings.Index(string(text), f.Old)
	m.edits = []edit{{start: at, end: at + len(f.Old), text: f.New}}
	m.describe(text)
	m.Kind = "fixed"
	return m, apply(text, m.edits), nil
}

// RunFixed tests all fixed mutants. It returns an error that names those that were not killed.
func RunFixed(ctx context.Context, o Options) error {
	root, err := rootOr(ctx, o.Root)
	if err != nil {
		return err
	}
	return runFixed(ctx, o, root, fixed)
}

func runFixed(ctx context.Context, o Options, root string, all []Fixed) error {
	began := time.Now()
	t, err := newTester(root, o.Dir, 2*time.Minute)
	if err != nil {
		return err
	}
	defer os.RemoveAll(t.temp)
	var mu sync.Mutex
	var wrong []error
	group, in := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Jobs))
	for _, f := range all {
		group.Go(func() error {
			result, err := t.judgeFixed(in, f)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Harm, err)
			}
			mu.Lock()
			defer mu.Unlock()
			o.Say(fmt.Sprintf("%s: %s %s (%.0f s)", f.Harm, result.Verdict, result.Killer, result.Seconds))
			if result.Verdict != Killed {
				wrong = append(wrong, fmt.Errorf("%s: %s\n%s%s", f.Harm, result.Verdict, result.Diff(), result.Note))
			}
			return nil
		})
	}
	if err := errors.Join(group.Wait(), errors.Join(wrong...)); err != nil {
		return err
	}
	o.Say(fmt.Sprintf("%d fixed mutants were killed in %.0f s", len(all), time.Since(began).Seconds()))
	return nil
}

func (t *tester) judgeFixed(ctx context.Context, f Fixed) (Result, error) {
	m, text, err := f.mutant(t.root)
	if err != nil {
		return Result{}, err
	}
	var tests []target
	for _, test := range f.Tests {
		p, err := t.open(ctx, test.Folder)
		if err != nil {
			return Result{}, err
		}
		if p == nil {
			return Result{}, fmt.Errorf("%s has no tests", test.Folder)
		}
		tests = append(tests, target{p, test.Pattern})
	}
	return t.judge(ctx, m, text, nil, tests)
}
