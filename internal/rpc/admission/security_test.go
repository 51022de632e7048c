package admission

import (
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
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
		request.Header().Set("User-Agent", "kiosk/1 "+strings.Repeat("x", traffic.MaxClientName))
		test.Error(t, errorOf(client.GetBooking(t.Context(), request)))
	}
	valid := w.token(t, "member", tenantA)
	forged := valid[:len(valid)-4] + "AAAA"
	for _, raw := range []string{"", expired(t, w.issuer), "nonsense", forged, forged} {
		send(raw)
	}
	send(valid, valid)
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

func TestSecurity_CountsCalls(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	s := expect.Value(newSecurity(registry, slog.New(slog.DiscardHandler), time.Now))(t)
	noKey := fault.New(fault.Unauthenticated, fault.KeyInvalid, "no")
	for procedure, err := range map[string]error{
		berthv1connect.AccessServiceAssignRoleProcedure:  nil,
		berthv1connect.AccessServiceDeleteRoleProcedure:  noKey,
		berthv1connect.AccessServiceExchangeKeyProcedure: noKey,
		berthv1connect.BookingServiceBookProcedure:       nil,
		berthv1connect.BookingServiceGetBookingProcedure: fault.New(fault.PermissionDenied, fault.TenantForbidden, "no"),
	} {
		s.called(request.WithCall(t.Context(), new(request.Call)), procedure, err)
	}
	test.Eq(t, map[string]float64{
		"berth_security_events_total event=role_changed reason=":        1,
		"berth_security_events_total event=key_refused reason=":         1,
		"berth_security_events_total event=token_refused reason=tenant": 1,
	}, expect.Metrics(t, registry, "berth_security"))
}

// What is counted and alerted on is what the documentation says.
func TestSecurity_AlertsOnEveryEvent(t *testing.T) {
	t.Parallel()
	text := string(expect.Value(os.ReadFile("../../../docs/operations.md"))(t))
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
