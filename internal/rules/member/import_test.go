package member_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fold"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func parseImport(t testing.TB, lines ...string) *member.Import {
	t.Helper()
	return expect.Value(member.ParseImport([]byte(strings.Join(lines, "\n") + "\n")))(t)
}

// notes returns the notes of a file, as "row column: message".
func notes(found *member.Import) []string {
	var all []string
	for _, n := range found.Notes() {
		all = append(all, fmt.Sprintf("%d %s: %s", n.Row, n.Column, n.Message))
	}
	return all
}

func TestReadNational_ReadsNumbersOfTheTenantsCountries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		written, countries string
		want               string // the number, or else the problem
	}{
		{"07700 900321", "GB", "+447700900321"},
		{"7700900321", "GB", "+447700900321"}, // a spreadsheet took the zero for a number's
		{"(030) 901820-0", "DE", "+49309018200"},
		{"030/9018200", "DE", "+49309018200"},
		{"06 12 34 56 78", "FR", "+33612345678"},
		{"06\u00a012\u00a034\u00a056\u00a078", "FR", "+33612345678"},
		{"(212) 555-0123", "US", "+12125550123"},
		{"912 345 678", "PT", "+351912345678"},
		{"02 1234 5678", "IT", "+390212345678"}, // the zero stays
		{"0044 7700 900321", "IE", "+447700900321"},
		{"+353 86 555 0101", "GB", "+353865550101"},
		{"07911 123456", "GB IE", "+447911123456"}, // assigned in one of them alone
		{"030 9018200", "AT DE", "+49309018200"},
		{"0664 1234567", "DE AT", `"0664 1234567" can be a number of several countries: ` +
			"write +496641234567 or +436641234567."},
		{"555-0123", "US", `"555-0123": It is not a phone number in E.164, such as +351912345678.`}, // without area code
		{"07700 900321", "", `"07700 900321": It is not a phone number in E.164, such as +351912345678.`},
		{"12", "DE", `"12": It is not a phone number in E.164, such as +351912345678.`},
		{"4.47701E+11", "GB", `"4.47701E+11": It is not a phone number in E.164, such as +351912345678.`},
		{"0170 1234567 / 030 9018200", "DE", `"0170 1234567 / 030 9018200": It is not a phone number in E.164, ` +
			"such as +351912345678."},
		{"-", "DE", ""},
	} {
		found := parseImport(t, "name;phone", "Ana;"+c.written)
		member.ReadNational(found.Rows, strings.Fields(c.countries))
		got := found.Rows[0].Member.Phone
		for _, p := range found.Rows[0].Problems {
			got += p.Message
		}
		test.EqOp(t, c.want, got, test.Sprint(c.written, c.countries))
	}
}

// Any number that the tenant's own country can have is read from the national form in which its people write it.
func TestReadNational_ReadsWhatTheCountryWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`1[5-7][0-9]{8}`).Draw(t, "digits")
		written := "0" + digits[:3] + rapid.SampledFrom([]string{" ", "-", "/", ""}).Draw(t, "mark") + digits[3:]
		found := expect.Value(member.ParseImport([]byte("name,phone\nAna," + written + "\n")))(t)
		member.ReadNational(found.Rows, []string{"DE"})
		must.EqOp(t, "+49"+digits, found.Rows[0].Member.Phone, must.Sprint(written))
	})
}

func TestParseImport_TurnsNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		`"Kilbride, Maeve"`: "Maeve Kilbride", `"Ó Dálaigh , Oisín"`: "Oisín Ó Dálaigh",
		`"da Silva Santos, Ana Maria"`: "Ana Maria da Silva Santos", `"O'Brien-Lee, J. R."`: "J. R. O'Brien-Lee",
		`"Kilbride, Jr."`: "Kilbride, Jr.", `"Kilbride, Ph.D."`: "Kilbride, Ph.D.", `"Yoga, GmbH"`: "Yoga, GmbH",
		`"Kilbride, Maeve, Tara"`: "Kilbride, Maeve, Tara", `"Kilbride,"`: "Kilbride,", `",Maeve"`: ",Maeve",
		`"Kilbride, 2nd"`: "Kilbride, 2nd", `"Kilbride, Maeve & Tara"`: "Kilbride, Maeve & Tara",
		`Maeve Kilbride`: "Maeve Kilbride",
	} {
		found := parseImport(t, "name", name)
		test.EqOp(t, want, found.Rows[0].Member.Name)
		test.EqOp(t, want != strings.Trim(name, `"`), len(found.Notes()) == 1, test.Sprint(name))
	}
	found := parseImport(t, "name", `"Kilbride, Maeve"`, "Cher", `"Dálaigh, Oisín"`)
	test.Eq(t, []string{
		"2 name: Kilbride, Maeve is read as Maeve Kilbride.", "4 name: Dálaigh, Oisín is read as Oisín Dálaigh.",
	}, notes(found))
	test.SliceEmpty(t, notes(parseImport(t, "name", "Ana Silva", "Ben Cook", `"Dálaigh, Oisín"`)),
		test.Sprint("others of the file are written otherwise"))
	test.SliceEmpty(t, notes(parseImport(t, "first_name,last_name", `Maeve,"Kilbride, Ó"`)))
}

func TestParseImport_LeavesASharedAddressToTheFirst(t *testing.T) {
	t.Parallel()
	found := parseImport(t, "name,email",
		"Maeve Kilbride,maeve@example.com", "Tara Kilbride,Maeve@example.com", "Oisín Kilbride,oisin@example.com",
		"TARA KILBRIDE,maeve@example.com", "Nora Kilbride,MAEVE@example.com", "Maeve  Kilbride,maeve@example.com")
	var emails []string
	for _, row := range found.Rows {
		emails = append(emails, row.Member.Email)
	}
	const maeve = "maeve@example.com"
	test.Eq(t, []string{maeve, "", "oisin@example.com", maeve, "", maeve}, emails)
	test.Eq(t, []string{"5 email ALREADY_EXISTS", "7 email ALREADY_EXISTS"}, problems(found))
	test.Eq(t, []string{
		"3 email: Row 2 has the same email, which is left to it.", "6 email: Row 2 has the same email, which is left to it.",
	}, notes(found))
	test.EqOp(t, "Row 3 has the same email.", found.Rows[3].Problems[0].Message)
}

func TestRejectTaken_LeavesAnAddressToTheMemberWhoHasIt(t *testing.T) {
	t.Parallel()
	found := parseImport(t, "name,email,subject",
		"Maeve Kilbride,Maeve@example.com,", "Tara Kilbride,maeve@example.com,", "Ben Cook,ben@example.com,ben",
		"Ann Cook,ben@example.com,", "Ida,,")
	emails, subjects, names := member.Sought(found.Rows)
	test.Eq(t, []string{"maeve@example.com", "maeve@example.com", "ben@example.com", "ben@example.com", ""}, emails)
	test.Eq(t, []string{"", "", "ben", "", ""}, subjects)
	test.Eq(t, []string{"maeve kilbride", "tara kilbride", "ben cook", "ann cook"}, names)
	taken := member.Existing{
		Emails: []member.Addressee{
			{Email: "maeve@example.com", Name: "maeve kilbride"}, {Email: "ben@example.com", Name: "somebody"},
		},
		Subjects: []string{"ben", ""},
		Names:    []string{"tara kilbride", "ida"},
	}
	for range 2 { // a rule that is asked again answers alike
		rows := parseImport(t, "name")
		rows.Rows = append(rows.Rows, found.Rows...)
		member.RejectTaken(rows.Rows, taken)
		test.Eq(t, []string{"2 email ALREADY_EXISTS", "3 name ALREADY_EXISTS", "4 subject ALREADY_EXISTS"}, problems(rows))
		test.Eq(t, []string{
			"3 email: Row 2 has the same email, which is left to it.",
			"4 email: A member with another name has this email, and keeps it.",
			"5 email: Row 4 has the same email, which is left to it.",
		}, notes(rows))
		test.EqOp(t, "", rows.Rows[2].Member.Email)
	}
}

// Whoever shares addresses: each address has one member, who is the first of the file to have it, and who loses it is
// told so. Nobody else is refused than who is in the file twice.
func TestParseImport_GivesEachAddressToOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type person struct{ name, email string }
		people := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) person {
			return person{
				rapid.SampledFrom([]string{"Ana", "ANÁ", "Ben", "Cid"}).Draw(t, "name"),
				rapid.SampledFrom([]string{"", "a@example.com", "A@example.com", "b@example.com"}).Draw(t, "email"),
			}
		}), 1, 12).Draw(t, "people")
		file := "name,email\n"
		for _, p := range people {
			file += p.name + "," + p.email + "\n"
		}
		found := expect.Value(member.ParseImport([]byte(file)))(t)
		owners, seen := make(map[string]bool), make(map[person]bool)
		for i, row := range found.Rows {
			p := person{fold.Text(people[i].name), strings.ToLower(people[i].email)}
			must.EqOp(t, p.email != "" && seen[p], len(row.Problems) == 1)
			seen[p] = true
			if len(row.Problems) > 0 || p.email == "" {
				continue
			}
			must.EqOp(t, !owners[p.email], row.Member.Email == people[i].email)
			must.EqOp(t, owners[p.email], len(row.Notes) == 1)
			owners[p.email] = true
		}
	})
}
