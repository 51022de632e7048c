package member

import (
	"fmt"
	"strings"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/fold"
)

// Limits of an imported file. A file of this size fits into a request, even if the request encodes it in Base64.
const (
	MaxImportBytes = 3_000_000
	MaxImportRows  = 50_000
)

// ImportRow is one row of a file of members.
type ImportRow struct {
	csvfile.Row
	Member Member // without an id

	first, last string // names, from columns of their own
	email       string // as in the file, also if the address is left to another
	national    string // a phone number without its country; ReadNational reads it
}

// Import has the rows of a file of members and their problems.
type Import = csvfile.Table[ImportRow, *ImportRow]

// ParseImport reads members from a CSV file. Chosen says what becomes of some of its columns. The error is
// IMPORT_INVALID: the file as a whole cannot be read, or INVALID_FIELD: the columns are not those of the file. A row
// that repeats the subject of an earlier row, or its email and name, gets a problem.
func ParseImport(file []byte, chosen ...csvfile.Match) (*Import, error) {
	found, err := importFormat.Parse(file, chosen)
	if err != nil {
		return nil, err
	}
	subjects := make(map[string]int)
	for i := range found.Rows {
		row := &found.Rows[i]
		row.Member.Status = Active
		row.email = row.Member.Email
		row.rejectSubject(subjects)
	}
	turnNames(found.Rows)
	shareAddresses(found.Rows)
	return found, nil
}

func (r *ImportRow) rejectSubject(rows map[string]int) {
	if r.Member.Subject == "" {
		return
	}
	if first, duplicate := rows[r.Member.Subject]; duplicate {
		r.AddProblem(fault.AlreadyExistsReason, "subject", "Row %d has the same subject.", first)
		return
	}
	rows[r.Member.Subject] = r.Number
}

var importFormat = csvfile.Format[ImportRow, *ImportRow]{
	MaxBytes: MaxImportBytes,
	MaxRows:  MaxImportRows,
	Also:     alsoCalled,
	Columns: []csvfile.Column[ImportRow]{
		{Name: "name", FreeText: true, MaxLength: maxName, Read: readText("name")},
		{Name: "first_name", FreeText: true, MaxLength: maxName, Read: func(r *ImportRow, s string) (problem string) {
			r.first, problem = field.Line(maxName)(s)
			return problem
		}},
		{Name: "last_name", FreeText: true, MaxLength: maxName, Read: func(r *ImportRow, s string) (problem string) {
			r.last, problem = field.Line(maxName)(s)
			return problem
		}},
		{Name: "email", FreeText: true, MaxLength: maxEmail, Read: readText("email")},
		{Name: "phone", MaxLength: maxPhone, Read: readPhone},
		{Name: "subject", FreeText: true, MaxLength: maxSubject, Read: readText("subject")},
		{Name: "tier", FreeText: true, MaxLength: maxTier, Read: readText("tier")},
		{Name: "tags", FreeText: true, MaxLength: maxTags * (maxTag + 2), Read: readTags},
		{Name: "locale", MaxLength: maxLocale, Read: readText("locale")},
		{Name: "time_zone", MaxLength: maxZone, Read: readText("time_zone")},
		{Name: "notes", FreeText: true, Multiline: true, MaxLength: maxNotes, Read: readText("notes")},
	},
	Header: func(file csvfile.Cells) []csvfile.Problem {
		if hasName(file) {
			return nil
		}
		return []csvfile.Problem{{
			Reason: fault.InvalidField, Column: "name",
			Message: "The column is missing: give name, or first_name and last_name.",
		}}
	},
	Row: joinName,
}

func hasName(file csvfile.Cells) bool {
	return file.Has("name") || file.Has("first_name") || file.Has("last_name")
}

// joinName makes one name of those in columns of their own. In some files the column called name has the last name
// alone, beside the first one.
func joinName(r *ImportRow, file csvfile.Cells) {
	m := &r.Member
	if len(r.Problems) > 0 || !hasName(file) {
		return
	}
	if m.Name == "" {
		m.Name = strings.TrimSpace(r.first + " " + r.last)
	} else if r.first != "" && r.last == "" && !hasWords(m.Name, r.first) {
		m.Name = r.first + " " + m.Name
	}
	if m.Name == "" {
		r.AddProblem(fault.InvalidField, "name", "It is empty.")
		return
	}
	var problem string
	if m.Name, problem = field.Line(maxName)(m.Name); problem != "" {
		r.AddProblem(fault.InvalidField, "name", "%s", problem)
	}
}

// isNothing reports whether a cell says that there is no value, as other programs write it.
func isNothing(cell string) bool {
	switch fold.Text(cell) {
	case "-", "--", "—", "n/a", "#n/a", "none", "null", "nil", "k.a.", "keine", "aucun", "aucune":
		return true
	}
	return false
}

// hasWords reports whether a text has words, in any case and accents.
func hasWords(text, words string) bool {
	return strings.Contains(" "+fold.Text(text)+" ", " "+fold.Text(words)+" ")
}

// readText reads a cell with the same rules as the field of that name.
func readText(name string) func(*ImportRow, string) string {
	for _, f := range textFields {
		if f.name == name {
			return func(r *ImportRow, cell string) (problem string) {
				if isNothing(cell) {
					return ""
				}
				*f.of(&r.Member), problem = f.normal(cell)
				if problem != "" {
					return fmt.Sprintf("%s: %s", csvfile.Quote(cell), problem)
				}
				return ""
			}
		}
	}
	panic("member: there is no field " + name)
}

func readTags(r *ImportRow, cell string) (problem string) {
	var tags []string
	for tag := range strings.SplitSeq(cell, ";") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	r.Member.Tags, problem = normalTags(tags)
	return problem
}

// UndoImported is a member whose import is undone: inactive, and without what only one member can have.
func (m Member) UndoImported() Member {
	m.Status, m.Email, m.Phone, m.Subject = Inactive, "", "", ""
	m.ConfirmedEmail, m.ConfirmedPhone, m.SignInEmail = "", "", ""
	return m
}
