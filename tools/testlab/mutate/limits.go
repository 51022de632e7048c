package mutate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// isLimit reports whether a mutant only moves a limit, a pace or a size by a step: the value of a constant that is
// declared, whether a comparison with a constant includes it, and outside of rules a duration or a number above 9.
// Comparisons with -1, 0 and 1 are not left out: they tell nothing, one and several apart.
func (w *walker) isLimit(kind Kind, n ast.Node) bool {
	switch kind {
	case Comparison:
		b, ok := isOrdered(n)
		return ok && (w.isBound(b.X) || w.isBound(b.Y))
	case Constant, One, Arithmetic:
		e, ok := n.(ast.Expr)
		return ok && w.isNumber(e) && (w.isDeclared() || w.movesBound(e) || w.isPace(e))
	default:
		return false
	}
}

func (w *walker) isNumber(e ast.Expr) bool {
	value := w.info.Types[e].Value
	return value != nil && (value.Kind() == constant.Int || value.Kind() == constant.Float)
}

// isBound reports whether an operand of a comparison is a constant with a name, or a number above 1.
func (w *walker) isBound(e ast.Expr) bool {
	if !w.isNumber(e) {
		return false
	}
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return true
	}
	value := w.info.Types[e].Value
	return constant.Compare(value, token.GTR, constant.MakeInt64(1)) ||
		constant.Compare(value, token.LSS, constant.MakeInt64(-1))
}

// isDeclared reports whether the visited node is in the declaration of a constant.
func (w *walker) isDeclared() bool {
	return slices.ContainsFunc(w.stack, func(n ast.Node) bool {
		d, ok := n.(*ast.GenDecl)
		return ok && d.Tok == token.CONST
	})
}

// whole returns the largest constant expression around the visited one, and what is around it.
func (w *walker) whole(e ast.Expr) (ast.Expr, ast.Node) {
	for _, n := range slices.Backward(w.stack) {
		around, ok := n.(ast.Expr)
		if !ok || w.info.Types[around].Value == nil {
			return e, n
		}
		e = around
	}
	return e, nil
}

// movesBound reports whether the visited number is the bound of a comparison, or the least duration of one: all times
// are whole microseconds.
func (w *walker) movesBound(e ast.Expr) bool {
	e, around := w.whole(e)
	b, ok := isOrdered(around)
	return ok && (w.isBound(e) || isDuration(w.info.TypeOf(b.X)))
}

// isPace reports whether the visited number is a part of a duration or of a size, and no rule has it.
func (w *walker) isPace(e ast.Expr) bool {
	e, _ = w.whole(e)
	return !isRule(w.folder) && (isDuration(w.info.TypeOf(e)) ||
		constant.Compare(w.info.Types[e].Value, token.GTR, constant.MakeInt64(9)))
}

func isDuration(t types.Type) bool { return t != nil && types.TypeString(t, nil) == "time.Duration" }
