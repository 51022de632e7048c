package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// A source is the code of one package, without its tests.
type source struct {
	path   string // import path
	module string // path of its module
	folder string // relative to the module
	set    *token.FileSet
	files  []*sourceFile
	info   *types.Info
	checks *types.Config
}

type sourceFile struct {
	name   string // relative to the module
	text   []byte
	syntax *ast.File
}

// offset returns the place of a position in the file.
func (f *sourceFile) offset(pos token.Pos) int { return int(pos - f.syntax.FileStart) }

// listed is what `go list` says about a package.
type listed struct {
	ImportPath   string   `json:"ImportPath"`
	Dir          string   `json:"Dir"`
	Export       string   `json:"Export"`
	GoFiles      []string `json:"GoFiles"`
	TestGoFiles  []string `json:"TestGoFiles"`
	XTestGoFiles []string `json:"XTestGoFiles"`
	DepOnly      bool     `json:"DepOnly"`
	Module       struct {
		Path string `json:"Path"`
	} `json:"Module"`
	Error *struct {
		Err string `json:"Err"`
	} `json:"Error"`
}

// list runs `go list`.
func list(ctx context.Context, root string, args ...string) ([]listed, error) {
	const fields = "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,DepOnly,Module,Error"
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", fields}, args...)...)
	cmd.Dir = root
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, said.Bytes())
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if p.Error != nil {
			return nil, errors.New(p.Error.Err)
		}
		all = append(all, p)
	}
}

// load parses packages and checks their types. What they import comes from the compiler's export data.
func load(ctx context.Context, root string, patterns []string) ([]*source, error) {
	found, err := list(ctx, root, append([]string{"-export", "-deps"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	for _, p := range found {
		exports[p.ImportPath] = p.Export
	}
	var all []*source
	for _, p := range found {
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		s, err := parse(root, p, exports)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func parse(root string, p listed, exports map[string]string) (*source, error) {
	folder, err := filepath.Rel(root, p.Dir)
	if err != nil {
		return nil, err
	}
	s := &source{
		path: p.ImportPath, module: p.Module.Path, folder: filepath.ToSlash(folder), set: token.NewFileSet(),
		info: &types.Info{
			Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object),
			Defs:       make(map[*ast.Ident]types.Object),
			Selections: make(map[*ast.SelectorExpr]*types.Selection),
		},
	}
	var syntax []*ast.File
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		f := &sourceFile{name: filepath.ToSlash(filepath.Join(folder, name)), text: text}
		f.syntax, err = parser.ParseFile(s.set, f.name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
		syntax = append(syntax, f.syntax)
	}
	s.checks = &types.Config{
		Sizes: types.SizesFor("gc", runtime.GOARCH),
		Importer: importer.ForCompiler(s.set, "gc", func(path string) (io.ReadCloser, error) {
			return os.Open(exports[path])
		}),
	}
	_, err = s.checks.Check(s.path, s.set, syntax, s.info)
	return s, err
}

var (
	unusedName   = regexp.MustCompile(`^declared and not used: (\w+)$`)
	unusedImport = regexp.MustCompile(`imported and not used$`)
)

// compiles checks the types of the package with a mutant, and repairs what the change leaves unused: a variable is
// assigned to the blank identifier before the statement, and an import gets a blank name.
func (s *source) compiles(m *Mutant) bool {
	for range 4 {
		failures, repairs := s.check(m)
		if failures == 0 {
			return true
		}
		if len(repairs) != failures {
			return false
		}
		m.edits = append(repairs, m.edits...)
	}
	return false
}

func (s *source) check(m *Mutant) (failures int, repairs []edit) {
	var original *sourceFile
	for _, f := range s.files {
		if f.name == m.File {
			original = f
		}
	}
	text := apply(original.text, m.edits)
	set, syntax, err := s.with(original, text)
	if err != nil {
		return 1, nil
	}
	checks := *s.checks
	seen := make(map[string]bool)
	checks.Error = func(err error) {
		var failure types.Error
		if !errors.As(err, &failure) {
			failures++
			return
		}
		if strings.HasPrefix(failure.Msg, "\t") { // more about the failure before
			return
		}
		failures++
		if name := unusedName.FindStringSubmatch(failure.Msg); name != nil && m.block >= 0 {
			if !seen[name[1]] {
				repairs = append(repairs, edit{start: m.block, end: m.block, text: "_ = " + name[1] + "; "})
			}
			seen[name[1]] = true
		} else if unusedImport.MatchString(failure.Msg) || strings.Contains(failure.Msg, "imported as") {
			repairs = append(repairs, blankImport(original, set.Position(failure.Pos), text)...)
		}
	}
	_, _ = checks.Check(s.path, set, syntax, nil)
	return failures, repairs
}

// blankImport gives the import at a line of the mutated file a blank name. Imports are above all changes.
func blankImport(f *sourceFile, at token.Position, mutated []byte) []edit {
	line := strings.Split(string(mutated), "\n")[at.Line-1]
	for _, spec := range f.syntax.Imports {
		if spec.Name == nil && strings.HasSuffix(line, spec.Path.Value) {
			start := f.offset(spec.Path.Pos())
			return []edit{{start: start, end: start, text: "_ "}}
		}
	}
	return nil
}

// with parses the package where one file has another text.
func (s *source) with(changed *sourceFile, text []byte) (*token.FileSet, []*ast.File, error) {
	set := token.NewFileSet()
	var all []*ast.File
	for _, f := range s.files {
		of := f.text
		if f == changed {
			of = text
		}
		syntax, err := parser.ParseFile(set, f.name, of, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, syntax)
	}
	return set, all, nil
}

// fits reports whether the package of a bundle compiles with an edited file.
func (s *source) fits(f *sourceFile, edits []edit) bool {
	set, syntax, err := s.with(f, apply(f.text, edits))
	if err != nil {
		return false
	}
	const used = "\n\nvar mutantChosen int\n\nfunc mutantReached(int) {}\n"
	more, err := parser.ParseFile(set, "mutant_chosen.go", "package "+f.syntax.Name.Name+used, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	checks := *s.checks
	_, err = checks.Check(s.path, set, append(syntax, more), nil)
	return err == nil
}
