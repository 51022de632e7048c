// Guest books a place for someone who is not a member, like a partner does: it holds the place, confirms it
// after payment, and cancels it. Then it prints what the event log says about the booking.
//
//	ADDRESS=http://127.0.0.1:8080 BERTH_KEY=berth_… go run ./clients/go/examples/guest
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/berthhq/berth/clients/go/berth"
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

func main() {
	client := berth.New(os.Getenv("ADDRESS"), berth.WithKey(os.Getenv("BERTH_KEY")))
	if err := book(context.Background(), client); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func book(ctx context.Context, client *berth.Client) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	end, err := client.Events.ListEvents(ctx, connect.NewRequest(&v1.ListEventsRequest{NewestFirst: true, PageSize: 1}))
	if err != nil {
		return err
	}
	session, err := firstOpen(ctx, client)
	if err != nil {
		return err
	}
	held, err := client.Bookings.HoldBooking(ctx, connect.NewRequest(&v1.HoldBookingRequest{
		SessionId: session.GetId(), Contact: &v1.BookingContact{Name: "Kim Guest", Email: "kim@example.com"},
	}))
	if berth.IsReason(err, v1.ErrorReason_ERROR_REASON_SESSION_FULL) {
		return errors.New("someone else was faster")
	}
	if err != nil {
		return err
	}
	id := held.Msg.GetBooking().GetId()
	fmt.Println("held", id, "until", held.Msg.GetBooking().GetHoldExpireTime().AsTime().Format(time.RFC3339))

	paid := &v1.PaymentFacts{Amount: &money.Money{CurrencyCode: "EUR", Units: 45}, Method: "card"}
	confirm := &v1.ConfirmBookingRequest{BookingId: id, Payment: paid}
	confirmed, err := client.Bookings.ConfirmBooking(ctx, connect.NewRequest(confirm))
	if err != nil {
		return err
	}
	fmt.Println("confirmed", confirmed.Msg.GetBooking().GetPayment().GetStatus())

	cancellation := &v1.CancelBookingRequest{BookingId: id, Reason: "Kim is ill."}
	_, err = client.Bookings.CancelBooking(ctx, connect.NewRequest(cancellation))
	if err != nil {
		return err
	}
	fmt.Println("cancelled")

	request := &v1.WatchEventsRequest{Cursor: end.Msg.GetEndCursor(), Filter: &v1.EventFilter{BookingId: id}}
	for message, err := range client.Watch(ctx, request) {
		if err != nil {
			return err
		}
		for _, event := range message.GetEvents() {
			fmt.Println(event.GetType())
			if event.GetType() == v1.EventType_EVENT_TYPE_BOOKING_CANCELLED {
				return nil
			}
		}
	}
	return nil
}

func firstOpen(ctx context.Context, client *berth.Client) (*v1.Session, error) {
	// Far enough ahead that the booking can be cancelled without penalty.
	now := time.Now()
	week := &v1.TimeRange{Start: timestamppb.New(now.AddDate(0, 0, 2)), End: timestamppb.New(now.AddDate(0, 0, 7))}
	request := &v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: week}}
	list := client.Sessions.ListSessions
	for session, err := range berth.All(ctx, list, request, (*v1.ListSessionsResponse).GetSessions) {
		if err != nil {
			return nil, err
		}
		if session.GetSeatsOpen() > 0 {
			return session, nil
		}
	}
	return nil, errors.New("nothing is open this week")
}
