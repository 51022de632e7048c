package member

import (
	"iter"
	"slices"

	"github.com/berthhq/berth/internal/csvfile"
)

// Progress is the progress of an import. An invalid header counts as one wrong row, in addition to the rows read.
type Progress struct {
	Total     int // rows of the file, without the header
	Read      int // rows so far
	OK, Wrong int
	Problems  []RowProblem // of the rows since the last report
}

// RowProblem is a problem with one row.
type RowProblem struct {
	Row int // its number; the header is 1
	csvfile.Problem
}

// ReportProgress reports progress after every step rows. A file without rows gets one report.
func ReportProgress(found *Import, step int) iter.Seq[Progress] {
	return func(yield func(Progress) bool) {
		p := Progress{Total: len(found.Rows)}
		p.add(1, found.Header)
		for rows := range slices.Chunk(found.Rows, step) {
			p.read(rows)
			if !yield(p) {
				return
			}
			p.Problems = nil
		}
		if len(found.Rows) == 0 {
			yield(p)
		}
	}
}

// FullReport returns one report for the whole file.
func FullReport(found *Import) Progress {
	p := Progress{Total: len(found.Rows)}
	p.add(1, found.Header)
	p.read(found.Rows)
	return p
}

func (p *Progress) read(rows []ImportRow) {
	for _, row := range rows {
		p.Read++
		if len(row.Problems) == 0 {
			p.OK++
		}
		p.add(row.Number, row.Problems)
	}
}

func (p *Progress) add(row int, problems []csvfile.Problem) {
	if len(problems) == 0 {
		return
	}
	p.Wrong++
	for _, problem := range problems {
		p.Problems = append(p.Problems, RowProblem{row, problem})
	}
}
