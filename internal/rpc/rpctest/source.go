package rpctest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// Constants returns the values of the string constants of a type in a file.
func Constants(t *testing.T, path, kind string) []string {
	t.Helper()
	var all []string
	ast.Inspect(expect.Value(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != kind {
			return true
		}
		for _, value := range spec.Values {
			all = append(all, expect.Value(strconv.Unquote(value.(*ast.BasicLit).Value))(t))
		}
		return true
	})
	return all
}
