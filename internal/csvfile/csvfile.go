// Package csvfile reads tables that people save from spreadsheets. A format says
// which columns there may be and what stands in them; every row is judged, so
// that a file is put right in one go.
package csvfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/berthhq/berth/internal/fault"
)

const maxColumns = 100

// Problem is one thing wrong with a row.
type Problem struct {
	// Column is its name, empty where the row as a whole is wrong.
	Column string
	// Message says what is wrong and what would be right, in a sentence.
	Message string
}

// Row is what every row has; the row of a format embeds it. The format's own
// fields mean something only while there are no problems.
type Row struct {
	// Number counts rows as a spreadsheet does: the header is 1, a cell with line
	// breaks is still one row, and empty rows count.
	Number   int
	Problems []Problem
}

// Refuse adds a problem to the row.
func (r *Row) Refuse(column, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Column: column, Message: fmt.Sprintf(format, args...)})
}

func (r *Row) row() *Row { return r }

// Of is a pointer to a format's row: a struct that embeds Row.
type Of[R any] interface {
	*R
	row() *Row
}

// Table is what a file says, and what is wrong with it.
type Table[R any, P Of[R]] struct {
	// Header has what is wrong with the columns. Rows are judged all the same, by
	// the columns that there are.
	Header []Problem
	// Rows are in the order of the file, empty ones left out.
	Rows []R
}

// Wrong counts the rows with problems, a wrong header among them.
func (t *Table[R, P]) Wrong() int {
	wrong := 0
	if len(t.Header) > 0 {
		wrong++
	}
	for i := range t.Rows {
		if len(P(&t.Rows[i]).row().Problems) > 0 {
			wrong++
		}
	}
	return wrong
}

// Format is a kind of file.
type Format[R any, P Of[R]] struct {
	MaxBytes, MaxRows int
	Columns           []Column[R]
	// Header, if set, says what is wrong with the columns as a whole.
	Header func(Cells) []Problem
	// Row, if set, judges a row as a whole, after each of its cells.
	Row func(P, Cells)
}

// Cells tells what a file has, or one of its rows.
type Cells struct {
	at    map[string]int
	cells []string
}

// Has reports whether the file has a column.
func (c Cells) Has(column string) bool {
	_, ok := c.at[column]
	return ok
}

// Filled reports whether the row has something in a column.
func (c Cells) Filled(column string) bool {
	n, ok := c.at[column]
	return ok && n < len(c.cells) && filled(c.cells[n])
}

// Parse reads a file: UTF-8 with or without byte order mark, separated by comma,
// semicolon or tab, with a header that names columns in any order and case. The
// error has reason IMPORT_INVALID and tells that the file as a whole cannot be
// read: it is empty, too large, or no such file at all.
func (f *Format[R, P]) Parse(file []byte) (*Table[R, P], error) {
	text, err := f.text(file)
	if err != nil {
		return nil, err
	}
	reader := newReader(text, f.separator(text))
	header, problem := reader.read()
	switch {
	case problem == nil && header == nil:
		return nil, invalid("The file is empty.")
	case problem != nil:
		return nil, invalid("The header cannot be read: %s", problem.Message)
	case len(header) > maxColumns:
		return nil, invalid("The file has more than %d columns.", maxColumns)
	}

	var table Table[R, P]
	columns, at, problems := f.readHeader(header)
	table.Header = problems
	for {
		cells, problem := reader.read()
		if cells == nil && problem == nil {
			return &table, nil
		}
		if problem == nil && !slices.ContainsFunc(cells, filled) {
			continue
		}
		if len(table.Rows) == f.MaxRows {
			return nil, invalid("The file has more than %d rows.", f.MaxRows).With("max_rows", strconv.Itoa(f.MaxRows))
		}
		table.Rows = append(table.Rows, *new(R))
		p := P(&table.Rows[len(table.Rows)-1])
		p.row().Number = reader.row
		if problem != nil {
			p.row().Problems = []Problem{*problem}
			continue
		}
		f.readRow(p, columns, Cells{at: at, cells: cells})
	}
}

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, fault.ImportInvalid, format, args...).In("csv")
}

// text takes the encoding's wrapping off.
func (f *Format[R, P]) text(file []byte) ([]byte, error) {
	switch {
	case len(file) > f.MaxBytes:
		return nil, invalid("The file is larger than %d bytes.", f.MaxBytes).With("max_bytes", strconv.Itoa(f.MaxBytes))
	case bytes.HasPrefix(file, []byte("\xff\xfe")) || bytes.HasPrefix(file, []byte("\xfe\xff")):
		return nil, invalid("The file is UTF-16: save it as CSV in UTF-8.")
	case bytes.HasPrefix(file, []byte("PK\x03\x04")):
		return nil, invalid("The file is a spreadsheet: save it as CSV in UTF-8.")
	}
	text := bytes.TrimPrefix(file, []byte("\ufeff"))
	if !bytes.Contains(text, []byte("\n")) {
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n")) // classic Mac
	}
	return text, nil
}

// separator takes the one with which the header names most columns.
func (f *Format[R, P]) separator(text []byte) rune {
	known := func(separator rune) (n int) {
		cells, _ := newReader(text, separator).read()
		for _, cell := range cells {
			if f.named(columnName(cell)) != nil {
				n++
			}
		}
		return n
	}
	return slices.MaxFunc([]rune{',', ';', '\t'}, func(a, b rune) int { return cmp.Compare(known(a), known(b)) })
}

// readHeader finds out which column stands where; nil stands for one to pass over.
func (f *Format[R, P]) readHeader(header []string) (columns []*Column[R], at map[string]int, problems []Problem) {
	columns = make([]*Column[R], len(header))
	at = make(map[string]int, len(header))
	refuse := func(column, format string, args ...any) {
		problems = append(problems, Problem{Column: column, Message: fmt.Sprintf(format, args...)})
	}
	for n, cell := range header {
		name := columnName(cell)
		column := f.named(name)
		_, twice := at[name]
		switch {
		case name == "":
			columns[n] = &Column[R]{unnamed: true}
		case column == nil:
			refuse(shown(cell), "There is no column %s. The columns are %s.", Quote(cell), f.names())
		case twice:
			refuse(name, "The column is given twice.")
		default:
			at[name], columns[n] = n, column
		}
	}
	for _, column := range f.Columns {
		if _, given := at[column.Name]; column.Required && !given {
			refuse(column.Name, "The column is missing.")
		}
	}
	if f.Header != nil {
		problems = append(problems, f.Header(Cells{at: at})...)
	}
	return columns, at, problems
}

// readRow judges one row.
func (f *Format[R, P]) readRow(p P, columns []*Column[R], cells Cells) {
	count := len(cells.cells)
	if count > len(columns) { // spreadsheets pad rows with empty cells
		count = max(len(columns), lastFilled(cells.cells)+1)
	}
	if count != len(columns) {
		p.row().Refuse("", "The row has %d cells where the header has %d.", count, len(columns))
		return
	}
	for n, column := range columns {
		if column == nil {
			continue
		}
		if problem := column.judge((*R)(p), cells.cells[n]); problem != "" {
			p.row().Refuse(column.Name, "%s", problem)
		}
	}
	if f.Row != nil {
		f.Row(p, cells)
	}
}
