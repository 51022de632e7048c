package admission

// Step 1: the names of a call and of its client in logs.

import (
	"crypto/rand"
	"net/http"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/rpc/request"
)

// auditedRequest returns what the audit log says about a request.
func auditedRequest(call *request.Call) engine.Request {
	return engine.Request{ID: call.ID, Client: call.Program, Address: addressOf(call)}
}

// addressOf returns the address of a call's client, or "" if it is unknown.
func addressOf(call *request.Call) string {
	if !call.Client.IsValid() {
		return ""
	}
	return call.Client.Unmap().WithZone("").String()
}

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 64
)

// requestID returns the caller's request ID, so that the logs of both sides have the same one. It returns a new ID if
// there is none, or if it has characters that could corrupt logs.
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
