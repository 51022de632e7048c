package waitlist_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
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
func thursday(differ set) waitlist.Case {
	c := vary.From(caseOf(queueOf(set{
		"Party": 2, "Flagged": true, "Tries": 1, "Joined": now.Add(-36*time.Hour - 30*time.Minute), "Tier": "gold",
		"Tags": []string{"vip", "new"}, "Window": timeWindow(set{"Earliest": clock("00:00"), "Latest": clock("23:59")}),
	})...), set{"Slot.Seats": 3, "Slot.Zone": "Asia/Tokyo", "Slot.StartsAt": starts.In(zone("Asia/Tokyo"))})
	return vary.From(c, differ)
}

func verdict(t *testing.T, c waitlist.Case, text string) waitlist.VerdictReason {
	t.Helper()
	return c.Decide(rules(t, set{"EligibilityExpression": text})).Verdicts[0].Reason
}

func TestVariables_HaveValuesOfTheCase(t *testing.T) {
	t.Parallel()
	tested := make(map[string]bool)
	for _, v := range waitlist.Variables() {
		test.EqOp(t, waitlist.WasOffered, verdict(t, thursday(nil), known[v.Name]), test.Sprint(v.Name))
		test.NotEqOp(t, "", v.Doc, test.Sprint(v.Name))
		test.RegexMatch(t, typeName, v.Type, test.Sprint(v.Name))
		tested[v.Name] = known[v.Name] != ""
	}
	test.MapLen(t, len(known), tested)
	test.MapContainsKeys(t, tested, slices.Collect(maps.Keys(known)))
}

var typeName = regexp.MustCompile(`^(bool|int|double|string|list\(string\)|google\.protobuf\.Timestamp|timestamp)$`)

func TestVariables_HaveValuesWithoutOptionalFacts(t *testing.T) {
	t.Parallel()
	c := thursday(set{
		"Slot.Seats": nil, "Slot.StartsAt": time.Date(2026, 3, 22, 0, 30, 0, 0, time.UTC), "Slot.Zone": "Europe/Lisbon",
	})
	c.Queue = queueOf(set{"Joined": now.Add(time.Minute)}) // by another node's clock
	for _, text := range []string{
		`entry.kind == "SESSION"`, `slot.seats == 0`, `slot.weekday == 7`, `slot.time == "00:30"`, `size(member.tags) == 0`,
		`member.tier == ""`, `entry.waiting_hours == 0.0`,
	} {
		test.EqOp(t, waitlist.WasOffered, verdict(t, c, text), test.Sprint(text))
	}
}

func TestEligible_EvaluatesExpression(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]waitlist.VerdictReason{
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
		test.EqOp(t, want, verdict(t, thursday(nil), text), test.Sprint(text))
	}
}

// If a saved expression no longer compiles, that is an error of the server. Rules that were not compiled at all let
// nobody in.
func TestCompileSaved_DoesNotBlameTheCaller(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"EligibilityExpression", "PriorityExpression"} {
		r := vary.From(waitlist.Defaults(), set{field: "no_longer_known"})
		compiled, err := waitlist.CompileSaved(r)
		test.ErrorContains(t, err, "saved rules do not compile", test.Sprint(field))
		test.EqOp(t, "", fault.ReasonOf(err), test.Sprint(field))
		test.Nil(t, compiled, test.Sprint(field))
	}
	r := vary.From(waitlist.Defaults(), set{"EligibilityExpression": "true"})
	test.EqOp(t, waitlist.RuleFailed,
		caseOf(queue(1)...).Decide(&waitlist.CompiledRules{Rules: r}).Verdicts[0].Reason)
}

// Members can have more tags than the estimate assumes. The limit still holds.
func TestDecide_LimitsCostOfExpressionsAtRunTime(t *testing.T) {
	t.Parallel()
	const all, pattern = `member.tags.all(t, t != "x")`, `member.tags.all(t, (t + t).matches("y$"))`
	c := thursday(nil)
	for _, tt := range []struct {
		text string
		tags []string
		want waitlist.VerdictReason
	}{
		{all, []string{"vip"}, waitlist.WasOffered}, {pattern, []string{strings.Repeat("x", 100_000)}, waitlist.RuleFailed},
		{all, strings.Split(strings.Repeat("tag ", 5_000), " "), waitlist.RuleFailed},
	} {
		c.Queue[0].Tags = tt.tags
		test.EqOp(t, tt.want, verdict(t, c, tt.text), test.Sprint(tt.text, len(tt.tags)))
	}
	// A short pattern can have many steps. They count, not its length.
	for length, want := range map[int]waitlist.VerdictReason{40: waitlist.NotEligible, 3_000: waitlist.RuleFailed} {
		c.Queue[0].Tier = strings.Repeat("x", length)
		test.EqOp(t, want, verdict(t, c, `member.tier.matches("(a{20}){4}")`), test.Sprint(length))
	}
}

func TestFormula_EvaluatesExpression(t *testing.T) {
	t.Parallel()
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
		r := rules(t, set{"Order": waitlist.ByFormula, "PriorityExpression": text})
		test.EqOp(t, want, thursday(nil).Decide(r).Verdicts[0].Score, test.Sprint(text))
	}
}

func TestCompile_RejectsInvalidExpressions(t *testing.T) {
	t.Parallel()
	const eligibility, priority = "eligibility_expression", "priority_expression"
	tests := map[string]struct{ field, text, line, column, says string }{
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
		"a bad pattern, otherwise":  {eligibility, `matches(member.tier, "(")`, "1", "22", "RE2"},
		"a pattern that is huge":    {eligibility, `member.tier.matches("((a{10}){10}){10}")`, "1", "21", "too many steps"},
		"the same, otherwise":       {eligibility, `matches("", "((a{10}){10}){10}")`, "1", "13", "too many steps"},
		"the same, in parts":        {eligibility, `"".matches("((a{10}){10}" + "){10}")`, "1", "27", "in quotes"},
		"a pattern of an entry":     {eligibility, `member.tags.exists(t, "x".matches(t))`, "1", "35", "in quotes"},
		"a pattern of any type":     {eligibility, `"".matches(dyn("(a{10}){10}"))`, "1", "15", "in quotes"},
		"a large pattern over names": {
			eligibility, `slot.service.matches("^(?:[a-z]{1,40} ?){1,4}$")`, "1", "1", "too many steps",
		},
		"a bad time":             {eligibility, `now > timestamp("noon")`, "1", "17", "2026-"},
		"a bad length of time":   {eligibility, `now - slot.starts_at > duration("1 day")`, "1", "33", "36h"},
		"a constant of no value": {eligibility, `int("x") == 1`, "1", "1", "conversion"},
		"a list of all sorts":    {eligibility, `member.tier in ["gold", 1]`, "1", "25", ""},
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
	field := map[string]string{eligibility: "EligibilityExpression", priority: "PriorityExpression"}
	for name, tt := range tests {
		_, err := waitlist.Compile(vary.From(waitlist.Defaults(), set{field[tt.field]: tt.text}))
		f, ok := errors.AsType[*fault.Error](err)
		must.True(t, ok, must.Sprint(name))
		if tt.column == "" {
			tt.column = f.Metadata["column"]
		}
		want := fmt.Sprintf("RULES_INVALID @rules.%s column=%s line=%s", tt.field, tt.column, tt.line)
		test.EqOp(t, want, faulttest.Text(err), test.Sprint(name))
		test.StrContains(t, f.Message, tt.says, test.Sprint(name))
		test.RegexMatch(t, message, f.Message, test.Sprint(name))
		test.StrNotContains(t, f.Message, "container", test.Sprint(name))
	}
	// 2,000 characters are allowed, and no expression at all.
	for _, text := range []string{"", "true" + strings.Repeat(" ", 1_996)} {
		expect.OK(t)(waitlist.Compile(waitlist.Rules{EligibilityExpression: text}))
	}
}

// message matches a few sentences.
var message = regexp.MustCompile(`^[^\n]{1,699}[^\n.]\.$`)

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
		if text == "" {
			return
		}
		_, err := waitlist.Compile(waitlist.Rules{EligibilityExpression: text, PriorityExpression: text})
		must.EqOp(t, fault.RulesInvalid, fault.ReasonOf(err), must.Sprint(err)) // none is both a boolean and a number
	})
}

// Programs are cached by their purpose, because a text can be valid for one purpose only.
func TestCompile_IsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for n := range 12 {
				r := vary.From(waitlist.Defaults(), set{
					"Mode": waitlist.OfferInTurn, "Order": waitlist.ByFormula,
					"EligibilityExpression": fmt.Sprintf("entry.party_size < %d", n),
					"PriorityExpression":    fmt.Sprintf("%d + %d * entry.party_size", i, n),
				})
				v := caseOf(queue(1)...).Decide(expect.Value(waitlist.Compile(r))(t)).Verdicts[0]
				test.EqOp(t, i+n, v.Score)
				test.EqOp(t, n <= 1, v.Reason == waitlist.NotEligible, test.Sprint(n, v))
				r.EligibilityExpression = r.PriorityExpression
				expect.Reason(t, fault.RulesInvalid)(waitlist.Compile(r))
			}
		})
	}
	wait.Wait()
}
