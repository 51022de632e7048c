package engine

import "context"

// Request is what the audit log says about a request. It is zero if there was none.
type Request struct {
	ID      string // as in the server's log
	Address string // the IP address of the client
	Client  string // the program, as it names itself; bounded, without control characters
}

type requestKey struct{}

// WithRequest sets the request for the audit log.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

func requestOf(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}
