package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/berthhq/berth/internal/tenant"
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

var keyTexts = regexp.MustCompile(`"key":"berth_\w+"`)

// spaceless removes the random spaces from the JSON of a message.
func spaceless(answer string) string { return strings.ReplaceAll(answer, " ", "") }
