package mutate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// isOutsideSet reports whether the visited node only runs for a value that is outside of a closed set: in the default
// of a switch that has a case for every constant of its type, or after such a switch if all its cases return.
func (w *walker) isOutsideSet(visited ast.Node) bool {
	inside := func(i int) ast.Node {
		if i+1 < len(w.stack) {
			return w.stack[i+1]
		}
		return visited
	}
	for i, n := range w.stack {
		switch n := n.(type) {
		case *ast.CaseClause:
			if s, ok := w.stack[max(i-2, 0)].(*ast.SwitchStmt); ok && n.List == nil && w.coversSet(s) {
				return true
			}
		case *ast.BlockStmt:
			for _, before := range n.List {
				if before == inside(i) {
					break
				}
				if s, ok := before.(*ast.SwitchStmt); ok && w.coversSet(s) && alwaysLeaves(s) {
					return true
				}
			}
		}
	}
	return false
}

// coversSet reports whether a switch has a case for each constant of its type, which is one of several names.
func (w *walker) coversSet(s *ast.SwitchStmt) bool {
	if s.Tag == nil {
		return false
	}
	named, ok := types.Unalias(w.info.TypeOf(s.Tag)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	cases := make(map[string]bool)
	for _, clause := range s.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			if value := w.info.Types[e].Value; value != nil {
				cases[value.ExactString()] = true
			}
		}
	}
	constants := make(map[string]bool)
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), named) &&
			c.Val().Kind() != constant.Bool {
			constants[c.Val().ExactString()] = true
			if !cases[c.Val().ExactString()] {
				return false
			}
		}
	}
	return len(constants) > 1
}

// alwaysLeaves reports whether nothing after a switch runs if one of its cases does.
func alwaysLeaves(s *ast.SwitchStmt) bool {
	leaves := true
	for _, clause := range s.Body.List {
		body := clause.(*ast.CaseClause).Body
		leaves = leaves && len(body) > 0 && isReturn(body[len(body)-1])
	}
	ast.Inspect(s, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.BREAK {
			leaves = false
		}
		return true
	})
	return leaves
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok
}
