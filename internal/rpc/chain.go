package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"connectrpc.com/connect"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
)

// chain is what every request passes: it is watched from beginning to end,
// admitted or refused, and whatever comes of it is put into the contract's words.
type chain struct {
	admission
	metrics *metrics
	log     *slog.Logger
	// timeLimit bounds unary RPCs, whatever the client asks for.
	timeLimit time.Duration
}

// gate refuses strangers. It runs when the headers are there and before the body is read.
func (c *chain) gate(
	ctx context.Context, spec connect.Spec, _ connect.Peer, header http.Header,
) (context.Context, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeLimit) // keys may have to be fetched
	defer cancel()
	if err := c.authenticate(limited, spec.Procedure, header); err != nil {
		return nil, c.settle(limited, spec.Procedure, nil, err)
	}
	return ctx, nil
}

// WrapUnary implements connect.Interceptor.
func (c *chain) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (answer connect.AnyResponse, err error) {
		procedure := request.Spec().Procedure
		defer c.metrics.measure(procedure)()
		ctx, cancel := context.WithTimeout(ctx, c.timeLimit)
		defer cancel()
		defer func() {
			if err = c.settle(ctx, procedure, recover(), err); err != nil {
				answer = nil
			}
		}()
		ctx, key, err := c.withKey(ctx, procedure, request.Header())
		if err != nil {
			return nil, err
		}
		if err := c.admit(ctx, procedure, request.Any()); err != nil {
			return nil, err
		}
		if key != nil {
			if err := identify(key, request.Header(), request.Any()); err != nil {
				return nil, err
			}
		}
		if answer, err = next(ctx, request); err != nil {
			return nil, err
		}
		if key != nil {
			setKeyHeaders(answer.Header(), key)
		}
		if answer.Header().Get(convert.IdempotentHeader) == "true" {
			c.metrics.repeat(procedure)
		}
		return answer, c.revalidate(ctx, procedure, request, answer)
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (c *chain) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) (err error) {
		procedure := conn.Spec().Procedure
		defer c.metrics.measure(procedure)()
		defer func() { err = c.settle(ctx, procedure, recover(), err) }()
		ctx, key, err := c.withKey(ctx, procedure, conn.RequestHeader())
		if err != nil {
			return err
		}
		return next(ctx, &guardedConn{StreamingHandlerConn: conn, ctx: ctx, chain: c, key: key})
	}
}

// WrapStreamingClient implements connect.Interceptor. A server has no clients.
func (c *chain) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// guardedConn admits the request of a server stream, which arrives only once the
// stream is open.
type guardedConn struct {
	connect.StreamingHandlerConn
	ctx   context.Context //nolint:containedctx // Receive has none of its own
	chain *chain
	key   *engine.IdempotencyKey // nil: none
}

// Receive implements connect.StreamingHandlerConn.
func (g *guardedConn) Receive(message any) error {
	if err := g.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	if err := g.chain.admit(g.ctx, g.Spec().Procedure, message); err != nil || g.key == nil {
		return err
	}
	return identify(g.key, g.RequestHeader(), message)
}

// Send implements connect.StreamingHandlerConn. With the first message go the headers.
func (g *guardedConn) Send(message any) error {
	if g.key != nil {
		setKeyHeaders(g.ResponseHeader(), g.key)
	}
	return g.StreamingHandlerConn.Send(message)
}

// settle makes of whatever came of a request what is sent. It is the one place
// where errors are counted and logged.
func (c *chain) settle(ctx context.Context, procedure string, recovered any, err error) error {
	if recovered == http.ErrAbortHandler { //nolint:errorlint // the very value by which net/http is told
		panic(recovered)
	}
	if recovered != nil {
		err = fmt.Errorf("panic: %v\n%s", recovered, debug.Stack())
	}
	request.CallOf(ctx).Counted = true
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
	c.metrics.count(procedure, codes[f.Kind].String(), string(f.Reason))
	c.tell(ctx, procedure, f)
	return encode(ctx, f)
}

// tell logs an error with its private cause: loudly what an operator should look
// at, quietly what is the caller's own affair.
func (c *chain) tell(ctx context.Context, procedure string, f *fault.Error) {
	level := slog.LevelDebug
	switch {
	case f.Kind == fault.Internal:
		level = slog.LevelError
	case f.Kind == fault.Unavailable, f.Kind == fault.DeadlineExceeded && ctx.Err() == nil:
		level = slog.LevelWarn // time ran out here, not at the caller's
	}
	if !c.log.Enabled(ctx, level) {
		return
	}
	request := request.CallOf(ctx)
	attrs := []slog.Attr{
		slog.String("request_id", request.ID),
		slog.String("procedure", procedure),
		slog.String("reason", string(f.Reason)),
		slog.Any("error", f),
	}
	if request.Principal.Subject != "" {
		attrs = append(attrs, slog.String("subject", request.Principal.Subject))
	}
	if request.Admitted {
		attrs = append(attrs, slog.String("tenant_id", request.Caller.Tenant.String()))
	}
	c.log.LogAttrs(ctx, level, "request failed", attrs...)
}
