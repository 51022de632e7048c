package pg

import (
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Reader reads rows of one kind: it has their select list, and turns each row into a V.
type Reader[V any] struct {
	list string
	// scan reads the rows of a statement, whose columns may be followed by others for which there are targets.
	scan func(rows pgx.Rows, found func(V), more ...any) error
}

// NewReader reads each row into a V.
func NewReader[V any](columns func(*V) []Column) Reader[V] {
	return ReadAs(columns, func(v *V) (V, error) { return *v, nil })
}

// ReadAs reads each row into a T, of which value makes a V. The next row is read into the same T, so a V must not point
// into it.
func ReadAs[T, V any](columns func(*T) []Column, value func(*T) (V, error)) Reader[V] {
	frames := newFrames(columns)
	return Reader[V]{
		list: join(columns(new(T)), func(_ int, c Column) string { return c.sql }),
		scan: func(rows pgx.Rows, found func(V), more ...any) error {
			f := frames.get()
			defer frames.put(f)
			targets := slices.Concat(f.targets, more)
			for rows.Next() {
				if err := rows.Scan(targets...); err != nil {
					return err
				}
				v, err := value(&f.row)
				if err != nil {
					return err
				}
				found(v)
			}
			return rows.Err()
		},
	}
}

// Columns is the select list.
func (r *Reader[V]) Columns() string { return r.list }

// Find reads the first row of a statement; nil where there is none.
func (r *Reader[V]) Find(s *Statement, into **V) {
	s.Query(func(rows pgx.Rows) error {
		*into = nil
		return r.scan(rows, func(v V) {
			if *into == nil {
				*into = &v
			}
		})
	})
}

// Scan reads the first row of a statement; pgx.ErrNoRows if there is none.
func (r *Reader[V]) Scan(s *Statement, into *V) {
	s.Query(func(rows pgx.Rows) error {
		found := false
		err := r.scan(rows, func(v V) {
			if !found {
				*into, found = v, true
			}
		})
		if err == nil && !found {
			return pgx.ErrNoRows
		}
		return err
	})
}

// List reads all rows of a statement into a slice, replacing what it held, so that running a transaction's body again
// starts from nothing.
func (r *Reader[V]) List(s *Statement, into *[]V) {
	s.Query(func(rows pgx.Rows) error {
		*into = []V{}
		return r.scan(rows, func(v V) { *into = append(*into, v) })
	})
}

// Each gives all rows of a statement to a function.
func (r *Reader[V]) Each(s *Statement, found func(V)) {
	s.Query(func(rows pgx.Rows) error { return r.scan(rows, found) })
}

// frame is a row with pointers to what its columns are scanned into and written from. Each row of a statement is copied
// out of it or into it, so that the pointers are gathered once, and not once for each row.
type frame[T any] struct {
	row     T
	columns []Column
	targets []any
	arrays  []array
}

// frames keeps those that are not in use.
type frames[T any] struct{ pool sync.Pool }

func newFrames[T any](columns func(*T) []Column) *frames[T] {
	return &frames[T]{sync.Pool{New: func() any {
		f := new(frame[T])
		f.columns = columns(&f.row)
		for _, c := range f.columns {
			f.targets = append(f.targets, c.target())
			f.arrays = append(f.arrays, c.array())
		}
		return f
	}}}
}

func (f *frames[T]) get() *frame[T] { return f.pool.Get().(*frame[T]) }

func (f *frames[T]) put(used *frame[T]) {
	// What it points to may go.
	used.row = *new(T)
	f.pool.Put(used)
}
