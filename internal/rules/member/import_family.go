package member

import (
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fold"
)

// shareAddresses leaves an address that several people of a file have, such as a family, to the first of them. The
// others become members without it, and their rows say so. A row that has the name of an earlier one, too, is the same
// person again, which is a problem.
func shareAddresses(rows []ImportRow) {
	type person struct{ address, name string }
	first, people := make(map[string]int), make(map[person]int)
	for i := range rows {
		row := &rows[i]
		address := row.address()
		if address == "" {
			continue
		}
		who := person{address, fold.Text(row.Member.Name)}
		if same, again := people[who]; again {
			row.AddProblem(fault.AlreadyExistsReason, "email", "Row %d has the same email.", same)
			continue
		}
		people[who] = row.Number
		if owner, shared := first[address]; shared {
			row.dropEmail("Row %d has the same email, which is left to it.", owner)
			continue
		}
		first[address] = row.Number
	}
}

// address returns the email of a row as it is compared, also if it is left to another.
func (r *ImportRow) address() string { return Contact{ByEmail, r.email}.Key() }

func (r *ImportRow) dropEmail(why string, args ...any) {
	if r.Member.Email == "" {
		return
	}
	r.Member.Email = ""
	r.AddNote("email", why, args...)
}

// Sought returns what of the rows members may have already: emails and subjects, and the names of rows with an email,
// as they are compared.
func Sought(rows []ImportRow) (emails, subjects, names []string) {
	for _, row := range rows {
		emails, subjects = append(emails, row.address()), append(subjects, row.Member.Subject)
		if row.email != "" {
			names = append(names, fold.Text(row.Member.Name))
		}
	}
	return emails, subjects, names
}

// Existing is what members have of what Sought returns, in the same spelling.
type Existing struct {
	Emails   []Addressee
	Subjects []string
	// Names are those of members without an email.
	Names []string
}

// Addressee is who has an email.
type Addressee struct{ Email, Name string }

// RejectTaken adds a problem to each row whose member is there already: with its subject, or with its email and name.
// An email of a member with another name is left to that member, as in shareAddresses; then a member with the name of
// the row, and without an email, is the one of the row.
func RejectTaken(rows []ImportRow, existing Existing) {
	emails, subjects := make(map[string]string), make(map[string]bool)
	for _, a := range existing.Emails {
		emails[a.Email] = a.Name
	}
	for _, s := range existing.Subjects {
		subjects[s] = s != ""
	}
	for i := range rows {
		row := &rows[i]
		name := fold.Text(row.Member.Name)
		owner, there := emails[row.address()]
		switch {
		case there && owner == name:
			row.AddProblem(fault.AlreadyExistsReason, "email", "Another member has this email.")
		case there:
			row.dropEmail("A member with another name has this email, and keeps it.")
		}
		if row.email != "" && row.Member.Email == "" && slices.Contains(existing.Names, name) {
			row.AddProblem(fault.AlreadyExistsReason, "name", "Another member has this name, and no email either.")
		}
		if subjects[row.Member.Subject] {
			row.AddProblem(fault.AlreadyExistsReason, "subject", "Another member has this subject.")
		}
	}
}
