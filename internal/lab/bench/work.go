package bench

import (
	"context"
	"slices"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
)

// bookOnly is the work that all clients and workloads can do.
const bookOnly = "book"

// work is what callers do.
type work struct {
	name string
	// transactions are those of one turn without conflicts. The names are those of the metrics, for batches of one kind.
	transactions []string
	// begin prepares a member and returns what they do in each turn, with another session each time. Without it they book.
	begin func(ctx context.Context, as sendFunc) (workTurn, error)
}

// workTurn makes the requests of one turn.
type workTurn func(ctx context.Context, session string) error

// allWorks are all works except the mixed loads.
var allWorks = []work{
	{name: bookOnly, transactions: []string{"booking.book"}},
	{"hold+confirm", []string{"booking.book", "booking.confirm"}, holdAndConfirm},
	{"reschedule", []string{"booking.reschedule"}, reschedule},
}

func holdAndConfirm(_ context.Context, as sendFunc) (workTurn, error) {
	return func(ctx context.Context, session string) error {
		var held v1.HoldBookingResponse
		if err := as(ctx, berthv1connect.BookingServiceHoldBookingProcedure,
			&v1.HoldBookingRequest{SessionId: session}, &held); err != nil {
			return err
		}
		return as(ctx, berthv1connect.BookingServiceConfirmBookingProcedure,
			&v1.ConfirmBookingRequest{BookingId: held.GetBooking().GetId()}, new(v1.ConfirmBookingResponse))
	}, nil
}

func reschedule(ctx context.Context, as sendFunc) (workTurn, error) {
	var booked v1.BookResponse
	// The first booking is in a session that no load uses.
	err := as(ctx, berthv1connect.BookingServiceBookProcedure,
		&v1.BookRequest{SessionId: numberedID("9000", lastSession)}, &booked)
	id := booked.GetBooking().GetId()
	return func(ctx context.Context, session string) error {
		return as(ctx, berthv1connect.BookingServiceRescheduleBookingProcedure,
			&v1.RescheduleBookingRequest{BookingId: id, SessionId: session}, new(v1.RescheduleBookingResponse))
	}, err
}

// workNamed returns the work of a name. Mixed loads book and cancel, one operation at a time.
func workNamed(name string) work {
	at := slices.IndexFunc(allWorks, func(w work) bool { return w.name == name })
	if at < 0 {
		return work{name: name, transactions: []string{"booking.book", "booking.cancel"}}
	}
	return allWorks[at]
}

// takes reports whether transactions of a name belong to the work.
func (w work) takes(transaction string) bool {
	return transaction == "batch.mixed" || slices.Contains(w.transactions, transaction)
}
