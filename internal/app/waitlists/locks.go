package waitlists

import (
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// SoloIfAwaited makes an operation that frees seats run alone if entries wait for them, because filling them takes more
// reads. In a shared transaction it returns engine.ErrSolo. The slots are those of seats.LoadFreedSlot; of others it is
// not known whether entries wait for them.
func (s *Service) SoloIfAwaited(tx *engine.Tx, slots ...*booking.Slot) error {
	if !tx.Shared() {
		return nil
	}
	var queues []waitlist.Queue
	for _, s := range slots {
		if s != nil && (s.OpeningDue || s.Queued == nil || *s.Queued > 0) {
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
