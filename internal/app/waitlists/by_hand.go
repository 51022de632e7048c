package waitlists

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// PriorityEdit changes the priority of an entry. A nil field is not changed.
type PriorityEdit struct {
	Flagged    *bool
	Score      *int
	ClearScore bool // back to the computed score
	Reason     string
}

// An entryEdit changes an entry, and may change the keys of others to make room for it.
type entryEdit func(
	context.Context, *engine.Tx, waitlist.Entry,
) (edited waitlist.Entry, others []waitlist.Entry, err error)

// SetWaitlistPriority flags or scores an entry.
func (s *Service) SetWaitlistPriority(
	ctx context.Context, caller tenant.Caller, id tenant.EntryID, edit PriorityEdit,
) (waitlist.Entry, error) {
	prioritize := func(_ context.Context, _ *engine.Tx, e waitlist.Entry) (waitlist.Entry, []waitlist.Entry, error) {
		if edit.Flagged != nil {
			e.Flagged = *edit.Flagged
		}
		switch {
		case edit.ClearScore:
			e.Score = nil
		case edit.Score != nil:
			e.Score = edit.Score
		}
		return e, nil, nil
	}
	return s.editEntry(ctx, caller, "waitlist_entry.prioritized", id, edit.Reason, prioritize)
}

// MoveWaitlistEntry moves an entry directly before another of its queue. With the zero id it moves it to the end.
func (s *Service) MoveWaitlistEntry(
	ctx context.Context, caller tenant.Caller, id, before tenant.EntryID, reason string,
) (waitlist.Entry, error) {
	move := func(ctx context.Context, tx *engine.Tx, e waitlist.Entry) (waitlist.Entry, []waitlist.Entry, error) {
		var other *waitlist.Entry
		var batch pg.Batch
		positions := ListPositions(&batch, tx.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{id}})
		waitlistdb.FindEntry(&batch, tx.Tenant, before, &other)
		if err := tx.Load(ctx, &batch); err != nil {
			return e, nil, err
		}
		if other == nil && !before.IsZero() {
			return e, nil, errNoEntry
		}
		slot, queue := positions.commonQueue(before)
		rules, err := waitlist.CompileSaved(waitlist.RulesAt(positions.Rules, slot.Location, slot.Service).Rules)
		if err != nil {
			return e, nil, err
		}
		return e.Move(slot, queue, before, rules, tx.Now)
	}
	return s.editEntry(ctx, caller, "waitlist_entry.moved", id, reason, move)
}

// commonQueue returns the first queue that the entry shares with another one. With the zero id it is the entry's first
// queue.
func (f *PositionFacts) commonQueue(with tenant.EntryID) (waitlist.Slot, []waitlist.Candidate) {
	at := slices.IndexFunc(f.Rivals, func(r waitlistdb.Rival) bool { return r.Entry == with || with.IsZero() })
	if at < 0 {
		return waitlist.Slot{}, nil
	}
	slot := f.Rivals[at].Slot
	var queue []waitlist.Candidate
	for _, r := range f.Rivals {
		if r.Slot == slot {
			queue = append(queue, r.Candidate)
		}
	}
	return slot, queue
}

// editEntry changes the position of an active entry.
func (s *Service) editEntry(
	ctx context.Context, caller tenant.Caller, action string, id tenant.EntryID, reason string, edit entryEdit,
) (waitlist.Entry, error) {
	t := engine.Transaction{Name: action, Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (waitlist.Entry, error) {
		e, err := s.activeEntry(ctx, tx, id)
		if err != nil {
			return waitlist.Entry{}, err
		}
		before, err := s.addPosition(ctx, tx, e)
		if err != nil {
			return waitlist.Entry{}, err
		}
		e, others, err := edit(ctx, tx, e)
		if err != nil {
			return waitlist.Entry{}, err
		}
		waitlistdb.UpdateEntry(tx.Tx, tx.Tenant, e, tx.Now)
		waitlistdb.SetOrder(tx.Tx, tx.Tenant, append(others, e), tx.Now)
		edited, err := s.addPosition(ctx, tx, e)
		if err != nil {
			return waitlist.Entry{}, err
		}
		record.Audit(tx, action, "waitlist_entry", id.UUID, reason, map[string]any{
			"flagged": e.Flagged, "score": e.Score, "position": edited.Position, "position_before": before.Position,
		})
		entryEvent(tx, e, event.WaitlistChanged{
			Flagged: e.Flagged, Score: e.Score, Position: edited.Position, PositionBefore: before.Position,
		})
		return edited, nil
	})
}

// OfferRequest is an offer that staff make.
type OfferRequest struct {
	Session tenant.SessionID
	Entry   tenant.EntryID
	Until   time.Time // zero: set by the rules
	Reason  string
}

// CreateWaitlistOffer offers open seats to an entry, whatever its position, and even if it waits for another session.
func (s *Service) CreateWaitlistOffer(
	ctx context.Context, caller tenant.Caller, r OfferRequest,
) (waitlist.Offer, error) {
	t := engine.Transaction{Name: "waitlist_offer.create", Replay: true}
	offer := func(ctx context.Context, tx *engine.Tx) (waitlist.Offer, error) {
		e, err := s.activeEntry(ctx, tx, r.Entry)
		if err != nil {
			return waitlist.Offer{}, err
		}
		if err := e.CheckManualOffer(); err != nil {
			return waitlist.Offer{}, err
		}
		slot, err := engine.Find(ctx, tx, seats.ErrNoSession, func(b *pg.Batch, into **booking.Slot) {
			bookingdb.FindSlot(b, tx.Tenant, r.Session, into)
		})
		if err != nil {
			return waitlist.Offer{}, err
		}
		f, err := s.filler(ctx, tx, &slot)
		if err != nil {
			return waitlist.Offer{}, err
		}
		choice, err := waitlist.NewManualOffer(f.facts, e, r.Until)
		if err != nil {
			return waitlist.Offer{}, err
		}
		changes, err := f.decide(ctx, choice)
		if err != nil {
			return waitlist.Offer{}, err
		}
		// Check again as staff, who may book without a plan. The caller gets the refusal with all its details.
		request := f.request(f.checked[e.ID].id, e)
		request.Free, request.Actor = true, caller.Actor()
		if _, err := booking.Decide(f.checked[e.ID].facts, request, tx.Now); err != nil {
			return waitlist.Offer{}, err
		}
		f.apply(changes)
		made := *changes.Entries[0].Offer
		made.MemberName = e.MemberName
		made = made.In(slot.Summary())
		record.Audit(tx, "waitlist_offer.created", "waitlist_offer", made.ID.UUID, r.Reason, map[string]any{
			"entry_id": e.ID.String(), "member_id": e.Member.String(), "session_id": slot.ID.String(),
			"expire_time": made.ExpiresAt,
		})
		return made, nil
	}
	made, err := engine.Transact(ctx, s.engine, caller, t, offer)
	return made, seats.ConstraintError(err)
}
