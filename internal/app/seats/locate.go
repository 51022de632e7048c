package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// QueueKey is the lock of operations that change the queues for a service at a location. It covers all days: an entry
// for a time window is in the queues of several days, and filling one of them reads what another changed in the entry.
func QueueKey(q waitlist.Queue) engine.Key {
	return engine.NameKey("waitlist", q.Location.String(), q.Service.String())
}

// A Locator finds the locks of an operation on a booking or a waitlist entry.
type Locator struct {
	ID    tenant.BookingID
	Fills bool             // the operation may fill the session's queue
	Also  tenant.SessionID // another session that the operation changes; optional
}

// Locate reads which session and member the booking or entry is of.
func (l Locator) Locate(
	ctx context.Context, in tenant.TenantID, read engine.Reader,
) (bookingdb.SessionMember, engine.Locks, error) {
	var found *bookingdb.SessionMember
	var queue *waitlist.Queue
	var batch pg.Batch
	bookingdb.FindSessionMember(&batch, in, l.ID, &found, &queue)
	locks := engine.Locks{Single: []engine.Key{l.ID.UUID}}
	if err := read(ctx, &batch); err != nil {
		return bookingdb.SessionMember{}, locks, err
	}
	var of bookingdb.SessionMember
	if found != nil {
		of, locks.Updates = *found, !found.Waits
		if !of.Session.IsZero() { // otherwise an entry for a time window
			locks.Together = append(locks.Together, of.Session.UUID)
		}
		if !of.Member.IsZero() {
			locks.Single = append(locks.Single, of.Member.UUID)
		}
	}
	if l.Fills && queue != nil {
		locks.Together, locks.Solo = append(locks.Together, QueueKey(*queue)), true
	}
	if !l.Also.IsZero() {
		locks.Together = append(locks.Together, l.Also.UUID)
	}
	return of, locks, nil
}
