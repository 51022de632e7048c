package pg

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/tenant"
)

// Lookup is a statement that finds rows by keys. All that one batch looks up with it travels as one statement: a
// hundred bookings ask for their hundred members at once, and a single one pays no more than before.
type Lookup[K comparable, V any] struct {
	// SQL takes the tenant as $1 and the keys, column by column, as arrays from $2 on. Its last column is the place
	// of the key that a row belongs to, from 1, as WITH ORDINALITY gives it.
	SQL string
	// Columns turns keys into the arrays; nil where the keys are the only one.
	Columns func(keys []K) []any
	// Reader reads a row without its last column.
	Reader Reader[V]
}

// Find adds a key to a batch. Each row that belongs to it is given to found; for several who ask for the same key, to
// each.
func (l *Lookup[K, V]) Find(b *Batch, in tenant.TenantID, key K, found func(V)) {
	q, ok := b.lookups[l].(*question[K, V])
	if !ok {
		q = &question[K, V]{places: make(map[K]int)}
		s := b.Queue(l.SQL)
		s.bind = func() []any { return append([]any{in}, l.columns(q.keys)...) }
		s.Query(func(rows pgx.Rows) error { return q.answer(rows, l.Reader) })
		if b.lookups == nil {
			b.lookups = make(map[any]any)
		}
		b.lookups[l] = q
	}
	at, ok := q.places[key]
	if !ok {
		at = len(q.keys)
		q.places[key] = at
		q.keys, q.found = append(q.keys, key), append(q.found, nil)
	}
	q.found[at] = append(q.found[at], found)
}

// One finds the row of a key; nil where there is none.
func (l *Lookup[K, V]) One(b *Batch, in tenant.TenantID, key K, into **V) {
	*into = nil
	l.Find(b, in, key, func(v V) { *into = &v })
}

// Many finds the rows of a key.
func (l *Lookup[K, V]) Many(b *Batch, in tenant.TenantID, key K, into *[]V) {
	*into = nil
	l.Find(b, in, key, func(v V) { *into = append(*into, v) })
}

func (l *Lookup[K, V]) columns(keys []K) []any {
	if l.Columns == nil {
		return []any{keys}
	}
	return l.Columns(keys)
}

// question is what one batch looks up with one statement.
type question[K comparable, V any] struct {
	keys   []K
	places map[K]int
	found  [][]func(V)
}

func (q *question[K, V]) answer(rows pgx.Rows, reader Reader[V]) error {
	var place int
	return reader.scan(rows, func(v V) {
		for _, found := range q.found[place-1] {
			found(v)
		}
	}, &place)
}
