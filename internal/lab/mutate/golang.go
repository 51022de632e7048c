package mutate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// mutants returns all changes of a package's Go code and of the SQL in it. Whether one compiles is checked when it is
// drawn. Generated files, log lines and the wording of texts are left out: see docs/verification.md.
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
	stack []ast.Node
	found []Mutant
}

// offset returns the place of a node in the file.
func (w *walker) offset(pos token.Pos) int { return w.file.offset(pos) }

func (w *walker) text(n ast.Node) string {
	return string(w.file.text[w.offset(n.Pos()):w.offset(n.End())])
}

func (w *walker) replace(n ast.Node, text string) edit {
	return edit{start: w.offset(n.Pos()), end: w.offset(n.End()), text: text}
}

// add records a mutant.
func (w *walker) add(kind Kind, n ast.Node, edits ...edit) {
	m := Mutant{
		Package: w.folder, File: w.file.name, Kind: kind, Function: functionOf(w.file.syntax, n), edits: edits,
		block: w.block(n),
	}
	m.describe(w.file.text)
	w.found = append(w.found, m)
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

// functionOf names the declaration that contains a node.
func functionOf(f *ast.File, n ast.Node) string {
	for _, declaration := range f.Decls {
		if n.Pos() < declaration.Pos() || n.Pos() >= declaration.End() {
			continue
		}
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				return d.Name.Name
			}
			return "(" + types.ExprString(d.Recv.List[0].Type) + ")." + d.Name.Name
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if n.Pos() < spec.Pos() || n.Pos() >= spec.End() {
					continue
				}
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					return spec.Names[0].Name
				case *ast.TypeSpec:
					return spec.Name.Name
				}
			}
		}
	}
	return ""
}

func (w *walker) visit(n ast.Node, stack []ast.Node) bool {
	w.stack = stack
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
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

// condition negates the condition of a statement. For == and != that is what binary does.
func (w *walker) condition(of ast.Stmt, cond ast.Expr) {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	w.add(Condition, of, w.replace(cond, "!("+w.text(cond)+")"))
}

// cases negates the conditions of a switch without a value.
func (w *walker) cases(clause *ast.CaseClause) {
	if len(w.stack) < 2 {
		return
	}
	if s, ok := w.stack[len(w.stack)-2].(*ast.SwitchStmt); ok && s.Tag == nil {
		for _, cond := range clause.List {
			w.condition(clause, cond)
		}
	}
}

// guard removes an if that only leaves.
func (w *walker) guard(n *ast.IfStmt) {
	if n.Else != nil || len(n.Body.List) == 0 || !w.inBlock() {
		return
	}
	switch n.Body.List[len(n.Body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		if n.Init == nil {
			w.add(Guard, n, w.replace(n, ""))
			return
		}
		// What the if begins with still happens.
		start := w.offset(n.Pos())
		w.add(Guard, n,
			edit{start: start, end: w.offset(n.Init.Pos()), text: "{ "},
			edit{start: w.offset(n.Init.End()), end: w.offset(n.End()), text: blankUse(n.Init) + " }"})
	}
}

// blankUse uses the names that a statement declares.
func blankUse(s ast.Stmt) string {
	assign, ok := s.(*ast.AssignStmt)
	if !ok || assign.Tok != token.DEFINE {
		return ""
	}
	var text strings.Builder
	for _, name := range assign.Lhs {
		if id, ok := name.(*ast.Ident); ok && id.Name != "_" {
			fmt.Fprintf(&text, "; _ = %s", id.Name)
		}
	}
	return text.String()
}

// inBlock reports whether the visited node is a statement of its own: not the else of an if, for instance.
func (w *walker) inBlock() bool {
	if len(w.stack) == 0 {
		return false
	}
	switch w.stack[len(w.stack)-1].(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	default:
		return false
	}
}

func (w *walker) remove(n ast.Stmt) {
	if w.inBlock() {
		w.add(Statement, n, w.replace(n, ""))
	}
}

func (w *walker) assignment(n *ast.AssignStmt) {
	if n.Tok == token.DEFINE {
		return
	}
	if id, ok := n.Lhs[0].(*ast.Ident); !ok || id.Name != "_" {
		w.remove(n)
	}
	if other, ok := assignments[n.Tok]; ok && !w.isString(n.Lhs[0]) {
		at := w.offset(n.TokPos)
		w.add(Arithmetic, n, edit{start: at, end: at + len(n.Tok.String()), text: other.String()})
	}
}

var assignments = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
}

// operators has the other operator for each that is exchanged.
var operators = map[token.Token]struct {
	kind  Kind
	other token.Token
}{
	token.LSS: {Comparison, token.LEQ}, token.LEQ: {Comparison, token.LSS},
	token.GTR: {Comparison, token.GEQ}, token.GEQ: {Comparison, token.GTR},
	token.EQL: {Comparison, token.NEQ}, token.NEQ: {Comparison, token.EQL},
	token.LAND: {Logic, token.LOR}, token.LOR: {Logic, token.LAND},
	token.ADD: {Arithmetic, token.SUB}, token.SUB: {Arithmetic, token.ADD},
	token.MUL: {Arithmetic, token.QUO}, token.QUO: {Arithmetic, token.MUL}, token.REM: {Arithmetic, token.MUL},
	token.AND: {Arithmetic, token.OR}, token.OR: {Arithmetic, token.AND}, token.AND_NOT: {Arithmetic, token.AND},
	token.SHL: {Arithmetic, token.SHR}, token.SHR: {Arithmetic, token.SHL}, token.XOR: {Arithmetic, token.AND},
}

func (w *walker) binary(n *ast.BinaryExpr) {
	to, ok := operators[n.Op]
	if !ok || n.Op == token.ADD && w.isString(n) {
		return
	}
	at := w.offset(n.OpPos)
	w.add(to.kind, n, edit{start: at, end: at + len(n.Op.String()), text: to.other.String()})
}

func (w *walker) isString(e ast.Expr) bool {
	t := w.info.TypeOf(e)
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

func (w *walker) literal(n *ast.BasicLit) {
	switch n.Kind { //nolint:exhaustive // the others are no literals
	case token.INT:
		if w.isUnused(n) {
			return
		}
		if !w.isDropped() {
			w.add(Constant, n, w.replace(n, next(n.Value)))
		}
		if n.Value == "1" {
			w.add(Constant, n, w.replace(n, "0"))
		}
	case token.FLOAT:
		w.add(Constant, n, w.replace(n, "(1+"+n.Value+")"))
	case token.STRING:
		text, err := strconv.Unquote(n.Value)
		if err != nil {
			return
		}
		if isSQL(text) && hasSQL(w.folder) {
			w.sql(n)
		} else if text != "" && !strings.ContainsAny(text, " \n") && !w.isMessage(n) {
			w.add(Text, n, w.replace(n, `""`))
		}
	case token.CHAR, token.IMAG:
	}
}

// isMessage reports whether the visited literal is the sentence of an error for people, or a word of it. Unlike the
// reason, the field and the metadata, it may change: see fault.Error.
func (w *walker) isMessage(n ast.Expr) bool {
	call, ok := w.stack[len(w.stack)-1].(*ast.CallExpr)
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

// next returns the integer after a literal.
func next(literal string) string {
	value := constant.MakeFromLiteral(literal, token.INT, 0)
	return constant.BinaryOp(value, token.ADD, constant.MakeInt64(1)).ExactString()
}

func (w *walker) boolean(n *ast.Ident) {
	c, ok := w.info.Uses[n].(*types.Const)
	if ok && c.Pkg() == nil && (n.Name == "true" || n.Name == "false") && !w.isUnused(n) {
		w.add(Constant, n, w.replace(n, map[string]string{"true": "false", "false": "true"}[n.Name]))
	}
}

// duration doubles a unit of time that stands alone. In a product, the other factor moves.
func (w *walker) duration(n *ast.SelectorExpr) {
	c, ok := w.info.Uses[n.Sel].(*types.Const)
	if !ok || c.Pkg() == nil || c.Pkg().Path() != "time" || types.TypeString(c.Type(), nil) != "time.Duration" {
		return
	}
	if parent, ok := w.stack[len(w.stack)-1].(*ast.BinaryExpr); ok && parent.Op == token.MUL {
		return
	}
	w.add(Constant, n, w.replace(n, "(2*"+w.text(n)+")"))
}

// failure returns nil instead of an error.
func (w *walker) failure(n *ast.ReturnStmt) {
	signature := w.signature()
	if signature == nil || signature.Results().Len() == 0 || len(n.Results) != signature.Results().Len() {
		return
	}
	last := n.Results[len(n.Results)-1]
	declared := signature.Results().At(signature.Results().Len() - 1).Type()
	if !types.Identical(declared, types.Universe.Lookup("error").Type()) || w.text(last) == "nil" {
		return
	}
	w.add(Failure, n, w.replace(last, "nil"))
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

// symmetric has functions whose result does not depend on the order of their arguments, or not in a way that matters.
var symmetric = []string{
	"min", "max", "make", "errors.Join", "reflect.DeepEqual", "slices.Equal", "maps.Equal", "bytes.Equal",
	"strings.EqualFold", "strings.ContainsAny", "settings.OneOf", "hmac.Equal", "subtle.ConstantTimeCompare",
}

// arguments swaps neighbors of one type. Words that people read are not swapped, nor what is filled into them.
func (w *walker) arguments(n *ast.CallExpr) {
	if w.info.Types[n.Fun].IsType() || slices.Contains(symmetric, w.text(n.Fun)) {
		return
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		if isWords(a) || isWords(b) {
			return
		}
		one, other := w.info.TypeOf(a), w.info.TypeOf(b)
		if w.text(n.Fun) == "cmp.Or" && one != nil && types.Identical(one, types.Universe.Lookup("error").Type()) {
			return // of two invalid fields, either may be reported
		}
		if one == nil || other == nil || w.text(a) == w.text(b) || !types.Identical(one, other) || isColumn(one) {
			continue
		}
		w.add(Arguments, n, w.replace(a, w.text(b)), w.replace(b, w.text(a)))
	}
}

// isColumn reports whether a type is that of columns, which go by their names.
func isColumn(t types.Type) bool {
	return strings.HasSuffix(types.TypeString(t, nil), "internal/pg.Column")
}

// isWords reports whether an expression is a text that people read: one with spaces, or that is filled in.
func isWords(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING && strings.ContainsAny(literal.Value, " %")
}

// isUnused reports whether nothing depends on the value of the visited constant: it is returned with an error, or is
// the capacity of what make makes.
func (w *walker) isUnused(n ast.Expr) bool {
	switch parent := w.stack[len(w.stack)-1].(type) {
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

// isDropped reports whether the visited literal is a negative rune, as strings.Map drops it: any other does the same.
func (w *walker) isDropped() bool {
	minus, ok := w.stack[len(w.stack)-1].(*ast.UnaryExpr)
	return ok && minus.Op == token.SUB && types.Identical(w.info.TypeOf(minus), types.Typ[types.Rune])
}

// fails reports whether a return always returns an error: one that it makes, or one that an if around it found.
func (w *walker) fails(n *ast.ReturnStmt) bool {
	last := n.Results[len(n.Results)-1]
	t := w.info.TypeOf(last)
	if t == nil || !types.AssignableTo(t, types.Universe.Lookup("error").Type()) {
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
			if cond, ok := parent.(*ast.IfStmt); ok {
				return w.text(cond.Cond) == last.Name+" != nil"
			}
		}
	}
	return false
}

// isWording reports whether a call only writes words: a line of the log, or an error that is not told apart.
func (w *walker) isWording(n *ast.CallExpr) bool {
	selector, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	called, ok := w.info.Uses[selector.Sel].(*types.Func)
	if !ok || called.Pkg() == nil {
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

func (w *walker) isPanic(n *ast.CallExpr) bool {
	id, ok := n.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}
