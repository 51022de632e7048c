package convert

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
	BookingStatusHeader  = "X-Booking-Status"
	IdempotentHeader     = "X-Idempotent"
	IdempotencyKeyEcho   = "X-Idempotency-Key"
	BookingChannelHeader = "X-Booking-Channel"
	IdempotencyKeyHeader = "Idempotency-Key"
)

// BookingChannel is the header's channel, or else the body's, or else ONLINE. A
// gateway knows better than the app behind it how a booking came in.
func BookingChannel(header http.Header, body v1.Channel) (catalog.Channel, error) {
	if text := header.Get(BookingChannelHeader); text != "" {
		switch strings.ReplaceAll(strings.ToUpper(text), "_", "") {
		case "ONLINE":
			return catalog.Online, nil
		case "PHONE":
			return catalog.Phone, nil
		case "WALKIN":
			return catalog.WalkIn, nil
		}
		return "", fault.Invalid(
			BookingChannelHeader, "The header %s must be online, phone or walk_in.", BookingChannelHeader,
		)
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

// SetBookingHeaders says in an answer's headers what a gateway wants to know
// without reading the body: the booking's status without its prefix, or
// WAITLISTED; and whether the answer repeats an earlier one.
func SetBookingHeaders(answer http.Header, status string, idempotent bool) {
	answer.Set(BookingStatusHeader, status)
	answer.Set(IdempotentHeader, strconv.FormatBool(idempotent))
}
