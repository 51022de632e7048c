package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// weakensGuard reports whether a mutant lets through what a guard of admission, cryptography, parsing, codecs or
// scanning refuses: the guard is removed, its error is dropped, and of its terms one alone no longer refuses, or up to
// another bound. A guard that refuses more is a mutant there, too: any test that passes it notices.
func (w *walker) weakensGuard(kind Kind, n ast.Node) bool {
	if !w.isGuarded() {
		return false
	}
	switch kind {
	case Guard:
		guard, ok := n.(*ast.IfStmt)
		return ok && w.refuses(guard.Body.List)
	case Failure:
		return len(w.stack) > 1 && slices.ContainsFunc(w.stack, func(around ast.Node) bool {
			switch around := around.(type) {
			case *ast.IfStmt:
				return slices.Contains(around.Body.List, n.(ast.Stmt))
			case *ast.CaseClause:
				return slices.Contains(around.Body, n.(ast.Stmt))
			default:
				return false
			}
		})
	case Comparison:
		_, ok := isOrdered(n)
		return ok && w.isInCondition(n)
	case Logic:
		b, ok := n.(*ast.BinaryExpr)
		return ok && b.Op == token.LOR && w.isInCondition(n)
	default:
		return false
	}
}

// parses fits the names of functions that read what comes from outside.
var parses = regexp.MustCompile(`(^|[a-z.])(?i:parse|decode|unmarshal|scan)([A-Z\d]|$)`)

// isGuarded reports whether the visited node is in a package of admission or cryptography, or in a function that
// parses, decodes or scans.
func (w *walker) isGuarded() bool {
	if slices.Contains(guarded, w.folder) {
		return true
	}
	for _, n := range w.stack {
		if f, ok := n.(*ast.FuncDecl); ok {
			return parses.MatchString(f.Name.Name)
		}
	}
	return false
}

// refuses reports whether statements end with an error, or with false.
func (w *walker) refuses(body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	leaves, ok := body[len(body)-1].(*ast.ReturnStmt)
	if !ok || len(leaves.Results) == 0 {
		return false
	}
	last := leaves.Results[len(leaves.Results)-1]
	t := w.info.TypeOf(last)
	return w.text(last) == "false" ||
		t != nil && types.AssignableTo(t, errorType) && !types.Identical(t, types.Typ[types.UntypedNil])
}

// isInCondition reports whether the visited node is a part of a guard's condition.
func (w *walker) isInCondition(visited ast.Node) bool {
	for _, n := range w.stack {
		switch n := n.(type) {
		case *ast.IfStmt:
			if n.Cond.Pos() <= visited.Pos() && visited.End() <= n.Cond.End() && w.refuses(n.Body.List) {
				return true
			}
		case *ast.CaseClause:
			if w.refuses(n.Body) && slices.ContainsFunc(n.List, func(cond ast.Expr) bool {
				return cond.Pos() <= visited.Pos() && visited.End() <= cond.End()
			}) {
				return true
			}
		}
	}
	return false
}
