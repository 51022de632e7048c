package member

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
)

// nationalNumber is how people write a number without its country. Other texts, such as "4.9E+11", are none.
var nationalNumber = regexp.MustCompile(`^[0-9(][0-9 \x{a0}\x{2007}\x{202f}()./\x{2010}-\x{2013}-]*[0-9)]$`)

// readPhone keeps a number without a country: ReadNational reads it.
func readPhone(r *ImportRow, cell string) string {
	if nationalNumber.MatchString(cell) && len(cell) <= maxPhone {
		r.national = cell
		return ""
	}
	return readText("phone")(r, cell)
}

// ReadNational reads the numbers that are written without a country, as numbers of the countries of a tenant. A row
// whose number could be one of several countries gets a problem that names them.
func ReadNational(rows []ImportRow, countries []string) {
	for i := range rows {
		row := &rows[i]
		if row.national == "" {
			continue
		}
		number, problem := nationalNumberOf(row.national, countries)
		if row.Member.Phone = number; problem != "" {
			row.AddProblem(fault.InvalidField, "phone", "%s", problem)
		}
	}
}

// nationalNumberOf returns a number that is written without its country in E.164, or what is wrong with it.
func nationalNumberOf(written string, countries []string) (number, problem string) {
	switch found := national(written, countries); len(found) {
	case 1:
		return found[0], ""
	case 0:
		_, problem := field.Phone(written)
		return "", fmt.Sprintf("%s: %s", csvfile.Quote(written), problem)
	default:
		return "", fmt.Sprintf("%s can be a number of several countries: write %s.",
			csvfile.Quote(written), strings.Join(found, " or "))
	}
}

// national returns what a number without its country can be in E.164. If it is assigned in some of the countries, it
// is not one of the others, where it is only possible.
func national(written string, countries []string) []string {
	var possible, assigned []string
	for _, country := range countries {
		number, err := phonenumbers.Parse(written, country)
		if err != nil || number.GetExtension() != "" ||
			phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE { // others lack the area code
			continue
		}
		formatted, problem := field.Phone(phonenumbers.Format(number, phonenumbers.E164))
		if problem != "" || slices.Contains(possible, formatted) {
			continue
		}
		possible = append(possible, formatted)
		if phonenumbers.IsValidNumber(number) {
			assigned = append(assigned, formatted)
		}
	}
	if len(assigned) > 0 {
		return assigned
	}
	return possible
}
