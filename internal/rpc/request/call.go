// Package request has what is known about the request that a handler serves: its ID, its caller and their permissions.
package request

import (
	"context"
	"net/http"
	"time"

	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// Call is what is known about one request. It is created before the request is read and completed while the request is
// processed. Only one goroutine at a time uses it.
type Call struct {
	ID             string
	Guard          *access.Guard
	Response       *http.ResponseController
	ResponseHeader http.Header
	Principal      token.Principal
	Caller         tenant.Caller
	Admitted       bool // Caller is set and may call the RPC
	// Authorize checks the caller again, since roles may have changed.
	Authorize func(context.Context) (tenant.Caller, error)
	Counted   bool // the metrics have counted the outcome
}

// SetWriteTimeout makes writing the response fail if it takes longer. The returned function clears the timeout.
func (c *Call) SetWriteTimeout(limit time.Duration) (reset func()) {
	_ = c.Response.SetWriteDeadline(time.Now().Add(limit)) // a writer without deadlines has no timeout
	return func() { _ = c.Response.SetWriteDeadline(time.Time{}) }
}

type callKey struct{}

// WithCall returns a context that carries a call.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom returns the call of a context, or nil outside of a request.
func CallFrom(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// ID returns the ID of the request in logs, or "" outside of a request.
func ID(ctx context.Context) string {
	if c := CallFrom(ctx); c != nil {
		return c.ID
	}
	return ""
}

// CallerFrom returns the caller, or false in public RPCs.
func CallerFrom(ctx context.Context) (tenant.Caller, bool) {
	if c := CallFrom(ctx); c != nil {
		return c.Caller, c.Admitted
	}
	return tenant.Caller{}, false
}

// Caller returns the caller of an RPC that is not public.
func Caller(ctx context.Context) tenant.Caller {
	caller, ok := CallerFrom(ctx)
	if !ok {
		panic("rpc: a public RPC has no caller")
	}
	return caller
}

// HasPermission reports whether the caller has a permission beyond the one that the RPC requires.
func HasPermission(ctx context.Context, permission string) (bool, error) {
	caller := Caller(ctx)
	decision, err := CallFrom(ctx).Guard.Decide(ctx, caller.Tenant, caller.Subject, permission)
	return decision.Allowed, err
}

// RequirePermission returns an error unless the caller has a permission beyond the one that the RPC requires.
func RequirePermission(ctx context.Context, permission string) error {
	ok, err := HasPermission(ctx, permission)
	if err == nil && !ok {
		err = fault.New(
			fault.PermissionDenied, fault.PermissionDeniedReason, "Your roles do not allow that.",
		).WithMetadata("permission", permission)
	}
	return err
}

// Reauthorize returns the caller with their current roles, for streams that outlive a change of roles. It returns an
// error if the caller may no longer call the RPC.
func Reauthorize(ctx context.Context) (tenant.Caller, error) { return CallFrom(ctx).Authorize(ctx) }
