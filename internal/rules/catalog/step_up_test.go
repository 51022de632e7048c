package catalog_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/testkit/expect"
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
		expect.Fault(t, c.want, name)(c.asked.Check(c.signedIn, c.acr, now))
	}
	tenant := catalog.Tenant{Name: "Quay", TimeZone: "Europe/Lisbon", Locale: "pt", Currency: "EUR"}
	expect.InvalidField(t, tenant, map[string][]set{
		"": {nil, {"StepUp.MaxAge": time.Minute}, {"StepUp.MaxAge": 61 * time.Second}, {"StepUp.MaxAge": 24 * time.Hour}},
		"tenant.step_up.max_age": {
			{"StepUp.MaxAge": time.Minute - time.Second}, {"StepUp.MaxAge": 24*time.Hour + time.Second},
			{"StepUp.MaxAge": time.Minute + time.Second/2}, {"StepUp.MaxAge": -time.Minute},
		},
	})
}
