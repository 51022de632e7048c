package waitlist

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/berthhq/berth/internal/fault"
)

// Limits of expressions.
const (
	// MaxExpression is the maximum length of an expression in characters.
	MaxExpression = 2_000
	// MaxScore limits the score of an expression, on both sides of 0.
	MaxScore = 1_000_000

	// maxCost is the maximum cost of an expression for one entry, in CEL's unit, which is about one step. So a queue of
	// 10,000 entries takes a fraction of a second in the worst case.
	maxCost = 2_000
	maxDeep = 50 // nested parentheses

	// Costs are estimated with these sizes. Expressions run on larger values too, but their cost is then counted.
	usualTags = 50
	usualWord = 50 // characters of a tier or tag
	usualName = 200
)

// CompiledRules are rules with compiled expressions. Only Compile returns rules that have expressions: if the one for
// eligibility is not compiled, no entry is eligible.
type CompiledRules struct {
	Rules
	eligibility, priority *program
}

// Compile compiles the expressions of rules. It refuses one that does not compile: RULES_INVALID, with field, line and
// column.
func Compile(r Rules) (*CompiledRules, error) {
	c := &CompiledRules{Rules: r}
	var err error
	if c.eligibility, err = forEligibility.compile(r.EligibilityExpression); err != nil {
		return nil, err
	}
	if c.priority, err = forPriority.compile(r.PriorityExpression); err != nil {
		return nil, err
	}
	return c, nil
}

// CompileSaved compiles rules that compiled when they were saved. That they no longer do is no mistake of the caller.
func CompileSaved(r Rules) (*CompiledRules, error) {
	compiled, err := Compile(r)
	if err != nil {
		//nolint:errorlint // in the chain, it would be the caller's error
		return nil, fmt.Errorf("waitlist: saved rules do not compile: %v", err)
	}
	return compiled, nil
}

// eligible evaluates the tenant's eligibility expression. If that fails, the entry is not eligible.
func (s *scene) eligible(c *Candidate) VerdictReason {
	switch {
	case s.EligibilityExpression == "":
		return ""
	case s.eligibility == nil:
		return RuleFailed
	}
	switch out, err := s.eligibility.eval(s, c); {
	case err != nil:
		return RuleFailed
	case out == types.True:
		return ""
	case out == types.False:
		return NotEligible
	}
	return RuleFailed
}

// formula evaluates the tenant's priority expression. If that fails, or there is none, all entries have the same score.
func (s *scene) formula(c *Candidate) int {
	if s.priority == nil {
		return s.BaseScore
	}
	out, err := s.priority.eval(s, c)
	if err != nil {
		return s.BaseScore
	}
	switch out := out.(type) {
	case types.Int:
		return int(min(max(out, -MaxScore), MaxScore))
	case types.Double:
		if math.IsNaN(float64(out)) {
			return s.BaseScore
		}
		return int(math.Round(min(max(float64(out), -MaxScore), MaxScore))) // halves away from zero
	}
	return s.BaseScore
}

// program is a compiled expression. For entries of the usual sizes its cost is known to be within the limit. For others
// the cost is counted while it runs, which takes more than twice as long.
type program struct{ free, counted cel.Program }

func (p *program) eval(s *scene, c *Candidate) (ref.Val, error) {
	run := p.free
	if !s.usual(c) {
		run = p.counted
	}
	s.candidate = c
	out, _, err := run.Eval(s)
	return out, err
}

func (s *scene) usual(c *Candidate) bool {
	for _, tag := range c.Tags {
		if len(tag) > usualWord {
			return false
		}
	}
	return len(c.Tags) <= usualTags && len(c.Tier) <= usualWord && len(s.slot.ServiceName) <= usualName &&
		len(s.slot.LocationName) <= usualName
}

// expressionKind is the purpose of an expression.
type expressionKind struct {
	field string
	gives []*cel.Type
	says  string
}

var (
	forEligibility = expressionKind{
		field: "eligibility_expression", gives: []*cel.Type{cel.BoolType},
		says: `It has to be true or false, as in: member.tier == "gold" || entry.waiting_hours > 24.0.`,
	}
	forPriority = expressionKind{
		field: "priority_expression", gives: []*cel.Type{cel.IntType, cel.DoubleType},
		says: `It has to be a number, as in: member.tier == "gold" ? 200 : 100.`,
	}
)

// programs caches recently compiled expressions of all tenants.
var programs = newPrograms(1024)

func newPrograms(size int) *lru.Cache[programKey, *program] {
	cache, err := lru.New[programKey, *program](size)
	if err != nil {
		panic("waitlist: " + err.Error()) // the size is not positive
	}
	return cache
}

type programKey struct{ field, text string }

// compile returns the program of an expression, or nil if the text is empty.
func (k expressionKind) compile(text string) (*program, error) {
	if text == "" {
		return nil, nil
	}
	key := programKey{field: k.field, text: text}
	if p, ok := programs.Get(key); ok {
		return p, nil
	}
	p, err := k.build(text)
	if err != nil {
		return nil, err
	}
	programs.Add(key, p)
	return p, nil
}

func (k expressionKind) build(text string) (*program, error) {
	if n := utf8.RuneCountInString(text); n > MaxExpression {
		return nil, k.refuseAt(
			1, MaxExpression+1, "It has %d characters, and the maximum is %d. Shorten it.", n, MaxExpression)
	}
	env, err := language()
	if err != nil {
		return nil, err
	}
	// Not Compile and Issues.Err, which write all errors, each with its whole line.
	ast, issues := env.Parse(text)
	if len(issues.Errors()) == 0 {
		ast, issues = env.Check(ast)
	}
	if found := issues.Errors(); len(found) > 0 {
		first := found[0]
		return nil, k.refuseAt(first.Location.Line(), first.Location.Column()+1, "%s", advise(first.Message))
	}
	if out := ast.OutputType(); !slices.ContainsFunc(k.gives, out.IsExactType) {
		return nil, k.refuse("%s This one is of the type %s.", k.says, out)
	}
	switch cost, err := env.EstimateCost(ast, sizes{}); {
	case err != nil:
		return nil, fmt.Errorf("estimate the cost of an expression: %w", err)
	case cost.Max > maxCost:
		return nil, k.refuse("It takes too many steps for each entry. Remove nested loops, or patterns over lists.")
	}
	free, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize))
	if err != nil { // an error that only shows when constants are evaluated
		return nil, k.refuse("%s.", strings.TrimSuffix(err.Error(), "."))
	}
	counted, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost), countPatterns(ast))
	if err != nil {
		return nil, fmt.Errorf("limit the cost of an expression: %w", err)
	}
	return &program{free: free, counted: counted}, nil
}

// refuse reports that an expression is wrong as a whole, and how to fix it.
func (k expressionKind) refuse(format string, args ...any) error {
	return k.refuseAt(1, 1, format, args...)
}

// refuseAt reports where an expression is wrong, and how to fix it. Lines and columns count from 1, and columns count
// characters.
func (k expressionKind) refuseAt(line, column int, format string, args ...any) error {
	line, column = max(line, 1), max(column, 1)
	return fault.New(
		fault.InvalidArgument, fault.RulesInvalid, "Line %d, column %d: %s", line, column, fmt.Sprintf(format, args...),
	).
		WithField("rules."+k.field).WithMetadata("line", strconv.Itoa(line)).WithMetadata("column", strconv.Itoa(column))
}

// advise adds advice to the compiler's message.
func advise(message string) string {
	message = strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(message, " (in container '')", "")), ".")
	switch {
	case strings.HasPrefix(message, "undeclared reference"):
		names := make([]string, len(variables))
		for i, v := range variables {
			names[i] = v.name
		}
		return message + ". There are: " + strings.Join(names, ", ") + "."
	case strings.Contains(message, "no matching overload"):
		return message + ". Put texts in quotes, and do not mix kinds of numbers: use 2.0 or double(2) with decimals, " +
			"and 2 with integers."
	case strings.HasPrefix(message, "invalid ") && strings.HasSuffix(message, " argument"):
		return message + `. Write timestamps as "2026-03-18T18:00:00Z", durations as "36h" or "90m", ` +
			`and patterns in RE2's syntax.`
	case strings.HasPrefix(message, "Syntax error"):
		message, _, _ = strings.Cut(message, " expecting ") // names of the parser
		return message + ". Check quotes, brackets and the operators between values: &&, ||, ==, ? :."
	}
	return message + "."
}

// variable is a variable that expressions can use. They can also use the standard functions and macros of CEL, and
// math.least, math.greatest and the rest of its math extension. None of them reads a clock: now is the time of the
// decision.
type variable struct {
	name, doc string
	is        *cel.Type
	most      uint64 // size of its value, if it has one
	value     func(*scene) ref.Val
}

// variables are in the order of the documentation.
var variables = []variable{
	{"entry.party_size", "seats that the entry waits for", cel.IntType, 0,
		func(s *scene) ref.Val { return types.Int(s.candidate.Party) }},
	{"entry.flagged", "whether staff flagged it, which sorts it before all others", cel.BoolType, 0,
		func(s *scene) ref.Val { return types.Bool(s.candidate.Flagged) }},
	{"entry.offers", "number of offers so far", cel.IntType, 0,
		func(s *scene) ref.Val { return types.Int(s.candidate.Tries) }},
	{"entry.waiting_hours", "hours since it joined", cel.DoubleType, 0,
		func(s *scene) ref.Val { return types.Double(max(s.now.Sub(s.candidate.Joined), 0).Hours()) }},
	{"entry.kind", `"SESSION" if it names sessions, "WINDOW" if it names days and times`, cel.StringType, 7,
		func(s *scene) ref.Val {
			if s.candidate.Window == nil {
				return types.String("SESSION")
			}
			return types.String("WINDOW")
		}},
	{"member.tier", "tier of the member; empty if there is none", cel.StringType, usualWord,
		func(s *scene) ref.Val { return types.String(s.candidate.Tier) }},
	{"member.tags", "tags of the member", cel.ListType(cel.StringType), usualTags,
		func(s *scene) ref.Val {
			return types.NewStringList(types.DefaultTypeAdapter, s.candidate.Tags)
		}},
	{"slot.service", "name of the service", cel.StringType, usualName,
		func(s *scene) ref.Val { return types.String(s.slot.ServiceName) }},
	{"slot.location", "name of the location", cel.StringType, usualName,
		func(s *scene) ref.Val { return types.String(s.slot.LocationName) }},
	{"slot.seats", "open seats; 0 if unlimited", cel.IntType, 0,
		func(s *scene) ref.Val {
			if s.slot.Seats == nil {
				return types.IntZero
			}
			return types.Int(*s.slot.Seats)
		}},
	// Times are in UTC: CEL's functions use the zone that a time carries.
	{"slot.starts_at", "start of the session", cel.TimestampType, 0,
		func(s *scene) ref.Val { return types.Timestamp{Time: s.slot.StartsAt.UTC()} }},
	{"slot.hours_until_start", "hours until the session starts; negative after that", cel.DoubleType, 0,
		func(s *scene) ref.Val { return types.Double(s.slot.StartsAt.Sub(s.now).Hours()) }},
	{"slot.weekday", "day of the week of the start, at the location: 1 is Monday, 7 is Sunday", cel.IntType, 0,
		func(s *scene) ref.Val { return types.Int((s.day.Weekday()+6)%7 + 1) }},
	{"slot.time", `time of day of the start, at the location, as "18:00"; texts compare in the order of time`,
		cel.StringType, 5,
		func(s *scene) ref.Val { return types.String(fmt.Sprintf("%02d:%02d", s.clock.Hour, s.clock.Minute)) }},
	{"now", "time of the decision", cel.TimestampType, 0,
		func(s *scene) ref.Val { return types.Timestamp{Time: s.now.UTC()} }},
}

var variableNamed = func() map[string]*variable {
	all := make(map[string]*variable, len(variables))
	for i := range variables {
		all[variables[i].name] = &variables[i]
	}
	return all
}()

// ResolveName implements cel.Activation.
func (s *scene) ResolveName(name string) (any, bool) {
	v, ok := variableNamed[name]
	if !ok {
		return nil, false
	}
	return v.value(s), true
}

// Parent implements cel.Activation.
func (*scene) Parent() cel.Activation { return nil }

// language is CEL with the variables above.
var language = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		ext.Math(),
		cel.CrossTypeNumericComparisons(true), // entry.waiting_hours > 24
		cel.HomogeneousAggregateLiterals(),
		cel.ParserExpressionSizeLimit(4 * MaxExpression),
		cel.ParserRecursionLimit(maxDeep),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), patterns{}),
	}
	for _, v := range variables {
		options = append(options, cel.Variable(v.name, v.is))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("prepare the language of expressions: %w", err)
	}
	return env, nil
})
