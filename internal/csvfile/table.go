package csvfile

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// InvalidRows returns the number of rows with problems, including the header.
func (t *Table[R, P]) InvalidRows() int {
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

// Problems returns the problems of the header and of all rows.
func (t *Table[R, P]) Problems() []RowProblem {
	var all []RowProblem
	for _, p := range t.Header {
		all = append(all, RowProblem{t.HeaderRow, p})
	}
	for i := range t.Rows {
		row := P(&t.Rows[i]).row()
		for _, p := range row.Problems {
			all = append(all, RowProblem{row.Number, p})
		}
	}
	return all
}

// Notes returns the notes of all rows.
func (t *Table[R, P]) Notes() []RowNote {
	var all []RowNote
	for i := range t.Rows {
		row := P(&t.Rows[i]).row()
		for _, n := range row.Notes {
			all = append(all, RowNote{row.Number, n})
		}
	}
	return all
}

// Good returns the table with those rows alone that have no problem: none, if the header has one.
func (t *Table[R, P]) Good() *Table[R, P] {
	good := *t
	good.Rows = nil
	for _, row := range t.Rows {
		if len(t.Header) == 0 && len(P(&row).row().Problems) == 0 {
			good.Rows = append(good.Rows, row)
		}
	}
	return &good
}

// With returns the table with other versions of some of its rows, which are in the same order.
func (t *Table[R, P]) With(rows []R) *Table[R, P] {
	merged := *t
	merged.Rows = make([]R, len(t.Rows))
	for i, row := range t.Rows {
		if len(rows) > 0 && P(&rows[0]).row().Number == P(&row).row().Number {
			row, rows = rows[0], rows[1:]
		}
		merged.Rows[i] = row
	}
	return &merged
}

// problemColumn is the name of the column in which LeftOut says what is wrong.
const problemColumn = "Problem"

// LeftOut returns the rows with problems as a file of the same form, with a column more that says what is wrong with
// them; nil if there are none. A spreadsheet runs none of its cells.
func (t *Table[R, P]) LeftOut() []byte {
	var rows [][]string
	width := len(t.header)
	for i := range t.Rows {
		problems := P(&t.Rows[i]).row().Problems
		if len(problems) == 0 {
			continue
		}
		cells := t.cells[i]
		cells = cells[:min(len(cells), max(lastFilled(cells)+1, len(t.header)))]
		width = max(width, len(cells))
		rows = append(rows, append([]string{sentences(problems)}, cells...))
	}
	if len(rows) == 0 {
		return nil
	}
	var file bytes.Buffer
	file.WriteString("\ufeff") // spreadsheets take it for another encoding without
	w := csv.NewWriter(&file)
	w.Comma, w.UseCRLF = t.separator, true
	for _, row := range append([][]string{append([]string{problemColumn}, t.header...)}, rows...) {
		line := make([]string, width, width+1)
		for n, cell := range row[1:] {
			line[n] = harmless(cell)
		}
		_ = w.Write(append(line, harmless(row[0]))) // a buffer takes all
	}
	w.Flush()
	return file.Bytes()
}

func sentences(problems []Problem) string {
	all := make([]string, len(problems))
	for i, p := range problems {
		all[i] = p.Message
		if p.Column != "" {
			all[i] = p.Column + ": " + p.Message
		}
	}
	return strings.Join(all, " ")
}

// harmless returns a cell so that a spreadsheet shows it and runs nothing.
func harmless(cell string) string {
	if text := strings.TrimSpace(cell); text != "" && isFormula(text) {
		return "'" + cell
	}
	return cell
}
