package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// weakensGuard reports whether a mutant lets through what a guard of admission, cryptography, parsing, codecs or
// scanning refuses: the guard is removed, its error is dropped, and of its terms one alone no longer refuses, or up to
// another bound. A guard that refuses more is a mutant there, too: any test that passes it notices. So is a call of
// another check that is dropped.
func (w *walker) weakensGuard(kind Kind, n ast.Node) bool {
	if !w.isGuarded() && !w.isRefusalOf(n) {
		return false
	}
	switch kind {
	case Guard:
		guard, ok := n.(*ast.IfStmt)
		return ok && w.refuses(guard.Body.List)
	case Failure:
		leaves, ok := n.(*ast.ReturnStmt)
		return ok && !w.checks(leaves.Results[len(leaves.Results)-1])
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

// checks reports whether an error is that of another check: of a call of a method. Functions make errors.
func (w *walker) checks(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	called := w.called(call)
	return called != nil && called.Signature().Recv() != nil &&
		!strings.HasSuffix(types.TypeString(w.info.TypeOf(e), nil), "/internal/fault.Error")
}

// parses fits the names of functions that read what comes from outside.
var parses = regexp.MustCompile(`(^|[a-z.])(?i:parse|scan|decode|encode|unmarshal|marshal)([A-Z\d]|$)`)

// isGuarded reports whether the visited node is in a package of admission or cryptography, or in a function that
// parses, scans, decodes or encodes.
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

// isRefusalOf reports whether a guard, or the visited part of one, returns an error that a package of admission or
// cryptography declares.
func (w *walker) isRefusalOf(visited ast.Node) bool {
	for _, n := range slices.Backward(append(slices.Clip(w.stack), visited)) {
		var body []ast.Stmt
		switch n := n.(type) {
		case *ast.ReturnStmt:
			body = []ast.Stmt{n}
		case *ast.IfStmt:
			body = n.Body.List
		case *ast.CaseClause:
			body = n.Body
		default:
			continue
		}
		if len(body) == 0 {
			return false
		}
		leaves, ok := body[len(body)-1].(*ast.ReturnStmt)
		if !ok || len(leaves.Results) == 0 {
			return false
		}
		declared, ok := ast.Unparen(leaves.Results[len(leaves.Results)-1]).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		of := w.info.Uses[declared.Sel]
		return of != nil && of.Pkg() != nil && slices.Contains(guarded, strings.TrimPrefix(of.Pkg().Path(), w.module+"/"))
	}
	return false
}

// refuses reports whether statements leave with an error, or where there is none with false, nothing or an empty value.
func (w *walker) refuses(body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	switch leaves := body[len(body)-1].(type) {
	case *ast.BranchStmt:
		return true
	case *ast.ReturnStmt:
		if len(leaves.Results) == 0 {
			return true
		}
		last := leaves.Results[len(leaves.Results)-1]
		if t := w.info.TypeOf(last); t != nil && types.AssignableTo(t, errorType) && w.text(last) != "nil" {
			return true
		}
		results := w.signature().Results()
		return slices.Contains([]string{"false", "nil", `""`}, w.text(last)) &&
			!types.AssignableTo(results.At(results.Len()-1).Type(), errorType)
	default:
		return false
	}
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
