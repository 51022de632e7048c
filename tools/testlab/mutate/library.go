package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

var errorType = types.Universe.Lookup("error").Type()

// isErrorOfLibrary reports whether a mutant no longer looks at an error that a function of another module or of the
// standard library returned: its check is removed or turned, or the error is dropped.
func (w *walker) isErrorOfLibrary(kind Kind, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return kind == Comparison && w.checksLibrary(n)
	case *ast.IfStmt:
		return kind == Guard && w.checksLibrary(n.Cond)
	case *ast.ReturnStmt:
		return kind == Failure && (w.isOfLibrary(n.Results[len(n.Results)-1]) || w.isUnderLibraryError())
	default:
		return false
	}
}

// checksLibrary reports whether a condition is that an error of a library is nil, or is not.
func (w *walker) checksLibrary(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && (b.Op == token.NEQ || b.Op == token.EQL) && w.text(b.Y) == "nil" && w.isOfLibrary(b.X)
}

// isUnderLibraryError reports whether the visited node only runs if a library returned an error.
func (w *walker) isUnderLibraryError() bool {
	for i, n := range slices.Backward(w.stack) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IfStmt:
			if i+1 < len(w.stack) && w.stack[i+1] == n.Body && w.checksLibrary(n.Cond) {
				return true
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, w.checksLibrary) {
				return true
			}
		}
	}
	return false
}

// isOfLibrary reports whether a value is an error that a library returned, or such errors that are joined or wrapped.
func (w *walker) isOfLibrary(e ast.Expr) bool {
	t := w.info.TypeOf(e)
	if t == nil || !types.Identical(t, errorType) {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if called := w.called(e); called == nil || !joins(called) {
			return w.callsLibrary(e)
		}
		found := false
		for _, part := range e.Args {
			if t := w.info.TypeOf(part); t == nil || !types.Identical(t, errorType) {
				continue // a text
			}
			if !w.isOfLibrary(part) {
				return false
			}
			found = true
		}
		return found
	case *ast.Ident:
		var last *ast.CallExpr
		for _, given := range w.given[w.info.ObjectOf(e)] {
			if given.at < e.Pos() {
				last = given.call
			}
		}
		return last != nil && w.callsLibrary(last)
	default:
		return false
	}
}

// joins reports whether a function returns the errors that it is given.
func joins(f *types.Func) bool {
	return slices.Contains([]string{"errors.Join", "fmt.Errorf", "cmp.Or"}, f.FullName())
}

// callsLibrary reports whether a call is of another module or of the standard library, and does not call back: then
// the error may be one of the product.
func (w *walker) callsLibrary(call *ast.CallExpr) bool {
	called := w.called(call)
	if called == nil {
		return false
	}
	path := called.Pkg().Path()
	if path == w.module || strings.HasPrefix(path, w.module+"/") || path == "errors" || joins(called) ||
		called.FullName() == "(*golang.org/x/sync/errgroup.Group).Wait" {
		return false
	}
	return !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		t := w.info.TypeOf(arg)
		if t == nil {
			return true
		}
		_, callsBack := t.Underlying().(*types.Signature)
		return callsBack
	})
}

// given is a call whose result a variable was given at a position; no call if it was something else.
type given struct {
	at   token.Pos
	call *ast.CallExpr
}

// assigned returns what the variables of a function are given, in its order.
func (w *walker) assigned(f *ast.FuncDecl) map[types.Object][]given {
	all := make(map[types.Object][]given)
	give := func(to, values []ast.Expr) {
		for i, e := range to {
			name, ok := e.(*ast.Ident)
			if !ok || w.info.ObjectOf(name) == nil {
				continue
			}
			var call *ast.CallExpr
			switch {
			case len(values) == 1:
				call, _ = ast.Unparen(values[0]).(*ast.CallExpr)
			case len(values) == len(to):
				call, _ = ast.Unparen(values[i]).(*ast.CallExpr)
			}
			all[w.info.ObjectOf(name)] = append(all[w.info.ObjectOf(name)], given{name.Pos(), call})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			give(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			names := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				names[i] = name
			}
			give(names, n.Values)
		}
		return true
	})
	return all
}
