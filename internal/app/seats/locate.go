package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// QueueKey is what operations lock that change the queues for a service at a location. A wish for a window is in the
// queues of several days: what happens to it in one is read by the next.
func QueueKey(q waitlist.Queue) engine.Key {
	return engine.NameKey("waitlist", q.Location.String(), q.Service.String())
}

// A Locator finds the locks of an operation on a booking, or on a waitlist entry by its id.
type Locator struct {
	ID    tenant.BookingID
	Fills bool             // the operation may fill the session's queue
	Also  tenant.SessionID // another session that it changes; optional
}

// Locate reads where the booking or entry is.
func (l Locator) Locate(ctx context.Context, in tenant.TenantID, read engine.Reader) (store.Visit, engine.Locks, error) {
	var found *store.Visit
	var queue *waitlist.Queue
	var batch pg.Batch
	store.FindVisit(&batch, in, l.ID, &found, &queue)
	locks := engine.Locks{Single: []engine.Key{l.ID.UUID}}
	if err := read(ctx, &batch); err != nil {
		return store.Visit{}, locks, err
	}
	var visit store.Visit
	if found != nil {
		visit, locks.Changes = *found, !found.Waits
		if !visit.Session.IsZero() { // else an entry for one of several sessions, or for a window
			locks.Together = append(locks.Together, visit.Session.UUID)
		}
		if !visit.Member.IsZero() {
			locks.Single = append(locks.Single, visit.Member.UUID)
		}
	}
	if l.Fills && queue != nil {
		locks.Together, locks.Solo = append(locks.Together, QueueKey(*queue)), true
	}
	if !l.Also.IsZero() {
		locks.Together = append(locks.Together, l.Also.UUID)
	}
	return visit, locks, nil
}
