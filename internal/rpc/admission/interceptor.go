package admission

// Steps 6 to 10 are in WrapUnary and, for streams, in guardedConn. The end is in finish.

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
)

// WrapUnary implements connect.Interceptor.
func (c *Chain) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, message connect.AnyRequest) (response connect.AnyResponse, err error) {
		procedure := message.Spec().Procedure
		defer c.metrics.measure(procedure)()
		ctx, cancel := context.WithTimeoutCause(ctx, c.timeLimit, errTimeout)
		defer cancel()
		defer func() {
			if err = c.finish(ctx, procedure, recover(), err); err != nil {
				response = nil
			}
		}()
		ctx, key, err := c.withIdempotencyKey(ctx, procedure, message.Header())
		if err != nil {
			return nil, err
		}
		call := request.CallFrom(ctx)
		defer func() { call.Answered(err) }()
		if err := call.Prove(message.Any()); err != nil {
			return nil, err
		}
		if err := c.admit(ctx, procedure, message.Any()); err != nil {
			return nil, err
		}
		if key != nil {
			if err := hashRequest(key, procedure, message.Header(), message.Any()); err != nil {
				return nil, err
			}
		}
		if err := c.rates.takeDomain(ctx, message.Any()); err != nil {
			return nil, err
		}
		guessed, err := c.rates.takeGuess(ctx, message.Any())
		if err != nil {
			return nil, err
		}
		defer func() { guessed(err) }()
		if takesFiles[procedure] {
			leave, err := c.rates.file(ctx)
			if err != nil {
				return nil, err
			}
			defer leave()
		}
		if rule := c.rules[procedure]; rule.ReadOnly && rule.Kind != v1.Access_RULE_PUBLIC {
			if err := c.rates.read(ctx); err != nil {
				return nil, err
			}
		}
		if response, err = next(ctx, message); err != nil {
			return nil, err
		}
		info, _ := connect.CallInfoForHandlerContext(ctx)
		if key != nil {
			setKeyHeaders(info.ResponseHeader(), key)
		}
		if info.ResponseHeader().Get(convert.IdempotentHeader) == "true" {
			c.metrics.countReplay(procedure)
		}
		return response, c.revalidate(ctx, procedure, message, response)
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (c *Chain) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) (err error) {
		procedure := conn.Spec().Procedure
		defer c.metrics.measure(procedure)()
		defer func() { err = c.finish(ctx, procedure, recover(), err) }()
		ctx, key, err := c.withIdempotencyKey(ctx, procedure, conn.RequestHeader())
		if err != nil {
			return err
		}
		guarded := &guardedConn{StreamingHandlerConn: conn, ctx: ctx, chain: c, key: key, release: func() {}}
		defer func() { guarded.release() }()
		return next(ctx, guarded)
	}
}

// WrapStreamingClient implements connect.Interceptor. A server has no clients.
func (c *Chain) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// guardedConn admits the request of a server stream, which arrives after the stream was opened.
type guardedConn struct {
	connect.StreamingHandlerConn
	ctx   context.Context //nolint:containedctx // Receive has no context
	chain *Chain
	key   *idempotency.Key // nil if the request has none
	// release ends the stream's count among those of its caller.
	release func()
}

// Receive implements connect.StreamingHandlerConn.
func (g *guardedConn) Receive(message any) error {
	if err := g.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	if err := g.chain.admit(g.ctx, g.Spec().Procedure, message); err != nil {
		return err
	}
	release, err := g.chain.rates.open(request.CallFrom(g.ctx).Principal)
	if err != nil {
		return err
	}
	g.release = release
	if takesFiles[g.Spec().Procedure] {
		leave, err := g.chain.rates.file(g.ctx)
		if err != nil {
			return err
		}
		g.release = func() { leave(); release() }
	}
	if g.key == nil {
		return nil
	}
	return hashRequest(g.key, g.Spec().Procedure, g.RequestHeader(), message)
}

// Send implements connect.StreamingHandlerConn. The headers are sent with the first message.
func (g *guardedConn) Send(message any) error {
	if g.key != nil {
		setKeyHeaders(g.ResponseHeader(), g.key)
	}
	return g.StreamingHandlerConn.Send(message)
}

// finish counts and logs the outcome of a request and returns the error to send. It is the only place that counts and
// logs errors.
func (c *Chain) finish(ctx context.Context, procedure string, recovered any, err error) error {
	if recovered == http.ErrAbortHandler { //nolint:errorlint // net/http compares the value, too
		panic(recovered)
	}
	if recovered != nil {
		err = fmt.Errorf("panic: %v\n%s", recovered, debug.Stack())
	}
	request.CallFrom(ctx).Counted = true
	c.security.called(ctx, procedure, err)
	if err == nil {
		c.metrics.count(procedure, "ok", "")
		return nil
	}
	if connect.IsNotModifiedError(err) {
		c.metrics.count(procedure, "not_modified", "")
		return err
	}
	f := faultOf(ctx, err)
	if f == nil {
		c.metrics.count(procedure, connect.CodeOf(err).String(), "")
		return err
	}
	if f.Reason == fault.RateLimited {
		request.CallFrom(ctx).HeldBack = true
	}
	c.metrics.count(procedure, codes[f.Kind].String(), string(f.Reason))
	c.logError(ctx, procedure, f)
	return encodeError(ctx, c.hideUnreadable(ctx, f))
}

// logError logs an error with its private cause. Errors that operators must look into have a high level, errors of
// callers a low one.
func (c *Chain) logError(ctx context.Context, procedure string, f *fault.Error) {
	level := slog.LevelDebug
	switch {
	case f.Kind == fault.Internal:
		level = slog.LevelError
	case f.Kind == fault.Unavailable,
		f.Kind == fault.DeadlineExceeded && slices.Contains([]error{nil, errTimeout}, context.Cause(ctx)):
		level = slog.LevelWarn // a time limit of the server, not the caller's deadline or a caller that has left
	}
	call := request.CallFrom(ctx)
	attrs := []slog.Attr{
		slog.String("request_id", call.ID),
		slog.String("procedure", procedure),
		slog.String("reason", string(f.Reason)),
		slog.Any("error", f),
	}
	if call.Principal.Subject != "" {
		attrs = append(attrs, slog.String("subject", call.Principal.Subject))
	}
	if call.Admitted {
		attrs = append(attrs, slog.String("tenant_id", call.Caller.Tenant.String()))
	}
	c.log.LogAttrs(ctx, level, "request failed", attrs...)
}
