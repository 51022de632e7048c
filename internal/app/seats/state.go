package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// state is what the operations of one attempt share. Each operation finds the slots as the previous ones left them.
type state struct {
	snapshots *Snapshots
	tenant    tenant.TenantID
	version   int64 // of the tenant's snapshot, as the transaction sees it
	snapshot  *booking.Snapshot
	plans     []tenant.PlanID // the snapshot must have them

	slots     map[tenant.SessionID]*booking.Slot
	queued    map[tenant.SessionID]*int               // queue sizes, of sessions in which an operation may free seats
	requested map[tenant.SessionID]int                // seats that all operations of the batch may take
	expired   map[tenant.SessionID]*[]booking.Booking // expired holds that are still PENDING
}

// NewState makes the state of each attempt. The snapshots are shared by all attempts of the process.
func NewState(snapshots *Snapshots) func() engine.State {
	return func() engine.State { return &state{snapshots: snapshots} }
}

// stateOf returns the state that NewState made: every engine that runs operations on seats has it.
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

// Complete adds to the slots what the tenant's snapshot says about them. It reads the snapshot if the cached one has
// another version.
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
	s.snapshots.Keep(s.tenant, s.snapshot)
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

// LoadSlot asks for a session and its expired holds. All operations of a batch share the slot, so that each finds it as
// the previous ones left it.
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

// LoadFreedSlot is LoadSlot for an operation that may free seats: it also asks for the size of the session's queue.
func LoadFreedSlot(q *engine.Query, id tenant.SessionID, into **booking.Slot) {
	LoadSlot(q, id, into)
	if s := stateOf(q.State); s.queued[id] == nil {
		s.queued[id] = new(int)
		waitlistdb.FindQueueSize(q.Batch, q.Tenant, id, s.queued[id])
	}
}

// UnknownParty is the number of seats to request for a party whose size is not known yet.
const UnknownParty = 1 << 20

// RequestSeats says that an operation may take seats. All requests of a batch are summed before any Then runs.
func RequestSeats(q *engine.Query, id tenant.SessionID, seats int) {
	stateOf(q.State).requested[id] += seats
}

// MayBeFull reports whether an operation of the batch may find no seat in a session that it can take. If members wait,
// open seats can be theirs, and so can those of holds: once a hold has expired, its seats and all others go to them.
func MayBeFull(q *engine.Query, slot *booking.Slot) bool {
	return slot.Waiting > 0 || slot.Holds > 0 || !slot.Fits(stateOf(q.State).requested[slot.ID])
}

// ExpiredHolds returns the expired holds of a session that are still PENDING. Most sessions have no holds, so it reads
// nothing for them.
func ExpiredHolds(ctx context.Context, tx *engine.Tx, slot booking.Slot) ([]booking.Booking, error) {
	if slot.Holds == 0 {
		return nil, nil
	}
	if found := stateOf(tx.State).expired[slot.ID]; found != nil {
		return *found, nil
	}
	var expired []booking.Booking
	var batch pg.Batch
	bookingdb.ListDueHolds(&batch, tx.Tenant, slot.ID, tx.Now, &expired)
	err := tx.Load(ctx, &batch)
	return expired, err
}

// LoadPayers asks for the subscriptions that could pay for a booking in the slot, with their use on its local day and
// in its week, if the plan limits it. If one is named, it asks for that one only.
func LoadPayers(
	q *engine.Query, slot **booking.Slot, member tenant.MemberID, named tenant.SubscriptionID, into *[]credit.Subscription,
) {
	s := stateOf(q.State)
	bookingdb.FindPayers(q.Batch, q.Tenant, member, named, func(found credit.Subscription) {
		*into = append(*into, found)
		s.plans = append(s.plans, found.Plan.ID)
	})
	q.Then(func(q *engine.Query) {
		if *slot != nil {
			loadUsage(q, s.snapshot, **slot, *into)
		}
	})
}

func loadUsage(q *engine.Query, snapshot *booking.Snapshot, slot booking.Slot, payers []credit.Subscription) {
	for i := range payers {
		p := &payers[i]
		p.Plan = snapshot.Plans[p.Plan.ID]
		if p.Plan.DailyLimit != nil {
			day := bookingdb.Usage{Subscription: p.ID, On: slot.LocalDate}
			bookingdb.FindUsage(q.Batch, q.Tenant, day, func(used int) { p.UsedToday = used })
		}
		if p.Plan.WeeklyLimit != nil {
			week := bookingdb.Usage{Subscription: p.ID, Week: true, On: slot.LocalDate.WeekStart()}
			bookingdb.FindUsage(q.Batch, q.Tenant, week, func(used int) { p.UsedThisWeek = used })
		}
	}
}
