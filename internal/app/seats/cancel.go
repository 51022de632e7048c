package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/credits"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// CancelResult is the result of cancelling a booking or a waitlist entry.
type CancelResult struct {
	Result
	Refunded bool
	Late     bool
	Promoted int // entries that were booked into the freed seats
}

// CancelOptions says why an entry or booking is cancelled, and whether the member is told.
type CancelOptions struct {
	Reason string
	Notify bool
}

// Cancel writes a cancellation: the booking, its seats, its credits and its quota.
func Cancel(tx *engine.Tx, c *booking.CancelResult, notify bool) {
	b := &c.Booking
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, b, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -c.SeatsFreed, Holds: -c.HoldsEnded})
	if b.HasItems {
		bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, nil, booking.ItemCancelled)
	}
	if c.Payer != nil {
		credits.Write(tx, *c.Payer, c.Ledger)
	}
	if c.ReleasesQuota {
		bookingdb.CountBooking(tx.Tx, tx.Tenant, b.Subscription, b.LocalDate, -1)
	}
	record.Recheck(tx, b.Member)
	BookingEvent(tx, *b, event.BookingCancelled{
		Refunded: c.Refunded, Late: c.Late, Reason: b.CancelReason, Notify: notify, SessionGone: c.SessionGone,
	}, c.Ledger...)
}

// EndHold writes the end of a hold with its event, and frees its seats and items.
func EndHold(tx *engine.Tx, b *booking.Booking, data event.Data) {
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, b, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -b.Party, Holds: -1})
	if b.HasItems {
		bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, nil, booking.ItemCancelled)
	}
	for i := range b.Items {
		b.Items[i].Status = booking.ItemCancelled
	}
	record.Recheck(tx, b.Member)
	BookingEvent(tx, *b, data)
}

// LoadSubscriptions loads the subscriptions that paid credits for bookings.
func LoadSubscriptions(
	ctx context.Context, tx *engine.Tx, bookings []booking.Booking,
) (map[tenant.SubscriptionID]*credit.Subscription, error) {
	var ids []tenant.SubscriptionID
	for _, b := range bookings {
		if b.Credits > 0 {
			ids = append(ids, b.Subscription)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var subscriptions []credit.Subscription
	var batch pg.Batch
	bookingdb.FindSubscriptions(&batch, tx.Tenant, pg.Distinct(ids), &subscriptions)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	payers := make(map[tenant.SubscriptionID]*credit.Subscription)
	for i := range subscriptions {
		payers[subscriptions[i].ID] = &subscriptions[i]
	}
	return payers, nil
}
