package mutate

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// chosen is the environment variable with the number of the mutant that a binary runs.
const chosen = "BERTH_MUTANT"

// A bundle is the mutants of one package's functions, compiled into one binary of each package of tests. Compiling and
// linking take longer than most tests. Each mutant is a copy of its function with the change, and the function begins
// with a switch that calls the copy of the chosen mutant. Without a choice nothing changes.
type bundle struct {
	*tester

	overlay string
	numbers map[string]int // of mutants, by ID

	mu       sync.Mutex
	binaries map[string]string // by the folder of the tests; "" if the bundle is of no use to them
}

// bundle writes a package with all of the given mutants that are inside a function. It returns nil if there are few.
func (t *tester) bundle(s *source, mutants []Mutant) (*bundle, error) {
	b := &bundle{tester: t, numbers: make(map[string]int), binaries: make(map[string]string)}
	dir, err := os.MkdirTemp(t.temp, "bundle-")
	if err != nil {
		return nil, err
	}
	replaced := make(map[string]string)
	write := func(name, text string) error {
		replaced[filepath.Join(t.root, name)] = filepath.Join(dir, filepath.Base(name))
		return os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o600)
	}
	for _, f := range s.files {
		text := f.bundle(mutants, b.numbers)
		if err := write(f.name, text); err != nil {
			return nil, err
		}
	}
	if len(b.numbers) < 2 {
		return nil, nil //nolint:nilnil // a bundle of one is none
	}
	choice := fmt.Sprintf("package %s\n\nimport (\n\"os\"\n\"strconv\"\n)\n\n"+
		"var mutantChosen, _ = strconv.Atoi(os.Getenv(%q))\n", s.files[0].syntax.Name, chosen)
	if err := write(filepath.Join(s.folder, "mutant_chosen.go"), choice); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	b.overlay = filepath.Join(dir, "overlay.json")
	return b, os.WriteFile(b.overlay, text, 0o600)
}

// bundle returns the file with mutants of its functions, and numbers them.
func (f *sourceFile) bundle(mutants []Mutant, numbers map[string]int) string {
	var edits []edit
	var copies strings.Builder
	for _, declaration := range f.syntax.Decls {
		d, ok := declaration.(*ast.FuncDecl)
		if !ok || d.Body == nil || d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "main") {
			continue
		}
		start, end := f.offset(d.Pos()), f.offset(d.End())
		if strings.Contains(string(f.text[start:end]), "recover()") {
			continue // it only recovers in the function that was deferred
		}
		named, call := f.call(d)
		var cases strings.Builder
		for _, m := range mutants {
			inside := m.within(f.name, start, end)
			if len(inside) == 0 {
				continue
			}
			number := len(numbers) + 1
			numbers[m.ID] = number
			name := d.Name.Name + "Mutant" + strconv.Itoa(number)
			at := f.offset(d.Name.Pos()) - start
			inside = append(inside, edit{start: at, end: at + len(d.Name.Name), text: name})
			copies.WriteString("\n\n" + string(apply(f.text[start:end], inside)))
			if d.Type.Results == nil {
				fmt.Fprintf(&cases, "case %d: %s; return\n", number, fmt.Sprintf(call, name))
			} else {
				fmt.Fprintf(&cases, "case %d: return %s\n", number, fmt.Sprintf(call, name))
			}
		}
		if cases.Len() > 0 {
			after := f.offset(d.Body.Lbrace) + 1
			edits = append(append(edits, named...), edit{after, after, "switch mutantChosen {\n" + cases.String() + "}\n"})
		}
	}
	return string(apply(f.text, edits)) + copies.String()
}

// within returns the mutant's edits of a part of a file, relative to it; nil if its change is outside. A blank import
// is outside, and is not needed where the function is also there unchanged.
func (m Mutant) within(file string, start, end int) []edit {
	var inside []edit
	if m.File != file || m.block < start || m.block >= end {
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

// binary returns the tests of a package that have all mutants; "" if they do not compile, or fail without a choice
// where they pass without the bundle.
func (b *bundle) binary(ctx context.Context, p target, whole baseline) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := p.folder + ":" + p.pattern
	if known, ok := b.binaries[key]; ok {
		return known, nil
	}
	binary := filepath.Join(filepath.Dir(b.overlay), strings.ReplaceAll(p.folder, "/", "-")+".test")
	ok, _, err := b.build(ctx, p.testPackage, b.overlay, binary)
	if err != nil {
		return "", err
	}
	if ok {
		o, err := b.run(ctx, p.testPackage, call{
			binary: binary, pattern: p.pattern, skip: whole.Skip, limit: b.limit(whole), toTheEnd: true,
		})
		if err != nil {
			return "", err
		}
		ok = o.passed
	}
	if !ok {
		binary = ""
	}
	b.binaries[key] = binary
	return binary, nil
}

// remove deletes the bundle's files.
func (b *bundle) remove() error {
	if b == nil {
		return nil
	}
	return os.RemoveAll(filepath.Dir(b.overlay))
}
