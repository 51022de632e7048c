package catalog_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
)

func TestStepUp_AsksForARecentOrStrongSignIn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const (
		age    = "STEP_UP_REQUIRED max_age=300"
		acr    = "STEP_UP_REQUIRED acr_values=mfa phr"
		either = "STEP_UP_REQUIRED acr_values=mfa phr max_age=300"
	)
	five, strong := 5*time.Minute, []string{"mfa", "phr"}
	for name, c := range map[string]struct {
		asked    catalog.StepUp
		signedIn time.Time
		acr      string
		want     string
	}{
		"off":           {catalog.StepUp{}, time.Time{}, "", ""},
		"recent":        {catalog.StepUp{MaxAge: five}, ago(time.Minute), "", ""},
		"just recent":   {catalog.StepUp{MaxAge: five}, ago(five), "", ""},
		"too old":       {catalog.StepUp{MaxAge: five}, ago(five + 1), "mfa", age},
		"unknown time":  {catalog.StepUp{MaxAge: five}, time.Time{}, "", age},
		"clocks differ": {catalog.StepUp{MaxAge: five}, ago(-10 * time.Second), "", ""},
		"strong":        {catalog.StepUp{ACRValues: strong}, time.Time{}, "phr", ""},
		"recent, but not strong": {
			catalog.StepUp{ACRValues: []string{"mfa"}}, now, "pwd", "STEP_UP_REQUIRED acr_values=mfa",
		},
		"unknown strength":           {catalog.StepUp{ACRValues: strong}, now, "", acr},
		"old and strong, either":     {catalog.StepUp{MaxAge: five, ACRValues: strong}, ago(time.Hour), "mfa", ""},
		"recent and weak, either":    {catalog.StepUp{MaxAge: five, ACRValues: strong}, now, "pwd", ""},
		"old and weak, either":       {catalog.StepUp{MaxAge: five, ACRValues: strong}, ago(time.Hour), "pwd", either},
		"strength that is only like": {catalog.StepUp{ACRValues: strong}, now, "mfa phr", acr},
	} {
		test.EqOp(t, c.want, faulttest.Text(c.asked.Check(c.signedIn, c.acr, now)), test.Sprint(name))
	}
	for age, want := range map[time.Duration]string{
		0: "", time.Minute: "", 61 * time.Second: "", 24 * time.Hour: "",
		time.Minute - time.Second:   "INVALID_FIELD @tenant.step_up.max_age",
		24*time.Hour + time.Second:  "INVALID_FIELD @tenant.step_up.max_age",
		time.Minute + time.Second/2: "INVALID_FIELD @tenant.step_up.max_age",
		-time.Minute:                "INVALID_FIELD @tenant.step_up.max_age",
	} {
		tenant := catalog.Tenant{
			Name: "Quay", TimeZone: "Europe/Lisbon", Locale: "pt", Currency: "EUR", StepUp: catalog.StepUp{MaxAge: age},
		}
		test.EqOp(t, want, faulttest.Text(tenant.Validate()), test.Sprint(age))
	}
}
