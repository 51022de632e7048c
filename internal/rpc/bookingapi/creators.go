package bookingapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/booking"
)

// bookingMessages converts bookings that were read, with the names of those who created them. Answers to changes go
// without: a name would take them another read.
func (s *Bookings) bookingMessages(ctx context.Context, read ...booking.Booking) ([]*v1.Booking, error) {
	messages := convert.BookingMessages(read, s.Now())
	var unnamed []string
	for i, m := range messages {
		if m.GetCreatedBy().GetName() == "" {
			unnamed = append(unnamed, read[i].CreatedBy)
		}
	}
	names, err := request.ActorNames(ctx, unnamed...)
	if err != nil {
		return nil, err
	}
	for i, m := range messages {
		if name, ok := names[read[i].CreatedBy]; ok {
			m.CreatedBy.Name = name
		}
	}
	return messages, nil
}
