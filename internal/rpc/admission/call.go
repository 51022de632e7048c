package admission

// Steps 1 to 3, and the end: a call begins when its headers were read, and ends when its response was written.

import (
	"context"
	"net/http"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/traffic"
)

// Handle wraps the handler of a service: it answers browsers which pages may call, adds a Call to the context of each
// request, and sets the headers that all responses have.
func (c *Chain) Handle(next http.Handler) http.Handler { return c.cors(c.startCall(next)) }

func (c *Chain) startCall(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rule, inContract := c.rules[r.URL.Path]
		call := &request.Call{
			ID: requestID(r.Header), Client: c.rates.addresses.Proxies.Client(r), Guard: c.guard, ResponseHeader: w.Header(),
			Program: traffic.ClientName(r.UserAgent()), Ready: func() {},
			Prove: func(any) error { return nil }, Answered: func(error) {},
		}
		limit := c.requestLimit(r.URL.Path)
		if !inContract || rule.Kind == v1.Access_RULE_PUBLIC {
			limit = min(limit, maxPublicBytes)
		}
		held := c.memory.hold(call, r, limit, c.valueLimit(rule))
		defer held.leave()
		w.Header().Set(requestIDHeader, call.ID)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store") // unless revalidate overwrites it
		rule.tellDeprecated(w.Header())
		limitBody(w, r, limit, held)
		ctx := engine.WithRequest(request.WithCall(r.Context(), call), auditedRequest(call))
		ready := readyWriter{w, held, c.holdBack, r.Context().Done()}
		defer ready.ready() // an error over gRPC is sent when the handler returns
		response := &plainErrors{ResponseWriter: ready}
		defer response.finish()
		r = r.WithContext(ctx)
		if !inContract {
			if err := held.enter(); err != nil {
				http.Error(response, err.Error(), http.StatusTooManyRequests)
				return
			}
			next.ServeHTTP(response, r)
			return
		}
		if err := c.begin(ctx, rule, r, held); err != nil {
			_ = c.errors.Write(response, r, c.finish(ctx, r.URL.Path, nil, err)) // the client has left
			return
		}
		next.ServeHTTP(response, r)
		// Connect itself responds if a request breaks off or violates the protocol.
		if !call.Counted {
			c.metrics.count(r.URL.Path, "unread", "")
			call.Answered(errUnread)
		}
	})
}

var errUnread = fault.Invalid("", "The request breaks off, or violates the protocol.")

// begin takes a call from what its caller may have, and rejects it if the caller is not known. It knows only the
// headers, so that it counts whatever the rest of the request is: an unknown encoding, a wrong timeout, no message.
func (c *Chain) begin(ctx context.Context, rule Rule, r *http.Request, held *heldMemory) error {
	limited, cancel := context.WithTimeout(ctx, c.timeLimit) // the keys of an issuer may have to be fetched
	defer cancel()
	if err := c.authenticate(limited, rule, r.Header); err != nil {
		if fault.ReasonOf(err) == fault.UnauthenticatedReason {
			c.security.refused(ctx, "token_refused", token.Reason(err))
		}
		return err
	}
	call := request.CallFrom(ctx)
	if rule.Kind != v1.Access_RULE_PUBLIC {
		if err := c.rates.takeCaller(call.Principal); err != nil {
			return err
		}
		return held.enter()
	}
	if err := held.enter(); err != nil {
		return err
	}
	c.takeUnproven(call)
	return nil
}

// readyWriter calls Call.Ready before it sends anything, so that a client that reads slowly does not hold up others.
type readyWriter struct {
	http.ResponseWriter

	held     *heldMemory
	holdBack *traffic.HoldBack
	gone     <-chan struct{} // closed when the client has left
}

// ready ends what the call holds up, and holds up the response itself if the caller sends too much.
func (w readyWriter) ready() {
	call := w.held.call
	call.Ready()
	if call.HeldBack {
		call.HeldBack = false
		w.holdBack.Wait(w.gone)
	}
}

// WriteHeader implements http.ResponseWriter.
func (w readyWriter) WriteHeader(status int) {
	w.ready()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w readyWriter) Write(p []byte) (n int, err error) {
	w.ready()
	w.held.write(len(p), func() { n, err = w.ResponseWriter.Write(p) })
	return n, err
}

// Flush implements http.Flusher.
func (w readyWriter) Flush() {
	w.ready()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // the next write fails, too
}

// Unwrap lets a http.ResponseController use the writer.
func (w readyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
