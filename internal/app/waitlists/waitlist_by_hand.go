package waitlists

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// PriorityEdit changes how an entry stands; nil leaves it.
type PriorityEdit struct {
	Flagged *bool
	Score   *int // negative: the computed one again
	Reason  string
}

// An entryEdit changes an entry, and may give others new keys.
type entryEdit func(
	context.Context, *engine.Tx, waitlist.Entry,
) (edited waitlist.Entry, others []waitlist.Entry, err error)

// SetPriority flags or scores an entry.
func (s *Service) SetPriority(
	ctx context.Context, caller tenant.Caller, id tenant.EntryID, edit PriorityEdit,
) (waitlist.Entry, error) {
	prioritize := func(_ context.Context, _ *engine.Tx, e waitlist.Entry) (waitlist.Entry, []waitlist.Entry, error) {
		if edit.Flagged != nil {
			e.Flagged = *edit.Flagged
		}
		switch {
		case edit.Score == nil:
		case *edit.Score < 0:
			e.Score = nil
		default:
			e.Score = edit.Score
		}
		return e, nil, nil
	}
	return s.editEntry(ctx, caller, "waitlist.prioritized", id, edit.Reason, prioritize)
}

// MoveEntry puts an entry directly before another of its queue; zero: at the end.
func (s *Service) MoveEntry(
	ctx context.Context, caller tenant.Caller, id, before tenant.EntryID, reason string,
) (waitlist.Entry, error) {
	move := func(ctx context.Context, tx *engine.Tx, e waitlist.Entry) (waitlist.Entry, []waitlist.Entry, error) {
		var other *waitlist.Entry
		var batch pg.Batch
		line := LineUp(&batch, tx.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{id}})
		waitlistdb.FindEntry(&batch, tx.Tenant, before, &other)
		if err := tx.Load(ctx, &batch); err != nil {
			return e, nil, err
		}
		if other == nil && !before.IsZero() {
			return e, nil, noEntry
		}
		slot, queue := line.together(before)
		if len(queue) == 0 {
			return e, nil, fault.Invalid("before_entry_id", "The other entry waits for something else.")
		}
		rules, err := waitlist.Compile(waitlist.RulesAt(line.Rules, slot.Location, slot.Service).Rules)
		if err != nil {
			return e, nil, err
		}
		if before == id {
			return e, nil, nil
		}
		var moved waitlist.Reordered
		if before.IsZero() {
			moved = waitlist.MoveLast(slot, queue, id, rules, tx.Now)
		} else {
			moved = waitlist.MoveBefore(slot, queue, id, before, rules, tx.Now)
		}
		e.Flagged, e.Score, e.Key = moved.Flagged, moved.Score, moved.Keys[id]
		var others []waitlist.Entry
		for _, c := range queue {
			if key, makesRoom := moved.Keys[c.Entry]; makesRoom && c.Entry != id {
				others = append(others, waitlist.Entry{ID: c.Entry, Flagged: c.Flagged, Key: key})
			}
		}
		return e, others, nil
	}
	return s.editEntry(ctx, caller, "waitlist.moved", id, reason, move)
}

// together gives the first queue in which the entry waits with another one; zero: with any.
func (s *Standings) together(with tenant.EntryID) (waitlist.Slot, []waitlist.Candidate) {
	at := slices.IndexFunc(s.Rivals, func(r waitlistdb.Rival) bool { return r.Entry == with || with.IsZero() })
	if at < 0 {
		return waitlist.Slot{}, nil
	}
	slot := s.Rivals[at].Slot
	var queue []waitlist.Candidate
	for _, r := range s.Rivals {
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
	var edited waitlist.Entry
	err := s.engine.Write(ctx, caller, action, func(ctx context.Context, tx *engine.Tx) error {
		e, err := s.waiting(ctx, tx, id)
		if err != nil {
			return err
		}
		before, err := s.standing(ctx, tx, e)
		if err != nil {
			return err
		}
		e, others, err := edit(ctx, tx, e)
		if err != nil {
			return err
		}
		waitlistdb.UpdateEntry(tx.Tx, tx.Tenant, e, tx.Now)
		waitlistdb.SetOrder(tx.Tx, tx.Tenant, append(others, e), tx.Now)
		if edited, err = s.standing(ctx, tx, e); err != nil {
			return err
		}
		changes := map[string]any{
			"flagged": e.Flagged, "score": e.Score, "position": edited.Position, "position_before": before.Position,
		}
		tx.Audit(action, "waitlist_entry", id.UUID, reason, changes)
		changes["entry_id"] = id.String()
		outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
			ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.WaitlistChanged, Session: e.Session, Member: e.Member,
			Actor: tx.Caller.Actor(), Data: changes, At: tx.Now,
		})
		return nil
	}, engine.Answers(&edited))
	return edited, err
}

// OfferRequest is an offer that staff make.
type OfferRequest struct {
	Session tenant.SessionID
	Entry   tenant.EntryID
	Until   time.Time // zero: as the rules say
	Reason  string
}

// OfferPlace offers open seats to an entry, whatever its position, and whatever it waits for.
func (s *Service) OfferPlace(ctx context.Context, caller tenant.Caller, r OfferRequest) (waitlist.Offer, error) {
	var made waitlist.Offer
	err := s.engine.Write(ctx, caller, "offer.by_hand", func(ctx context.Context, tx *engine.Tx) error {
		e, err := s.waiting(ctx, tx, r.Entry)
		if err != nil {
			return err
		}
		if e.Status == waitlist.Offered {
			return fault.New(fault.FailedPrecondition, fault.BookingState, "The entry has a live offer.").
				WithMetadata("status", string(e.Status))
		}
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, tx.Tenant, r.Session, &slot)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if slot == nil {
			return seats.ErrNoSession
		}
		f, err := s.filler(ctx, tx, slot)
		if err != nil {
			return err
		}
		choice, err := waitlist.NewManualOffer(f.scene, e, r.Until)
		if err != nil {
			return err
		}
		changes, err := f.decide(ctx, choice)
		if err != nil {
			return err
		}
		// Check again as staff, who may book without a plan. The caller gets the refusal with all its details.
		command := f.command(f.checked[e.ID].id, e)
		command.Staff, command.Actor = true, caller.Actor()
		if _, err := booking.Decide(f.checked[e.ID].facts, command, tx.Now); err != nil {
			return err
		}
		if err := f.apply(ctx, changes); err != nil {
			return err
		}
		made = *changes.Entries[0].Offer
		made.MemberName, made.SessionTitle, made.TimeZone = e.MemberName, slot.Title, slot.TimeZone
		made.SessionStarts, made.SessionEnds = slot.StartsAt, slot.EndsAt
		tx.Audit("offer.made", "offer", made.ID.UUID, r.Reason, map[string]any{
			"entry_id": e.ID.String(), "member_id": e.Member.String(), "session_id": slot.ID.String(),
			"expire_time": made.ExpiresAt,
		})
		return nil
	}, engine.Answers(&made))
	return made, seats.ConstraintError(err)
}
