package rpc

import (
	"net/http"
	"strconv"
	"strings"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// Headers of requests and answers, which browsers may send and read.
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

// setBookingHeaders says in an answer's headers what a gateway wants to know
// without reading the body: the booking's status without its prefix, or
// WAITLISTED; and whether the answer repeats an earlier one.
func setBookingHeaders(answer http.Header, status string, idempotent bool) {
	answer.Set(bookingStatusHeader, status)
	answer.Set(idempotentHeader, strconv.FormatBool(idempotent))
}
