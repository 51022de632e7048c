package main

import (
	"os/exec"
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
			module + "internal/lab", module + "internal/pgproxy", "github.com/Shopify/toxiproxy",
			"github.com/anishathalye/porcupine",
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
