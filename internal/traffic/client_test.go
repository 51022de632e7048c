package traffic

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
)

func TestClientName_IsBoundedAndPrintable(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"":                       "",
		"berth-go/1.2 (linux)":   "berth-go/1.2 (linux)",
		"a\tb\x7fé":              "a?b??",
		strings.Repeat("x", 300): strings.Repeat("x", MaxClientName),
	} {
		test.EqOp(t, want, ClientName(agent))
	}
}
