package csvfile

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fold"
	"github.com/berthhq/berth/internal/printable"
)

// MaxColumns is how many columns a file can have.
const MaxColumns = 100

// maxHeader is how much of a column's name in a header is kept, in characters.
const maxHeader = 200

// Match says what becomes of a column of a file.
type Match struct {
	Header string `json:"header"`          // its name in the file; empty if it has none
	Field  string `json:"field,omitempty"` // the name of the format's column; empty if it is left out
}

// match finds out what becomes of the columns of a header. What is chosen comes first: a name that the header has
// several times can be chosen as often, in that order. Of the other columns those are taken whose name is known; if
// several would be the same field, the one with the best name, or else the first. The error is INVALID_FIELD of the
// field columns: a choice names a column that the file does not have, or a field twice.
func (f *Format[R, P]) match(header []string, chosen []Match) ([]Match, error) {
	matches := make([]Match, len(header))
	for n, cell := range header {
		matches[n].Header = headerName(cell)
	}
	isChosen, taken := make([]bool, len(header)), make(map[string]bool)
	for _, choice := range chosen {
		n := find(matches, isChosen, choice.Header)
		switch {
		case n < 0:
			return nil, fault.Invalid("columns", "The file has no column %s.", Quote(choice.Header))
		case choice.Field != "" && f.column(choice.Field) == nil:
			return nil, fault.Invalid("columns", "%s is no field. The fields are %s.", Quote(choice.Field), f.columnNames())
		case taken[choice.Field]:
			return nil, fault.Invalid("columns", "Two columns are to be %s.", choice.Field)
		}
		isChosen[n], matches[n].Field = true, choice.Field
		taken[choice.Field] = choice.Field != ""
	}
	for name, n := range f.best(matches, isChosen) {
		if !taken[name] {
			matches[n].Field = name
		}
	}
	return matches, nil
}

// best returns for each column of the format the position that fits it best, of those that are not chosen.
func (f *Format[R, P]) best(matches []Match, isChosen []bool) map[string]int {
	known, best, ranks := f.knownNames(), make(map[string]int), make(map[string]int)
	for n, m := range matches {
		name, ok := known[headerKey(m.Header)]
		if !ok || isChosen[n] {
			continue
		}
		if rank, found := ranks[name.column]; !found || name.rank < rank {
			best[name.column], ranks[name.column] = n, name.rank
		}
	}
	return best
}

// find returns the first column of a name that is not chosen yet; -1 if there is none.
func find(matches []Match, isChosen []bool, header string) int {
	header = headerName(header)
	alike := -1
	for n, m := range matches {
		switch {
		case isChosen[n]:
		case m.Header == header:
			return n
		case alike < 0 && headerKey(header) != "" && headerKey(m.Header) == headerKey(header):
			alike = n
		}
	}
	return alike
}

// knownName is the column of a format that a name in a header stands for, and how good the name is, from 0.
type knownName struct {
	column string
	rank   int
}

// knownNames returns what the names stand for that a format knows, by their keys.
func (f *Format[R, P]) knownNames() map[string]knownName {
	known := make(map[string]knownName)
	for _, c := range f.Columns {
		known[headerKey(c.Name)] = knownName{c.Name, 0}
		for n, name := range f.Also[c.Name] {
			known[headerKey(name)] = knownName{c.Name, n + 1}
		}
	}
	return known
}

func (f *Format[R, P]) column(name string) *Column[R] {
	for n := range f.Columns {
		if f.Columns[n].Name == name {
			return &f.Columns[n]
		}
	}
	return nil
}

func (f *Format[R, P]) columnNames() string {
	names := make([]string, len(f.Columns))
	for n, column := range f.Columns {
		names[n] = column.Name
	}
	return strings.Join(names, ", ")
}

// headerName returns a cell of a header as it can be stored and shown.
func headerName(cell string) string {
	name := strings.TrimSpace(strings.Map(func(char rune) rune {
		if printable.IsHidden(char) {
			return ' '
		}
		return char
	}, strings.ToValidUTF8(cell, "\ufffd")))
	if utf8.RuneCountInString(name) > maxHeader {
		name = strings.TrimSpace(string([]rune(name)[:maxHeader]))
	}
	return name
}

// headerKey returns what names such as "E-Mail", "email" and "E mail *" have in common.
func headerKey(name string) string {
	return strings.Map(func(char rune) rune {
		if unicode.In(char, unicode.L, unicode.N, unicode.M) {
			return char
		}
		return -1
	}, fold.Text(name))
}
