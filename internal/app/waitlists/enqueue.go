package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Enqueue adds an entry to the waitlist of a full session. The facts tell which session and member it is of.
func (s *Service) Enqueue(
	ctx context.Context, tx *engine.Tx, f booking.Facts, e waitlist.Entry,
) (seats.Result, error) {
	e.Session, e.SessionTitle, e.SessionStarts, e.TimeZone = f.Slot.ID, f.Slot.Title, f.Slot.StartsAt, f.Slot.TimeZone
	e.Member, e.MemberName, e.MemberTier = f.Member.ID, f.Member.Name, f.Member.Tier
	e, err := s.join(ctx, tx, e, []booking.Slot{f.Slot})
	if fault.ReasonOf(err) == fault.WaitlistFull || fault.ReasonOf(err) == fault.WaitlistClosed {
		err = booking.Full().WithCause(err) // the request asked for seats
	}
	return seats.Result{Entry: &e}, err
}

// SoloIfAwaited makes an operation that frees seats run alone if entries wait for them, because filling them takes more
// reads. In a shared transaction it returns engine.ErrSolo. The slots are those of seats.LoadFreedSlot; of others it is
// not known whether entries wait for them.
func (s *Service) SoloIfAwaited(tx *engine.Tx, slots ...*booking.Slot) error {
	if !tx.Shared() {
		return nil
	}
	var queues []waitlist.Queue
	for _, s := range slots {
		if s != nil && (s.Queued == nil || *s.Queued > 0) {
			queues = append(queues, queueOf(*s))
		}
	}
	return lockQueues(tx, queues...)
}

// lockQueues takes the locks of queues that an operation changes. Two transactions that fill the same queue conflict,
// so without the locks the operation is queued again. See engine.Tx.Lock.
func lockQueues(tx *engine.Tx, queues ...waitlist.Queue) error {
	keys := make([]engine.Key, len(queues))
	for i, q := range queues {
		keys[i] = seats.QueueKey(q)
	}
	return tx.Lock(keys...)
}

// EndExpiredHolds ends the expired holds of a session, fills their seats from the waitlist, and returns them. Filling
// takes more reads, so if there are any, a shared transaction gets engine.ErrSolo.
func (s *Service) EndExpiredHolds(ctx context.Context, tx *engine.Tx, slot *booking.Slot) ([]booking.Booking, error) {
	expired, err := seats.ExpiredHolds(ctx, tx, *slot)
	switch {
	case err != nil || len(expired) == 0:
		return nil, err
	case tx.Shared():
		return nil, engine.ErrSolo
	}
	for _, b := range expired {
		b = booking.Expire(b, tx.Now)
		seats.EndHold(tx, &b, event.BookingExpired{})
		slot.SeatsTaken -= b.Party
	}
	_, err = s.Fill(ctx, tx, slot, waitlist.ByExpiredHold)
	return expired, err
}
