package rpc

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Refused tokens are counted by reason. One log line a second has the address and the program, and no line the token.
func TestSecurity_CountsRefusedTokensAndLogsASample(t *testing.T) {
	t.Parallel()
	w := newRatedServer(t, Rates{}, 0)
	client := berthv1connect.NewBookingServiceClient(http1, w.url)
	send := func(raw string, another ...string) {
		t.Helper()
		request := as(raw, &v1.GetBookingRequest{BookingId: someSession})
		for _, raw := range another {
			request.Header().Add("Authorization", "Bearer "+raw)
		}
		request.Header().Set("User-Agent", "kiosk/1 "+strings.Repeat("x", maxClientName))
		test.Error(t, errorOf(client.GetBooking(t.Context(), request)))
	}
	valid := w.token(t, "member", tenantA)
	forged := valid[:len(valid)-4] + "AAAA"
	for _, raw := range []string{"", expired(t, w.issuer), "nonsense", forged, forged} {
		send(raw)
	}
	send(valid, valid)
	test.Error(t, errorOf(berthv1connect.NewAccessServiceClient(http1, w.url).DeleteRole(
		t.Context(), as(valid, &v1.DeleteRoleRequest{}),
	)))
	const refused = "berth_security_events_total event=token_refused reason="
	test.Eq(t, map[string]float64{
		refused + "missing": 1, refused + "expired": 1, refused + "malformed": 2, refused + "signature": 2,
	}, expect.Metrics(t, w.metrics, "berth_security_events_total"))
	log := w.log.String()
	test.EqOp(t, 1, strings.Count(log, `"msg":"refused"`), test.Sprint(log))
	test.StrContains(t, log, `"address":"127.0.0.1"`)
	test.StrContains(t, log, `"client":"kiosk/1 xxx`)
	test.StrNotContains(t, log, forged)
	w.clock.Advance(time.Second)
	send(forged)
	test.StrContains(t, w.log.String(), `"omitted":3`)
}

// What is counted and alerted on is what the documentation says.
func TestSecurity_AlertsOnEveryEvent(t *testing.T) {
	t.Parallel()
	text := string(expect.Value(os.ReadFile("../../docs/operations.md"))(t))
	_, text, _ = strings.Cut(text, "## Alerts on security")
	table, rules, found := strings.Cut(text, "```yaml")
	rules, _, _ = strings.Cut(rules, "```")
	must.True(t, found)
	events := slices.Sorted(maps.Values(securityEvents))
	for _, event := range append(slices.Compact(events), "token_refused", "key_refused") {
		test.StrContains(t, table, "`"+event+"`")
		test.RegexMatch(t, regexp.MustCompile(`berth_security_events_total\{event=~?"([a-z_]+\|)*`+event+`[|"]`), rules)
	}
	test.StrContains(t, rules, "berth_invalid_links_total")
}

func TestClientName_IsBoundedAndPrintable(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"":                       "",
		"berth-go/1.2 (linux)":   "berth-go/1.2 (linux)",
		"a\tb\x7fé":              "a?b??",
		strings.Repeat("x", 300): strings.Repeat("x", maxClientName),
	} {
		test.EqOp(t, want, clientName(agent))
	}
}
