package app_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// begin: plain

func closeLocation(
	ctx context.Context, e *engine.Engine, by tenant.Caller, id tenant.LocationID,
) (catalog.Location, error) {
	t := engine.Transaction{Name: "location.close", Replay: true}
	return engine.Transact(ctx, e, by, t, func(ctx context.Context, tx *engine.Tx) (catalog.Location, error) {
		l, err := engine.Find(ctx, tx, catalog.ErrNoLocation, func(b *pg.Batch, into **catalog.Location) {
			catalogdb.FindLocation(b, tx.Tenant, id, into)
		})
		if err != nil || !l.Active {
			return l, err
		}
		l.Active, l.Version, l.UpdatedAt = false, l.Version+1, tx.Now
		catalogdb.UpdateLocation(tx.Tx, tx.Tenant, l)
		record.CatalogChange(tx, "location.updated", "location", id.UUID, map[string]any{"active": false})
		return l, nil
	})
}

// end

// begin: batched

func countTakenSeats(ctx context.Context, e *engine.Engine, by tenant.Caller, id tenant.SessionID) (int, error) {
	return engine.RunBatched(ctx, e, by, engine.Batched[int]{
		Name: "session.count", Replay: true,
		Locate: engine.Known(engine.Locks{Together: []engine.Key{id.UUID}}, func() engine.Operation[int] {
			return &count{session: id}
		}),
	})
}

// count is one attempt at countTakenSeats.
type count struct {
	session tenant.SessionID
	slot    *booking.Slot
}

// Load implements engine.Operation.
func (c *count) Load(q *engine.Query) { seats.LoadSlot(q, c.session, &c.slot) }

// Run implements engine.Operation.
func (c *count) Run(_ context.Context, tx *engine.Tx) (int, error) {
	if c.slot == nil {
		return 0, seats.ErrNoSession
	}
	record.Audit(tx, "session.counted", "session", c.session.UUID, "", nil)
	return c.slot.SeatsTaken, nil
}

// end

func TestUseCases_Run(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 9})
	test.EqOp(t, 0, expect.Value(countTakenSeats(t.Context(), studio.App.Engine, studio.Owner, class))(t))
	made := expect.Value(studio.App.Catalog.CreateLocation(
		t.Context(), studio.Owner, catalog.Location{Name: "Quay", Active: true},
	))(t)
	closed := expect.Value(closeLocation(t.Context(), studio.App.Engine, studio.Owner, made.ID))(t)
	test.False(t, closed.Active)
}

// The examples of the manual are those that this file runs.
func TestUseCases_AreThoseOfTheManual(t *testing.T) {
	t.Parallel()
	manual := string(expect.Value(os.ReadFile("../../docs/use-cases.md"))(t))
	source := string(expect.Value(os.ReadFile("use_cases_test.go"))(t))
	for _, name := range []string{"plain", "batched"} {
		_, rest, _ := strings.Cut(source, "// begin: "+name+"\n\n")
		example, _, _ := strings.Cut(rest, "\n// end\n")
		test.StrContains(t, manual, "```go\n"+example+"```\n", test.Sprint(name))
	}
}

// The files that the manual lists declare all that Book uses of the engine and of seats.
func TestUseCases_ManualListsWhatBookUses(t *testing.T) {
	t.Parallel()
	manual := string(expect.Value(os.ReadFile("../../docs/use-cases.md"))(t))
	_, list, _ := strings.Cut(manual, "read these files:")
	declared := make(map[string]bool)
	var book *ast.File
	for _, line := range regexp.MustCompile("(?m)^- `(.+?)`: (.+)$").FindAllStringSubmatch(list, -1) {
		for name := range strings.SplitSeq(line[2], ", ") {
			path := filepath.Join("../..", line[1], strings.Trim(name, "`"))
			file := expect.Value(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
			for _, name := range topLevel(file) {
				declared[file.Name.Name+"."+name] = true
			}
			if strings.HasSuffix(path, "bookings/book.go") {
				book = file
			}
		}
	}
	must.NotNil(t, book)
	ast.Inspect(book, func(n ast.Node) bool {
		if used, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := used.X.(*ast.Ident); ok && (from.Name == "engine" || from.Name == "seats") {
				name := from.Name + "." + used.Sel.Name
				test.True(t, declared[name], test.Sprint(name))
			}
		}
		return true
	})
}

// topLevel returns the names of a file's functions, types, variables and constants.
func topLevel(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}
