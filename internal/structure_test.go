// Package internal_test compares the code with the picture of it in README.
package internal_test

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

const (
	module = "github.com/berthhq/berth/"
	root   = ".."
)

// everywhere is the caption in the picture above the packages that all others may import.
const everywhere = "Used everywhere"

// folder is a folder in the picture, and with it the folders below it that the picture does not have.
type folder struct {
	path string // from the root of the repository
	line int    // of the picture
	uses []string
	// everywhere says that imports of the folder are not drawn.
	everywhere bool
}

// picture has the folders by their paths.
type picture map[string]*folder

func TestPicture_HasEveryFolder(t *testing.T) {
	t.Parallel()
	drawn := readPicture(t)
	whole := map[string]bool{"internal": true} // folders whose parts are in the picture, so that none may be missing
	for _, f := range drawn {
		whole[path.Dir(f.path)] = true
	}
	delete(whole, ".")
	for parent := range whole {
		for _, child := range expect.Value(os.ReadDir(filepath.Join(root, parent)))(t) {
			inside := path.Join(parent, child.Name())
			if child.IsDir() && isSource(child.Name()) && !isForTests(inside) {
				test.NotNil(t, drawn[inside], test.Sprintf("README's picture lacks %s", inside))
			}
		}
	}
	for _, f := range drawn {
		test.DirExists(t, filepath.Join(root, f.path))
	}
}

func TestPicture_DrawsEveryImport(t *testing.T) {
	t.Parallel()
	drawn := readPicture(t)
	for _, i := range readImports(t) {
		from, to := drawn.of(i.from), drawn.of(i.to)
		if from == nil || to == nil || to.everywhere || contains(from.path, to.path) || contains(to.path, from.path) {
			continue
		}
		test.True(t, slices.ContainsFunc(drawn.arrows(), i.follows), test.Sprintf(
			"%s imports %s, but README's picture has no arrow from %s to %s", i.file, i.to, from.path, to.path,
		))
	}
}

func TestPicture_DrawsOnlyImports(t *testing.T) {
	t.Parallel()
	drawn, imports := readPicture(t), readImports(t)
	for _, a := range drawn.arrows() {
		test.True(t, slices.ContainsFunc(imports, func(i imported) bool { return i.follows(a) }), test.Sprintf(
			"README's picture has an arrow from %s to %s, but there is no such import", a.from, a.to,
		))
	}
}

func TestPicture_PointsDown(t *testing.T) {
	t.Parallel()
	drawn := readPicture(t)
	for _, a := range drawn.arrows() {
		test.Less(t, drawn[a.to].line, drawn[a.from].line, test.Sprintf(
			"README's picture has %s above %s, which imports it", a.to, a.from,
		))
	}
}

// arrow is an import from one folder of the picture to another.
type arrow struct{ from, to string }

func (p picture) arrows() (all []arrow) {
	for _, f := range p {
		for _, to := range f.uses {
			all = append(all, arrow{f.path, to})
		}
	}
	slices.SortFunc(all, func(a, b arrow) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return all
}

// of gives the folder in the picture that a package belongs to, or nil if there is none.
func (p picture) of(pkg string) *folder {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if f := p[pkg]; f != nil {
			return f
		}
	}
	return nil
}

// contains reports whether a folder is another one or above it.
func contains(upper, lower string) bool { return upper == lower || strings.HasPrefix(lower, upper+"/") }

var (
	pictureBlock = regexp.MustCompile("(?s)\n## Structure\n.*?```text\n(.*?)```")
	// folderLine has the indentation, the names and the arrows of a line.
	folderLine = regexp.MustCompile(`^( +)((?:\./)?[a-z]+(?:, [a-z]+)*)(?: .*?)?(?:→ (.*))?$`)
	arrowsLine = regexp.MustCompile(`^ +→ (.*)$`)
)

// readPicture reads the picture in README. Each line has one or several folders, a few words about them, and after an
// arrow the folders that they import. The arrow can also be on a line of its own. Folders are below the folder that is
// above them and further left, else in internal, or with "./" in the root. The lines of a group follow its caption,
// which is not indented.
func readPicture(t *testing.T) picture {
	t.Helper()
	block := pictureBlock.FindStringSubmatch(string(expect.Value(os.ReadFile(filepath.Join(root, "README.md")))(t)))
	must.Len(t, 2, block, must.Sprint("README has no picture"))
	drawn := picture{}
	var caption string
	var last []*folder         // of the line above
	inside := map[int]string{} // the last folder of each indentation
	for number, line := range strings.Split(block[1], "\n") {
		if line == "" {
			continue
		}
		if !strings.HasPrefix(line, " ") {
			caption = line
			continue
		}
		if arrows := arrowsLine.FindStringSubmatch(line); arrows != nil {
			for _, f := range last {
				f.uses = append(f.uses, strings.Fields(arrows[1])...)
			}
			continue
		}
		parts := folderLine.FindStringSubmatch(line)
		must.Len(t, 4, parts, must.Sprintf("README's picture: %q is neither a folder nor arrows", line))
		parent := cmp.Or(inside[len(parts[1])-2], "internal")
		last = nil
		for name := range strings.SplitSeq(parts[2], ", ") {
			f := &folder{path: path.Join(parent, name), line: number, everywhere: strings.HasPrefix(caption, everywhere)}
			if outside, ok := strings.CutPrefix(name, "./"); ok {
				f.path = outside
			}
			must.Nil(t, drawn[f.path], must.Sprintf("README's picture has %s twice", f.path))
			f.uses = strings.Fields(parts[3])
			drawn[f.path] = f
			last = append(last, f)
			inside[len(parts[1])] = f.path
		}
	}
	for _, f := range drawn {
		for i, name := range f.uses {
			f.uses[i] = drawn.resolve(f, name)
			must.NotEq(t, "", f.uses[i], must.Sprintf("README's picture: %s points to %s, which it lacks", f.path, name))
		}
	}
	return drawn
}

// resolve gives the path of a folder that another one points to: one beside it, one in internal, or with "./" one in
// the root. It is empty if the picture has none.
func (p picture) resolve(from *folder, name string) string {
	outside, ok := strings.CutPrefix(name, "./")
	if ok && p[outside] != nil {
		return outside
	}
	for _, candidate := range []string{path.Join(path.Dir(from.path), name), path.Join("internal", name)} {
		if p[candidate] != nil {
			return candidate
		}
	}
	return ""
}

// imported is an import of one of our packages by another, which tests apart is made in file.
type imported struct{ from, to, file string }

// follows reports whether an arrow shows the import.
func (i imported) follows(a arrow) bool { return contains(a.from, i.from) && contains(a.to, i.to) }

func readImports(t *testing.T) (all []imported) {
	t.Helper()
	must.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && (!isSource(entry.Name()) || isForTests(filepath.ToSlash(file))):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file = strings.TrimPrefix(filepath.ToSlash(file), root+"/")
		for _, spec := range parsed.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module); ours {
				all = append(all, imported{from: path.Dir(file), to: to, file: file})
			}
		}
		return nil
	}))
	return all
}

// isSource reports whether a folder of this name may contain packages.
func isSource(name string) bool {
	return name != "testdata" && name != "node_modules" && !strings.HasPrefix(name, ".")
}

// isForTests reports whether only tests import a package that is inside another, such as smtp/smtptest. The picture
// leaves these out.
func isForTests(folder string) bool {
	parent := path.Base(path.Dir(folder))
	return strings.HasSuffix(folder, "test") && parent != "internal" && parent != "testkit"
}
