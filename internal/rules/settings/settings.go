// Package settings describes settings that a level can set or inherit. One row of a Table describes one setting: its
// name, its fields, its default, its bounds and its column. Resolving, validation, the audit log, the messages of the
// contract and the columns in the database all come from the row.
package settings

import (
	"reflect"
	"slices"
)

// A Table has one row for each setting.
//
// S is what one level sets: a struct of pointers, where nil inherits. R is the effective rules: a struct of values with
// fields of the same names.
type Table[S, R any] []Row[S, R]

// A Row describes one setting. New makes it.
type Row[S, R any] interface {
	// Name is the setting's name in the contract and in the audit log.
	Name() string
	// Field is the name of its field in S and R.
	Field() string
	// Column is the column that stores it, or empty.
	Column() string
	// Pointer is a **T that points to its field of s.
	Pointer(s *S) any
	// Value is the T that s sets, or nil if s inherits it.
	Value(s *S) any
	// Set sets it in s to a value that converts to T. Nil inherits.
	Set(s *S, value any)
	// Validate returns a fault about the field if s sets it to an invalid value.
	Validate(s *S, field string) error

	apply(s *S, r *R) bool
	reset(r *R)
	explicit(s *S, r *R)
}

// Only returns the rows with these names.
func (t Table[S, R]) Only(names []string) Table[S, R] {
	return slices.DeleteFunc(slices.Clone(t), func(row Row[S, R]) bool { return !slices.Contains(names, row.Name()) })
}

// Defaults returns the effective rules if no level sets anything.
func (t Table[S, R]) Defaults() R {
	var r R
	for _, row := range t {
		row.reset(&r)
	}
	return r
}

// Apply changes those rules that s sets.
func (t Table[S, R]) Apply(s *S, r *R) {
	for _, row := range t {
		row.apply(s, r)
	}
}

// Layer returns a function that does the same as Apply, but looks only at what s sets now. The caller must not change s
// afterwards.
func (t Table[S, R]) Layer(s *S) func(*R) {
	set := slices.DeleteFunc(slices.Clone(t), func(row Row[S, R]) bool { return row.Value(s) == nil })
	return func(r *R) { set.Apply(s, r) }
}

// Explicit returns an S that sets every rule and inherits none.
func (t Table[S, R]) Explicit(r R) S {
	var s S
	for _, row := range t {
		row.explicit(&s, &r)
	}
	return s
}

// Values returns what s sets, by name. What it inherits is nil.
func (t Table[S, R]) Values(s *S) map[string]any {
	values := make(map[string]any, len(t))
	for _, row := range t {
		values[row.Name()] = row.Value(s)
	}
	return values
}

// Validate returns the fault of the first row whose value in s is invalid. The fault's field is the prefix and the
// row's name.
func (t Table[S, R]) Validate(s *S, prefix string) error {
	for _, row := range t {
		if err := row.Validate(s, prefix+row.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Resolve applies layers to the defaults, in order. It returns the rules, and for each field of R the level that its
// value comes from, which is builtIn if no layer sets it.
func Resolve[S, R, E, L any](t Table[S, R], builtIn L, layers []E, layer func(*E) (L, *S)) (R, map[string]L) {
	r, origins := t.Defaults(), make(map[string]L, len(t))
	for _, row := range t {
		origins[row.Field()] = builtIn
	}
	for i := range layers {
		level, s := layer(&layers[i])
		for _, row := range t {
			if row.apply(s, &r) {
				origins[row.Field()] = level
			}
		}
	}
	return r, origins
}

// A Setting is a Row whose value is a T.
type Setting[S, R, T any] struct {
	name, field, column string
	at                  func(*S, *R) (**T, *T)
	initial             T
	check               func(s *S, field string, value T) error

	// These are passed to at when only the other pointer is needed. They are never written.
	noS *S
	noR *R
}

// New returns the row of a setting. At returns pointers to its fields.
func New[S, R, T any](name string, at func(*S, *R) (**T, *T)) *Setting[S, R, T] {
	f := &Setting[S, R, T]{name: name, at: at, noS: new(S), noR: new(R)}
	_, value := at(f.noS, f.noR)
	for field, v := range reflect.ValueOf(f.noR).Elem().Fields() {
		if v.Addr().Interface() == any(value) {
			f.field = field.Name
		}
	}
	return f
}

// Default is the value if no level sets it. Without Default that is the zero value.
func (f *Setting[S, R, T]) Default(value T) *Setting[S, R, T] {
	f.initial = value
	return f
}

// Check validates a value: check returns a fault about the field.
func (f *Setting[S, R, T]) Check(check func(field string, value T) error) *Setting[S, R, T] {
	return f.CheckWith(func(_ *S, field string, value T) error { return check(field, value) })
}

// CheckWith is like Check, for a value that depends on what else the level sets.
func (f *Setting[S, R, T]) CheckWith(check func(s *S, field string, value T) error) *Setting[S, R, T] {
	f.check = check
	return f
}

// In sets the column that stores it.
func (f *Setting[S, R, T]) In(column string) *Setting[S, R, T] {
	f.column = column
	return f
}

// Name implements Row.
func (f *Setting[S, R, T]) Name() string { return f.name }

// Field implements Row.
func (f *Setting[S, R, T]) Field() string { return f.field }

// Column implements Row.
func (f *Setting[S, R, T]) Column() string { return f.column }

// Pointer implements Row.
func (f *Setting[S, R, T]) Pointer(s *S) any { return f.pointer(s) }

func (f *Setting[S, R, T]) pointer(s *S) **T {
	p, _ := f.at(s, f.noR)
	return p
}

// Value implements Row.
func (f *Setting[S, R, T]) Value(s *S) any {
	if p := *f.pointer(s); p != nil {
		return *p
	}
	return nil
}

// Set implements Row.
func (f *Setting[S, R, T]) Set(s *S, value any) {
	p := f.pointer(s)
	if *p = nil; value != nil {
		*p = new(reflect.ValueOf(value).Convert(reflect.TypeFor[T]()).Interface().(T))
	}
}

// Validate implements Row.
func (f *Setting[S, R, T]) Validate(s *S, field string) error {
	if p := *f.pointer(s); p != nil && f.check != nil {
		return f.check(s, field, *p)
	}
	return nil
}

func (f *Setting[S, R, T]) apply(s *S, r *R) bool {
	from, into := f.at(s, r)
	if *from == nil {
		return false
	}
	*into = **from
	return true
}

func (f *Setting[S, R, T]) reset(r *R) {
	_, into := f.at(f.noS, r)
	*into = f.initial
}

func (f *Setting[S, R, T]) explicit(s *S, r *R) {
	into, from := f.at(s, r)
	*into = new(*from)
}
