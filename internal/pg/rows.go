package pg

import (
	"cmp"
	"slices"

	"github.com/berthhq/berth/internal/tenant"
)

// Rows is a way to write rows of one kind. All rows of a kind that a transaction adds before it sends
// anything, or queues another statement with Write, travel together: so what is written
// for a hundred bookings takes as many statements as what is written for one.
type Rows[R any] struct {
	// Rank orders the kinds that travel together, whichever row was added first: parents before children, what
	// the database may refuse before what it cannot.
	Rank int
	// Key says which rows are the same one; nil where each stands for itself. Merge then lays a row
	// over the one before; nil replaces it.
	Key   func(R) any
	Merge func(before *R, row R)
	// Write queues the statements for all rows.
	Write func(tx *Tx, in tenant.TenantID, rows []R)
}

// Add queues rows. They are sent as those of Tx.Write are.
func (r *Rows[R]) Add(tx *Tx, in tenant.TenantID, rows ...R) {
	i := slices.IndexFunc(tx.gathered, func(g *gathering) bool { return g.kind == r })
	if i < 0 {
		all := &rowsOf[R]{kind: r}
		if r.Key != nil {
			all.places = make(map[any]int)
		}
		i = len(tx.gathered)
		tx.gathered = append(tx.gathered,
			&gathering{kind: r, rank: r.Rank, rows: all, write: func() { r.Write(tx, in, all.rows) }})
	}
	all := tx.gathered[i].rows.(*rowsOf[R])
	for _, row := range rows {
		all.add(row)
	}
	tx.added += len(rows)
}

// gathering is rows of one kind on their way to one statement.
type gathering struct {
	kind  any // *Rows[R]
	rank  int
	rows  any // *rowsOf[R]
	write func()
}

type rowsOf[R any] struct {
	kind   *Rows[R]
	rows   []R
	places map[any]int
}

func (a *rowsOf[R]) add(row R) {
	if a.kind.Key == nil {
		a.rows = append(a.rows, row)
		return
	}
	key := a.kind.Key(row)
	at, known := a.places[key]
	switch {
	case !known:
		a.places[key] = len(a.rows)
		a.rows = append(a.rows, row)
	case a.kind.Merge == nil:
		a.rows[at] = row
	default:
		a.kind.Merge(&a.rows[at], row)
	}
}

// gather turns the rows that were added so far into statements.
func (s *session) gather() {
	gathered := s.gathered
	s.gathered = nil // before the statements below are queued by Write, which gathers first
	slices.SortStableFunc(gathered, func(a, b *gathering) int { return cmp.Compare(a.rank, b.rank) })
	for _, g := range gathered {
		g.write()
	}
}

// Changes counts the statements and rows that were queued so far, so that a caller can tell whether anything was.
func (tx *Tx) Changes() int { return tx.added }

// Array gives one value of each row, as an array for unnest.
func Array[R, V any](rows []R, value func(R) V) []V {
	values := make([]V, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}
