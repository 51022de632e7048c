package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	template  = "clients/swift/buf.gen.yaml"
	generated = "clients/swift/Sources/Berth/Generated"
)

// A generator is a remote plugin in the template, and what does the same on this machine.
type generator struct {
	remote *regexp.Regexp
	local  string
}

var generators = []generator{
	{regexp.MustCompile(`remote: buf\.build/apple/swift:\S+`), "protoc-gen-swift"},
	{regexp.MustCompile(`remote: buf\.build/connectrpc/swift:\S+`), "protoc-gen-connect-swift"},
}

// check returns an error that lists the .proto files that have changed since the code was generated.
func check(ctx context.Context, root string, out io.Writer) error {
	before, err := os.ReadFile(filepath.Join(root, generated, digestsFile))
	if err != nil {
		return err
	}
	temporary, err := temporaryFolder(root)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	fresh, err := generate(ctx, root, temporary, func(generator) string { return "local: " + self("nothing") })
	if err != nil {
		return err
	}
	after, err := os.ReadFile(filepath.Join(fresh, digestsFile))
	if err != nil {
		return err
	}
	if list := changes(parse(before), parse(after)); len(list) > 0 {
		return fmt.Errorf("the generated Swift code does not match the contract:\n  %s\nmake generate-swift renews it",
			strings.Join(list, "\n  "))
	}
	_, err = fmt.Fprintln(out, "The generated Swift code matches the contract.")
	return err
}

// renew replaces the generated code and its digests. If it fails, nothing has changed.
func renew(ctx context.Context, root string, out io.Writer) error {
	plugin := func(g generator) string { return "local: " + g.local }
	for _, g := range generators {
		if _, err := exec.LookPath(g.local); err != nil {
			plugin = nil
		}
	}
	temporary, err := temporaryFolder(root)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	fresh, err := generate(ctx, root, temporary, plugin)
	if err != nil {
		return err
	}
	target := filepath.Join(root, generated)
	readme, err := os.ReadFile(filepath.Join(target, "README.md"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(fresh, "README.md"), readme, 0o644); err != nil { //nolint:gosec // not secret
		return err
	}
	old := filepath.Join(temporary, "old")
	if err := os.Rename(target, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, target); err != nil {
		return errors.Join(err, os.Rename(old, target))
	}
	_, err = fmt.Fprintln(out, "The generated Swift code is renewed.")
	return err
}

// temporaryFolder creates a folder on the file system of the repository, so that its content can be renamed.
func temporaryFolder(root string) (string, error) {
	bin, err := filepath.Abs(filepath.Join(root, "bin"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(bin, 0o755); err != nil { //nolint:gosec // holds what is built
		return "", err
	}
	return os.MkdirTemp(bin, "swift-")
}

// generate generates code and digests below a folder, and returns where. The plugins are those of the template, or
// those that plugin returns instead.
func generate(ctx context.Context, root, folder string, plugin func(generator) string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, template))
	if err != nil {
		return "", err
	}
	for _, g := range generators {
		if !g.remote.Match(text) {
			return "", fmt.Errorf("%s has no plugin like %q", template, g.remote)
		}
		if plugin != nil {
			text = g.remote.ReplaceAllLiteral(text, []byte(plugin(g)))
		}
	}
	text = bytes.ReplaceAll(text, []byte("[go, run, ./clients/swift/generate, digest]"), []byte(self("digest")))
	edited := filepath.Join(folder, "buf.gen.yaml")
	if err := os.WriteFile(edited, text, 0o600); err != nil { //nolint:gosec // in the folder made above
		return "", err
	}
	if err := buf(ctx, root, "generate", "--template", edited, "--output", folder); err != nil {
		return "", err
	}
	return filepath.Join(folder, generated), nil
}

// self returns a plugin, in YAML, that is this program in one of its modes.
func self(mode string) string {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	return fmt.Sprintf("[%q, %q]", program, mode)
}

// errOffline is the one line that a missing network gets.
var errOffline = errors.New("buf.build does not answer: connect to the internet, " +
	"or put protoc-gen-swift and protoc-gen-connect-swift on the PATH")

func buf(ctx context.Context, root string, args ...string) error {
	var stderr bytes.Buffer
	args = append([]string{"tool", "-modfile=tools/go.mod", "buf"}, args...)
	command := exec.CommandContext(ctx, "go", args...) //nolint:gosec // all arguments are from this file
	command.Dir, command.Stderr = root, &stderr
	err := command.Run()
	if err == nil {
		return nil
	}
	if strings.Contains(stderr.String(), "remote is unavailable") {
		return errOffline
	}
	return fmt.Errorf("buf: %w\n%s", err, strings.TrimSpace(stderr.String()))
}
