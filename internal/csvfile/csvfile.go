// Package csvfile reads tables that people save from spreadsheets. A format defines the columns and their content.
// Every row is checked, so that all errors in a file can be fixed at once.
package csvfile

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/berthhq/berth/internal/fault"
)

// Problem is an error in a row or header.
type Problem struct {
	Reason fault.Reason `json:"reason"`
	// Column is the name of one of the format's columns; empty if the row as a whole is wrong, or has another column.
	Column string `json:"column"`
	// Message says in a sentence what is wrong and what would be right.
	Message string `json:"message"`
}

// RowProblem is a problem and where it is.
type RowProblem struct {
	Row int `json:"row"` // its number in a spreadsheet
	Problem
}

// Note says what became of a row otherwise than its cells say, though nothing is wrong with it.
type Note struct {
	Column  string `json:"column"` // the name of one of the format's columns
	Message string `json:"message"`
}

// RowNote is a note and where it is.
type RowNote struct {
	Row int `json:"row"` // its number in a spreadsheet
	Note
}

// Row is the common part of all rows. The row of a format embeds it.
// The format's own fields are only valid if there are no problems.
type Row struct {
	// Number is the row's number in a spreadsheet: the first is 1, a cell with line breaks is one row, empty rows count,
	// and a first line that names the separator does not.
	Number   int
	Problems []Problem
	Notes    []Note
}

// AddProblem adds a problem to the row.
func (r *Row) AddProblem(reason fault.Reason, column, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Reason: reason, Column: column, Message: fmt.Sprintf(format, args...)})
}

// AddNote adds a note to the row.
func (r *Row) AddNote(column, format string, args ...any) {
	r.Notes = append(r.Notes, Note{Column: column, Message: fmt.Sprintf(format, args...)})
}

func (r *Row) row() *Row { return r }

// RowPointer is a pointer to a format's row: a struct that embeds Row.
type RowPointer[R any] interface {
	*R
	row() *Row
}

// Table is the content of a file and its problems.
type Table[R any, P RowPointer[R]] struct {
	// Header has the problems of the header. Rows are checked anyway, by the columns that exist.
	Header []Problem
	// HeaderRow is the number of the header's row. Rows above it are titles, and are left out.
	HeaderRow int
	// Columns says what becomes of the file's columns, in their order.
	Columns []Match
	// Rows are in the order of the file, without empty ones.
	Rows []R

	// What is in the file, for LeftOut: its separator, its header, and the cells of each row.
	separator rune
	header    []string
	cells     [][]string
}

// Format defines a kind of file.
type Format[R any, P RowPointer[R]] struct {
	MaxBytes, MaxRows int
	Columns           []Column[R]
	// Also has the names that other programs give a column, the best first, in any spelling.
	Also map[string][]string
	// Header, if set, returns problems of the header as a whole.
	Header func(Cells) []Problem
	// Row, if set, checks a row as a whole, after its cells.
	Row func(P, Cells)
}

// Cells are the cells of a row, by the names of the columns.
type Cells struct {
	index map[string]int
	cells []string
}

// Has reports whether the file has a column.
func (c Cells) Has(column string) bool {
	_, ok := c.index[column]
	return ok
}

// Filled reports whether the row's cell in a column is not empty.
func (c Cells) Filled(column string) bool {
	n, ok := c.index[column]
	return ok && n < len(c.cells) && filled(c.cells[n])
}

// Parse reads a file in UTF-8, UTF-16 or Windows-1252, separated by comma, semicolon, tab or bar, with a header that
// names columns in any order, case and accents, also as other programs call them. Columns with other names are left
// out. Chosen says otherwise for some of its columns. The header is found among the first rows, so there can be titles
// above it. An error has reason IMPORT_INVALID and says that the file as a whole cannot be read: it is empty, too
// large, or not such a file; or INVALID_FIELD, if what is chosen does not fit it.
func (f *Format[R, P]) Parse(file []byte, chosen []Match) (*Table[R, P], error) {
	text, separator, err := f.text(file)
	if err != nil {
		return nil, err
	}
	found := f.findHeader(text, separator, chosen)
	header, reader := found.cells, found.reader
	switch {
	case header == nil && found.problem == nil:
		return nil, invalid("The file is empty.")
	case header == nil:
		return nil, invalid("Row %d, the header, cannot be read: %s", found.row, found.problem.Message)
	}
	header = header[:lastFilled(header)+1] // spreadsheets pad it with empty cells
	if len(header) > MaxColumns {
		return nil, invalid("The file has more than %d columns.", MaxColumns)
	}
	table := Table[R, P]{HeaderRow: found.row, separator: reader.csv.Comma, header: header}
	if table.Columns, err = f.match(header, chosen); err != nil {
		return nil, err
	}
	columns, index := f.columns(table.Columns)
	table.Header = f.checkHeader(index)
	for {
		cells, problem := reader.read()
		if cells == nil && problem == nil {
			return &table, nil
		}
		if problem == nil && !slices.ContainsFunc(cells, filled) {
			continue
		}
		if len(table.Rows) == f.MaxRows {
			return nil, invalid("The file has more than %d rows.", f.MaxRows).WithMetadata("max_rows", strconv.Itoa(f.MaxRows))
		}
		table.Rows = append(table.Rows, *new(R))
		p := P(&table.Rows[len(table.Rows)-1])
		p.row().Number = reader.row
		if problem != nil {
			p.row().Problems = []Problem{*problem}
			table.cells = append(table.cells, []string{reader.last()})
			continue
		}
		table.cells = append(table.cells, cells)
		f.readRow(p, columns, Cells{index: index, cells: cells})
	}
}

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, fault.ImportInvalid, format, args...).WithField("csv")
}

// columns returns the columns of a file, nil for those that are left out, and their positions by name.
func (f *Format[R, P]) columns(matches []Match) (columns []*Column[R], index map[string]int) {
	columns, index = make([]*Column[R], len(matches)), make(map[string]int, len(matches))
	for n, m := range matches {
		if m.Field != "" {
			columns[n], index[m.Field] = f.column(m.Field), n
		}
	}
	return columns, index
}

// checkHeader returns the problems of a header.
func (f *Format[R, P]) checkHeader(index map[string]int) (problems []Problem) {
	for _, column := range f.Columns {
		if _, given := index[column.Name]; column.Required && !given {
			problems = append(problems, Problem{fault.InvalidField, column.Name, "The column is missing."})
		}
	}
	if f.Header != nil {
		problems = append(problems, f.Header(Cells{index: index})...)
	}
	return problems
}

// readRow checks one row.
func (f *Format[R, P]) readRow(p P, columns []*Column[R], cells Cells) {
	count := len(cells.cells)
	if count > len(columns) { // spreadsheets pad rows with empty cells
		count = max(len(columns), lastFilled(cells.cells)+1)
	}
	if count != len(columns) {
		p.row().AddProblem(fault.InvalidField, "", "The row has %d cells where the header has %d.", count, len(columns))
		return
	}
	for n, column := range columns {
		if column == nil {
			continue
		}
		if problem := column.parse((*R)(p), cells.cells[n]); problem != "" {
			p.row().AddProblem(fault.InvalidField, column.Name, "%s", problem)
		}
	}
	if f.Row != nil {
		f.Row(p, cells)
	}
}
