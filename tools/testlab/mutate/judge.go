package mutate

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

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
