package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The test tooling is not shipped with the product.
func TestBinary_LinksNoTestTooling(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/berthhq/berth/"
	linked := strings.Fields(string(out))
	for _, pkg := range linked {
		for _, tooling := range []string{
			module + "internal/lab", "github.com/Shopify/toxiproxy", "github.com/anishathalye/porcupine",
			"pgregory.net/rapid", "github.com/google/go-cmp",
		} {
			if pkg == tooling || strings.HasPrefix(pkg, tooling+"/") {
				t.Errorf("the binary links %s", pkg)
			}
		}
		if pkg == "testing" || strings.HasPrefix(pkg, module) && strings.HasSuffix(pkg, "test") {
			t.Errorf("the binary links %s", pkg)
		}
	}
	if len(linked) < 100 {
		t.Errorf("only %d packages are listed", len(linked))
	}
}
