package member

import (
	"fmt"
	"strings"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
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
}

// Import has the rows of a file of members and their problems.
type Import = csvfile.Table[ImportRow, *ImportRow]

// ParseImport reads members from a CSV file. The error is IMPORT_INVALID: the file as a whole cannot be read. A row
// that repeats the email or subject of an earlier row gets a problem.
func ParseImport(file []byte) (*Import, error) {
	found, err := importFormat.Parse(file)
	if err != nil {
		return nil, err
	}
	emails, subjects := make(map[string]int), make(map[string]int)
	for i := range found.Rows {
		row := &found.Rows[i]
		row.Member.Status = Active
		row.rejectDuplicate("email", strings.ToLower(row.Member.Email), emails)
		row.rejectDuplicate("subject", row.Member.Subject, subjects)
	}
	return found, nil
}

func (r *ImportRow) rejectDuplicate(column, key string, rows map[string]int) {
	if key == "" {
		return
	}
	if first, duplicate := rows[key]; duplicate {
		r.AddProblem(fault.AlreadyExistsReason, column, "Row %d has the same %s.", first, column)
		return
	}
	rows[key] = r.Number
}

// RejectTaken adds a problem to each row whose email or subject another member has. Both lists are spelled as in the
// rows.
func RejectTaken(rows []ImportRow, emails, subjects []string) {
	set := func(list []string) map[string]bool {
		taken := make(map[string]bool, len(list))
		for _, text := range list {
			taken[text] = text != ""
		}
		return taken
	}
	takenEmails, takenSubjects := set(emails), set(subjects)
	for i := range rows {
		row := &rows[i]
		if takenEmails[row.Member.Email] {
			row.AddProblem(fault.AlreadyExistsReason, "email", "Another member has this email.")
		}
		if takenSubjects[row.Member.Subject] {
			row.AddProblem(fault.AlreadyExistsReason, "subject", "Another member has this subject.")
		}
	}
}

var importFormat = csvfile.Format[ImportRow, *ImportRow]{
	MaxBytes: MaxImportBytes,
	MaxRows:  MaxImportRows,
	Columns: []csvfile.Column[ImportRow]{
		{Name: "name", Required: true, FreeText: true, MaxLength: maxName, Read: readText("name")},
		{Name: "email", FreeText: true, MaxLength: maxEmail, Read: readText("email")},
		{Name: "phone", MaxLength: maxPhone, Read: readText("phone")},
		{Name: "subject", FreeText: true, MaxLength: maxSubject, Read: readText("subject")},
		{Name: "tier", FreeText: true, MaxLength: maxTier, Read: readText("tier")},
		{Name: "tags", FreeText: true, MaxLength: maxTags * (maxTag + 2), Read: readTags},
		{Name: "locale", MaxLength: maxLocale, Read: readText("locale")},
		{Name: "time_zone", MaxLength: maxZone, Read: readText("time_zone")},
		{Name: "notes", FreeText: true, Multiline: true, MaxLength: maxNotes, Read: readText("notes")},
	},
}

// readText reads a cell with the same rules as the field of that name.
func readText(name string) func(*ImportRow, string) string {
	for _, f := range textFields {
		if f.name == name {
			return func(r *ImportRow, cell string) (problem string) {
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
