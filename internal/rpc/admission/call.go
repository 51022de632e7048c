package admission

// Step 1, and the end: a call begins when its headers were read, and ends when its response was written.

import (
	"net/http"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rpc/request"
)

// Handle wraps the handler of a service: it answers browsers which pages may call, adds a Call to the context of each
// request, and sets the headers that all responses have.
func (c *Chain) Handle(next http.Handler) http.Handler { return c.cors(c.startCall(next)) }

func (c *Chain) startCall(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rule, inContract := c.rules[r.URL.Path]
		call := &request.Call{
			ID: requestID(r.Header), Client: c.rates.addresses.Proxies.Client(r), Guard: c.guard, ResponseHeader: w.Header(),
			Program: clientName(r.UserAgent()), Ready: func() {}, Answered: func(error) {},
		}
		limit := c.maxBytes
		if !inContract || rule.Kind == v1.Access_RULE_PUBLIC {
			limit = min(limit, maxPublicBytes)
		}
		held := c.memory.hold(call, r, limit)
		defer held.leave()
		call.Enter = held.enter
		w.Header().Set(requestIDHeader, call.ID)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store") // unless revalidate overwrites it
		limitBody(w, r, limit, held)
		ctx := engine.WithRequest(request.WithCall(r.Context(), call), auditedRequest(call))
		if !inContract { // others are counted once their caller is known
			if err := call.Enter(); err != nil {
				http.Error(w, err.Error(), http.StatusTooManyRequests)
				return
			}
		}
		response := readyWriter{w, held, r.Context().Done()}
		defer response.ready() // an error over gRPC is sent when the handler returns
		next.ServeHTTP(response, r.WithContext(ctx))
		// Connect itself responds if a request breaks off or violates the protocol.
		if inContract && !call.Counted {
			c.metrics.count(r.URL.Path, "unread", "")
		}
	})
}

// readyWriter calls Call.Ready before it sends anything, so that a client that reads slowly does not hold up others.
type readyWriter struct {
	http.ResponseWriter

	held *heldMemory
	gone <-chan struct{} // closed when the client has left
}

// ready ends what the call holds up, and holds up the response itself if the caller sends too much.
func (w readyWriter) ready() {
	call := w.held.call
	call.Ready()
	if wait := call.HeldBack; wait > 0 {
		call.HeldBack = 0
		select {
		case <-time.After(wait):
		case <-w.gone:
		}
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
