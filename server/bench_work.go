package main

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// justBook is the work that every door and workload is for.
const justBook = "book"

// work is what callers are measured at.
type work struct {
	name string
	// transactions are those that one turn takes when nothing goes wrong, by the names that the metrics have for them where they are shared with none of another kind.
	transactions []string
	// begin readies a caller and gives what it does again and again, each turn with another session.
	begin func(ctx context.Context, conn *grpc.ClientConn) (turn func(session string) error, err error)
}

// works are all there is to measure.
var works = []work{
	{justBook, []string{"booking.book"}, func(ctx context.Context, conn *grpc.ClientConn) (func(string) error, error) {
		return func(session string) error {
			return conn.Invoke(ctx, berthv1connect.BookingServiceBookProcedure, &v1.BookRequest{SessionId: session}, new(v1.BookResponse))
		}, nil
	}},
	{"hold+confirm", []string{"booking.book", "booking.confirm"}, func(ctx context.Context, conn *grpc.ClientConn) (func(string) error, error) {
		return func(session string) error {
			var held v1.HoldBookingResponse
			if err := conn.Invoke(ctx, berthv1connect.BookingServiceHoldBookingProcedure, &v1.HoldBookingRequest{SessionId: session}, &held); err != nil {
				return err
			}
			return conn.Invoke(ctx, berthv1connect.BookingServiceConfirmBookingProcedure,
				&v1.ConfirmBookingRequest{BookingId: held.GetBooking().GetId()}, new(v1.ConfirmBookingResponse))
		}, nil
	}},
	{"reschedule", []string{"booking.reschedule"}, func(ctx context.Context, conn *grpc.ClientConn) (func(string) error, error) {
		var booked v1.BookResponse
		// No turn comes by that session.
		err := conn.Invoke(ctx, berthv1connect.BookingServiceBookProcedure, &v1.BookRequest{SessionId: numberedID("9000", lastSession)}, &booked)
		id := booked.GetBooking().GetId()
		return func(session string) error {
			return conn.Invoke(ctx, berthv1connect.BookingServiceRescheduleBookingProcedure,
				&v1.RescheduleBookingRequest{BookingId: id, SessionId: session}, new(v1.RescheduleBookingResponse))
		}, err
	}},
}

// workNamed finds one of them.
func workNamed(name string) (work, error) {
	for _, w := range works {
		if w.name == name {
			return w, nil
		}
	}
	return work{}, fmt.Errorf("there is no work %q", name)
}

// lastSession is nobody's target.
const lastSession = benchSessions - 1

// takes reports whether transactions of a name are the work's.
func (w work) takes(transaction string) bool {
	return transaction == "booking.mixed" || slices.Contains(w.transactions, transaction)
}
