package provider_test

import (
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/provider"
	"github.com/berthhq/berth/internal/provider/dnstest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A name that does not exist has no texts. A server that fails says nothing about the name.
func TestTXT_TellsMissingNamesFromFailures(t *testing.T) {
	t.Parallel()
	server := expect.Value(dnstest.Start())(t)
	t.Cleanup(server.Close)
	lookUp := provider.TXT(server.Address)
	long := strings.Repeat("0123456789", 40)
	server.Set("a.example.com", "one", long)
	for name, want := range map[string][]string{
		"a.example.com": {"one", long}, "A.Example.COM": {"one", long}, "b.example.com": nil,
	} {
		test.Eq(t, want, expect.Value(lookUp(t.Context(), name))(t), test.Sprint(name))
	}
	server.Break(true)
	test.Error(t, expect.Error(lookUp(t.Context(), "a.example.com")))
}
