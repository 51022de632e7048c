package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// isMessage reports whether the visited literal is the sentence of an error for people, or a word of it. Unlike the
// reason, the field and the metadata, it may change: see fault.Error.
func (w *walker) isMessage(n ast.Expr) bool {
	call, ok := w.parent().(*ast.CallExpr)
	if !ok {
		return false
	}
	switch w.text(call.Fun) {
	case "fault.New":
		return slices.Index(call.Args, n) == 2
	case "fault.Invalid", "fault.Missing":
		return slices.Index(call.Args, n) == 1
	default:
		return false
	}
}

// isWords reports whether an expression is a text that people read: one with spaces, or that is filled in.
func isWords(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING && strings.ContainsAny(literal.Value, " %")
}

// isWording reports whether a call only writes words: a line of the log, or an error that is not told apart.
func (w *walker) isWording(n *ast.CallExpr) bool {
	called := w.called(n)
	if called == nil {
		return false
	}
	switch called.Pkg().Path() {
	case "log/slog", "errors":
		return called.Name() != "Is" && called.Name() != "As" && called.Name() != "Join" && called.Name() != "AsType"
	case "fmt":
		return called.Name() == "Errorf"
	default:
		return false
	}
}

// called returns the function that a call names; nil for a value that is a function, a type, and what is built in.
func (w *walker) called(n *ast.CallExpr) *types.Func {
	fun := ast.Unparen(n.Fun)
	switch generic := fun.(type) {
	case *ast.IndexExpr:
		fun = generic.X
	case *ast.IndexListExpr:
		fun = generic.X
	}
	var name *ast.Ident
	switch fun := fun.(type) {
	case *ast.Ident:
		name = fun
	case *ast.SelectorExpr:
		name = fun.Sel
	default:
		return nil
	}
	called, ok := w.info.Uses[name].(*types.Func)
	if !ok || called.Pkg() == nil {
		return nil
	}
	return called
}

func (w *walker) isPanic(n *ast.CallExpr) bool {
	id, ok := n.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

// isUnused reports whether nothing depends on the value of the visited constant: it is returned with an error, or is
// the capacity of what make makes.
func (w *walker) isUnused(n ast.Expr) bool {
	switch parent := w.parent().(type) {
	case *ast.ReturnStmt:
		return parent.Results[len(parent.Results)-1] != n && w.fails(parent)
	case *ast.CallExpr:
		if w.text(parent.Fun) != "make" {
			return false
		}
		_, isMap := w.info.TypeOf(parent).Underlying().(*types.Map)
		return isMap || len(parent.Args) == 3 && parent.Args[2] == n
	default:
		return false
	}
}

// fails reports whether a return always returns an error: one that it makes, or one that an if around it found.
func (w *walker) fails(n *ast.ReturnStmt) bool {
	last := n.Results[len(n.Results)-1]
	t := w.info.TypeOf(last)
	if t == nil || !types.AssignableTo(t, errorType) {
		return false
	}
	if strings.HasSuffix(types.TypeString(t, nil), "/internal/fault.Error") {
		return true // what makes one never returns nil
	}
	switch last := last.(type) {
	case *ast.CallExpr:
		return strings.HasPrefix(w.text(last), "fault.") || w.isWording(last)
	case *ast.Ident:
		for _, parent := range slices.Backward(w.stack) {
			switch parent := parent.(type) {
			case *ast.IfStmt:
				return w.text(parent.Cond) == last.Name+" != nil"
			case *ast.CaseClause:
				return len(parent.List) == 1 && w.text(parent.List[0]) == last.Name+" != nil"
			}
		}
	}
	return false
}
