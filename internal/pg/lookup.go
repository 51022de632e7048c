package pg

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/tenant"
)

// Lookup is a statement that finds rows by keys. All that one batch looks up with it travels as one
// statement, whoever asked: a hundred bookings ask for their hundred members at once, and a single one pays no more than before.
type Lookup[K comparable, V any] struct {
	// SQL takes the tenant as $1 and the keys, column by column, as arrays from $2 on. Its last column is the place
	// of the key that a row belongs to, from 1, as WITH ORDINALITY gives it.
	SQL string
	// Columns turns keys into the arrays.
	Columns func(keys []K) []any
	// Scan reads a row without its last column.
	Scan func(row pgx.Row) (V, error)
}

// Find adds a key to a batch. Each row that belongs to it is given to found; for several who ask for the same key, to each.
func (l *Lookup[K, V]) Find(b *Batch, in tenant.TenantID, key K, found func(V)) {
	q, ok := b.lookups[l].(*question[K, V])
	if !ok {
		q = &question[K, V]{places: make(map[K]int)}
		s := b.Queue(l.SQL)
		s.bind = func() []any { return append([]any{in}, l.Columns(q.keys)...) }
		s.Query(func(rows pgx.Rows) error { return q.answer(rows, l.Scan) })
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

// question is what one batch looks up with one statement.
type question[K comparable, V any] struct {
	keys   []K
	places map[K]int
	found  [][]func(V)
}

func (q *question[K, V]) answer(rows pgx.Rows, scan func(pgx.Row) (V, error)) error {
	for rows.Next() {
		var place int
		value, err := scan(numberedRow{rows, &place})
		if err != nil {
			return err
		}
		for _, found := range q.found[place-1] {
			found(value)
		}
	}
	return rows.Err()
}

// numberedRow reads its last column beside what it is asked for.
type numberedRow struct {
	row  pgx.Row
	last *int
}

func (r numberedRow) Scan(targets ...any) error { return r.row.Scan(append(targets, r.last)...) }
