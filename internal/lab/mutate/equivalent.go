package mutate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An Equivalent is a mutant that no caller can tell from the product. It is found by its function and by the text of
// its lines, so that it survives edits of other lines.
type Equivalent struct {
	Package, Function string
	Old, New          string // lines without indentation, or a part of a line; an empty New was removed
	Reason            string // why no caller can tell
}

// maxEquivalent is the share of a package's mutants that may be equivalent.
const maxEquivalent = 0.03

// is reports whether a mutant is the one that was meant.
func (e Equivalent) is(m Mutant) bool {
	join := func(lines []string) string { return strings.Join(lines, "\n") }
	return e.Package == m.Package && e.Function == m.Function &&
		strings.Replace(join(m.Old), join(lines(e.Old)), join(lines(e.New)), 1) == join(m.New)
}

func equivalent(known []Equivalent, m Mutant) bool {
	return slices.ContainsFunc(known, func(e Equivalent) bool { return e.is(m) })
}

// checkList returns an error for what is wrong with a list, given all mutants of some packages: an entry without a
// reason, one that is no mutant, or too many in a package.
func checkList(known []Equivalent, all []Mutant, loaded map[string]*source) error {
	var wrong []error
	entries, mutants := make(map[string]int), make(map[string]int)
	for _, m := range all {
		mutants[m.Package]++
	}
	for _, e := range known {
		if _, ok := loaded[e.Package]; !ok {
			continue
		}
		entries[e.Package]++
		if strings.TrimSpace(e.Reason) == "" {
			wrong = append(wrong, fmt.Errorf("equivalent mutant of %s %s: %q has no reason", e.Package, e.Function, e.New))
		}
		if !slices.ContainsFunc(all, e.is) {
			wrong = append(wrong, fmt.Errorf("equivalent mutant of %s %s: %q is no mutant", e.Package, e.Function, e.New))
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(entries)) {
		if share := float64(entries[folder]) / float64(mutants[folder]); share > maxEquivalent {
			wrong = append(wrong, fmt.Errorf("%s: %.1f %% of its mutants are listed as equivalent", folder, 100*share))
		}
	}
	return errors.Join(wrong...)
}
