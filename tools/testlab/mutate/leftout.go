package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
)

// leftOut reports whether mutants of a kind are left out at the visited node, because the product keeps what they
// change whether or not a test can reach it, or because no caller can tell. docs/verification.md has each of these.
func (w *walker) leftOut(kind Kind, n ast.Node) bool {
	return w.isErrorOfLibrary(kind, n) || w.isLimit(kind, n) || w.weakensGuard(kind, n) || w.isOutsideSet(n) ||
		w.isNeedless(kind, n)
}

// isOrdered reports whether an expression asks which of two values is larger.
func isOrdered(n ast.Node) (*ast.BinaryExpr, bool) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return nil, false
	}
	switch b.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return b, true
	default:
		return nil, false
	}
}

// isNeedless reports whether a mutant does what is done anyway, only earlier, later or more often:
//
//   - a context is cancelled or an object is returned to a pool, which save something until it is freed;
//   - a statement is queued for an empty list, with which it finds and changes nothing.
func (w *walker) isNeedless(kind Kind, n ast.Node) bool {
	switch kind {
	case Statement:
		var call ast.Node
		switch n := n.(type) {
		case *ast.DeferStmt:
			call = n.Call
		case *ast.ExprStmt:
			call = n.X
		}
		freeing, ok := call.(*ast.CallExpr)
		return ok && w.frees(freeing)
	case Guard:
		guard, ok := n.(*ast.IfStmt)
		return ok && w.isEmpty(guard.Cond)
	case Comparison:
		ordered, ok := isOrdered(n)
		return ok && w.isEmpty(ordered)
	default:
		return false
	}
}

func (w *walker) frees(call *ast.CallExpr) bool {
	if called := w.called(call); called != nil {
		return called.FullName() == "(*sync.Pool).Put"
	}
	t := w.info.TypeOf(call.Fun)
	return t != nil && types.TypeString(t, nil) == "context.CancelFunc"
}

// isEmpty reports whether a condition in front of SQL asks whether a list has anything.
func (w *walker) isEmpty(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || !hasSQL(w.folder) {
		return false
	}
	length, ok := b.X.(*ast.CallExpr)
	return ok && w.text(length.Fun) == "len" && w.text(b.Y) == "0"
}
