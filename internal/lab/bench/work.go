package bench

import (
	"context"
	"slices"

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
	// begin, if set, readies a member and gives what they do again and again, each turn with another session. Otherwise they book.
	begin func(ctx context.Context, as wire) (turn func(ctx context.Context, session string) error, err error)
}

// works are all there is to measure, besides mixtures.
var works = []work{
	{name: justBook, transactions: []string{"booking.book"}},
	{"hold+confirm", []string{"booking.book", "booking.confirm"}, func(_ context.Context, as wire) (func(context.Context, string) error, error) {
		return func(ctx context.Context, session string) error {
			var held v1.HoldBookingResponse
			if err := as(ctx, berthv1connect.BookingServiceHoldBookingProcedure, &v1.HoldBookingRequest{SessionId: session}, &held); err != nil {
				return err
			}
			return as(ctx, berthv1connect.BookingServiceConfirmBookingProcedure,
				&v1.ConfirmBookingRequest{BookingId: held.GetBooking().GetId()}, new(v1.ConfirmBookingResponse))
		}, nil
	}},
	{"reschedule", []string{"booking.reschedule"}, func(ctx context.Context, as wire) (func(context.Context, string) error, error) {
		var booked v1.BookResponse
		// No turn comes by that session.
		err := as(ctx, berthv1connect.BookingServiceBookProcedure, &v1.BookRequest{SessionId: numberedID("9000", lastSession)}, &booked)
		id := booked.GetBooking().GetId()
		return func(ctx context.Context, session string) error {
			return as(ctx, berthv1connect.BookingServiceRescheduleBookingProcedure,
				&v1.RescheduleBookingRequest{BookingId: id, SessionId: session}, new(v1.RescheduleBookingResponse))
		}, err
	}},
}

// workNamed finds one of them. Mixtures book and cancel, one deal at a time.
func workNamed(name string) work {
	at := slices.IndexFunc(works, func(w work) bool { return w.name == name })
	if at < 0 {
		return work{name: name, transactions: []string{"booking.book", "booking.cancel"}}
	}
	return works[at]
}

// takes reports whether transactions of a name are the work's.
func (w work) takes(transaction string) bool {
	return transaction == "booking.mixed" || slices.Contains(w.transactions, transaction)
}
