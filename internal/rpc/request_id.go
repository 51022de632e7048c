package rpc

import (
	"crypto/rand"
	"net/http"
)

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 64
)

// requestID takes the caller's, so that one id runs through the logs of both,
// unless it could disturb them.
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
