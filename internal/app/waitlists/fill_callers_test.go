package waitlists_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// freeing are the functions that free seats or open sessions, each with a way above that calls it. A new function of
// that kind must be listed here, with the way in which it fills the seats.
var freeing = map[string]string{
	"Cancel":     "a member cancels",
	"move":       "a booking moves away",
	"MarkNoShow": "a party does not come",
	"markAbsent": "", // after the end: the seats are of no use
	"EndHold":    "a hold is given up",
	"accept":     "", // the booking takes them in the same breath
	// of package waitlist
	"Ending.Changes":         "an offer is declined",
	"Changes.closeRound":     "a party claims fewer seats than were free",
	"WithdrawnSeats.Changes": "a session gets fewer seats than are offered", // its callers fill them
}

// Every call that takes seats away from a counter is in a function that the table knows.
func TestFill_IsCalledByAllThatFreesSeats(t *testing.T) {
	t.Parallel()
	found := make(map[string]bool)
	freeingIn := func(key string) func(string, *ast.BlockStmt) {
		return func(name string, body *ast.BlockStmt) {
			ast.Inspect(body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if k, ok := n.Key.(*ast.Ident); ok && k.Name == key {
						if minus, ok := n.Value.(*ast.UnaryExpr); ok && minus.Op == token.SUB {
							found[name] = true
						}
					}
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "free" {
						found[name] = true
					}
				}
				return true
			})
		}
	}
	inEveryFunction(t, freeingIn("Taken"))
	inEveryFunctionOf(t, "../../rules/waitlist/*.go", func(receiver, name string, body *ast.BlockStmt) {
		if receiver != "" {
			name = receiver + "." + name
		}
		freeingIn("Seats")(name, body)
	})
	test.Eq(t, slices.Sorted(maps.Keys(freeing)), slices.Sorted(maps.Keys(found)),
		test.Sprint("seats are freed by other functions than the table says: put a way in, and name it (-table +code)"))
	for name, way := range freeing {
		_, known := ways[way]
		test.False(t, !known && way != "", test.Sprintf("%s: no way is called %q", name, way))
	}
}

// Whatever writes sessions lets the waitlist hear of those on sale, and whatever writes its rules or policy of the
// seats that are open.
func TestFill_IsCalledByAllThatOpensSessions(t *testing.T) {
	t.Parallel()
	writes, wakes := make(map[string]bool), make(map[string]bool)
	inEveryFunction(t, func(name string, body *ast.BlockStmt) {
		ast.Inspect(body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				switch f.Sel.Name {
				case "InsertSessions", "UpdateSessions", "PutRules", "PutPolicy":
					writes[name] = true
				case "FillAll", "fill", "updateWaitlists", "RequestFill":
					wakes[name] = true
				}
			}
			return true
		})
	})
	var silent []string
	for name := range writes {
		if !wakes[name] {
			silent = append(silent, name)
		}
	}
	slices.Sort(silent)
	// These take sessions off sale, leave it to their callers, or write nothing that seats depend on.
	test.Eq(t, []string{"attachWorkouts", "cancelSessions", "updateRules"}, silent)
}

// inEveryFunction looks at the functions of the use cases; closures belong to the function they are in.
func inEveryFunction(t *testing.T, look func(name string, body *ast.BlockStmt)) {
	t.Helper()
	inEveryFunctionOf(t, "../*/*.go", func(_, name string, body *ast.BlockStmt) { look(name, body) })
}

// inEveryFunctionOf looks at the functions in files, with the types that they are methods of.
func inEveryFunctionOf(t *testing.T, pattern string, look func(receiver, name string, body *ast.BlockStmt)) {
	t.Helper()
	for _, name := range expect.Value(filepath.Glob(pattern))(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := expect.Value(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				look(receiverOf(f), f.Name.Name, f.Body)
			}
		}
	}
}

func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	return types.ExprString(receiver)
}
