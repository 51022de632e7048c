package waitlist

import (
	"errors"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/berthhq/berth/internal/rules/regex"
)

// sizes estimates the sizes of variables, and the costs of patterns.
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

// The cost of a match is that of each character, for each instruction of the pattern. CEL itself takes the length of
// the pattern, which says little: a{30} is short.
const (
	costOfCharacter   = 0.1 // as for other functions of texts
	costOfInstruction = 0.5
)

// EstimateCallCost implements checker.CostEstimator.
func (sizes) EstimateCallCost(
	function, _ string, target *checker.AstNode, args []checker.AstNode,
) *checker.CallEstimate {
	if function != overloads.Matches || len(args) == 0 {
		return nil
	}
	text := args[0] // matches(text, pattern), or text.matches(pattern)
	if target != nil {
		text = *target
	}
	size := checker.UnknownSizeEstimate()
	if known := text.ComputedSize(); known != nil {
		size = *known
	}
	pattern := uint64(patternSize(args[len(args)-1].Expr()))
	one := checker.SizeEstimate{Min: 1, Max: 1} // an empty text has a cost, too
	return &checker.CallEstimate{
		CostEstimate: size.Add(one).MultiplyByCostFactor(costOfCharacter).
			Multiply(checker.SizeEstimate{Min: pattern, Max: pattern}.MultiplyByCostFactor(costOfInstruction)),
	}
}

// countPatterns makes a program that counts its cost count that of patterns, too: each as the largest one of the
// expression.
func countPatterns(of *cel.Ast) cel.ProgramOption {
	largest := 0
	for _, pattern := range patternsOf(of.NativeRep()) {
		largest = max(largest, patternSize(pattern))
	}
	cost := func(args []ref.Val, _ ref.Val) *uint64 {
		text, _ := args[0].(types.String)
		return new(uint64(float64(len(text)+1) * costOfCharacter * float64(largest) * costOfInstruction))
	}
	return cel.CostTrackerOptions(
		interpreter.OverloadCostTracker(overloads.Matches, cost),
		interpreter.OverloadCostTracker(overloads.MatchesString, cost),
	)
}

// patterns refuses patterns that are too large or no regular expressions, and those that are not written out. They
// would be compiled for each entry, whatever they turn out to be.
type patterns struct{}

// Name implements cel.ASTValidator.
func (patterns) Name() string { return "waitlist.patterns" }

// Validate implements cel.ASTValidator.
func (patterns) Validate(_ *cel.Env, _ cel.ValidatorConfig, of *ast.AST, issues *cel.Issues) {
	for _, pattern := range patternsOf(of) {
		if refused := refusePattern(pattern); refused != "" {
			issues.ReportErrorAtID(pattern.ID(), "%s", refused)
			return // only the first one is told
		}
	}
}

// refusePattern says what is wrong with a pattern; "" if nothing is.
func refusePattern(pattern ast.Expr) string {
	text, ok := patternText(pattern)
	if !ok {
		return "a pattern has to be written in quotes"
	}
	switch _, err := regex.Size(text); {
	case errors.Is(err, regex.ErrTooLarge):
		return "the pattern takes too many steps: remove repetitions in repetitions, or repeat less"
	case err != nil:
		return "invalid matches argument"
	}
	return ""
}

// patternsOf returns the patterns of an expression: the last argument of each call of matches.
func patternsOf(of *ast.AST) []ast.Expr {
	var found []ast.Expr
	for _, call := range ast.MatchDescendants(ast.NavigateAST(of), ast.FunctionMatcher(overloads.Matches)) {
		if args := call.AsCall().Args(); len(args) > 0 {
			found = append(found, args[len(args)-1])
		}
	}
	return found
}

func patternText(pattern ast.Expr) (string, bool) {
	if pattern.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := pattern.AsLiteral().(types.String)
	return string(text), ok
}

// patternSize returns the size of a pattern, which is more than any expression may take if it is not known.
func patternSize(pattern ast.Expr) int {
	if text, ok := patternText(pattern); ok {
		if size, err := regex.Size(text); err == nil {
			return size
		}
	}
	return 1 + regex.MaxSize
}
