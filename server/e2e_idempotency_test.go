package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Every mutation that is sent twice with one key has the same response and is executed once, even if a second one would
// be an error without the key, and it says that it is a repetition. The key of a service account is still shown only
// once.
func TestEveryMutation_HappensOncePerKey(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	raw := w.token(tenant.RoleOwner)
	for _, p := range procedures() {
		if p.IsPublic() || p.IsReadOnly() {
			continue
		}
		for _, b := range requests[p.Short()] {
			request := b(w)
			under := metadata.AppendToOutgoingContext(t.Context(), "idempotency-key", unique())
			first := live.try(under, raw, p, request)
			must.EqOp(t, codes.OK, first.Code, must.Sprintf("%s: %s", p.Short(), first))
			before := live.rows(t, w.ID)
			again := live.try(under, raw, p, request)
			first.Response = keyTexts.ReplaceAllString(spaceless(first.Response), `"key":""`)
			again.Response = spaceless(again.Response)
			first.Replayed = true
			test.EqOp(t, "", cmp.Diff(first, again), test.Sprintf("%s answers otherwise:\n", p.Short()))
			other := live.try(metadata.AppendToOutgoingContext(under, "x-booking-channel", "phone"), raw, p, request)
			test.EqOp(t, codes.AlreadyExists, other.Code, test.Sprintf("%s, other content: %s", p.Short(), other))
			test.EqOp(t, "IDEMPOTENCY_CONFLICT", other.Reason, test.Sprintf("%s, other content: %s", p.Short(), other))
			test.EqOp(t, "", cmp.Diff(before, live.rows(t, w.ID)), test.Sprintf("%s was done twice:\n", p.Short()))
		}
	}
	live.verify(t)
}

// What a second call without a key does is what the documentation of its RPC says: nothing, one of the reasons, or
// something again.
func TestEveryMutation_RepeatedDoesWhatItsDocumentationSays(t *testing.T) {
	t.Parallel()
	said := make(map[string]string) // by RPC
	for _, page := range expect.Value(filepath.Glob("../docs/api/*.md"))(t) {
		text := string(expect.Value(os.ReadFile(page))(t))
		for _, found := range repeatedLines.FindAllStringSubmatch(text, -1) {
			said[found[1]] = found[2]
		}
	}
	live := newLive(t)
	w := newWorld(t, live)
	raw := w.token(tenant.RoleOwner)
	for _, p := range procedures() {
		text := said[p.Short()]
		if text == "" || p.IsPublic() {
			continue
		}
		for _, b := range requests[p.Short()] {
			request := b(w)
			first := live.try(t.Context(), raw, p, request)
			must.EqOp(t, codes.OK, first.Code, must.Sprintf("%s: %s", p.Short(), first))
			before := live.rows(t, w.ID)
			again := live.try(t.Context(), raw, p, request)
			after := live.rows(t, w.ID)
			delete(before, "audit_entries") // where an act that changed nothing may be
			delete(after, "audit_entries")
			switch {
			case again.Code != codes.OK:
				test.StrContains(t, text, again.Reason, test.Sprintf("%s: %s", p.Short(), again))
			case maps.Equal(before, after):
				test.RegexMatch(t, doesNothing, text, test.Sprintf("%s changed nothing", p.Short()))
			default:
				test.RegexMatch(t, doesMore, text, test.Sprintf("%s: %s", p.Short(), cmp.Diff(before, after)))
			}
		}
	}
	test.Greater(t, 90, len(said))
	live.verify(t)
}

var (
	repeatedLines = regexp.MustCompile(`(?s)\n` + "`POST /berth\\.v1\\.(\\w+/\\w+)`" +
		`[^\n]*\n.*?\n(?:\*\*Repeated:\*\* ([^\n]+)|\*\*Request\*\*)`)
	doesNothing = regexp.MustCompile(`changes? nothing|sends another message|looks again|answers another`)
	doesMore    = regexp.MustCompile(`again|another|new`)
)

var keyTexts = regexp.MustCompile(`"key":"berth_\w+"`)

// spaceless removes the random spaces from the JSON of a message.
func spaceless(answer string) string { return strings.ReplaceAll(answer, " ", "") }
