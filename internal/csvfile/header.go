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
	known   int      // how many known names it has
	reader  *reader
}

// findHeader finds the header of a file. The separator is 0 if the file does not name it: then it is the one with which
// the header has the most known names, or else the most cells.
func (f *Format[R, P]) findHeader(text []byte, separator rune, chosen []Match) foundHeader {
	known := make(map[string]bool)
	for name := range f.knownNames() {
		known[name] = true
	}
	for _, choice := range chosen {
		known[headerKey(choice.Header)] = true
	}
	delete(known, "")
	if separator != 0 {
		return headerBy(text, separator, known)
	}
	var best foundHeader
	for n, separator := range separators {
		found := headerBy(text, separator, known)
		if n == 0 || found.known > best.known ||
			found.known == best.known && len(found.cells) > len(best.cells) {
			best = found
		}
	}
	return best
}

// headerBy returns the row with the most known names, of those at the begin of a file. If none has any, it is the first
// with the most cells that are filled: a title has one.
func headerBy(text []byte, separator rune, names map[string]bool) foundHeader {
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
		if known := countKnown(cells, names); known > best.known || best.known == 0 && count > most {
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

// countKnown counts the known names in a row.
func countKnown(cells []string, names map[string]bool) int {
	found := make(map[string]bool)
	for _, cell := range cells[:min(len(cells), MaxColumns)] {
		if key := headerKey(headerName(cell)); names[key] {
			found[key] = true
		}
	}
	return len(found)
}
