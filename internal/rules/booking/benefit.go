package booking

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/regex"
	"github.com/berthhq/berth/internal/tenant"
)

// BenefitProvider is a benefit provider: another organization, whose members get a discount.
type BenefitProvider struct {
	Code         string
	Name         string
	Pattern      string // RE2; must match the whole membership number
	Percent      int    // the discount
	Active       bool
	Verification Verification
	Families     bool // several members may use one number
	Numbers      int  // on its list
	Version      int
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Verification is how membership numbers are verified.
type Verification string

// The ways to verify numbers.
const (
	Unverified   Verification = "NONE" // they have to match the pattern
	VerifyByList Verification = "LIST" // they have to be on the provider's list, too
)

// AuditFields returns the editable fields, for the audit log.
func (p BenefitProvider) AuditFields() catalog.AuditFields {
	return catalog.AuditFields{
		"name": p.Name, "number_pattern": p.Pattern, "discount_percent": p.Percent, "active": p.Active,
		"verification": string(p.Verification), "families": p.Families,
	}
}

var codePattern = regexp.MustCompile(`^[A-Z0-9_-]{1,50}$`)

// ValidateEdit is Validate for an edit. A name that stays is not judged again.
func (p BenefitProvider) ValidateEdit(before BenefitProvider) error {
	p.Name = field.Kept(before.Name, p.Name)
	return p.Validate()
}

// Validate rejects a provider with invalid fields: INVALID_FIELD.
func (p BenefitProvider) Validate() error {
	if !codePattern.MatchString(p.Code) {
		return fault.Invalid("provider_code", "A code has 1 to 50 capital letters, digits, dashes and underscores.")
	}
	if problem := field.CheckName(p.Name, maxName); problem != "" {
		return fault.Invalid("provider.name", "%s", problem)
	}
	if p.Verification != Unverified && p.Verification != VerifyByList {
		return fault.Invalid("provider.verification", "Numbers are not verified, or by a list.")
	}
	if p.Percent < 0 || p.Percent > 100 {
		return fault.Invalid("provider.discount_percent", "A discount is 0 to 100 percent.")
	}
	_, err := p.numberRegexp()
	switch {
	case errors.Is(err, regex.ErrTooLarge):
		return fault.Invalid("provider.number_pattern",
			"The pattern takes too many steps. Remove repetitions in repetitions, or repeat less.")
	case err != nil, p.Pattern == "", len(p.Pattern) > 200:
		return fault.Invalid("provider.number_pattern",
			"The pattern is a regular expression (RE2) of 1 to 200 characters.")
	}
	return nil
}

// maxBenefitNumbers is how many numbers the list of a provider may have.
const maxBenefitNumbers = 500_000

// CheckNumbers rejects a list of too many numbers: QUOTA_EXCEEDED.
func (p BenefitProvider) CheckNumbers() error {
	if p.Numbers > maxBenefitNumbers {
		return fault.OverQuota("benefit_numbers", maxBenefitNumbers,
			"The limit of %d numbers of a provider is reached.", maxBenefitNumbers)
	}
	return nil
}

func (p BenefitProvider) numberRegexp() (*regexp.Regexp, error) {
	return regex.Compile(`^(?:` + p.Pattern + `)$`)
}

// BenefitNumber is what is known about a membership number.
type BenefitNumber struct {
	Provider *BenefitProvider // nil: there is none
	Listed   bool             // the number is on the provider's list
	Taken    bool             // another member uses it
}

// Check returns the benefit of a membership. It rejects an unknown or inactive provider, and a number that does not
// match its pattern, is not on its list, or is in another member's use: BENEFIT_INVALID. Only staff learn that another
// member uses the number: BENEFIT_IN_USE.
func (n BenefitNumber) Check(number string, staff bool) (Benefit, error) {
	p := n.Provider
	if p == nil || !p.Active || p.Verification == VerifyByList && !n.Listed || BenefitKey(number) == "" {
		return Benefit{}, errBenefitInvalid
	}
	if valid, err := p.numberRegexp(); err != nil || !valid.MatchString(number) {
		return Benefit{}, errBenefitInvalid
	}
	if n.Taken && !p.Families {
		if staff {
			return Benefit{}, fault.New(fault.FailedPrecondition, fault.BenefitInUse,
				"Another member uses this membership number.").WithField("benefit_membership_number")
		}
		return Benefit{}, errBenefitInvalid
	}
	return Benefit{Code: p.Code, Number: number, Percent: p.Percent, Verified: n.Listed}, nil
}

var errBenefitInvalid = fault.New(
	fault.FailedPrecondition, fault.BenefitInvalid, "The benefit membership is not valid.",
).WithField("benefit_membership_number")

// BenefitKey returns what identifies a membership number: its letters, in upper case, and its digits. People write the
// same number with spaces, with dashes, and in either case.
func BenefitKey(number string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, number)
}

// BenefitKeys returns the keys of membership numbers, sorted and each once. A number without letters and digits is
// INVALID_FIELD.
func BenefitKeys(field string, numbers []string) ([]string, error) {
	keys := make([]string, len(numbers))
	for i, number := range numbers {
		if keys[i] = BenefitKey(number); keys[i] == "" {
			return nil, fault.Invalid(fmt.Sprintf("%s[%d]", field, i), "A membership number has letters or digits.")
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// BenefitMembership is the number that a member uses with a provider. It serves one member at a time, unless the
// provider allows families.
type BenefitMembership struct {
	Provider  string
	Member    tenant.MemberID
	Key       string
	Number    string // as entered
	Shared    bool   // the provider allows families
	CreatedAt time.Time
}

// Membership returns the use of a benefit by a member.
func (n BenefitNumber) Membership(b Benefit, m tenant.MemberID, now time.Time) BenefitMembership {
	return BenefitMembership{
		Provider: b.Code, Member: m, Key: BenefitKey(b.Number), Number: b.Number, Shared: n.Provider.Families, CreatedAt: now,
	}
}
