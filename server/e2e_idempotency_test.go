package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/berthhq/berth/internal/tenant"
)

// Every mutation that is sent twice under one key answers alike and is done once, even where it would be refused without the
// key. The text of a service account's key is shown once all the same.
func TestEveryMutationHappensOnce(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	raw := w.token(tenant.RoleOwner)
	for _, p := range procedures() {
		if p.Public() || p.Reads() {
			continue
		}
		for _, b := range requests[p.Short()] {
			request := b(w)
			under := metadata.AppendToOutgoingContext(t.Context(), "idempotency-key", unique())
			first := live.try(under, raw, p, request)
			if first.Code != codes.OK {
				t.Errorf("%s: %s", p.Short(), first)
				continue
			}
			before := live.rows(t, w.ID)
			again := live.try(under, raw, p, request)
			first.Answer = keyTexts.ReplaceAllString(spaceless(first.Answer), `"key":""`)
			again.Answer = spaceless(again.Answer)
			if diff := cmp.Diff(first, again); diff != "" {
				t.Errorf("%s answers otherwise:\n%s", p.Short(), diff)
			}
			other := live.try(metadata.AppendToOutgoingContext(under, "x-booking-channel", "phone"), raw, p, request)
			if other.Code != codes.AlreadyExists || other.Reason != "IDEMPOTENCY_CONFLICT" {
				t.Errorf("%s, other content: %s", p.Short(), other)
			}
			if diff := cmp.Diff(before, live.rows(t, w.ID)); diff != "" {
				t.Errorf("%s was done twice:\n%s", p.Short(), diff)
			}
		}
	}
	live.wantAnswers(t, w.ID)
	live.sound(t)
}

var keyTexts = regexp.MustCompile(`"key":"berth_\w+"`)

// spaceless is an answer without the spaces that the JSON of messages has at random.
func spaceless(answer string) string { return strings.ReplaceAll(answer, " ", "") }
