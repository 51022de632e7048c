package rpc

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
)

const maxIdempotencyKey = 200

// withKey reads the key under which the caller may repeat a mutation. Requests without one, and RPCs that have no
// side effects or no caller, have none.
func (a *admission) withKey(
	ctx context.Context, procedure string, header http.Header,
) (context.Context, *engine.IdempotencyKey, error) {
	sent := header.Values(convert.IdempotencyKeyHeader)
	if rule := a.rules[procedure]; len(sent) == 0 || !rule.mutates() {
		return ctx, nil, nil
	}
	if len(sent) > 1 || !visible(sent[0]) || len(sent[0]) > maxIdempotencyKey {
		return ctx, nil, fault.Invalid(
			convert.IdempotencyKeyHeader, "The header %s must be 1 to %d visible ASCII characters.",
			convert.IdempotencyKeyHeader, maxIdempotencyKey,
		)
	}
	key := &engine.IdempotencyKey{Text: sent[0], Procedure: procedure}
	return engine.WithIdempotencyKey(ctx, key), key, nil
}

func visible(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return text != ""
}

// identify puts into a key what is asked for: the message, once its tenant is named, and the header that
// says as much as one of its fields.
func identify(key *engine.IdempotencyKey, header http.Header, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return fmt.Errorf("rpc: request not identified: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%q\n", key.Procedure, header.Values(convert.BookingChannelHeader))
	sum.Write(body)
	key.Hash = sum.Sum(nil)
	return nil
}

// setKeyHeaders says in an answer's headers under which key it may be had again, and whether it was. The
// handler may know of another reason to call it a repetition.
func setKeyHeaders(answer http.Header, key *engine.IdempotencyKey) {
	answer.Set(convert.IdempotencyKeyEcho, key.Text)
	if key.Repeated {
		answer.Set(convert.IdempotentHeader, "true")
	}
}
