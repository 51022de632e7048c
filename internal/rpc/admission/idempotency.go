package admission

// Step 6: the idempotency key, and after step 9 the hash of the request that it stands for.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
)

const maxIdempotencyKey = 200

// withIdempotencyKey reads the idempotency key of a mutation. The key is nil for requests without the header, and for
// RPCs that have no side effects or no caller.
func (c *checks) withIdempotencyKey(
	ctx context.Context, procedure string, header http.Header,
) (context.Context, *idempotency.Key, error) {
	sent := header.Values(convert.IdempotencyKeyHeader)
	if rule := c.rules[procedure]; len(sent) == 0 || !rule.mutates() {
		return ctx, nil, nil
	}
	if len(sent) > 1 || !isVisibleASCII(sent[0]) || len(sent[0]) > maxIdempotencyKey {
		return ctx, nil, fault.Invalid(
			convert.IdempotencyKeyHeader, "The header %s must be 1 to %d visible ASCII characters.",
			convert.IdempotencyKeyHeader, maxIdempotencyKey,
		)
	}
	key := &idempotency.Key{Text: sent[0]}
	return idempotency.With(ctx, key), key, nil
}

func isVisibleASCII(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return text != ""
}

// hashRequest stores the hash of a request in its key. It covers the procedure, the message after its tenant was filled
// in, and the header that takes the place of a field.
func hashRequest(key *idempotency.Key, procedure string, header http.Header, message any) error {
	m, err := protoMessage(message)
	if err != nil {
		return err
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil { // all that fail would have one hash
		return fmt.Errorf("rpc: hash request: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%q\n", procedure, header.Values(convert.BookingChannelHeader))
	sum.Write(body)
	key.Hash = sum.Sum(nil)
	return nil
}

// setKeyHeaders sets the headers of a response that name its idempotency key and say whether it is a replay. The
// handler may have marked the response as repeated for another reason, so a false value is not written.
func setKeyHeaders(response http.Header, key *idempotency.Key) {
	response.Set(convert.IdempotencyKeyEchoHeader, key.Text)
	if key.Repeated {
		response.Set(convert.IdempotentHeader, "true")
	}
}
