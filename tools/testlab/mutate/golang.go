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
		if !w.isEnough() {
			w.add(Constant, n, w.replace(n, next(n.Value)))
		}
		if n.Value == "1" {
			w.add(One, n, w.replace(n, "0"))
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

// isEnough reports whether more than the visited number does the same: any number below zero stands for none or for
// less, and a channel's room is for what is sent.
func (w *walker) isEnough() bool {
	switch parent := w.parent().(type) {
	case *ast.UnaryExpr:
		return parent.Op == token.SUB
	case *ast.CallExpr:
		if w.text(parent.Fun) == "make" {
			_, isChannel := w.info.TypeOf(parent).Underlying().(*types.Chan)
			return isChannel
		}
	}
	return false
}

// next returns the integer after a literal.
func next(literal string) string {
	value := constant.MakeFromLiteral(literal, token.INT, 0)
	return constant.BinaryOp(value, token.ADD, constant.MakeInt64(1)).ExactString()
}

func (w *walker) boolean(n *ast.Ident) {
	c, ok := w.info.Uses[n].(*types.Const)
	if ok && c.Pkg() == nil && (n.Name == "true" || n.Name == "false") && !w.isUnused(n) {
		w.add(Boolean, n, w.replace(n, map[string]string{"true": "false", "false": "true"}[n.Name]))
	}
}

// duration doubles a unit of time that stands alone. In a product, the other factor moves.
func (w *walker) duration(n *ast.SelectorExpr) {
	c, ok := w.info.Uses[n.Sel].(*types.Const)
	if !ok || c.Pkg() == nil || c.Pkg().Path() != "time" || types.TypeString(c.Type(), nil) != "time.Duration" {
		return
	}
	if parent, ok := w.parent().(*ast.BinaryExpr); ok && parent.Op == token.MUL {
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
	if !types.Identical(declared, errorType) || w.text(last) == "nil" {
		return
	}
	w.add(Failure, n, w.replace(last, "nil"))
}

// arguments swaps neighbors of one type. Words that people read are not swapped, nor what is filled into them, nor the
// names of a list.
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
		if w.text(n.Fun) == "cmp.Or" && one != nil && types.Identical(one, errorType) {
			return // of two invalid fields, either may be reported
		}
		if one == nil || other == nil || w.text(a) == w.text(b) || !types.Identical(one, other) || isColumn(one) ||
			w.isListed(n, i-1) {
			continue
		}
		w.add(Arguments, n, w.replace(a, w.text(b)), w.replace(b, w.text(a)))
	}
}

// isListed reports whether an argument and the next are texts that are written out, among any number of them.
func (w *walker) isListed(n *ast.CallExpr, i int) bool {
	signature, ok := w.info.TypeOf(n.Fun).Underlying().(*types.Signature)
	return ok && signature.Variadic() && i >= signature.Params().Len()-1 && w.isText(n.Args[i]) && w.isText(n.Args[i+1])
}

func (w *walker) isText(e ast.Expr) bool {
	value := w.info.Types[e].Value
	return value != nil && value.Kind() == constant.String
}

// isColumn reports whether a type is that of columns, which go by their names.
func isColumn(t types.Type) bool {
	return strings.HasSuffix(types.TypeString(t, nil), "internal/pg.Column")
}
