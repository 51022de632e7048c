package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

const module = "github.com/berthhq/berth/"

// mayImport says which packages of internal/app each area may import. README shows it as a picture.
var mayImport = map[string][]string{
	"engine":       {},
	"seats":        {"engine"},
	"waitlists":    {"seats", "engine"},
	"bookings":     {"waitlists", "seats", "engine"},
	"schedules":    {"waitlists", "seats", "engine"},
	"contacts":     {"engine"},
	"messages":     {"waitlists", "contacts", "seats", "engine"},
	"settings":     {"waitlists", "seats", "engine"},
	"events":       {"seats", "engine"},
	"accounts":     {"contacts", "seats", "engine"},
	"catalog":      {"seats", "engine"},
	"housekeeping": {"accounts", "bookings", "schedules", "messages", "settings", "waitlists", "seats", "engine"},
}

// layers are the folders of internal, from the bottom up. A package imports its own layer, where the rules of that
// layer allow it, and those below.
var layers = [][]string{
	{"tenant", "fault", "civil", "gen"},
	{"pg", "localpg", "csvfile", "seal", "secret", "migrations", "traffic", "alarm"},
	{"rules"},
	{"data", "access", "token", "provider", "twilio", "fcm", "smtp", "localbox"},
	{"app"},
	{"rpc", "web", "worker"},
}

func TestImports_PointDown(t *testing.T) {
	t.Parallel()
	internal := filepath.Join("..", "..", "internal")
	must.NoError(t, filepath.WalkDir(internal, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(internal, filepath.Dir(file))
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"internal/")
			test.False(
				t, ours && !allowed(filepath.ToSlash(folder), imported),
				test.Sprintf("%s imports %s: imports point down", filepath.ToSlash(file), imported),
			)
		}
		return nil
	}))
}

func TestImports_KnowEveryArea(t *testing.T) {
	t.Parallel()
	folders := expect.Value(filepath.Glob("*/*.go"))(t)
	for _, file := range folders {
		area := path.Dir(filepath.ToSlash(file))
		test.NotNil(t, mayImport[area], test.Sprintf("internal/app/%s is no area that the picture knows", area))
	}
}

// allowed reports whether a package may import another, both as folders below internal.
func allowed(from, to string) bool {
	area, inApp := strings.CutPrefix(from, "app/")
	used, ofApp := strings.CutPrefix(to, "app/")
	if inApp && ofApp {
		return slices.Contains(mayImport[area], used)
	}
	if strings.HasPrefix(from, "data/") && strings.HasPrefix(to, "data/") {
		return to == "data/coredb" // what the areas share
	}
	if strings.HasPrefix(from, "rpc/") && strings.HasPrefix(to, "rpc") {
		return to == "rpc/request" || to == "rpc/convert" && from != "rpc/request" // what the areas share
	}
	lower, known := layerOf(to)
	upper, judged := layerOf(from)
	return !judged || known && lower <= upper
}

// layerOf gives the layer of a package. Commands, start-up code and tools for tests are above all layers.
func layerOf(folder string) (int, bool) {
	top, _, _ := strings.Cut(folder, "/")
	for i, names := range layers {
		if slices.Contains(names, top) {
			return i, true
		}
	}
	return 0, false
}
