package csvfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/berthhq/berth/internal/fault"
)

// reader reads rows and counts them.
type reader struct {
	csv    *csv.Reader
	text   []byte
	row    int   // number of the last row read; the first line is 1, also if it is empty
	line   int   // the line after that row
	start  int64 // the begin of that row in text
	offset int64 // the end of it
}

func newReader(text []byte, separator rune) *reader {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = separator
	r.FieldsPerRecord = -1
	return &reader{csv: r, text: text, line: 1}
}

// read returns the next row's cells, or what is wrong with it, or neither at the end. Letters are composed here, once
// for all cells: stored text is in Unicode's NFC, and some systems write letters and their accents apart. Composing the
// file before its cells are known could make a separator of a character that only looks like one (U+037E).
func (r *reader) read() ([]string, *Problem) {
	cells, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	var start int
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		start = wrong.StartLine
	} else {
		start, _ = r.csv.FieldPos(0)
	}
	r.row += 1 + start - r.line // csv.Reader skips empty lines
	end := r.csv.InputOffset()
	r.line += bytes.Count(r.text[r.offset:end], []byte("\n"))
	r.start, r.offset = r.offset, end
	switch {
	case err == nil:
		for n, cell := range cells {
			cells[n] = norm.NFC.String(cell)
		}
		return cells, nil
	case wrong == nil:
		return nil, &Problem{Reason: fault.ImportInvalid, Message: fmt.Sprintf("The row cannot be read: %v.", err)}
	}
	message := "The quotation marks do not match. " +
		"A cell that contains one must be in quotation marks, with the inner one doubled."
	if wrong.Line > start {
		message += fmt.Sprintf(" The cell continues to line %d of the file.", wrong.Line)
	}
	return nil, &Problem{Reason: fault.ImportInvalid, Message: message}
}

// last returns the text of the last row, however it is written.
func (r *reader) last() string {
	return strings.ToValidUTF8(strings.TrimSpace(string(r.text[r.start:r.offset])), "\ufffd")
}
