package csvfile

import "slices"

// maxTitles is how many rows can be above the header.
const maxTitles = 20

var separators = []rune{',', ';', '\t', '|'}

func isSeparator(char rune) bool { return slices.Contains(separators, char) }

// foundHeader is the header of a file, and the reader of the rows below it.
type foundHeader struct {
	row     int
	cells   []string // nil if there is none
	problem *Problem // with the row, if there is no header
	known   int      // how many of the format's columns it names
	reader  *reader
}

// findHeader finds the header of a file. The separator is 0 if the file does not name it: then it is the one with which
// the header has the most of the format's columns, or else the most cells.
func (f *Format[R, P]) findHeader(text []byte, separator rune) foundHeader {
	if separator != 0 {
		return f.headerBy(text, separator)
	}
	var best foundHeader
	for n, separator := range separators {
		found := f.headerBy(text, separator)
		if n == 0 || found.known > best.known ||
			found.known == best.known && len(found.cells) > len(best.cells) {
			best = found
		}
	}
	return best
}

// headerBy returns the row that names the most of the format's columns, of those at the begin of a file. If none names
// any, it is the first with the most cells that are filled: a title has one.
func (f *Format[R, P]) headerBy(text []byte, separator rune) foundHeader {
	var best, unread foundHeader
	most := 0
	r := newReader(text, separator)
	for read := 0; read <= maxTitles; {
		cells, problem := r.read()
		if cells == nil && problem == nil {
			break
		}
		if problem != nil {
			if unread.problem == nil {
				unread = foundHeader{row: r.row, problem: problem}
			}
			read++
			continue
		}
		count := countFilled(cells)
		if count == 0 {
			continue
		}
		read++
		if known := f.countKnown(cells); known > best.known || best.known == 0 && count > most {
			best, most = foundHeader{row: r.row, cells: cells, known: known}, count
		}
	}
	if best.known == 0 && unread.problem != nil {
		return unread // it may be the header
	}
	if best.cells != nil {
		best.reader = newReader(text, separator)
		for best.reader.row < best.row {
			best.reader.read() // again
		}
	}
	return best
}

func countFilled(cells []string) (n int) {
	for _, cell := range cells {
		if filled(cell) {
			n++
		}
	}
	return n
}

// countKnown counts the format's columns that a row names.
func (f *Format[R, P]) countKnown(cells []string) int {
	found := make(map[*Column[R]]bool)
	for _, cell := range cells {
		if column := f.column(columnName(cell)); column != nil {
			found[column] = true
		}
	}
	return len(found)
}
