package pg

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/tenant"
)

// Column pairs a column of a table with the value of a row that it is scanned into and written from: a pointer, or a
// Field. The functions that make one say when it is written.
type Column struct {
	sql   string
	value any
	use   use
}

type use uint8

const (
	always use = iota
	asKey
	onInsert
	onUpdate
	never
)

// Col is a column that is written when its row is inserted and whenever it is updated.
func Col(name string, value any) Column { return Column{name, value, always} }

// Key is a column that tells a row from the others of its tenant. It never changes.
func Key(name string, value any) Column { return Column{name, value, asKey} }

// Fixed is a column that is written when its row is inserted, and never changes.
func Fixed(name string, value any) Column { return Column{name, value, onInsert} }

// Later is a column that a new row has the default of. It is written when the row is updated.
func Later(name string, value any) Column { return Column{name, value, onUpdate} }

// Read is an expression that is only read: a counter, a column of a joined table, a subquery.
func Read(expression string, value any) Column { return Column{expression, value, never} }

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
func (r Reader[V]) Columns() string { return r.list }

// Find reads the first row of a statement; nil where there is none.
func (r Reader[V]) Find(s *Statement, into **V) {
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
func (r Reader[V]) Scan(s *Statement, into *V) {
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
func (r Reader[V]) List(s *Statement, into *[]V) {
	s.Query(func(rows pgx.Rows) error {
		*into = []V{}
		return r.scan(rows, func(v V) { *into = append(*into, v) })
	})
}

// Each gives all rows of a statement to a function.
func (r Reader[V]) Each(s *Statement, found func(V)) {
	s.Query(func(rows pgx.Rows) error { return r.scan(rows, found) })
}

// Table states the columns of a table once. Select lists and scans, and what is specific to a table in inserts and
// updates, come from there; the statements are written out around it:
//
//	var plans = pg.NewTable("p", func(p *credit.Plan) []pg.Column {
//		return []pg.Column{
//			pg.Key("id", &p.ID),
//			pg.Col("name", &p.Name),
//			pg.Fixed("kind", &p.Kind),
//			…
//		}
//	})
//
//	var (
//		findPlan   = pg.SQL(`select ` + plans.Columns() + ` from plans p where p.tenant_id = $1 and p.id = $2`)
//		insertPlan = pg.SQL(`insert into plans ` + plans.Values())
//		updatePlan = pg.SQL(`update plans set ` + plans.Set() + ` where tenant_id = $1 and id = $2`)
//	)
//
//	plans.Find(batch.Queue(findPlan, in, id), into)
//	tx.Write(insertPlan, plans.Insert(in, &p)...)
//	tx.Write(updatePlan, plans.Update(in, &p)...)
//
// The text of a statement is put together once, when the program starts. Reading rows, and writing many at once, needs
// no reflection for the types that Column.array knows; a named text is given as a *string where that counts.
type Table[T any] struct {
	Reader[T]
	columns           func(*T) []Column
	frames            *frames[T]
	names, selected   []string
	inserted, updated []int // places in columns
	keys              int   // how many of those updated are keys; they come first
}

// NewTable makes the table that statements call by an alias. Columns gives its columns for any row.
func NewTable[T any](alias string, columns func(*T) []Column) *Table[T] {
	t := &Table[T]{columns: columns, frames: newFrames(columns)}
	var changed []int
	for i, c := range columns(new(T)) {
		t.names = append(t.names, c.sql)
		if c.use == never {
			t.selected = append(t.selected, c.sql)
			continue
		}
		t.selected = append(t.selected, alias+"."+c.sql)
		if c.use != onUpdate {
			t.inserted = append(t.inserted, i)
		}
		switch c.use {
		case asKey:
			t.updated = append(t.updated, i)
		case always, onUpdate:
			changed = append(changed, i)
		case onInsert, never:
		}
	}
	t.keys = len(t.updated)
	t.updated = append(t.updated, changed...)
	t.Reader = NewReader(t.Of)
	return t
}

// Of gives the columns of a row to a Reader, which reads others along with them.
func (t *Table[T]) Of(row *T) []Column { return As(t.columns(row), t.selected) }

// As gives the values of columns to a Reader that reads them from other expressions, one for each.
func As(columns []Column, expressions []string) []Column {
	for i := range columns {
		columns[i].sql, columns[i].use = expressions[i], never
	}
	return columns
}

// Expressions makes an expression of each column's name.
func Expressions(columns []Column, expression func(name string) string) []string {
	return Array(columns, func(c Column) string { return expression(c.sql) })
}

// Values is what follows the table's name where one row is inserted. Its arguments are those of Insert.
func (t *Table[T]) Values() string {
	return fmt.Sprintf("(%s) values (%s)", t.Names(), t.Parameters())
}

// Names are the columns that a row is inserted with, for an insert with more columns than these.
func (t *Table[T]) Names() string { return "tenant_id, " + t.list(t.inserted) }

// Parameters go with Names.
func (t *Table[T]) Parameters() string {
	return "$1, " + join(t.inserted, func(n, _ int) string { return parameter(n) })
}

// Extra is the nth parameter after those of Names, from 1.
func (t *Table[T]) Extra(n int) string { return parameter(len(t.inserted) + n - 1) }

// Insert gives the arguments of a statement with Values.
func (t *Table[T]) Insert(in tenant.TenantID, row *T) []any { return t.arguments(in, row, t.inserted) }

// Set is the list of assignments where one row is updated. The tenant is $1, and the keys follow it. Its arguments are
// those of Update.
func (t *Table[T]) Set() string {
	return join(t.updated[t.keys:], func(n, i int) string { return t.names[i] + " = " + parameter(t.keys+n) })
}

// Update gives the arguments of a statement with Set.
func (t *Table[T]) Update(in tenant.TenantID, row *T) []any { return t.arguments(in, row, t.updated) }

// SetExcluded is the list of assignments where an insert finds its row there already.
func (t *Table[T]) SetExcluded() string {
	return join(t.updated[t.keys:], func(_, i int) string { return t.names[i] + " = excluded." + t.names[i] })
}

// Rows is what follows the table's name where several rows are inserted by one statement. Its arguments are those of
// InsertAll.
func (t *Table[T]) Rows() string {
	return fmt.Sprintf("(%s) select $1, %s from %s",
		t.Names(), join(t.inserted, func(_, i int) string { return t.bulk(i) }), t.unnest(t.inserted))
}

// InsertAll gives the arguments of a statement with Rows.
func (t *Table[T]) InsertAll(in tenant.TenantID, rows []*T) []any {
	return t.arrays(in, rows, t.inserted)
}

// Changes is a table `x` of several rows' keys and new values, for a statement that updates them all with SetChanges.
// Its arguments are those of UpdateAll; the first key's array is $2.
func (t *Table[T]) Changes() string { return t.unnest(t.updated) }

// SetChanges is the list of assignments from Changes.
func (t *Table[T]) SetChanges() string {
	return join(t.updated[t.keys:], func(_, i int) string { return t.names[i] + " = " + t.bulk(i) })
}

// UpdateAll gives the arguments of a statement with Changes.
func (t *Table[T]) UpdateAll(in tenant.TenantID, rows []*T) []any {
	return t.arrays(in, rows, t.updated)
}

func (t *Table[T]) list(of []int) string {
	return join(of, func(_, i int) string { return t.names[i] })
}

func (t *Table[T]) unnest(of []int) string {
	all := t.columns(new(T))
	return fmt.Sprintf("unnest(%s) as x (%s)", join(of, func(n, i int) string {
		return parameter(n) + "::" + all[i].sqlType() + "[]"
	}), t.list(of))
}

// bulk takes a column out of x. Postgres has no arrays of arrays of different lengths: lists are unnested as JSON.
func (t *Table[T]) bulk(i int) string {
	if _, isList := t.columns(new(T))[i].value.(list); isList {
		return "array(select jsonb_array_elements_text(x." + t.names[i] + "))"
	}
	return "x." + t.names[i]
}

func (t *Table[T]) arguments(in tenant.TenantID, row *T, of []int) []any {
	f := t.frames.get()
	defer t.frames.put(f)
	f.row = *row
	args := append(make([]any, 0, len(of)+1), in)
	for _, i := range of {
		args = append(args, f.columns[i].written())
	}
	return args
}

func (t *Table[T]) arrays(in tenant.TenantID, rows []*T, of []int) []any {
	f := t.frames.get()
	defer t.frames.put(f)
	for _, i := range of {
		f.arrays[i].begin(len(rows))
	}
	for _, row := range rows {
		f.row = *row
		for _, i := range of {
			f.arrays[i].add()
		}
	}
	args := append(make([]any, 0, len(of)+1), in)
	for _, i := range of {
		args = append(args, f.arrays[i].end())
	}
	return args
}

// parameter is the nth behind the tenant's, from 0.
func parameter(n int) string { return "$" + strconv.Itoa(n+2) }

// join makes a list of what text gives for each of all, by its place.
func join[T any](all []T, text func(n int, one T) string) string {
	texts := make([]string, len(all))
	for n, one := range all {
		texts[n] = text(n, one)
	}
	return strings.Join(texts, ", ")
}
