package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
)

// mutants returns all changes of a package's Go code and of the SQL in it. Whether one compiles is checked when it is
// drawn. Generated files, log lines, the wording of texts and what leftOut says are left out: see docs/verification.md.
func (s *source) mutants() []Mutant {
	var all []Mutant
	for _, f := range s.files {
		if ast.IsGenerated(f.syntax) {
			continue
		}
		w := &walker{source: s, file: f}
		ast.PreorderStack(f.syntax, nil, w.visit)
		all = append(all, w.found...)
	}
	return all
}

// A walker collects the mutants of a file.
type walker struct {
	*source
	file  *sourceFile
	stack []ast.Node // around the visited node
	found []Mutant
	// given has what the variables of the visited function are given, in its order.
	given map[types.Object][]given
}

// offset returns the place of a node in the file.
func (w *walker) offset(pos token.Pos) int { return w.file.offset(pos) }

func (w *walker) text(n ast.Node) string {
	return string(w.file.text[w.offset(n.Pos()):w.offset(n.End())])
}

func (w *walker) replace(n ast.Node, text string) edit {
	return edit{start: w.offset(n.Pos()), end: w.offset(n.End()), text: text}
}

// add records a mutant of the visited node, unless its kind is left out there.
func (w *walker) add(kind Kind, n ast.Node, edits ...edit) {
	if w.leftOut(kind, n) {
		return
	}
	m := Mutant{
		Package: w.folder, File: w.file.name, Kind: kind, Function: functionOf(w.file.syntax, n), edits: edits,
		block: w.block(n),
	}
	m.describe(w.file.text)
	w.found = append(w.found, m)
}

// parent returns the node around the visited one.
func (w *walker) parent() ast.Node {
	if len(w.stack) == 0 {
		return nil
	}
	return w.stack[len(w.stack)-1]
}

// block returns where the innermost statement of a block around a node begins; -1 outside of functions.
func (w *walker) block(n ast.Node) int {
	path := slices.Concat(w.stack, []ast.Node{n})
	for i := len(path) - 1; i > 0; i-- {
		statement, ok := path[i].(ast.Stmt)
		if !ok {
			continue
		}
		switch statement.(type) {
		case *ast.CaseClause, *ast.CommClause:
			continue // a statement cannot stand before it
		}
		switch parent := path[i-1].(type) {
		case *ast.BlockStmt, *ast.CaseClause:
			return w.offset(statement.Pos())
		case *ast.CommClause:
			if parent.Comm != statement {
				return w.offset(statement.Pos())
			}
		}
	}
	return -1
}

// declarations returns the functions, variables, constants and types of a file, by their names.
func declarations(f *ast.File) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		for _, declaration := range f.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if !yield(nameOf(d), d) {
					return
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					name := ""
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						name = spec.Names[0].Name
					case *ast.TypeSpec:
						name = spec.Name.Name
					}
					if !yield(name, spec) {
						return
					}
				}
			}
		}
	}
}

// functionOf names the declaration that contains a node.
func functionOf(f *ast.File, n ast.Node) string {
	for name, d := range declarations(f) {
		if n.Pos() >= d.Pos() && n.Pos() < d.End() {
			return name
		}
	}
	return ""
}

// nameOf returns the name of a function with its receiver.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return "(" + types.ExprString(d.Recv.List[0].Type) + ")." + d.Name.Name
}

func (w *walker) visit(n ast.Node, stack []ast.Node) bool {
	w.stack = stack
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.FuncDecl:
		w.given = w.assigned(n)
	case *ast.Field:
		return n.Tag == nil // a tag is not code
	case *ast.IfStmt:
		w.condition(n, n.Cond)
		w.guard(n)
	case *ast.CaseClause:
		w.cases(n)
	case *ast.BinaryExpr:
		w.binary(n)
	case *ast.BasicLit:
		w.literal(n)
	case *ast.Ident:
		w.boolean(n)
	case *ast.SelectorExpr:
		w.duration(n)
	case *ast.ReturnStmt:
		w.failure(n)
	case *ast.CallExpr:
		if w.isWording(n) {
			return false
		}
		w.arguments(n)
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !w.isWording(call) && !w.isPanic(call) {
			w.remove(n)
		}
	case *ast.AssignStmt:
		w.assignment(n)
	case *ast.IncDecStmt:
		text := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
		at := w.offset(n.TokPos)
		w.add(Arithmetic, n, edit{start: at, end: at + 2, text: text})
		w.remove(n)
	case *ast.DeferStmt:
		w.remove(n)
	}
	return true
}

// inBlock reports whether the visited node is a statement of its own: not the else of an if, for instance.
func (w *walker) inBlock() bool {
	switch w.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	default:
		return false
	}
}

// signature returns the type of the innermost function around the visited node.
func (w *walker) signature() *types.Signature {
	for _, n := range slices.Backward(w.stack) {
		switch f := n.(type) {
		case *ast.FuncLit:
			signature, _ := w.info.TypeOf(f).(*types.Signature)
			return signature
		case *ast.FuncDecl:
			if defined, ok := w.info.Defs[f.Name].(*types.Func); ok {
				return defined.Signature()
			}
			return nil
		}
	}
	return nil
}
