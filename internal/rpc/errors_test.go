package rpc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// The reasons in the contract and in the code are the same.
func TestReasons_MatchContract(t *testing.T) {
	t.Parallel()
	var promised []string
	for name := range v1.ErrorReason_value {
		promised = append(promised, strings.TrimPrefix(name, "ERROR_REASON_"))
	}
	test.SliceContainsAll(t, append(constants(t, "../fault/reason.go", "Reason"), "UNSPECIFIED"), promised)
}

func TestCodes_CoverEveryKind(t *testing.T) {
	t.Parallel()
	seen := make(map[connect.Code]bool)
	for kind := fault.Internal; kind <= fault.DeadlineExceeded; kind++ {
		code, ok := codes[kind]
		must.True(t, ok, must.Sprintf("kind %d has the code %v", kind, code))
		test.False(t, seen[code], test.Sprintf("kind %d has the code %v", kind, code))
		seen[code] = true
	}
}

// constants returns the values of the string constants of a type in a file.
func constants(t *testing.T, path, kind string) []string {
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
