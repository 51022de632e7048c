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
	for i, b := range read {
		if messages[i].GetCreatedBy().GetName() == "" {
			unnamed = append(unnamed, b.CreatedBy)
		}
	}
	names, err := request.ActorNames(ctx, unnamed...)
	if err != nil {
		return nil, err
	}
	for i, b := range read {
		if name, ok := names[b.CreatedBy]; ok {
			messages[i].CreatedBy.Name = name
		}
	}
	return messages, nil
}
