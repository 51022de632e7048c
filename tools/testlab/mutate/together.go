package mutate

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// chosen is the environment variable with the number of the mutant that a binary runs.
const chosen = "BERTH_MUTANT"

// A bundle is mutants compiled into one binary of each package of tests. Compiling and linking take longer than most
// tests. Each mutant of a function is a copy of it with the change, and the function begins with a switch that calls
// the copy of the chosen mutant. A variable of the package gets its value from such a switch. Without a choice nothing
// changes.
type bundle struct {
	*tester

	dir, overlay string
	numbers      map[string]int // of mutants, by ID
	marks        map[int]mark   // of mutants, by number

	mu       sync.Mutex
	binaries map[string]*bundled // by the folder of the tests and their pattern
}

// bundled is a package's tests with the mutants of a bundle.
type bundled struct {
	once   sync.Once
	binary string // "" if the bundle is of no use to them
	trace  *trace
	err    error
}

// bundle writes packages with those of the given mutants that it can choose from. It returns nil if there are few.
func (t *tester) bundle(ctx context.Context, sources map[string]*source, mutants []Mutant) (*bundle, error) {
	dir, err := os.MkdirTemp(t.temp, "bundle-")
	if err != nil {
		return nil, err
	}
	b := &bundle{
		tester: t, dir: dir, overlay: filepath.Join(dir, "overlay.json"),
		numbers: make(map[string]int), marks: make(map[int]mark), binaries: make(map[string]*bundled),
	}
	of := make(map[string][]Mutant) // by the import path of their package
	replaced := make(map[string]map[string]string)
	for _, m := range mutants {
		if s := sources[m.Package]; s != nil {
			of[s.path] = append(of[s.path], m)
		}
	}
	for _, s := range sources {
		if len(of[s.path]) == 0 {
			continue
		}
		if replaced[s.path], err = b.write(s, of[s.path]); err != nil {
			return nil, err
		}
	}
	for wrong := []string{""}; len(wrong) > 0; {
		all := make(map[string]string)
		for _, files := range replaced {
			maps.Copy(all, files)
		}
		text, err := json.Marshal(map[string]map[string]string{"Replace": all})
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(b.overlay, text, 0o600); err != nil {
			return nil, err
		}
		if wrong, err = b.wrong(ctx, slices.Sorted(maps.Keys(replaced))); err != nil {
			return nil, err
		}
		for _, path := range wrong {
			delete(replaced, path)
			for _, m := range of[path] {
				delete(b.numbers, m.ID)
			}
		}
	}
	if len(b.numbers) < 2 {
		return nil, nil //nolint:nilnil // a bundle of one is none
	}
	return b, nil
}

// write writes a package with its mutants, and returns the files that take the place of others.
func (b *bundle) write(s *source, mutants []Mutant) (map[string]string, error) {
	dir, err := os.MkdirTemp(b.dir, "")
	if err != nil {
		return nil, err
	}
	replaced := make(map[string]string)
	write := func(name, text string) error {
		replaced[filepath.Join(b.root, name)] = filepath.Join(dir, filepath.Base(name))
		return os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o600)
	}
	for _, f := range s.files {
		if err := write(f.name, b.file(s, f, mutants)); err != nil {
			return nil, err
		}
	}
	return replaced, write(filepath.Join(s.folder, "mutant_chosen.go"), choice(s.files[0].syntax.Name.Name))
}

var failedPackage = regexp.MustCompile(`(?m)^# (\S+)`)

// wrong returns those of the given packages that do not compile.
func (b *bundle) wrong(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-overlay", b.overlay}, paths...)...)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var wrong []string
	for _, found := range failedPackage.FindAllStringSubmatch(string(out), -1) {
		if slices.Contains(paths, found[1]) {
			wrong = append(wrong, found[1])
		}
	}
	if len(wrong) == 0 {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return wrong, nil
}

// add gives a mutant its number.
func (b *bundle) add(m Mutant, as mark) int {
	number := len(b.numbers) + 1
	b.numbers[m.ID], b.marks[number] = number, as
	return number
}

// file returns a file with mutants.
func (b *bundle) file(s *source, f *sourceFile, mutants []Mutant) string {
	var edits []edit
	var copies strings.Builder
	for _, declaration := range f.syntax.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			changed, copied := b.function(f, d, mutants)
			edits = append(edits, changed...)
			copies.WriteString(copied)
		case *ast.GenDecl:
			edits = append(edits, b.variables(s, f, d, mutants)...)
		}
	}
	return string(apply(f.text, edits)) + copies.String()
}

// function returns the edits of a function that has mutants, and a copy of it for each.
func (b *bundle) function(f *sourceFile, d *ast.FuncDecl, mutants []Mutant) (edits []edit, copies string) {
	if d.Body == nil || d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "main") {
		return nil, ""
	}
	start, end := f.offset(d.Pos()), f.offset(d.End())
	if strings.Contains(string(f.text[start:end]), "recover()") {
		return nil, "" // it only recovers in the function that was deferred
	}
	named, call := f.call(d)
	var cases, copied strings.Builder
	for _, m := range mutants {
		inside := m.within(f.name, start, end)
		if len(inside) == 0 || m.block < 0 {
			continue
		}
		number := b.add(m, inCode)
		name := d.Name.Name + "Mutant" + strconv.Itoa(number)
		at := f.offset(d.Name.Pos()) - start
		inside = append(inside, edit{start: at, end: at + len(d.Name.Name), text: name})
		copied.WriteString("\n\n" + string(apply(f.text[start:end], inside)))
		if d.Type.Results == nil {
			fmt.Fprintf(&cases, "case %d: %s; return\n", number, fmt.Sprintf(call, name))
		} else {
			fmt.Fprintf(&cases, "case %d: return %s\n", number, fmt.Sprintf(call, name))
		}
		edits = append(edits, edit{m.block, m.block, reaches(number)})
	}
	if cases.Len() == 0 {
		return nil, ""
	}
	after := f.offset(d.Body.Lbrace) + 1
	begin := edit{after, after, "switch mutantChosen {\n" + cases.String() + "}\n"}
	return append(append(named, begin), edits...), copied.String()
}

// variables returns the edits of variables of the package that have mutants. Constants become variables, unless
// something needs them to be constant.
func (b *bundle) variables(s *source, f *sourceFile, d *ast.GenDecl, mutants []Mutant) []edit {
	if d.Tok != token.VAR && d.Tok != token.CONST {
		return nil
	}
	var all []edit
	if d.Tok == token.CONST {
		at := f.offset(d.Pos())
		all = append(all, edit{at, at + len("const"), "var"})
	}
	var inside []Mutant
	for _, m := range mutants {
		if len(m.within(f.name, f.offset(d.Pos()), f.offset(d.End()))) > 0 {
			inside = append(inside, m)
		}
	}
	if len(inside) == 0 || d.Tok == token.CONST && (isExported(d) || !s.fits(f, all)) {
		return nil
	}
	for _, spec := range d.Specs {
		spec, ok := spec.(*ast.ValueSpec)
		if !ok || len(spec.Values) != len(spec.Names) {
			continue
		}
		for i, value := range spec.Values {
			all = append(all, b.value(s, f, spec.Names[i], value, inside, all)...)
		}
	}
	return all
}

// isExported reports whether other packages can use what is declared.
func isExported(d *ast.GenDecl) bool {
	return slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool {
		v, ok := spec.(*ast.ValueSpec)
		return ok && slices.ContainsFunc(v.Names, (*ast.Ident).IsExported)
	})
}

// value returns the edits of the value of a variable that has mutants, if they compile with those before. A mutant of
// SQL is marked by a comment in the statement, so that a trace shows which tests send it.
func (b *bundle) value(
	s *source, f *sourceFile, name *ast.Ident, value ast.Expr, mutants []Mutant, before []edit,
) []edit {
	start, end := f.offset(value.Pos()), f.offset(value.End())
	whole := f.text[start:end]
	var chosen []Mutant
	var cases strings.Builder
	var marks []edit
	for _, m := range mutants {
		inside := m.within(f.name, start, end)
		if len(inside) == 0 {
			continue
		}
		number := len(b.numbers) + len(chosen) + 1
		chosen = append(chosen, m)
		fmt.Fprintf(&cases, "case %d: return %s\n", number, apply(whole, inside))
		switch markOf(m) {
		case inCode:
			marks = append(marks, edit{m.block - start, m.block - start, reaches(number)})
		case inSQL:
			marks = append(marks, edit{inside[0].start, inside[0].start, fmt.Sprintf(" /*%s%d*/ ", reached, number)})
		case noMark:
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	begin := fmt.Sprintf("func() %s {\nswitch mutantChosen {\ncase %d: return %s\n%s}\nreturn ",
		s.typeOf(f, s.info.Defs[name].Type()), tracing, apply(whole, marks), cases.String())
	edits := []edit{{start, start, begin}, {end, end, "\n}()"}}
	if !s.fits(f, slices.Concat(before, edits)) {
		return nil
	}
	for _, m := range chosen {
		b.add(m, markOf(m))
	}
	return edits
}

// typeOf writes a type as it is called in the file. A type that the file cannot name does not compile.
func (s *source) typeOf(f *sourceFile, t types.Type) string {
	return types.TypeString(types.Default(t), func(p *types.Package) string {
		if p.Path() == s.path {
			return ""
		}
		for _, spec := range f.syntax.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && path == p.Path() {
				if spec.Name != nil {
					return spec.Name.Name
				}
				return p.Name()
			}
		}
		return p.Name()
	})
}

// within returns the mutant's edits of a part of a file, relative to it; nil if its change is outside. A blank import
// is outside, and is not needed where the function is also there unchanged.
func (m Mutant) within(file string, start, end int) []edit {
	var inside []edit
	if m.File != file || m.block >= 0 && (m.block < start || m.block >= end) {
		return nil
	}
	for _, e := range m.edits {
		if e.start >= start && e.end <= end {
			inside = append(inside, edit{e.start - start, e.end - start, e.text})
		}
	}
	return inside
}

// call returns the edits that give every parameter of a function a name, and the call with the same arguments of
// another function (%s).
func (f *sourceFile) call(d *ast.FuncDecl) (named []edit, call string) {
	names := func(fields *ast.FieldList) []string {
		var all []string
		for _, field := range fields.List {
			more := ""
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				more = "..."
			}
			for _, name := range field.Names {
				if name.Name != "_" {
					all = append(all, name.Name+more)
					continue
				}
				at := f.offset(name.Pos())
				all = append(all, fmt.Sprintf("unnamed%d%s", at, more))
				named = append(named, edit{at, at + 1, fmt.Sprintf("unnamed%d", at)})
			}
			if len(field.Names) == 0 {
				at := f.offset(field.Type.Pos())
				all = append(all, fmt.Sprintf("unnamed%d%s", at, more))
				named = append(named, edit{at, at, fmt.Sprintf("unnamed%d ", at)})
			}
		}
		return all
	}
	call = "%s"
	if d.Recv != nil {
		call = names(d.Recv)[0] + ".%s"
	}
	if d.Type.TypeParams != nil {
		call += "[" + strings.Join(names(d.Type.TypeParams), ", ") + "]"
	}
	return named, call + "(" + strings.Join(names(d.Type.Params), ", ") + ")"
}

// binary returns the tests of a package that have all mutants. They have no binary if they do not compile, or fail
// without a choice where they pass without the bundle.
func (b *bundle) binary(ctx context.Context, p target, whole baseline) (*bundled, error) {
	key := p.folder + ":" + p.pattern
	b.mu.Lock()
	tests := b.binaries[key]
	if tests == nil {
		tests = new(bundled)
		b.binaries[key] = tests
	}
	b.mu.Unlock()
	tests.once.Do(func() { tests.err = tests.prepare(ctx, b, p, whole) })
	return tests, tests.err
}

// prepare builds the tests with the mutants, and traces them or sees them pass.
func (tests *bundled) prepare(ctx context.Context, b *bundle, p target, whole baseline) error {
	binary := filepath.Join(b.dir, strings.ReplaceAll(p.folder, "/", "-")+"-"+identify(p.pattern)+".test")
	ok, _, err := b.build(ctx, p.testPackage, b.overlay, binary)
	if err != nil || !ok {
		return err
	}
	c := call{binary: binary, pattern: p.pattern, skip: whole.Skip, limit: unmutated, toTheEnd: true}
	if whole.Seconds >= b.slow.Seconds() {
		if tests.trace, err = b.traceOf(ctx, p, c); err != nil {
			return err
		}
	}
	if tests.trace == nil {
		o, err := b.run(ctx, p.testPackage, c)
		if err != nil || !o.passed {
			return err
		}
	}
	tests.binary = binary
	return nil
}

// remove deletes the bundle's files.
func (b *bundle) remove() error {
	if b == nil {
		return nil
	}
	return os.RemoveAll(b.dir)
}
