package member

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fold"
	"github.com/berthhq/berth/internal/tenant"
)

// Person is what a row of a file about something else says about whose it is. Its fields are as members have them.
type Person struct {
	Subject, Email, Phone, Name string

	first, last string // names, from columns of their own
	national    string // a phone number without its country; ReadNational reads it
}

// personFields are the columns that say who a person is.
var personFields = []string{"subject", "email", "phone", "name", "first_name", "last_name"}

// PersonColumns are the columns of a file that say whose a row is.
func PersonColumns[R any](of func(*R) *Person) []csvfile.Column[R] {
	var columns []csvfile.Column[R]
	for _, c := range importFormat.Columns {
		if !slices.Contains(personFields, c.Name) {
			continue
		}
		columns = append(columns, csvfile.Column[R]{
			Name: c.Name, MaxLength: c.MaxLength, FreeText: c.FreeText, Read: func(r *R, cell string) string {
				var read ImportRow // with the same rules as a file of members
				problem := c.Read(&read, cell)
				of(r).add(read)
				return problem
			},
		})
	}
	return columns
}

func (p *Person) add(read ImportRow) {
	for _, field := range []struct {
		into *string
		text string
	}{
		{&p.Subject, read.Member.Subject},
		{&p.Email, read.Member.Email},
		{&p.Phone, read.Member.Phone},
		{&p.Name, read.Member.Name},
		{&p.first, read.first},
		{&p.last, read.last},
		{&p.national, read.national},
	} {
		if field.text != "" {
			*field.into = field.text
		}
	}
}

// PersonAlso adds the names that other programs give the columns of PersonColumns to those of a file.
func PersonAlso(also map[string][]string) map[string][]string {
	all := maps.Clone(also)
	for _, field := range personFields {
		all[field] = slices.Concat(all[field], alsoCalled[field])
	}
	return all
}

// MissingPerson returns the problem of a header without a column that says whose the rows are.
func MissingPerson(file csvfile.Cells) []csvfile.Problem {
	if slices.ContainsFunc(personFields, file.Has) {
		return nil
	}
	return []csvfile.Problem{{
		Reason: fault.InvalidField, Column: "email",
		Message: "The column is missing: give email, phone, name or subject, to say whose each row is.",
	}}
}

// Complete joins names from columns of their own. The problem is that a row says nothing about whose it is.
func (p *Person) Complete() (problem string) {
	if p.Name == "" {
		p.Name = strings.TrimSpace(p.first + " " + p.last)
	} else if p.first != "" && p.last == "" && !hasWords(p.Name, p.first) {
		p.Name = p.first + " " + p.Name
	}
	if *p == (Person{}) {
		return "Say whose the row is: by email, phone or name."
	}
	return ""
}

// ReadNational reads a number without a country as one of the countries of a tenant. The problem is that it is none, or
// could be one of several.
func (p *Person) ReadNational(countries []string) (problem string) {
	if p.national == "" {
		return ""
	}
	p.Phone, problem = nationalNumberOf(p.national, countries)
	return problem
}

// nameKeys are the names that a person can have, as names are compared: as it is written, and turned.
func (p Person) nameKeys() []string {
	keys := []string{fold.Text(p.Name)}
	if turned := turnName(p.Name); turned != "" {
		keys = append(keys, fold.Text(turned))
	}
	return keys
}

// SoughtPeople are what people of a file may have, as members' are compared.
type SoughtPeople struct{ Subjects, Emails, Phones, Names []string }

// Add adds what a person may have.
func (s *SoughtPeople) Add(p Person) {
	add := func(to *[]string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				*to = append(*to, text)
			}
		}
	}
	add(&s.Subjects, p.Subject)
	add(&s.Emails, Contact{ByEmail, p.Email}.Key())
	add(&s.Phones, p.Phone)
	add(&s.Names, p.nameKeys()...)
}

// Known is an active member whom a file may name. Email and Name are as they are compared.
type Known struct {
	ID                          tenant.MemberID
	Subject, Email, Phone, Name string
}

// Directory finds the members whom a file names.
type Directory struct{ subjects, emails, phones, names map[string][]Known }

// NewDirectory makes a directory of members.
func NewDirectory(all []Known) Directory {
	d := Directory{map[string][]Known{}, map[string][]Known{}, map[string][]Known{}, map[string][]Known{}}
	for _, m := range all {
		d.subjects[m.Subject] = append(d.subjects[m.Subject], m)
		d.emails[m.Email] = append(d.emails[m.Email], m)
		d.phones[m.Phone] = append(d.phones[m.Phone], m)
		d.names[m.Name] = append(d.names[m.Name], m)
	}
	return d
}

// Find returns the member whom a row names, or the problem with it. A subject decides alone. An email or a number
// without a name is that of one member. With a name, it is that of the member with both, or of the only one with the
// name who has no email: of a family with one address, only one has it.
func (d Directory) Find(p Person) (tenant.MemberID, *csvfile.Problem) {
	if p.Subject != "" {
		return one(d.subjects[p.Subject], "subject", "No active member has this subject.", "")
	}
	column, reached := "name", []Known(nil)
	switch {
	case p.Email != "":
		column, reached = "email", d.emails[Contact{ByEmail, p.Email}.Key()]
	case p.Phone != "":
		column, reached = "phone", d.phones[p.Phone]
	}
	if p.Email != "" && p.Phone != "" && len(reached) == 0 {
		column, reached = "phone", d.phones[p.Phone]
	}
	if p.Name == "" {
		return one(reached, column, "No active member has this "+column+".",
			"Several active members have this "+column+": give the name, too.")
	}
	keys := p.nameKeys()
	both := matching(reached, func(m Known) bool { return slices.Contains(keys, m.Name) })
	if len(both) > 0 {
		return one(both, "name", "", "Several active members have this name and "+column+".")
	}
	var named []Known
	for _, key := range keys {
		named = append(named, d.names[key]...)
	}
	if column != "name" {
		named = matching(named, func(m Known) bool { return m.Email == "" || p.Email == "" })
	}
	none := "No active member has this name."
	if len(reached) > 0 {
		none = "The active member with this " + column + " has another name."
	}
	return one(named, "name", none, "Several active members have this name: give the email or phone, too.")
}

func matching(all []Known, is func(Known) bool) (found []Known) {
	for _, m := range all {
		if is(m) {
			found = append(found, m)
		}
	}
	return found
}

func one(found []Known, column, none, several string) (tenant.MemberID, *csvfile.Problem) {
	message := none
	switch {
	case len(found) == 1:
		return found[0].ID, nil
	case len(found) > 1:
		message = several
	}
	return tenant.MemberID{}, &csvfile.Problem{Reason: fault.MemberNotFound, Column: column, Message: message}
}
