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
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"

	"github.com/berthhq/berth/internal/fault"
)

// Bounds of expressions.
const (
	// MaxExpression is how many characters an expression may have.
	MaxExpression = 2_000
	// MaxScore bounds what an expression can say that an entry is worth, on both sides of 0.
	MaxScore = 1_000_000

	// maxCost is what one entry may cost, in the language's own unit, which is about one step. A queue of 10,000
	// entries is then judged in a fraction of a second at the very worst.
	maxCost = 2_000
	maxDeep = 50 // parentheses in parentheses

	// What costs are estimated by. Values that are larger do run, but counted.
	usualTags = 50
	usualWord = 50 // characters of a tier or tag
	usualName = 200
)

// Compiled are rules with their expressions ready to run. Rules that have expressions come from Compile alone: where
// one was not compiled, nobody is eligible.
type Compiled struct {
	Rules
	eligibility, priority *program
}

// Compile prepares rules. An expression that does not compile is refused: RULES_INVALID, with field, line and column.
func Compile(r Rules) (*Compiled, error) {
	c := &Compiled{Rules: r}
	var err error
	if c.eligibility, err = forEligibility.compile(r.EligibilityExpression); err != nil {
		return nil, err
	}
	if c.priority, err = forPriority.compile(r.PriorityExpression); err != nil {
		return nil, err
	}
	return c, nil
}

// eligible asks the tenant's own expression. One that fails lets nobody in.
func (s *scene) eligible(c *Candidate) string {
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

// formula asks the tenant's own expression. One that fails, or is missing, makes all entries equal.
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

// program is an expression, ready to run. Its cost is known to be within bounds for entries of the usual sizes; for all
// others it is counted while it runs, which takes more than twice as long.
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

// kind is what an expression is for.
type kind struct {
	field string
	gives []*cel.Type
	says  string
}

var (
	forEligibility = kind{
		field: "eligibility_expression", gives: []*cel.Type{cel.BoolType},
		says: `It has to be true or false, as in: member.tier == "gold" || entry.waiting_hours > 24.0.`,
	}
	forPriority = kind{
		field: "priority_expression", gives: []*cel.Type{cel.IntType, cel.DoubleType},
		says: `It has to be a number, as in: member.tier == "gold" ? 200 : 100.`,
	}
)

// programs are those that were compiled lately, for all rules of all tenants.
var programs = cache{most: 512}

// compile gives the program of a text; none where there is no text.
func (k kind) compile(text string) (*program, error) {
	if text == "" {
		return nil, nil
	}
	key := cacheKey{field: k.field, text: text}
	if p, ok := programs.get(key); ok {
		return p, nil
	}
	p, err := k.build(text)
	if err != nil {
		return nil, err
	}
	programs.put(key, p)
	return p, nil
}

func (k kind) build(text string) (*program, error) {
	if n := utf8.RuneCountInString(text); n > MaxExpression {
		return nil, k.refuse(1, MaxExpression+1, "It has %d characters, and %d are the most. Shorten it.", n, MaxExpression)
	}
	env, err := language()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, k.refuse(first.Location.Line(), first.Location.Column()+1, "%s", advise(first.Message))
	}
	if out := ast.OutputType(); !slices.ContainsFunc(k.gives, out.IsExactType) {
		return nil, k.refuse(1, 1, "%s This one is of the type %s.", k.says, out)
	}
	switch cost, err := env.EstimateCost(ast, sizes{}); {
	case err != nil:
		return nil, fmt.Errorf("estimate the cost of an expression: %w", err)
	case cost.Max > maxCost:
		return nil, k.refuse(1, 1, "It takes too many steps for each entry. Take out loops in loops, or patterns over lists.")
	}
	free, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize))
	if err != nil { // what only shows when constants are put together
		return nil, k.refuse(1, 1, "%s.", strings.TrimSuffix(err.Error(), "."))
	}
	counted, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	if err != nil {
		return nil, fmt.Errorf("limit the cost of an expression: %w", err)
	}
	return &program{free: free, counted: counted}, nil
}

// refuse says where an expression is wrong, and what to do. Lines and columns count from 1, columns in characters.
func (k kind) refuse(line, column int, format string, args ...any) error {
	line, column = max(line, 1), max(column, 1)
	return fault.New(
		fault.InvalidArgument, fault.RulesInvalid, "Line %d, column %d: %s", line, column, fmt.Sprintf(format, args...),
	).
		WithField("rules."+k.field).WithMetadata("line", strconv.Itoa(line)).WithMetadata("column", strconv.Itoa(column))
}

// advise adds to the compiler's words what to do about them.
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
		return message + ". Write texts in quotes, and reckon with numbers of one kind: 2.0 or double(2) beside decimals, " +
			"2 beside whole ones."
	case strings.HasPrefix(message, "invalid ") && strings.HasSuffix(message, " argument"):
		return message + `. Write timestamps as "2026-03-18T18:00:00Z", durations as "36h" or "90m", and patterns in RE2's syntax.`
	case strings.HasPrefix(message, "Syntax error"):
		message, _, _ = strings.Cut(message, " expecting ") // the parser's own names
		return message + ". Check quotes, brackets and what stands between two values: &&, ||, ==, ? :."
	}
	return message + "."
}

// Variable is something that expressions may speak of.
type Variable struct {
	Name string
	Type string // in the language's own words
	Doc  string
}

// Variables are all that expressions may speak of, in the order in which they are explained. Beside them there are the
// standard functions and macros of CEL and math.least, math.greatest and their likes. None of them reads a clock:
// now is when the decision is made.
func Variables() []Variable {
	all := make([]Variable, len(variables))
	for i, v := range variables {
		all[i] = Variable{Name: v.name, Type: cel.FormatCELType(v.is), Doc: v.doc}
	}
	return all
}

type variable struct {
	name, doc string
	is        *cel.Type
	most      uint64 // size of its value, where it has one
	value     func(*scene) ref.Val
}

var variables = []variable{
	{"entry.party_size", "seats that the entry waits for", cel.IntType, 0,
		func(s *scene) ref.Val { return types.Int(s.candidate.Party) }},
	{"entry.flagged", "whether staff put it before all others", cel.BoolType, 0,
		func(s *scene) ref.Val { return types.Bool(s.candidate.Flagged) }},
	{"entry.offers", "offers that it has had", cel.IntType, 0,
		func(s *scene) ref.Val { return types.Int(s.candidate.Tries) }},
	{"entry.waiting_hours", "hours since it joined", cel.DoubleType, 0,
		func(s *scene) ref.Val { return types.Double(max(s.now.Sub(s.candidate.Joined), 0).Hours()) }},
	{"entry.kind", `"SESSION" where it names sessions, "WINDOW" where it names days and times`, cel.StringType, 7,
		func(s *scene) ref.Val {
			if s.candidate.Window == nil {
				return types.String("SESSION")
			}
			return types.String("WINDOW")
		}},
	{"member.tier", "tier of the member; empty where there is none", cel.StringType, usualWord,
		func(s *scene) ref.Val { return types.String(s.candidate.Tier) }},
	{"member.tags", "tags of the member", cel.ListType(cel.StringType), usualTags,
		func(s *scene) ref.Val {
			return types.NewStringList(types.DefaultTypeAdapter, s.candidate.Tags)
		}},
	{"slot.service", "name of the service", cel.StringType, usualName,
		func(s *scene) ref.Val { return types.String(s.slot.ServiceName) }},
	{"slot.location", "name of the location", cel.StringType, usualName,
		func(s *scene) ref.Val { return types.String(s.slot.LocationName) }},
	{"slot.seats", "open seats; 0 where there is no limit", cel.IntType, 0,
		func(s *scene) ref.Val {
			if s.slot.Seats == nil {
				return types.IntZero
			}
			return types.Int(*s.slot.Seats)
		}},
	// Instants are given in UTC: the language's functions on them read whatever zone they carry.
	{"slot.starts_at", "start of the session", cel.TimestampType, 0,
		func(s *scene) ref.Val { return types.Timestamp{Time: s.slot.StartsAt.UTC()} }},
	{"slot.hours_until_start", "hours until the session starts; below 0 when it has", cel.DoubleType, 0,
		func(s *scene) ref.Val { return types.Double(s.slot.StartsAt.Sub(s.now).Hours()) }},
	{"slot.weekday", "day of the week on which it starts at the location: 1 is Monday, 7 is Sunday", cel.IntType, 0,
		func(s *scene) ref.Val { return types.Int((s.day.Weekday()+6)%7 + 1) }},
	{"slot.time", `time of day at which it starts at the location, as "18:00"; texts compare as times do`, cel.StringType,
		5,
		func(s *scene) ref.Val { return types.String(fmt.Sprintf("%02d:%02d", s.clock.Hour, s.clock.Minute)) }},
	{"now", "when the decision is made", cel.TimestampType, 0,
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
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals()),
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

// sizes tells how large what an expression speaks of can be.
type sizes struct{}

// EstimateSize implements checker.CostEstimator.
func (sizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 {
		return nil
	}
	if v, ok := variableNamed[path[0]]; ok && v.most > 0 {
		if len(path) > 1 { // an item of a list
			return &checker.SizeEstimate{Max: usualWord}
		}
		return &checker.SizeEstimate{Max: v.most}
	}
	return nil
}

// EstimateCallCost implements checker.CostEstimator.
func (sizes) EstimateCallCost(_, _ string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	return nil
}

// cache keeps programs in two generations: what nobody asked for since the older one was young goes.
type cache struct {
	most       int // of a generation
	mutex      sync.Mutex
	young, old map[cacheKey]*program
}

type cacheKey struct{ field, text string }

func (c *cache) get(key cacheKey) (*program, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if p, ok := c.young[key]; ok {
		return p, true
	}
	p, ok := c.old[key]
	if ok {
		c.add(key, p)
	}
	return p, ok
}

func (c *cache) put(key cacheKey, p *program) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.add(key, p)
}

func (c *cache) add(key cacheKey, p *program) {
	if c.young == nil || len(c.young) >= c.most {
		c.young, c.old = make(map[cacheKey]*program), c.young
	}
	c.young[key] = p
}
