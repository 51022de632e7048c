package pg

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berthhq/berth/internal/tenant"
)

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
	columnList
	columns func(*T) []Column
	frames  *frames[T]
}

// NewTable makes the table that statements call by an alias. One that is only written needs none. Columns gives its
// columns for any row.
func NewTable[T any](alias string, columns func(*T) []Column) *Table[T] {
	t := &Table[T]{columnList: newColumnList(alias, columns(new(T))), columns: columns, frames: newFrames(columns)}
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

// Insert gives the arguments of a statement with Values.
func (t *Table[T]) Insert(in tenant.TenantID, row *T) []any { return t.arguments(in, row, t.inserted) }

// Update gives the arguments of a statement with Set.
func (t *Table[T]) Update(in tenant.TenantID, row *T) []any { return t.arguments(in, row, t.updated) }

// InsertAll gives the arguments of a statement with Rows.
func (t *Table[T]) InsertAll(in tenant.TenantID, rows []*T) []any {
	return t.arrays(in, rows, t.inserted)
}

// UpdateAll gives the arguments of a statement with Changes.
func (t *Table[T]) UpdateAll(in tenant.TenantID, rows []*T) []any {
	return t.arrays(in, rows, t.updated)
}

func (t *Table[T]) arguments(in tenant.TenantID, row *T, of []int) []any {
	f := t.frames.get()
	defer t.frames.put(f)
	f.row = *row
	args := make([]any, 1+len(of))
	args[0] = in
	for n, i := range of {
		args[1+n] = f.columns[i].written()
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
	args := make([]any, 1+len(of))
	args[0] = in
	for n, i := range of {
		args[1+n] = f.arrays[i].end()
	}
	return args
}

// columnList is the columns of a table, from which the texts of its statements are made.
type columnList struct {
	all               []Column // their values tell only the types
	selected          []string
	inserted, updated []int // places in columns
	keys              int   // how many of those updated are keys; they come first
}

func newColumnList(alias string, columns []Column) columnList {
	l := columnList{all: columns}
	var changed []int
	for i, c := range columns {
		if c.use == never {
			l.selected = append(l.selected, c.sql)
			continue
		}
		l.selected = append(l.selected, alias+"."+c.sql)
		if c.use != onUpdate {
			l.inserted = append(l.inserted, i)
		}
		switch c.use {
		case asKey:
			l.updated = append(l.updated, i)
		case always, onUpdate:
			changed = append(changed, i)
		case onInsert, never:
		}
	}
	l.keys = len(l.updated)
	l.updated = append(l.updated, changed...)
	return l
}

// Values is what follows the table's name where one row is inserted. Its arguments are those of Insert.
func (l *columnList) Values() string {
	return fmt.Sprintf("(%s) values (%s)", l.Names(), l.Parameters())
}

// Names are the columns that a row is inserted with, for an insert with more columns than these.
func (l *columnList) Names() string { return "tenant_id, " + l.list(l.inserted) }

// Parameters go with Names.
func (l *columnList) Parameters() string {
	return "$1, " + join(l.inserted, func(n, _ int) string { return parameter(n) })
}

// Extra is the nth parameter after those of Names, from 1.
func (l *columnList) Extra(n int) string { return parameter(len(l.inserted) + n - 1) }

// Set is the list of assignments where one row is updated. The tenant is $1, and the keys follow it. Its arguments are
// those of Update.
func (l *columnList) Set() string {
	return join(l.updated[l.keys:], func(n, i int) string { return l.all[i].sql + " = " + parameter(l.keys+n) })
}

// SetExcluded is the list of assignments where an insert finds its row there already.
func (l *columnList) SetExcluded() string {
	return join(l.updated[l.keys:], func(_, i int) string { return l.all[i].sql + " = excluded." + l.all[i].sql })
}

// Rows is what follows the table's name where several rows are inserted by one statement. Its arguments are those of
// InsertAll.
func (l *columnList) Rows() string {
	return fmt.Sprintf("(%s) select $1, %s from %s",
		l.Names(), join(l.inserted, func(_, i int) string { return l.bulk(i) }), l.unnest(l.inserted))
}

// Changes is a table `x` of several rows' keys and new values, for a statement that updates them all with SetChanges.
// Its arguments are those of UpdateAll; the first key's array is $2.
func (l *columnList) Changes() string { return l.unnest(l.updated) }

// SetChanges is the list of assignments from Changes.
func (l *columnList) SetChanges() string {
	return join(l.updated[l.keys:], func(_, i int) string { return l.all[i].sql + " = " + l.bulk(i) })
}

func (l *columnList) list(of []int) string {
	return join(of, func(_, i int) string { return l.all[i].sql })
}

func (l *columnList) unnest(of []int) string {
	return fmt.Sprintf("unnest(%s) as x (%s)", join(of, func(n, i int) string {
		return parameter(n) + "::" + l.all[i].sqlType() + "[]"
	}), l.list(of))
}

// bulk takes a column out of x. Postgres has no arrays of arrays of different lengths: lists are unnested as JSON.
func (l *columnList) bulk(i int) string {
	if _, isList := l.all[i].value.(list); isList {
		return "array(select jsonb_array_elements_text(x." + l.all[i].sql + "))"
	}
	return "x." + l.all[i].sql
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
