package rpc

import (
	"net/http"
	"strconv"
	"strings"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/fault"
)

// Headers of the booking RPCs, which browsers may read and send.
const (
	bookingStatusHeader  = "X-Booking-Status"
	idempotentHeader     = "X-Idempotent"
	idempotencyKeyEcho   = "X-Idempotency-Key"
	bookingChannelHeader = "X-Booking-Channel"
	idempotencyKeyHeader = "Idempotency-Key"
)

// bookingChannel is the header's channel, or else the body's, or else ONLINE. A
// gateway knows better than the app behind it how a booking came in.
func bookingChannel(header http.Header, body v1.Channel) (catalog.Channel, error) {
	if text := header.Get(bookingChannelHeader); text != "" {
		switch strings.ReplaceAll(strings.ToUpper(text), "_", "") {
		case "ONLINE":
			return catalog.Online, nil
		case "PHONE":
			return catalog.Phone, nil
		case "WALKIN":
			return catalog.WalkIn, nil
		}
		return "", fault.Invalid(bookingChannelHeader, "The header %s must be online, phone or walk_in.", bookingChannelHeader)
	}
	switch body {
	case v1.Channel_CHANNEL_PHONE:
		return catalog.Phone, nil
	case v1.Channel_CHANNEL_WALK_IN:
		return catalog.WalkIn, nil
	default:
		return catalog.Online, nil
	}
}

// idempotencyKey gives the key under which the caller may repeat the request, or "".
func idempotencyKey(header http.Header) string { return header.Get(idempotencyKeyHeader) }

// setBookingHeaders says in an answer's headers what a gateway wants to know
// without reading the body: the booking's status without its prefix, or
// WAITLISTED; whether the answer repeats an earlier one; and the request's key.
func setBookingHeaders(answer, request http.Header, status string, idempotent bool) {
	answer.Set(bookingStatusHeader, status)
	answer.Set(idempotentHeader, strconv.FormatBool(idempotent))
	if key := idempotencyKey(request); key != "" {
		answer.Set(idempotencyKeyEcho, key)
	}
}
