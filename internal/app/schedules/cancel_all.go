package schedules

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
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
func (s *Service) cancelAll(ctx context.Context, tx *engine.Tx, sessions []tenant.SessionID, reason string, notify bool) (cancelled, error) {
	var count cancelled
	if _, err := s.waitlists.Withdraw(ctx, tx, waitlist.SessionGone, reason, sessions...); err != nil {
		return count, err
	}
	var bookings []booking.Booking
	var entries []waitlist.Entry
	var stay []tenant.EntryID
	var batch pg.Batch
	bookingdb.ListOpenBookings(&batch, tx.Tenant, sessions, &bookings)
	waitlistdb.ListWaiting(&batch, tx.Tenant, sessions, &entries)
	waitlistdb.ListOtherEntries(&batch, tx.Tenant, sessions, &stay)
	if err := tx.Load(ctx, &batch); err != nil {
		return count, err
	}
	payers, err := payersOf(ctx, tx, bookings)
	if err != nil {
		return count, err
	}
	for _, b := range bookings {
		// Several bookings may be on one subscription: each finds it as the one before left it.
		held := b.Credits
		c, err := booking.Cancel(b, payers[b.Subscription], booking.CancelRequest{Actor: tx.Caller.Actor(), Reason: reason, SessionGone: true}, tx.Now)
		if err != nil {
			return count, err
		}
		seats.Cancel(tx, c, notify)
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
		if _, err := s.waitlists.Quit(ctx, tx, e, seats.CancelOptions{Reason: reason, Notify: notify}); err != nil {
			return count, err
		}
		count.Entries++
	}
	waitlistdb.RemovePlacesIn(tx.Tx, tx.Tenant, stay, sessions)
	return count, nil
}

func payersOf(ctx context.Context, tx *engine.Tx, bookings []booking.Booking) (map[tenant.SubscriptionID]*credit.Subscription, error) {
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
	bookingdb.ListSubscriptions(&batch, tx.Tenant, ids, &subscriptions)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	for i := range subscriptions {
		payers[subscriptions[i].ID] = &subscriptions[i]
	}
	return payers, nil
}
