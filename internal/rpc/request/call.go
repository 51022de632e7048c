// Package request holds what is known of the request that a handler serves: its id, its caller and their permissions.
package request

import (
	"context"
	"net/http"
	"time"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// Call is what is known of one request. It is made before anything reads the
// request and filled in on the way; one goroutine at a time holds it.
type Call struct {
	ID        string
	Guard     *access.Guard
	Answer    *http.ResponseController
	Header    http.Header // of the answer
	Principal token.Principal
	Caller    tenant.Caller
	Admitted  bool // caller is good
	// Decide judges the caller once more: roles may have changed since.
	Decide  func(context.Context) (tenant.Caller, error)
	Counted bool // the metrics have heard of the outcome
}

// WriteWithin lets writing the answer fail if it takes longer. The function that it gives ends that.
func (c *Call) WriteWithin(limit time.Duration) (release func()) {
	_ = c.Answer.SetWriteDeadline(time.Now().Add(limit)) // a writer that knows no deadlines has none
	return func() { _ = c.Answer.SetWriteDeadline(time.Time{}) }
}

type CallKey struct{}

func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(CallKey{}).(*Call)
	return c
}

// RequestID gives the id under which the log knows the request, or "" outside of one.
func RequestID(ctx context.Context) string {
	if c := CallOf(ctx); c != nil {
		return c.ID
	}
	return ""
}

// CallerFrom gives who calls; false in RPCs that are public.
func CallerFrom(ctx context.Context) (tenant.Caller, bool) {
	if c := CallOf(ctx); c != nil {
		return c.Caller, c.Admitted
	}
	return tenant.Caller{}, false
}

// Caller is CallerFrom for handlers of RPCs that are not public.
func Caller(ctx context.Context) tenant.Caller {
	who, ok := CallerFrom(ctx)
	if !ok {
		panic("rpc: a public RPC has no caller")
	}
	return who
}

// May says whether the caller holds one more permission than the RPC asks for.
func May(ctx context.Context, permission string) (bool, error) {
	who := Caller(ctx)
	decision, err := CallOf(ctx).Guard.Decide(ctx, who.Tenant, who.Subject, permission)
	return decision.Allowed, err
}

// StillCaller is the caller as their roles are now, for streams that outlive a change of them. It fails where the
// caller would not be let in any more.
func StillCaller(ctx context.Context) (tenant.Caller, error) { return CallOf(ctx).Decide(ctx) }
