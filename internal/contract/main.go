// Contract writes the documentation of the contract, docs/api, from its comments and from calls that the server's
// tests recorded. Its tests check the shape of the contract: which RPCs a resource has, and what lists, edits and
// answers have in common.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

// write writes the pages below the root of the repository, and removes those that are no longer there.
func write(root string) error {
	all, err := documentation(root)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "docs", "api")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if _, ok := all[filepath.Base(file)]; !ok {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// documentation returns the pages, by name.
func documentation(root string) (map[string]string, error) {
	c, err := read(root)
	if err != nil {
		return nil, err
	}
	exchanges, err := readRecordings(root)
	if err != nil {
		return nil, err
	}
	return pages(c, exchanges), nil
}
