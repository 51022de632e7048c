package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// EntryDetails is what a member who cannot book asks of the waitlist.
type EntryDetails struct {
	Party        int
	Subscription tenant.SubscriptionID
	Channel      catalog.Channel
	ByStaff      bool
	ExternalRef  string
	RequestHash  []byte // of the request with the external reference
	Note         string
}

// Enqueue adds an entry to the waitlist of a full session.
func (s *Service) Enqueue(ctx context.Context, tx *engine.Tx, f booking.Facts, w EntryDetails) (seats.Place, error) {
	e, err := s.join(ctx, tx, waitlist.Entry{
		Session: f.Slot.ID, Member: f.Member.ID, Party: w.Party, Subscription: w.Subscription, Channel: w.Channel,
		ByStaff: w.ByStaff, ExternalRef: w.ExternalRef, RequestHash: w.RequestHash, Note: w.Note,
		MemberName: f.Member.Name, MemberTier: f.Member.Tier,
		SessionTitle: f.Slot.Title, SessionStarts: f.Slot.StartsAt, TimeZone: f.Slot.TimeZone,
	}, []booking.Slot{f.Slot})
	if fault.ReasonOf(err) == fault.WaitlistFull || fault.ReasonOf(err) == fault.WaitlistClosed {
		err = booking.Full().WithCause(err) // they asked for seats
	}
	return seats.Place{Entry: &e}, err
}

// SoloIfAwaited lets an operation that frees seats run alone if members wait for them: filling them takes more reads.
func (s *Service) SoloIfAwaited(tx *engine.Tx, slots ...*booking.Slot) error {
	if !tx.Shared() {
		return nil
	}
	var queues []waitlist.Queue
	for _, s := range slots {
		if s != nil && (s.Waiting > 0 || s.Queued == nil || *s.Queued > 0) {
			queues = append(queues, queueOf(*s))
		}
	}
	return lockQueues(tx, queues...)
}

// lockQueues lets an operation go on that has the locks of the queues that it changes. Else it is queued again: two
// transactions that fill the same queue conflict.
func lockQueues(tx *engine.Tx, queues ...waitlist.Queue) error {
	keys := make([]engine.Key, len(queues))
	for i, q := range queues {
		keys[i] = seats.QueueKey(q)
	}
	return tx.Lock(keys...)
}

// EndExpiredHolds ends holds of a session that have run out, and fills their seats from the waitlist.
func (s *Service) EndExpiredHolds(ctx context.Context, tx *engine.Tx, slot *booking.Slot, expired []booking.Booking) error {
	switch {
	case len(expired) == 0:
		return nil
	case tx.Shared():
		return engine.ErrSolo
	}
	for _, b := range expired {
		b = booking.Expire(b, tx.Now)
		seats.EndHold(tx, &b, outbox.BookingExpired)
		slot.SeatsTaken -= b.Party
		slot.Holds--
	}
	_, err := s.Fill(ctx, tx, slot, waitlist.ByExpiredHold)
	return err
}
