package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/tenant"
)

// state is what the operations of one attempt share: each finds the slots as the ones before left them.
type state struct {
	snapshots *engine.Snapshots[booking.Snapshot]
	tenant    tenant.TenantID
	version   int64 // of the tenant's snapshot that is in force
	snapshot  *booking.Snapshot
	plans     []tenant.PlanID // that the snapshot must know

	slots     map[tenant.SessionID]*booking.Slot
	queued    map[tenant.SessionID]*int               // entries in their queues, where an operation may free seats
	requested map[tenant.SessionID]int                // seats that all operations together may take
	expired   map[tenant.SessionID]*[]booking.Booking // holds that have run out
}

// NewState makes what the operations of one attempt share, over snapshots that a process keeps.
func NewState(snapshots *engine.Snapshots[booking.Snapshot]) func() engine.State {
	return func() engine.State { return &state{snapshots: snapshots} }
}

// stateOf gives what seats brought along; every engine that runs operations about seats has it.
func stateOf(s engine.State) *state { return s.(*state) }

// Load implements engine.State.
func (s *state) Load(q *engine.Query) {
	s.tenant = q.Tenant
	s.slots = make(map[tenant.SessionID]*booking.Slot)
	s.queued, s.requested = make(map[tenant.SessionID]*int), make(map[tenant.SessionID]int)
	coredb.FindSnapshotVersion(q.Batch, q.Tenant, &s.version)
	q.Then(func(q *engine.Query) {
		s.expired = make(map[tenant.SessionID]*[]booking.Booking)
		for id, slot := range s.slots {
			if slot.Holds > 0 {
				s.expired[id] = new([]booking.Booking)
				bookingdb.ListDueHolds(q.Batch, q.Tenant, id, q.Now, s.expired[id])
			}
		}
	})
}

// Complete adds to the slots what the tenant's snapshot says of them. It reads the snapshot if the one that is kept is
// no longer in force.
func (s *state) Complete(ctx context.Context, tx *pg.Tx) error {
	s.snapshot = s.snapshots.At(s.tenant, s.version)
	if s.complete() {
		return nil
	}
	s.snapshot = new(booking.Snapshot)
	var batch pg.Batch
	coredb.FindSnapshot(&batch, s.tenant, s.snapshot)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	s.snapshots.Keep(s.tenant, s.snapshot.Version, s.snapshot)
	s.complete()
	return nil
}

func (s *state) complete() bool {
	known := true
	for _, id := range s.plans {
		known = known && s.snapshot.HasPlan(id)
	}
	for _, slot := range s.slots {
		completed, ok := s.snapshot.Complete(*slot, s.tenant)
		*slot, known = completed, known && ok
	}
	return known
}

// LoadSlot asks for a session. All operations of a batch share what they get, so that each finds it as the ones before
// left it. With it come the holds in it that have run out.
func LoadSlot(q *engine.Query, id tenant.SessionID, into **booking.Slot) {
	s := stateOf(q.State)
	bookingdb.FindOwnSlot(q.Batch, q.Tenant, id, func(slot booking.Slot) {
		if s.slots[id] == nil {
			slot.Queued = s.queued[id]
			s.slots[id] = &slot
		}
		*into = s.slots[id]
	})
}

// LoadFreedSlot is LoadSlot for an operation that may free seats: it asks for the size of the session's queue, too.
func LoadFreedSlot(q *engine.Query, id tenant.SessionID, into **booking.Slot) {
	LoadSlot(q, id, into)
	if s := stateOf(q.State); s.queued[id] == nil {
		s.queued[id] = new(int)
		waitlistdb.FindQueueSize(q.Batch, q.Tenant, id, s.queued[id])
	}
}

// UnknownParty is requested for a party whose size is not known yet.
const UnknownParty = 1 << 20

// RequestSeats says that an operation may take seats. It counts before any Then runs.
func RequestSeats(q *engine.Query, id tenant.SessionID, seats int) {
	stateOf(q.State).requested[id] += seats
}

// MayBeFull reports whether a session may have no seat left for one of the operations of the batch.
func MayBeFull(q *engine.Query, slot *booking.Slot) bool {
	return !slot.Fits(stateOf(q.State).requested[slot.ID])
}

// ExpiredHolds reads the holds of a session that have run out and still are PENDING. Most sessions count no holds, and
// cost nothing.
func ExpiredHolds(ctx context.Context, tx *engine.Tx, slot booking.Slot) ([]booking.Booking, error) {
	if slot.Holds == 0 {
		return nil, nil
	}
	if s := stateOf(tx.State); s.slots[slot.ID] != nil {
		if found := s.expired[slot.ID]; found != nil {
			return *found, nil
		}
		return nil, nil // all its holds were made by this batch
	}
	var expired []booking.Booking
	var batch pg.Batch
	bookingdb.ListDueHolds(&batch, tx.Tenant, slot.ID, tx.Now, &expired)
	err := tx.Load(ctx, &batch)
	return expired, err
}
