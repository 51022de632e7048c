package waitlist_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// known maps each variable to an expression that is true in TestVariables_HaveValuesOfTheCase.
var known = map[string]string{
	"entry.party_size":    `entry.party_size == 2`,
	"entry.flagged":       `entry.flagged`,
	"entry.offers":        `entry.offers == 1`,
	"entry.waiting_hours": `entry.waiting_hours == 36.5`,
	"entry.kind":          `entry.kind == "WINDOW"`,
	"member.tier":         `member.tier == "gold"`,
	"member.tags":         `"vip" in member.tags && size(member.tags) == 2`,
	"slot.service":        `slot.service == "Vinyasa"`,
	"slot.location":       `slot.location == "Chiado"`,
	"slot.seats":          `slot.seats == 3`,
	"slot.starts_at": `slot.starts_at == timestamp("2026-03-18T18:00:00Z") && slot.starts_at.getHours() == 18 && ` +
		`string(slot.starts_at) == "2026-03-18T18:00:00Z"`,
	"slot.hours_until_start": `slot.hours_until_start == 54.0`,
	"slot.weekday":           `slot.weekday == 4`,
	"slot.time":              `slot.time == "03:00" && slot.time < "12:00"`,
	"now":                    `now == timestamp("2026-03-16T12:00:00Z") && slot.starts_at - now > duration("48h")`,
}

// thursday returns a case at a location where it is already Thursday.
func thursday(t *testing.T) (waitlist.Slot, waitlist.Candidate) {
	t.Helper()
	s, c := slot(3), queue(1)[0]
	s.Zone, s.StartsAt = "Asia/Tokyo", s.StartsAt.In(zone(t, "Asia/Tokyo"))
	c.Party, c.Flagged, c.Tries, c.Joined, c.Tier, c.Tags = 2, true, 1, now.Add(
		-36*time.Hour-30*time.Minute,
	), "gold", []string{"vip", "new"}
	c.Window = wish(func(w *waitlist.Window) { w.Earliest, w.Latest = clock("00:00"), clock("23:59") })
	return s, c
}

func judged(t *testing.T, s waitlist.Slot, c waitlist.Candidate, text string) string {
	t.Helper()
	r := rules(t, func(r *waitlist.Rules) { r.EligibilityExpression = text })
	return waitlist.Decide(
		s, []waitlist.Candidate{c}, waitlist.Round{}, waitlist.ByCancellation, r, now,
	).Verdicts[0].Reason
}

func TestVariables_HaveValuesOfTheCase(t *testing.T) {
	t.Parallel()
	s, c := thursday(t)
	for _, v := range waitlist.Variables() {
		text, ok := known[v.Name]
		if !ok || v.Doc == "" {
			t.Errorf("%s is not tested", v.Name)
			continue
		}
		test.EqOp(t, waitlist.WasOffered, judged(t, s, c, text), test.Sprint(text))
		test.True(t, v.Type != "" && !strings.Contains(v.Type, "dyn"), test.Sprintf("%s is of the type %q", v.Name, v.Type))
	}
	test.EqOp(t, len(waitlist.Variables()), len(known),
		test.Sprintf("%d variables, %d are known", len(waitlist.Variables()), len(known)))
}

func TestVariables_HaveValuesWithoutOptionalFacts(t *testing.T) {
	t.Parallel()
	s, c := thursday(t)
	c.Window, c.Tags, c.Tier = nil, nil, ""
	c.Joined = now.Add(time.Minute) // by another node's clock
	s.Seats, s.StartsAt = nil, time.Date(2026, 3, 22, 0, 30, 0, 0, time.UTC)
	s.Zone = "Europe/Lisbon"
	for _, text := range []string{
		`entry.kind == "SESSION"`, `slot.seats == 0`, `slot.weekday == 7`, `slot.time == "00:30"`, `size(member.tags) == 0`,
		`member.tier == ""`,
		`entry.waiting_hours == 0.0`,
	} {
		test.EqOp(t, waitlist.Promoted, judged(t, s, c, text), test.Sprint(text))
	}
}

func TestEligible_EvaluatesExpression(t *testing.T) {
	t.Parallel()
	s, c := thursday(t)
	for text, want := range map[string]string{
		`true`:  waitlist.WasOffered,
		`false`: waitlist.NotEligible,
		`member.tier in ["gold", "silver"] || entry.waiting_hours > 24`:                         waitlist.WasOffered,
		`entry.waiting_hours > 48`:                                                              waitlist.NotEligible,
		`slot.hours_until_start < 2.0 ? true : member.tags.exists(t, t.startsWith("v"))`:        waitlist.WasOffered,
		`member.tags.all(t, t.matches("^[a-z]+$"))`:                                             waitlist.WasOffered,
		`math.greatest(entry.party_size, 3) == 3`:                                               waitlist.WasOffered,
		`member.tags[5] == "vip"`:                                                               waitlist.RuleFailed,
		`10 / (entry.offers - 1) == 1`:                                                          waitlist.RuleFailed,
		`timestamp(member.tier) < now`:                                                          waitlist.RuleFailed,
		`int(member.tier) > 3`:                                                                  waitlist.RuleFailed,
		"// only those who know us\nmember.tier != \"\"\n&& entry.offers < 3":                   waitlist.WasOffered,
		`now.getHours("Asia/Tokyo") == 21 && slot.starts_at.getDayOfWeek("Europe/Lisbon") == 3`: waitlist.WasOffered,
	} {
		test.EqOp(t, want, judged(t, s, c, text), test.Sprint(text))
	}
}

// Without compiled expressions, no entry is eligible.
func TestDecide_RejectsEntriesWithoutCompiledExpression(t *testing.T) {
	t.Parallel()
	r := waitlist.Defaults()
	r.EligibilityExpression = "true"
	d := waitlist.Decide(slot(1), queue(1), waitlist.Round{}, waitlist.ByCancellation, &waitlist.Compiled{Rules: r}, now)
	got := reasons(d)
	test.EqOp(t, waitlist.RuleFailed, got[0], test.Sprint(got))
}

// Members can have more tags than the estimate assumes. The limit still holds.
func TestDecide_LimitsCostOfExpressionsAtRunTime(t *testing.T) {
	t.Parallel()
	s, c := thursday(t)
	text := `member.tags.all(t, t != "x")`
	must.EqOp(t, waitlist.WasOffered, judged(t, s, c, text))
	c.Tags = []string{strings.Repeat("x", 100_000)}
	test.EqOp(t, waitlist.RuleFailed, judged(t, s, c, `member.tags.all(t, (t + t).matches("y$"))`))
	c.Tags = strings.Split(strings.Repeat("tag ", 5_000), " ")
	test.EqOp(t, waitlist.RuleFailed, judged(t, s, c, text))
}

func TestFormula_EvaluatesExpression(t *testing.T) {
	t.Parallel()
	s, c := thursday(t)
	for text, want := range map[string]int{
		`7`:                                      7,
		`-7`:                                     -7,
		`entry.waiting_hours`:                    37, // 36.5
		`-entry.waiting_hours`:                   -37,
		`36.4999`:                                36,
		`2000000`:                                waitlist.MaxScore,
		`-9223372036854775808`:                   -waitlist.MaxScore,
		`1e300`:                                  waitlist.MaxScore,
		`entry.waiting_hours/0.0`:                waitlist.MaxScore,
		`-entry.waiting_hours/0.0`:               -waitlist.MaxScore,
		`0.0/0.0`:                                100, // the base score: NaN is no score
		`1/(entry.offers - 1)`:                   100, // the base score: division by zero
		`9223372036854775807 + entry.party_size`: 100,
		`100 + (member.tier == "gold" ? 50 : 0) + int(math.least(entry.waiting_hours, 10.0))`: 160,
	} {
		r := rules(t, func(r *waitlist.Rules) { r.Order, r.PriorityExpression = waitlist.ByFormula, text })
		d := waitlist.Decide(s, []waitlist.Candidate{c}, waitlist.Round{}, waitlist.ByCancellation, r, now)
		test.EqOp(t, want, d.Verdicts[0].Score, test.Sprint(text))
	}
}

func TestCompile_RejectsInvalidExpressions(t *testing.T) {
	t.Parallel()
	const eligibility, priority = "eligibility_expression", "priority_expression"
	tests := map[string]struct {
		field, text, line, column, says string
	}{
		"a name there is not":       {eligibility, `entry.partysize > 2`, "1", "1", "There are: entry.party_size, "},
		"a name of nothing":         {eligibility, "true &&\n  nobody", "2", "3", "undeclared reference to 'nobody'"},
		"a clock":                   {eligibility, `now() > slot.starts_at`, "1", "4", "now"},
		"no end":                    {eligibility, `member.tier == `, "1", "16", "Check quotes"},
		"no quotes":                 {eligibility, `member.tier == gold`, "1", "16", "undeclared"},
		"kinds that do not compare": {eligibility, `entry.party_size == "2"`, "1", "18", "do not mix kinds of numbers"},
		"kinds that do not add up":  {priority, `100 + entry.waiting_hours`, "1", "5", "double(2)"},
		"a number for yes or no":    {eligibility, `entry.party_size`, "1", "1", "true or false"},
		"yes or no for a number":    {priority, `entry.flagged`, "1", "1", "a number"},
		"a text for a number":       {priority, `member.tier`, "1", "1", "a number"},
		"a kind that is not known":  {priority, `dyn(1)`, "1", "1", "a number"},
		"an unsigned number":        {priority, `1u`, "1", "1", "a number"},
		"a bad pattern":             {eligibility, `member.tier.matches("(")`, "1", "21", "RE2"},
		"a bad time":                {eligibility, `now > timestamp("noon")`, "1", "17", "2026-"},
		"a bad length of time":      {eligibility, `now - slot.starts_at > duration("1 day")`, "1", "33", "36h"},
		"a constant of no value":    {eligibility, `int("x") == 1`, "1", "1", "conversion"},
		"a list of all sorts":       {eligibility, `member.tier in ["gold", 1]`, "1", "25", ""},
		"loops in loops": {
			eligibility, `member.tags.all(a, member.tags.all(b, member.tags.all(c, a + b != c)))`, "1", "1", "too many steps",
		},
		"patterns over lists": {
			eligibility, `member.tags.all(a, a.matches("(a|b)*(c|d)*(e|f)*(a|b)*(c|d)*(e|f)*(a|b)*(c|d)*(e|f)*x"))`, "1", "1",
			"too many steps",
		},
		"brackets in brackets": {
			eligibility, strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "1", "", "recursion",
		},
		"too long":                {eligibility, strings.Repeat("é", 2_001), "1", "2001", "maximum is 2000"},
		"no text":                 {eligibility, "\xff\xfe", "1", "", ""},
		"nothing but a space":     {eligibility, " ", "1", "", ""},
		"several statements":      {eligibility, "true; false", "1", "5", "Syntax error"},
		"a function there is not": {eligibility, `env("HOME") == ""`, "1", "4", "undeclared reference to 'env'"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := waitlist.Defaults()
			if tt.field == eligibility {
				r.EligibilityExpression = tt.text
			} else {
				r.PriorityExpression = tt.text
			}
			_, err := waitlist.Compile(r)
			f, ok := errors.AsType[*fault.Error](err)
			must.True(
				t, ok && f.Kind == fault.InvalidArgument && f.Reason == fault.RulesInvalid && f.Field == "rules."+tt.field,
				must.Sprintf("%v", err),
			)
			test.True(
				t, f.Metadata["line"] == tt.line && (tt.column == "" || f.Metadata["column"] == tt.column) &&
					strings.Contains(f.Message, tt.says),
				test.Sprintf("line %s, column %s: %s", f.Metadata["line"], f.Metadata["column"], f.Message),
			)
			test.True(
				t, !strings.Contains(f.Message, "\n") && len(f.Message) <= 700 && !strings.Contains(f.Message, "container") &&
					strings.HasSuffix(f.Message, ".") && !strings.HasSuffix(f.Message, ".."),
				test.Sprintf("not one sentence or a few: %s", f.Message),
			)
		})
	}
	_, err := waitlist.Compile(waitlist.Rules{EligibilityExpression: "true" + strings.Repeat(" ", 1_996)})
	test.NoError(t, err, test.Sprint("2,000 characters"))
}

// Any text either compiles or is refused with a reason.
func TestCompile_AcceptsOrRejectsAnyText(t *testing.T) {
	t.Parallel()
	words := []string{
		"entry", ".", "party_size", "member.tags", "exists", "(", ")", "t", ",", "&&", "||", "!", "1", "2.5", `"x"`, "[", "]",
		"in", "{", "}", "?", ":", "\n", "é", "'", "now", "+",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words"), " ")
		if rapid.Bool().Draw(t, "anything") {
			text = rapid.String().Draw(t, "text")
		}
		r := waitlist.Defaults()
		r.EligibilityExpression, r.PriorityExpression = text, text
		if text == "" {
			return
		}
		_, err := waitlist.Compile(r)
		if fault.ReasonOf(err) != fault.RulesInvalid { // no expression has both a boolean and a number as its result
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// Programs are cached by their purpose, because a text can be valid for one purpose only.
func TestCompile_IsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for n := range 200 {
				r := waitlist.Defaults()
				r.Mode, r.Order = waitlist.OfferInTurn, waitlist.ByFormula
				r.EligibilityExpression = fmt.Sprintf("entry.party_size < %d", n)
				r.PriorityExpression = fmt.Sprintf("%d + %d * entry.party_size", i, n)
				c, err := waitlist.Compile(r)
				if err != nil {
					t.Error(err)
					return
				}
				v := waitlist.Decide(slot(1), queue(1), waitlist.Round{}, waitlist.ByCancellation, c, now).Verdicts[0]
				test.True(
					t, v.Score == i+n && (v.Reason == waitlist.NotEligible) == (n <= 1), test.Sprintf("%d, %d: %+v", i, n, v),
				)
				r.EligibilityExpression = r.PriorityExpression
				_, err = waitlist.Compile(r)
				test.EqOp(t, fault.RulesInvalid, fault.ReasonOf(err), test.Sprintf("a number makes an entry eligible: %v", err))
			}
		})
	}
	wait.Wait()
}
