package mutate

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestHarm_RanksTheWorstFirst(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Mutant{
		"permission, tenant, isolation": {Package: "internal/app/bookings", Site: "caller.SelfOnly && guest"},
		"money, credits":                {Package: "internal/app/accounts", Site: "tenant.ID == b.Credits"},
		"capacity":                      {Package: "internal/rules/booking", Function: "(*Slot).free", Site: "capacity - 1"},
		"order of the waitlist":         {Package: "internal/rules/waitlist", Site: "a < b"},
		"notification":                  {Package: "internal/app/messages", Site: "a < b"},
		"time":                          {Package: "internal/web", Site: "2 * time.Hour"},
		"rest":                          {Package: "internal/web", Site: "a < b"},
	} {
		test.EqOp(t, want, harms[harm(m)].name, test.Sprintf("%+v", m))
	}
	test.EqOp(t, 0, harm(Mutant{Kind: DBSecurity}), test.Sprint("a policy is not the worst"))
}

func TestWrite_ListsSurvivorsByHarm(t *testing.T) {
	t.Parallel()
	result := func(verdict, site string) Result {
		return Result{
			Mutant: Mutant{
				ID: "id", Package: "a", File: "a/a.go", Line: 3, Function: "f", Kind: Guard, Site: site,
				Old: []string{"if x {", "return", "}"}, New: nil,
			},
			Verdict: verdict, Tests: []string{"a", "b"},
		}
	}
	var out strings.Builder
	report := Report{
		Results: []Result{
			result(Survived, "x"), result(Survived, "balance"), result(Killed, ""), result(TimedOut, ""),
			result(NoMutant, ""),
		},
		Stale: []Equivalent{{Package: "a", Function: "f", Kind: Guard, At: "if y"}},
	}
	must.NoError(t, report.Write(&out))
	want := `| Package | Mutants | Killed | Timeouts | Survived |
|---|---|---|---|---|
| a | 4 | 1 | 1 | 2 |
| **all** | 4 | 1 | 1 | 2 |

## Survived: money, credits

a/a.go:3 f: guard removed (id)

    - if x {
    - return
    - }

Tests: a, b.`
	test.StrHasPrefix(t, want, out.String())
	test.StrContains(t, out.String(), "## Survived: rest")
	test.StrHasSuffix(t, "- a f: guard removed at \"if y\"\n", out.String())
}
