package rpc

import (
	"crypto/rand"
	"net/http"
)

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
