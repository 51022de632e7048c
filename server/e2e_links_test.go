package main

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
)

// Guessed links reveal nothing, fill no log, and are counted.
func TestLinks_GarbageIsNotFoundAndCounted(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	encode := base64.RawURLEncoding.EncodeToString
	ids := map[string]string{
		"a zero tenant": strings.Repeat("\x00", 32), "no such tenant": strings.Repeat("\x17", 32),
		"too short": "x", "too long": strings.Repeat("\xff", 3000),
	}
	var paths []string
	for _, raw := range ids {
		text := encode([]byte(raw))
		paths = append(paths, "/claim/"+text, "/display/"+text, "/unsubscribe/"+text, "/calendar/"+text+".ics",
			"/confirm/"+text, "/invite/"+text, "/address/"+text)
	}
	paths = append(paths, "/claim/%00", "/claim/%ff%fe", "/claim/a%2Fb", "/calendar/.ics", "/display/a.b.c",
		"/unsubscribe/"+strings.Repeat("A", 8000))
	hooks := []string{
		"/twilio/00000000-0000-0000-0000-000000000000/status", "/twilio/0190a5e0-0000-7000-8000-000001000000/inbound",
		"/twilio/platform/status", "/twilio/x/inbound",
	}
	before := live.samples(t)
	for _, path := range paths {
		test.EqOp(t, http.StatusNotFound, live.statusOf(t, http.MethodGet, path), test.Sprint(path))
	}
	for _, path := range hooks {
		test.EqOp(t, http.StatusNotFound, live.statusOf(t, http.MethodPost, path), test.Sprint(path))
	}
	after := live.samples(t)
	for kind, want := range map[string]float64{
		"claim": 7, "display": 5, "unsubscribe": 5, "calendar": 5, "confirm": 4, "invite": 4, "address": 4, "twilio": 4,
	} {
		name := `berth_invalid_links_total{kind="` + kind + `"}`
		test.EqOp(t, want, after[name]-before[name], test.Sprint(kind))
	}

	key := grant.KeyText(tenant.TenantID{}, tenant.KeyID{UUID: tenant.UUID{1}}, grant.Secret{1})
	live.try(t.Context(), "", procedureNamed(t, "AccessService/ExchangeKey"), &v1.ExchangeKeyRequest{Key: key}).has(
		t, "KEY_INVALID",
	)
	test.StrNotContains(t, live.log.String(), "level=ERROR")
}

// statusOf returns the status of a response.
func (l *liveNode) statusOf(t *testing.T, method, path string) int {
	t.Helper()
	status, _ := sendHTTP(t, method, "http://"+l.Address+path, nil, "A=B")
	return status
}
