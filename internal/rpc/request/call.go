// Package request has what is known about the request that a handler serves: its ID, its caller and their permissions.
package request

import (
	"context"
	"net/http"
	"net/netip"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/access"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// Call is what is known about one request. It is created before the request is read and completed while the request is
// processed. Only one goroutine at a time uses it.
type Call struct {
	ID             string
	Client         netip.Addr // of the caller, not of a trusted proxy
	Program        string     // what the caller says that it is; bounded, printable ASCII
	Guard          *access.Guard
	ResponseHeader http.Header
	Principal      token.Principal
	Caller         tenant.Caller
	Admitted       bool // Caller is set and may call the RPC
	// Authorize checks the caller again, since roles may have changed.
	Authorize func(context.Context) (tenant.Caller, error)
	// StepUp checks that the caller's sign-in is recent or strong enough for the tenant, and for what it is to ask for.
	StepUp func(ctx context.Context, next ...catalog.StepUp) error
	// ActorNames reads the present names of actors.
	ActorNames func(ctx context.Context, by tenant.Caller, actors []string) (map[string]string, error)
	// Prove is called with the message of a public RPC. It returns an error if the call may not be answered.
	Prove func(message any) error
	// Answered is called with the outcome of a public RPC.
	Answered func(err error)
	// Ready is called when the response is ready to be sent, and again when it was sent.
	Ready    func()
	HeldBack bool // the response waits before it is sent
	Counted  bool // the metrics have counted the outcome
}

type callKey struct{}

// WithCall returns a context that carries a call.
func WithCall(ctx context.Context, call *Call) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// CallFrom returns the call of a context, or nil outside of a request.
func CallFrom(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// Header returns the headers of the request of an RPC.
func Header(ctx context.Context) http.Header {
	info, _ := connect.CallInfoForHandlerContext(ctx)
	return info.RequestHeader()
}

// ResponseHeader returns the headers of the response of an RPC. They are sent with errors, too.
func ResponseHeader(ctx context.Context) http.Header {
	info, _ := connect.CallInfoForHandlerContext(ctx)
	return info.ResponseHeader()
}

// ID returns the ID of the request in logs, or "" outside of a request.
func ID(ctx context.Context) string {
	if call := CallFrom(ctx); call != nil {
		return call.ID
	}
	return ""
}

// CallerFrom returns the caller, or false in public RPCs.
func CallerFrom(ctx context.Context) (tenant.Caller, bool) {
	if call := CallFrom(ctx); call != nil {
		return call.Caller, call.Admitted
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

// CallerWith returns the caller, who may access only what is their own unless they have a permission beyond the one
// that the RPC requires.
func CallerWith(ctx context.Context, permission string) (tenant.Caller, error) {
	caller := Caller(ctx)
	decision, err := CallFrom(ctx).Guard.Decide(ctx, caller.Tenant, caller.Subject, permission)
	caller.SelfOnly = !decision.Allowed
	return caller, err
}

// RequirePermission returns an error unless the caller has a permission beyond the one that the RPC requires.
func RequirePermission(ctx context.Context, permission string) error {
	caller, err := CallerWith(ctx, permission)
	if err == nil && caller.SelfOnly {
		err = fault.MissingPermission(permission)
	}
	return err
}

// RequireStepUp returns an error unless the caller's sign-in is recent or strong enough for the tenant, and for what
// the tenant is to ask for from now on. It is for RPCs of which only some calls need that.
func RequireStepUp(ctx context.Context, next ...catalog.StepUp) error {
	return CallFrom(ctx).StepUp(ctx, next...)
}

// Permitted returns which of the permissions a caller has.
func Permitted(ctx context.Context, caller tenant.Caller, permissions []string) (map[string]bool, error) {
	granted := make(map[string]bool, len(permissions))
	for _, p := range permissions {
		decision, err := CallFrom(ctx).Guard.Decide(ctx, caller.Tenant, caller.Subject, p)
		if err != nil {
			return nil, err
		}
		if decision.Allowed {
			granted[p] = true
		}
	}
	return granted, nil
}

// Reauthorize returns the caller with their current roles, for streams that outlive a change of roles. It returns an
// error if the caller may no longer call the RPC.
func Reauthorize(ctx context.Context) (tenant.Caller, error) { return CallFrom(ctx).Authorize(ctx) }

// Scoped returns the caller of a list that has a scope, who may access only what is their own unless the scope is ALL.
// That is an error without the permission of the RPC.
func Scoped(ctx context.Context, scope v1.ListScope, permission string) (tenant.Caller, error) {
	caller := Caller(ctx)
	if scope == v1.ListScope_LIST_SCOPE_ALL {
		if caller.SelfOnly {
			return caller, fault.MissingPermission(permission)
		}
		return caller, nil
	}
	caller.SelfOnly = true
	return caller, nil
}
