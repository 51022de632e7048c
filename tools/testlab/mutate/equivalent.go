package mutate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// An Equivalent is a mutant that no caller can tell from the product. It is found by its function and its kind, so that
// it survives edits of the code.
type Equivalent struct {
	Package  string
	Function string // with its receiver, or a variable
	Kind     Kind
	At       string // words around what is changed; none: every mutant of the kind in the function
	Reason   string // why no caller can tell
}

// is reports whether a mutant is the one that was meant.
func (e Equivalent) is(m Mutant) bool {
	return e.Package == m.Package && e.Function == m.Function && e.Kind == m.Kind && m.changes(e.At)
}

func (e Equivalent) String() string {
	return fmt.Sprintf("%s %s: %s at %q", e.Package, e.Function, e.Kind, e.At)
}

func equivalent(known []Equivalent, m Mutant) bool {
	return slices.ContainsFunc(known, func(e Equivalent) bool { return e.is(m) })
}

// stale returns the entries that are no mutant of the code, given all mutants of some packages: the code has changed.
func stale(known []Equivalent, all []Mutant, loaded map[string]*source) (old []Equivalent) {
	for _, e := range known {
		if _, ok := loaded[e.Package]; ok && !slices.ContainsFunc(all, e.is) {
			old = append(old, e)
		}
	}
	return old
}

// Check returns an error that names what in the lists of fixed and of equivalent mutants does not fit the code.
func Check(ctx context.Context, root string) error {
	root, err := rootOr(ctx, root)
	if err != nil {
		return err
	}
	folders := make(map[string]bool)
	for _, e := range equivalents {
		folders["./"+e.Package] = true
	}
	wrong := []error{checkFixed(root, fixed)}
	all, sources, err := enumerate(ctx, root, slices.Sorted(maps.Keys(folders)))
	if err != nil {
		return errors.Join(append(wrong, err)...)
	}
	for _, e := range stale(equivalents, all, sources) {
		wrong = append(wrong, fmt.Errorf("no mutant is %s", e))
	}
	return errors.Join(wrong...)
}
