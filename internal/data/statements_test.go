// Package data tests what is common to the packages below it.
package data

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	_ "github.com/berthhq/berth/internal/data/accountdb" // for their statements
	_ "github.com/berthhq/berth/internal/data/bookingdb"
	_ "github.com/berthhq/berth/internal/data/catalogdb"
	_ "github.com/berthhq/berth/internal/data/coredb"
	_ "github.com/berthhq/berth/internal/data/messagedb"
	_ "github.com/berthhq/berth/internal/data/outbox"
	_ "github.com/berthhq/berth/internal/data/scheduledb"
	_ "github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// statement matches a literal that holds a whole statement.
var statement = regexp.MustCompile("^`\\s*(with|select|insert|update|delete) ")

// literals gives the statements that are written out where they are queued. One that is put together there would be put
// together for each call, and this test would not know it.
func literals(t *testing.T) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	add := func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.BasicLit:
			found = append(found, expect.Value(strconv.Unquote(e.Value))(t))
		case *ast.BinaryExpr, *ast.CallExpr:
			t.Errorf("%v: a statement that is put together is a package variable, made by pg.SQL", files.Position(e.Pos()))
		}
	}
	must.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Queue" || f.Sel.Name == "Write") {
					add(n.Args[0])
				}
			case *ast.KeyValueExpr:
				if lit, ok := n.Value.(*ast.BasicLit); ok && statement.MatchString(lit.Value) {
					add(lit)
				}
			case *ast.ValueSpec:
				for _, value := range n.Values {
					if lit, ok := value.(*ast.BasicLit); ok && statement.MatchString(lit.Value) {
						add(lit)
					}
				}
			}
			return true
		})
		return nil
	}))
	return found
}
