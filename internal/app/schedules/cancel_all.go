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
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// CancelCounts counts what was cancelled with sessions, and the credits that were refunded.
type CancelCounts struct {
	Bookings, Entries, Credits int
	KeptSeats                  int // of those who attended sessions that have ended
}

// cancelAll cancels all bookings and entries of sessions that are cancelled or deleted. It refunds all credits, because
// the member is never late when the session itself is cancelled. What happened in sessions that have ended stays:
// attendance and no-shows. The caller writes the sessions.
func (s *Service) cancelAll(
	ctx context.Context, tx *engine.Tx, sessions []tenant.SessionID, reason string, notify bool,
) (CancelCounts, error) {
	var counts CancelCounts
	if _, err := s.waitlists.Withdraw(ctx, tx, waitlist.SessionGone, reason, sessions...); err != nil {
		return counts, err
	}
	var bookings []booking.Booking
	var entries []waitlist.Entry
	var kept []tenant.EntryID // they also accept other sessions
	var batch pg.Batch
	bookingdb.ListOpenBookings(&batch, tx.Tenant, sessions, &bookings)
	waitlistdb.ListWaiting(&batch, tx.Tenant, sessions, &entries)
	waitlistdb.ListOtherEntries(&batch, tx.Tenant, sessions, &kept)
	if err := tx.Load(ctx, &batch); err != nil {
		return counts, err
	}
	payers, err := seats.LoadSubscriptions(ctx, tx, bookings)
	if err != nil {
		return counts, err
	}
	request := booking.CancelRequest{Actor: tx.Caller.Actor(), Reason: reason, SessionGone: true}
	for _, b := range bookings {
		// Several bookings may have the same payer. Each refund starts from the balance that the one before left.
		c, err := booking.Cancel(b, payers[b.Subscription], request, tx.Now)
		if err != nil {
			return counts, err
		}
		if c.Unchanged {
			if b.Status.Active() {
				counts.KeptSeats += b.Party
			}
			continue
		}
		seats.Cancel(tx, &c, notify)
		counts.Bookings++
		if c.Refunded {
			counts.Credits += b.Credits
		}
	}
	for _, e := range entries {
		if slices.Contains(kept, e.ID) {
			continue
		}
		// EndEntry also ends an offer that staff made to the entry in another session.
		if _, err := s.waitlists.EndEntry(ctx, tx, e, seats.CancelOptions{Reason: reason, Notify: notify}); err != nil {
			return counts, err
		}
		counts.Entries++
	}
	waitlistdb.RemovePlacesIn(tx.Tx, tx.Tenant, kept, sessions)
	return counts, nil
}
