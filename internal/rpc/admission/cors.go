package admission

// Step 1: which pages may call from a browser.

import (
	"net/http"
	"time"

	connectcors "connectrpc.com/cors"
	"github.com/rs/cors"

	"github.com/berthhq/berth/internal/rpc/convert"
)

// newCORS returns middleware that lets pages of the given origins call from a browser.
func newCORS(origins []string) func(http.Handler) http.Handler {
	if len(origins) == 0 {
		// The library would take an empty list for all origins.
		return func(next http.Handler) http.Handler { return next }
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: connectcors.AllowedMethods(),
		AllowedHeaders: append(connectcors.AllowedHeaders(),
			"Authorization", convert.IdempotencyKeyHeader, convert.BookingChannelHeader, requestIDHeader, "If-None-Match"),
		ExposedHeaders: append(connectcors.ExposedHeaders(),
			convert.BookingStatusHeader, convert.IdempotentHeader, convert.IdempotencyKeyEchoHeader, requestIDHeader, "Etag",
			"Retry-After"),
		MaxAge: int((2 * time.Hour).Seconds()),
	}).Handler
}
