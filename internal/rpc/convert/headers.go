package convert

import (
	"net/http"
	"strconv"
	"strings"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
)

// Headers of requests and responses that browsers may send and read across origins.
const (
	BookingStatusHeader      = "X-Booking-Status"
	IdempotentHeader         = "X-Idempotent"
	IdempotencyKeyEchoHeader = "X-Idempotency-Key"
	BookingChannelHeader     = "X-Booking-Channel"
	IdempotencyKeyHeader     = "Idempotency-Key"
)

// BookingChannel returns the channel of the header, or else of the body, or else ONLINE. The header wins, because a
// gateway knows how a booking came in and the app behind it may not.
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

// SetBookingHeaders sets the headers of a response that tell a gateway what it needs without reading the body: the
// status of the booking without its prefix, or WAITLISTED; and whether the response repeats an earlier one.
func SetBookingHeaders(response http.Header, status string, repeated bool) {
	response.Set(BookingStatusHeader, status)
	response.Set(IdempotentHeader, strconv.FormatBool(repeated))
}
