package pg

import (
	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/tenant"
)

// Lookup is a statement that finds rows by key. All lookups of one kind in a batch are sent as one statement:
// a hundred bookings look up their hundred members together, and a single one costs no more than a plain statement.
type Lookup[K comparable, V any] struct {
	// SQL takes the tenant as $1 and the keys as arrays from $2 on, one per column of the key. Its last column is the
	// position of the row's key in the arrays, from 1, as WITH ORDINALITY counts.
	SQL string
	// Columns converts the keys to these arrays.
	Columns func(keys []K) []any
	// Scan reads a row without its last column.
	Scan func(row pgx.Row) (V, error)
}

// Find adds a key to a batch and calls found with each of its rows. If several calls ask for the same key, each is
// called.
func (l *Lookup[K, V]) Find(b *Batch, in tenant.TenantID, key K, found func(V)) {
	q, ok := b.lookups[l].(*lookupQuery[K, V])
	if !ok {
		q = &lookupQuery[K, V]{index: make(map[K]int)}
		s := b.Queue(l.SQL)
		s.bind = func() []any { return append([]any{in}, l.Columns(q.keys)...) }
		s.Query(func(rows pgx.Rows) error { return q.answer(rows, l.Scan) })
		if b.lookups == nil {
			b.lookups = make(map[any]any)
		}
		b.lookups[l] = q
	}
	at, ok := q.index[key]
	if !ok {
		at = len(q.keys)
		q.index[key] = at
		q.keys, q.found = append(q.keys, key), append(q.found, nil)
	}
	q.found[at] = append(q.found[at], found)
}

// lookupQuery is the statement that serves all lookups of one kind in a batch.
type lookupQuery[K comparable, V any] struct {
	keys  []K
	index map[K]int
	found [][]func(V)
}

func (q *lookupQuery[K, V]) answer(rows pgx.Rows, scan func(pgx.Row) (V, error)) error {
	for rows.Next() {
		var position int
		value, err := scan(numberedRow{rows, &position})
		if err != nil {
			return err
		}
		for _, found := range q.found[position-1] {
			found(value)
		}
	}
	return rows.Err()
}

// numberedRow also scans the last column, the position of the row's key.
type numberedRow struct {
	row  pgx.Row
	last *int
}

func (r numberedRow) Scan(targets ...any) error { return r.row.Scan(append(targets, r.last)...) }
