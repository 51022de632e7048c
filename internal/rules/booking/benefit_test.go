package booking_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/shoenig/test"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func TestBenefitNumber_Check(t *testing.T) {
	t.Parallel()
	const invalid, inUse = "BENEFIT_INVALID @benefit_membership_number", "BENEFIT_IN_USE @benefit_membership_number"
	gym := booking.BenefitProvider{
		Code: "GYM", Name: "Gym", Pattern: "[0-9]{3}|X|-", Percent: 15, Active: true, Verification: booking.Unverified,
	}
	idle, listed, families := gym, gym, gym
	idle.Active = false
	listed.Verification = booking.VerifyByList
	families.Families = true
	for name, tt := range map[string]struct {
		number  string
		known   booking.BenefitNumber
		staff   bool
		refused string
	}{
		"digits":               {"123", booking.BenefitNumber{Provider: &gym}, false, ""},
		"letter":               {"X", booking.BenefitNumber{Provider: &gym}, false, ""},
		"longer":               {"1234", booking.BenefitNumber{Provider: &gym}, false, invalid},
		"prefixed":             {"aX", booking.BenefitNumber{Provider: &gym}, false, invalid},
		"neither":              {"-", booking.BenefitNumber{Provider: &gym}, false, invalid},
		"inactive":             {"123", booking.BenefitNumber{Provider: &idle}, true, invalid},
		"unknown":              {"123", booking.BenefitNumber{}, true, invalid},
		"on a list":            {"123", booking.BenefitNumber{Provider: &gym, Listed: true}, false, ""},
		"not on the list":      {"123", booking.BenefitNumber{Provider: &listed}, true, invalid},
		"on the list":          {"123", booking.BenefitNumber{Provider: &listed, Listed: true}, false, ""},
		"listed, but too long": {"1234", booking.BenefitNumber{Provider: &listed, Listed: true}, false, invalid},
		"taken":                {"123", booking.BenefitNumber{Provider: &gym, Taken: true}, false, invalid},
		"taken, for staff":     {"123", booking.BenefitNumber{Provider: &gym, Taken: true}, true, inUse},
		"of a family":          {"123", booking.BenefitNumber{Provider: &families, Taken: true}, false, ""},
	} {
		benefit := booking.Benefit{}
		if tt.refused == "" {
			benefit = booking.Benefit{Code: "GYM", Number: tt.number, Percent: 15, Verified: tt.known.Listed}
		}
		got, err := tt.known.Check(tt.number, tt.staff)
		test.EqOp(t, benefit, got, test.Sprint(name))
		test.EqOp(t, tt.refused, faulttest.Text(err), test.Sprint(name))
	}
	test.Eq(t, catalog.AuditFields{
		"name": "Gym", "number_pattern": "[0-9]{3}|X|-", "discount_percent": 15, "active": true, "verification": "NONE",
		"families": false,
	}, gym.Facts())
}

// However a number is written, it is the same one, so that two members cannot share it by writing it differently.
func TestBenefitKey_IgnoresHowANumberIsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`[A-Z0-9]{1,12}`).Draw(t, "number")
		var written strings.Builder
		for _, r := range number {
			written.WriteString(rapid.SampledFrom([]string{"", " ", "-", "./"}).Draw(t, "between"))
			if rapid.Bool().Draw(t, "lower") {
				r = unicode.ToLower(r)
			}
			written.WriteRune(r)
		}
		if key := booking.BenefitKey(written.String()); key != number {
			t.Fatalf("%q became %q", written.String(), key)
		}
	})
}

func TestBenefitProvider_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*booking.BenefitProvider)
		field  string
	}{
		"least": {func(p *booking.BenefitProvider) { p.Percent, p.Name, p.Pattern = 0, "é", "a" }, ""},
		"most": {func(p *booking.BenefitProvider) {
			p.Percent, p.Name, p.Pattern = 100, strings.Repeat("é", 200), strings.Repeat("a", 200)
		}, ""},
		"code":         {func(p *booking.BenefitProvider) { p.Code = "gym" }, "provider.code"},
		"no name":      {func(p *booking.BenefitProvider) { p.Name = "" }, "provider.name"},
		"long name":    {func(p *booking.BenefitProvider) { p.Name = strings.Repeat("é", 201) }, "provider.name"},
		"negative":     {func(p *booking.BenefitProvider) { p.Percent = -1 }, "provider.discount_percent"},
		"over 100":     {func(p *booking.BenefitProvider) { p.Percent = 101 }, "provider.discount_percent"},
		"no pattern":   {func(p *booking.BenefitProvider) { p.Pattern = "" }, "provider.number_pattern"},
		"open bracket": {func(p *booking.BenefitProvider) { p.Pattern = "[" }, "provider.number_pattern"},
		"unverified":   {func(p *booking.BenefitProvider) { p.Verification = "" }, "provider.verification"},
		"listed":       {func(p *booking.BenefitProvider) { p.Verification = booking.VerifyByList }, ""},
		"long pattern": {
			func(p *booking.BenefitProvider) { p.Pattern = strings.Repeat("a", 201) }, "provider.number_pattern",
		},
	} {
		p := booking.BenefitProvider{
			Code: "GYM", Name: "Gym", Pattern: "[0-9]{3}|X", Percent: 15, Active: true, Verification: booking.Unverified,
		}
		tt.change(&p)
		test.EqOp(t, invalid(tt.field), faulttest.Text(p.Validate()), test.Sprint(name))
	}
}
