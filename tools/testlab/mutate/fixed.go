package mutate

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Fixed is a mutant that tests must kill: a bug that none noticed once. It is found by its function, so that it
// survives edits of other code.
type Fixed struct {
	Harm     string // what would happen
	Package  string
	Function string // with its receiver, or a variable
	Old, New string // Old is in the function once, with any spaces and line breaks between its words
	Schema   string // or the statement that changes the migrated database
	Tests    []Test // one of them kills it
}

// A Test is what runs of a folder's tests.
type Test struct{ Folder, Pattern string }

// mutant returns the mutant, and the changed text of its file.
func (f Fixed) mutant(root string) (Mutant, []byte, error) {
	m := Mutant{Package: f.Package, Function: f.Harm, Schema: f.Schema, Kind: "fixed", block: -1}
	if f.Schema != "" {
		m.ID, m.New = identify(f.Schema), []string{f.Schema}
		return m, nil, nil
	}
	file, start, end, err := find(root, f.Package, f.Function)
	if err != nil {
		return m, nil, fmt.Errorf("%s: %w", f.Harm, err)
	}
	m.File = file
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return m, nil, err
	}
	found := snippet(f.Old).FindAllIndex(text[start:end], -1)
	if len(found) != 1 {
		return m, nil, fmt.Errorf("%s: %s of %s has %q %d times, not once", f.Harm, f.Function, f.Package, f.Old, len(found))
	}
	m.edits = []edit{{start: start + found[0][0], end: start + found[0][1], text: f.New}}
	m.describe(text)
	return m, apply(text, m.edits), nil
}

// find returns the file of a function or a variable, and where in it the declaration is.
func find(root, folder, function string) (file string, start, end int, err error) {
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		return "", 0, 0, err
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return "", 0, 0, err
		}
		for name, d := range declarations(syntax) {
			if name == function {
				in := filepath.ToSlash(filepath.Join(folder, filepath.Base(path)))
				return in, int(d.Pos() - syntax.FileStart), int(d.End() - syntax.FileStart), nil
			}
		}
	}
	return "", 0, 0, fmt.Errorf("%s has no %s", folder, function)
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
	if err := checkFixed(root, all); err != nil {
		return err
	}
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

// checkFixed returns an error that names the fixed mutants that do not fit the code.
func checkFixed(root string, all []Fixed) error {
	var wrong []error
	for _, f := range all {
		_, _, err := f.mutant(root)
		wrong = append(wrong, err)
		for _, test := range f.Tests {
			if !hasTest(filepath.Join(root, test.Folder), test.Pattern) {
				wrong = append(wrong, fmt.Errorf("%s: no test of %s fits %s", f.Harm, test.Folder, test.Pattern))
			}
		}
	}
	return errors.Join(wrong...)
}

// hasTest reports whether a pattern fits a test of a folder.
func hasTest(folder, pattern string) bool {
	files, _ := filepath.Glob(filepath.Join(folder, "*_test.go")) // the pattern is right
	name, _, _ := strings.Cut(pattern, "/")                       // what follows are parts of the test
	named := regexp.MustCompile(name)
	return slices.ContainsFunc(files, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && slices.ContainsFunc(testFunc.FindAllSubmatch(text, -1), func(of [][]byte) bool {
			return named.Match(of[1])
		})
	})
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

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
