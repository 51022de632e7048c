package pg

import (
	"cmp"
	"slices"

	"github.com/berthhq/berth/internal/tenant"
)

// RowWriter writes rows of one kind. All rows of a kind that a transaction adds before its next statement (sent, or
// queued with Write) are written together: a hundred bookings take as many statements as one.
type RowWriter[R any] struct {
	// Rank is the order in which the kinds are written: parents before children, and what the database may reject
	// before what it cannot.
	Rank int
	// Key identifies rows that are the same; nil means that none are. Merge combines
	// a row with the one before; nil replaces it.
	Key   func(R) any
	Merge func(before *R, row R)
	// Write queues the statements that write the rows.
	Write func(tx *Tx, in tenant.TenantID, rows []R)
}

// Add queues rows. They are sent like the statements of Tx.Write.
func (r *RowWriter[R]) Add(tx *Tx, in tenant.TenantID, rows ...R) {
	i := slices.IndexFunc(tx.rows, func(g *rowGroup) bool { return g.kind == r })
	if i < 0 {
		all := &rowSet[R]{kind: r}
		if r.Key != nil {
			all.index = make(map[any]int)
		}
		i = len(tx.rows)
		group := &rowGroup{kind: r, rank: r.Rank, rows: all, write: func() { r.Write(tx, in, all.rows) }}
		tx.rows = append(tx.rows, group)
	}
	all := tx.rows[i].rows.(*rowSet[R])
	for _, row := range rows {
		all.add(row)
	}
	tx.added += len(rows)
}

// rowGroup is the queued rows of one kind.
type rowGroup struct {
	kind  any // *Rows[R]
	rank  int
	rows  any // *rowSet[R]
	write func()
}

type rowSet[R any] struct {
	kind  *RowWriter[R]
	rows  []R
	index map[any]int
}

func (r *rowSet[R]) add(row R) {
	if r.kind.Key == nil {
		r.rows = append(r.rows, row)
		return
	}
	key := r.kind.Key(row)
	at, known := r.index[key]
	switch {
	case !known:
		r.index[key] = len(r.rows)
		r.rows = append(r.rows, row)
	case r.kind.Merge == nil:
		r.rows[at] = row
	default:
		r.kind.Merge(&r.rows[at], row)
	}
}

// writeRows turns the queued rows into statements.
func (s *session) writeRows() {
	groups := s.rows
	s.rows = nil // first, because Write below calls this method again
	slices.SortStableFunc(groups, func(a, b *rowGroup) int { return cmp.Compare(a.rank, b.rank) })
	for _, g := range groups {
		g.write()
	}
}

// WriteCount returns the number of statements and rows queued so far, so a caller can tell whether it wrote anything.
func (tx *Tx) WriteCount() int { return tx.added }

// Array gives one value of each row, as an array for unnest.
func Array[R, V any](rows []R, value func(R) V) []V {
	values := make([]V, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

// Distinct drops repeated values and keeps the order of the rest.
func Distinct[T comparable](values []T) []T {
	seen := make(map[T]bool)
	return slices.DeleteFunc(slices.Clone(values), func(v T) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}
