package member

import (
	"fmt"
	"strings"

	"github.com/berthhq/berth/internal/csvfile"
)

// What an imported file may have at most. A file of this size fits into a
// request also where that spells it in Base64.
const (
	MaxImportBytes = 3_000_000
	MaxImportRows  = 50_000
)

// ImportRow is one row of a file of members.
type ImportRow struct {
	csvfile.Row
	Member Member // without an id
}

// Import is what a file of members says, and what is wrong with it.
type Import = csvfile.Table[ImportRow, *ImportRow]

// ParseImport reads members from a CSV file. The error is IMPORT_INVALID: the
// file as a whole cannot be read. A row that repeats an email or a subject of an
// earlier one is wrong.
func ParseImport(file []byte) (*Import, error) {
	found, err := importFormat.Parse(file)
	if err != nil {
		return nil, err
	}
	emails, subjects := make(map[string]int), make(map[string]int)
	for i := range found.Rows {
		row := &found.Rows[i]
		row.Member.Status = Active
		row.refuseTwice("email", strings.ToLower(row.Member.Email), emails)
		row.refuseTwice("subject", row.Member.Subject, subjects)
	}
	return found, nil
}

func (r *ImportRow) refuseTwice(column, key string, rows map[string]int) {
	if key == "" {
		return
	}
	if first, twice := rows[key]; twice {
		r.Refuse(column, "Row %d has it too.", first)
		return
	}
	rows[key] = r.Number
}

// RefuseTaken refuses rows whose email or subject is among those given, spelled
// as in the rows: members have them.
func RefuseTaken(found *Import, emails, subjects []string) {
	has := func(list []string) map[string]bool {
		set := make(map[string]bool, len(list))
		for _, text := range list {
			set[text] = text != ""
		}
		return set
	}
	hasEmail, hasSubject := has(emails), has(subjects)
	for i := range found.Rows {
		row := &found.Rows[i]
		if hasEmail[row.Member.Email] {
			row.Refuse("email", "A member has it.")
		}
		if hasSubject[row.Member.Subject] {
			row.Refuse("subject", "A member has it.")
		}
	}
}

var importFormat = csvfile.Format[ImportRow, *ImportRow]{
	MaxBytes: MaxImportBytes,
	MaxRows:  MaxImportRows,
	Columns: []csvfile.Column[ImportRow]{
		{Name: "name", Required: true, Text: true, Longest: maxName, Read: readText("name")},
		{Name: "email", Text: true, Longest: maxEmail, Read: readText("email")},
		{Name: "phone", Longest: maxPhone, Read: readText("phone")},
		{Name: "subject", Text: true, Longest: maxSubject, Read: readText("subject")},
		{Name: "tier", Text: true, Longest: maxTier, Read: readText("tier")},
		{Name: "tags", Text: true, Longest: maxTags * (maxTag + 2), Read: readTags},
		{Name: "locale", Longest: maxLocale, Read: readText("locale")},
		{Name: "time_zone", Longest: maxZone, Read: readText("time_zone")},
		{Name: "notes", Text: true, Lines: true, Longest: maxNotes, Read: readText("notes")},
	},
}

// readText judges a cell as the field of the same name is judged elsewhere.
func readText(name string) func(*ImportRow, string) string {
	for _, f := range texts {
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
