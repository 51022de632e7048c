package rpc

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// call is what is known of one request. It is made before anything reads the
// request and filled in on the way; one goroutine at a time holds it.
type call struct {
	id        string
	guard     *access.Guard
	answer    *http.ResponseController
	header    http.Header // of the answer
	principal token.Principal
	caller    tenant.Caller
	admitted  bool // caller is good
	// decide judges the caller once more: roles may have changed since.
	decide  func(context.Context) (tenant.Caller, error)
	counted bool // the metrics have heard of the outcome
}

// writeWithin lets writing the answer fail if it takes longer. The function that it gives ends that.
func (c *call) writeWithin(limit time.Duration) (release func()) {
	_ = c.answer.SetWriteDeadline(time.Now().Add(limit)) // a writer that knows no deadlines has none
	return func() { _ = c.answer.SetWriteDeadline(time.Time{}) }
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// RequestID gives the id under which the log knows the request, or "" outside of one.
func RequestID(ctx context.Context) string {
	if c := callOf(ctx); c != nil {
		return c.id
	}
	return ""
}

// CallerFrom gives who calls; false in RPCs that are public.
func CallerFrom(ctx context.Context) (tenant.Caller, bool) {
	if c := callOf(ctx); c != nil {
		return c.caller, c.admitted
	}
	return tenant.Caller{}, false
}

// caller is CallerFrom for handlers of RPCs that are not public.
func caller(ctx context.Context) tenant.Caller {
	who, ok := CallerFrom(ctx)
	if !ok {
		panic("rpc: a public RPC has no caller")
	}
	return who
}

// may says whether the caller holds one more permission than the RPC asks for.
func may(ctx context.Context, permission string) (bool, error) {
	who := caller(ctx)
	decision, err := callOf(ctx).guard.Decide(ctx, who.Tenant, who.Subject, permission)
	return decision.Allowed, err
}

// stillCaller is the caller as their roles are now, for streams that outlive a change of them. It fails where the caller would
// not be let in any more.
func stillCaller(ctx context.Context) (tenant.Caller, error) { return callOf(ctx).decide(ctx) }

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 64
)

// requestID takes the caller's, so that one id runs through the logs of both,
// unless it could disturb them.
func requestID(header http.Header) string {
	id := header.Get(requestIDHeader)
	if id == "" || len(id) > maxRequestID {
		return rand.Text()
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return rand.Text()
		}
	}
	return id
}
