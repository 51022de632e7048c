package pg

import (
	"sync"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

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
	used.row = *new(T) // what it points to may go
	f.pool.Put(used)
}

// array collects the values that a column has in several rows, as an argument for unnest.
type array interface {
	begin(rows int)
	add()
	end() any
}

func (c Column) array() array {
	switch v := c.value.(type) {
	case *string:
		return &copies[string]{from: v}
	case *int:
		return &collection[int64]{value: func() int64 { return int64(*v) }} // for which pgx needs no reflection
	case *bool:
		return &copies[bool]{from: v}
	case *time.Time:
		return &copies[time.Time]{from: v}
	case **time.Time:
		return &copies[*time.Time]{from: v}
	case *[]byte:
		return &copies[[]byte]{from: v}
	case uuidSource:
		return &collection[tenant.UUID]{value: func() tenant.UUID { return v.Bytes() }}
	case list:
		return &collection[any]{value: v.document}
	default:
		return &collection[any]{value: c.written}
	}
}

// copies are what a pointer leads to.
type copies[V any] struct {
	from *V
	all  []V
}

func (c *copies[V]) begin(rows int) { c.all = make([]V, 0, rows) }
func (c *copies[V]) add()           { c.all = append(c.all, *c.from) }
func (c *copies[V]) end() any       { return c.all }

// collection is what a function gives.
type collection[V any] struct {
	value func() V
	all   []V
}

func (c *collection[V]) begin(rows int) { c.all = make([]V, 0, rows) }
func (c *collection[V]) add()           { c.all = append(c.all, c.value()) }
func (c *collection[V]) end() any       { return c.all }
