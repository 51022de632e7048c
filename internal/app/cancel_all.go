package app

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// cancelled counts what went with sessions that are gone.
type cancelled struct{ Bookings, Entries, Credits int }

// cancelAll cancels every booking and entry of sessions that are about to go, and gives all credits
// back: nobody is late when the session itself does not take place. The sessions are the caller's to change.
func (t *tx) cancelAll(ctx context.Context, sessions []tenant.SessionID, reason string, notify bool) (cancelled, error) {
	var count cancelled
	if _, err := t.withdraw(ctx, waitlist.SessionGone, reason, sessions...); err != nil {
		return count, err
	}
	var bookings []booking.Booking
	var entries []waitlist.Entry
	var stay []tenant.EntryID
	var batch pg.Batch
	bookingdb.ListOpenBookings(&batch, t.in, sessions, &bookings)
	waitlistdb.ListWaiting(&batch, t.in, sessions, &entries)
	waitlistdb.ListWaitingElsewhere(&batch, t.in, sessions, &stay)
	if err := t.Load(ctx, &batch); err != nil {
		return count, err
	}
	payers, err := t.payersOf(ctx, bookings)
	if err != nil {
		return count, err
	}
	for _, b := range bookings {
		// Several bookings may be on one subscription: each finds it as the one before left it.
		held := b.Credits
		c, err := booking.Cancel(b, payers[b.Subscription], booking.Withdrawal{Actor: t.caller.Actor(), Reason: reason, SessionGone: true}, t.now)
		if err != nil {
			return count, err
		}
		t.cancel(c, notify)
		count.Bookings++
		if c.Refunded {
			count.Credits += held
		}
	}
	for _, e := range entries {
		if slices.Contains(stay, e.ID) {
			continue // for the others that it would take
		}
		// Staff may have offered it a place elsewhere.
		if _, err := t.quit(ctx, e, CancelRequest{Reason: reason, Notify: notify}); err != nil {
			return count, err
		}
		count.Entries++
	}
	waitlistdb.RemovePlacesIn(t.Tx, t.in, stay, sessions)
	return count, nil
}

func (t *tx) payersOf(ctx context.Context, bookings []booking.Booking) (map[tenant.SubscriptionID]*credit.Subscription, error) {
	payers := make(map[tenant.SubscriptionID]*credit.Subscription)
	var ids []tenant.SubscriptionID
	for _, b := range bookings {
		if _, seen := payers[b.Subscription]; b.Credits > 0 && !seen {
			payers[b.Subscription] = nil
			ids = append(ids, b.Subscription)
		}
	}
	if len(ids) == 0 {
		return payers, nil
	}
	var subscriptions []credit.Subscription
	var batch pg.Batch
	bookingdb.ListSubscriptions(&batch, t.in, ids, &subscriptions)
	if err := t.Load(ctx, &batch); err != nil {
		return nil, err
	}
	for i := range subscriptions {
		payers[subscriptions[i].ID] = &subscriptions[i]
	}
	return payers, nil
}
