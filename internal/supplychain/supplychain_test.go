package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"runtime/debug"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestSBOM_ListsModulesAndPackages(t *testing.T) {
	t.Parallel()
	npm := func(string, string, ...string) ([]byte, error) {
		return []byte(`{"components": [{"type": "library", "bom-ref": "react@19.3.0", "name": "react", "version": "19.3.0",
			"purl": "pkg:npm/react@19.3.0", "licenses": [{"license": {"id": "MIT"}}]}]}`), nil
	}
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/Berth", Version: "(devel)"}}
	info.Deps = []*debug.Module{
		{Path: "example.com/One", Version: "v1.2.3"},
		{Path: "example.com/two", Version: "v2.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v2.0.1+x"}},
	}
	var out bytes.Buffer
	must.NoError(t, writeSBOM(&out, info, npm))
	var list bom
	must.NoError(t, json.Unmarshal(out.Bytes(), &list))
	test.EqOp(t, "pkg:golang/example.com/berth", list.Metadata.Component.PURL)
	purls := make([]string, 0, len(list.Components))
	for _, c := range list.Components {
		purls = append(purls, c.PURL)
	}
	test.Eq(t, []string{
		"pkg:golang/std@1.26.8", "pkg:golang/example.com/one@v1.2.3", "pkg:golang/example.com/fork@v2.0.1%2Bx",
		"pkg:npm/react@19.3.0",
	}, purls)
	test.StrContains(t, out.String(), `"id": "MIT"`)

	offline := func(string, string, ...string) ([]byte, error) { return nil, errors.New("no npm") }
	test.ErrorContains(t, writeSBOM(&out, info, offline), "no npm")
}

// The runners fail as the tools do: they really exit with these codes.
func TestAudit_TellsVulnerableFromUnknown(t *testing.T) {
	t.Parallel()
	exit := func(script string) func() ([]byte, error) {
		return func() ([]byte, error) { return exec.Command("sh", "-c", script).Output() }
	}
	fine := exit(`echo '{"metadata": {"vulnerabilities": {"total": 0}}}'`)
	tests := map[string]struct {
		golang, npm func() ([]byte, error)
		code        int
		says        string
	}{
		"nothing is known": {fine, fine, 0, "clients/console: nothing is known"},
		"Go is vulnerable": {exit("echo GO-2026-1; exit 3"), fine, 1, "Go: vulnerable\nGO-2026-1"},
		"a package is vulnerable": {
			fine, exit(`echo '{"metadata": {"vulnerabilities": {"total": 2}}}'; exit 1`), 1, "clients/typescript: vulnerable",
		},
		"no answer about Go": {exit("echo no such host >&2; exit 1"), fine, 2, "Go: not checked: no such host"},
		"no answer about packages": {
			fine, exit(`echo '{"message": "405 Method Not Allowed"}'; exit 1`), 2,
			"clients/console: not checked: 405 Method Not Allowed",
		},
		"no answer, and a vulnerable package": {
			exit("exit 1"), exit(`echo '{"metadata": {"vulnerabilities": {"total": 1}}}'; exit 1`), 1, "Go: not checked",
		},
		"no npm": {fine, exit("exit 127"), 2, "clients/console: not checked: exit status 127"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := audit(&out, func(_, name string, _ ...string) ([]byte, error) {
				if name == "go" {
					return tt.golang()
				}
				return tt.npm()
			})
			test.EqOp(t, tt.code, code)
			test.StrContains(t, out.String(), tt.says)
		})
	}
}
