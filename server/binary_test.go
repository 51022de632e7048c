package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// The test tooling is not shipped with the product.
func TestBinary_LinksNoTestTooling(t *testing.T) {
	t.Parallel()
	out := expect.Value(exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output())(t)
	const module = "github.com/berthhq/berth/"
	linked := strings.Fields(string(out))
	for _, pkg := range linked {
		for _, tooling := range []string{
			module + "internal/lab", module + "internal/pgproxy", "github.com/anishathalye/porcupine",
			"pgregory.net/rapid", "github.com/google/go-cmp",
		} {
			test.NotEqOp(t, tooling, pkg, test.Sprintf("the binary links %s", pkg))
			test.False(t, strings.HasPrefix(pkg, tooling+"/"), test.Sprintf("the binary links %s", pkg))
		}
		test.NotEqOp(t, "testing", pkg, test.Sprintf("the binary links %s", pkg))
		test.True(t, !strings.HasPrefix(pkg, module) || !strings.HasSuffix(pkg, "test"),
			test.Sprintf("the binary links %s", pkg))
	}
	test.True(t, len(linked) >= 100, test.Sprintf("only %d packages are listed", len(linked)))
}

// A package that a reader can hold in mind, and a file that fits in a sitting. What is longer is split by what is
// decided.
const (
	longestPackage = 3_500
	longestFile    = 450
)

func TestBinary_LinksShortFilesOfSmallPackages(t *testing.T) {
	t.Parallel()
	const format = `{{if .Module}}{{if .Module.Main}}{{.ImportPath}}|{{.Dir}}|{{join .GoFiles "|"}}{{end}}{{end}}`
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, ".")
	var packages int
	for pkg := range strings.Lines(string(expect.Value(list.Output())(t))) {
		fields := strings.Split(strings.TrimSpace(pkg), "|")
		packages++
		var whole int
		for _, name := range fields[2:] {
			text := expect.Value(os.ReadFile(filepath.Join(fields[1], name)))(t)
			if bytes.HasPrefix(text, []byte("// Code generated ")) {
				continue
			}
			lines := bytes.Count(text, []byte("\n"))
			whole += lines
			test.LessEq(t, longestFile, lines, test.Sprintf("%s of %s has %d lines", name, fields[0], lines))
		}
		test.LessEq(t, longestPackage, whole, test.Sprintf("%s has %d lines", fields[0], whole))
	}
	test.GreaterEq(t, 50, packages)
}
