package booking

import (
	"regexp"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// BenefitProvider is a benefit provider: another organization, whose members get a discount.
type BenefitProvider struct {
	Code      string
	Name      string
	Pattern   string // RE2; must match the whole membership number
	Percent   int    // the discount
	Active    bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Facts returns the editable fields, for the audit log.
func (p BenefitProvider) Facts() catalog.AuditFields {
	return catalog.AuditFields{
		"name": p.Name, "number_pattern": p.Pattern, "discount_percent": p.Percent, "active": p.Active,
	}
}

var codePattern = regexp.MustCompile(`^[A-Z0-9_-]{1,50}$`)

// Validate rejects a provider with invalid fields: INVALID_FIELD.
func (p BenefitProvider) Validate() error {
	if !codePattern.MatchString(p.Code) {
		return fault.Invalid("provider.code", "A code has 1 to 50 capital letters, digits, dashes and underscores.")
	}
	if p.Name == "" || len([]rune(p.Name)) > 200 {
		return fault.Invalid("provider.name", "A provider's name has 1 to 200 characters.")
	}
	if p.Percent < 0 || p.Percent > 100 {
		return fault.Invalid("provider.discount_percent", "A discount is 0 to 100 percent.")
	}
	if _, err := p.numberRegexp(); err != nil || p.Pattern == "" || len(p.Pattern) > 200 {
		return fault.Invalid("provider.number_pattern",
			"The pattern is a regular expression (RE2) of 1 to 200 characters.")
	}
	return nil
}

func (p BenefitProvider) numberRegexp() (*regexp.Regexp, error) {
	return regexp.Compile(`^(?:` + p.Pattern + `)$`)
}

// Check returns the benefit of a membership. It rejects an unknown or inactive provider, and a number that does not
// match its pattern: BENEFIT_INVALID.
func (p *BenefitProvider) Check(number string) (Benefit, error) {
	if p != nil && p.Active {
		if valid, err := p.numberRegexp(); err == nil && valid.MatchString(number) {
			return Benefit{Code: p.Code, Number: number, Percent: p.Percent}, nil
		}
	}
	return Benefit{}, fault.New(fault.FailedPrecondition, fault.BenefitInvalid, "The benefit membership is not valid.").
		WithField("benefit_membership_number")
}
