package booking_test

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

var gym = booking.BenefitProvider{
	Code: "GYM", Name: "Gym", Pattern: "[0-9]{3}|X|-", Percent: 15, Active: true, Verification: booking.Unverified,
}

func TestBenefitNumber_Check(t *testing.T) {
	t.Parallel()
	const invalid, inUse = "BENEFIT_INVALID @benefit_membership_number", "BENEFIT_IN_USE @benefit_membership_number"
	for name, tt := range map[string]struct {
		number  string
		differ  set // from the number of an active provider
		staff   bool
		refused string
	}{
		"digits":               {"123", nil, false, ""},
		"letter":               {"X", nil, false, ""},
		"longer":               {"1234", nil, false, invalid},
		"prefixed":             {"aX", nil, false, invalid},
		"neither":              {"-", nil, false, invalid},
		"inactive":             {"123", set{"Provider.Active": false}, true, invalid},
		"unknown":              {"123", set{"Provider": nil}, true, invalid},
		"on a list":            {"123", set{"Listed": true}, false, ""},
		"not on the list":      {"123", set{"Provider.Verification": booking.VerifyByList}, true, invalid},
		"on the list":          {"123", set{"Provider.Verification": booking.VerifyByList, "Listed": true}, false, ""},
		"listed, but too long": {"1234", set{"Listed": true}, false, invalid},
		"taken":                {"123", set{"Taken": true}, false, invalid},
		"taken, for staff":     {"123", set{"Taken": true}, true, inUse},
		"of a family":          {"123", set{"Taken": true, "Provider.Families": true}, false, ""},
	} {
		known, want := vary.From(booking.BenefitNumber{Provider: &gym}, tt.differ), booking.Benefit{}
		if tt.refused == "" {
			want = booking.Benefit{Code: "GYM", Number: tt.number, Percent: 15, Verified: known.Listed}
		}
		got, err := known.Check(tt.number, tt.staff)
		test.EqOp(t, want, got, test.Sprint(name))
		test.EqOp(t, tt.refused, faulttest.Text(err), test.Sprint(name))
	}
	test.Eq(t, catalog.AuditFields{
		"name": "Gym", "number_pattern": "[0-9]{3}|X|-", "discount_percent": 15, "active": true, "verification": "NONE",
		"families": false,
	}, gym.AuditFields())
}

// However a number is written, it is the same one, so that two members cannot share it by writing it differently.
func TestBenefitKey_IgnoresHowANumberIsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		written := rapid.StringMatching(`[A-Za-z0-9 ./-]{0,20}`).Draw(t, "written")
		want := strings.ToUpper(strings.NewReplacer(" ", "", ".", "", "/", "", "-", "").Replace(written))
		must.EqOp(t, want, booking.BenefitKey(written))
	})
}

func TestBenefitKeys_AreSortedAndEachOnce(t *testing.T) {
	t.Parallel()
	test.Eq(t, []string{"7", "AB1"}, expect.Value(booking.BenefitKeys("add", []string{"ab-1", "7", "AB 1"}))(t))
	expect.Fault(t, "INVALID_FIELD @remove[1]")(booking.BenefitKeys("remove", []string{"1", "-"}))
}

func TestCheckNumbers_LimitsTheList(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "")(booking.BenefitProvider{Numbers: 500_000}.CheckNumbers())
	expect.Fault(t, "QUOTA_EXCEEDED limit=500000 quota=benefit_numbers")(
		booking.BenefitProvider{Numbers: 500_001}.CheckNumbers())
}

func TestBenefitProvider_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	long := strings.Repeat
	expect.InvalidField(t, gym, map[string][]set{
		"": {
			{"Percent": 0, "Name": "é", "Pattern": "a"}, {"Verification": booking.VerifyByList},
			{"Percent": 100, "Name": long("é", 200), "Pattern": long("a", 200), "Code": long("A", 50)},
		},
		"provider_code":             {{"Code": "gym"}, {"Code": ""}, {"Code": long("A", 51)}},
		"provider.name":             {{"Name": ""}, {"Name": long("é", 201)}, {"Name": "A\u202eB"}},
		"provider.discount_percent": {{"Percent": -1}, {"Percent": 101}},
		"provider.number_pattern":   {{"Pattern": ""}, {"Pattern": "["}, {"Pattern": long("a", 201)}},
		"provider.verification":     {{"Verification": ""}},
	})
}
