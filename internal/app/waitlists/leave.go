package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// LeaveWaitlist ends an entry. The seats of its live offer, if it has one, go to the next entry.
func (s *Service) LeaveWaitlist(
	ctx context.Context, caller tenant.Caller, id tenant.EntryID, reason string, notify bool,
) (waitlist.Entry, error) {
	leave := func(ctx context.Context, tx *engine.Tx) (waitlist.Entry, error) {
		e, err := s.Entry(ctx, tx, id)
		if err != nil {
			return waitlist.Entry{}, err
		}
		return s.leave(ctx, tx, e, seats.CancelOptions{Reason: reason, Notify: notify})
	}
	return engine.RunBatched(ctx, s.engine, caller, engine.Batched[waitlist.Entry]{
		Name: "waitlist.leave", Replay: true,
		Locate: func(ctx context.Context, read engine.Reader) (engine.Located[waitlist.Entry], error) {
			_, locks, err := seats.Locator{ID: tenant.BookingID(id), Fills: true}.Locate(ctx, caller.Tenant, read)
			return engine.Alone(locks, leave), err
		},
	})
}

// leave ends an entry for its member. An entry that has ended before is returned as it is, unless it was booked.
func (s *Service) leave(
	ctx context.Context, tx *engine.Tx, e waitlist.Entry, options seats.CancelOptions,
) (waitlist.Entry, error) {
	ended, err := e.CheckLeave()
	if err != nil || ended {
		return e, err
	}
	if !tx.Caller.SelfOnly {
		record.Audit(tx, "waitlist_entry.removed", "waitlist_entry", e.ID.UUID, options.Reason, map[string]any{
			"member_id": e.Member.String(),
		})
	}
	return s.EndEntry(ctx, tx, e, options)
}

// EndEntry ends an active entry. The seats of its live offer, if it has one, go to the next entry.
func (s *Service) EndEntry(
	ctx context.Context, tx *engine.Tx, e waitlist.Entry, options seats.CancelOptions,
) (waitlist.Entry, error) {
	leave := waitlist.LeaveOptions{Reason: options.Reason, Notify: options.Notify}
	if e.Status == waitlist.Waiting {
		changes := waitlist.Leave(e, leave, tx.Now)
		s.Write(tx, changes)
		return changes.Entries[0].Entry, nil
	}
	var live []waitlist.Offer
	var batch pg.Batch
	waitlistdb.ListRivalOffers(&batch, tx.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{e.ID}}, &live)
	if err := tx.Load(ctx, &batch); err != nil {
		return e, err
	}
	for _, o := range live { // an entry has at most one
		answered, err := s.releaseOffer(ctx, tx, o.Withdraw(waitlist.EntryLeft, "", tx.Now), &leave)
		if err != nil {
			return e, err
		}
		e = *answered.Entry
	}
	return e, nil
}
