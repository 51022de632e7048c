package waitlists

import (
	"context"
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
	Score   *int // negative takes away the one that staff gave
	Reason  string
}

// SetPriority flags or scores an entry.
func (s *Service) SetPriority(ctx context.Context, caller tenant.Caller, id tenant.EntryID, edit PriorityEdit) (waitlist.Entry, error) {
	return s.editEntry(ctx, caller, "waitlist.prioritized", id, edit.Reason, func(_ context.Context, _ *engine.Tx, e waitlist.Entry) (waitlist.Entry, []waitlist.Entry, error) {
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
	})
}

// MoveEntry puts an entry directly before another that stands in a queue with it; zero: at the end.
func (s *Service) MoveEntry(ctx context.Context, caller tenant.Caller, id, before tenant.EntryID, reason string) (waitlist.Entry, error) {
	return s.editEntry(ctx, caller, "waitlist.moved", id, reason, func(ctx context.Context, tx *engine.Tx, e waitlist.Entry) (waitlist.Entry, []waitlist.Entry, error) {
		var other *waitlist.Entry
		var batch pg.Batch
		line := LineUp(&batch, tx.Tenant, waitlistdb.WhoseRivals{Entries: []tenant.EntryID{id}})
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
		if before.IsZero() {
			moved := waitlist.MoveLast(slot, queue, id, rules, tx.Now)
			e.Flagged, e.Score, e.Key = moved.Flagged, moved.Score, moved.Keys[id]
			return e, nil, nil
		}
		moved := waitlist.MoveBefore(slot, queue, id, before, rules, tx.Now)
		e.Flagged, e.Score, e.Key = moved.Flagged, moved.Score, moved.Keys[id]
		var others []waitlist.Entry
		for _, c := range queue {
			if key, makesRoom := moved.Keys[c.Entry]; makesRoom && c.Entry != id {
				others = append(others, waitlist.Entry{ID: c.Entry, Flagged: c.Flagged, Key: key})
			}
		}
		return e, others, nil
	})
}

// together gives a line in which the one who asks stands with another; with nobody in particular, their first.
func (s *Standings) together(with tenant.EntryID) (waitlist.Slot, []waitlist.Candidate) {
	var slot waitlist.Slot
	found := false
	for _, r := range s.Rivals {
		if r.Entry == with || with.IsZero() {
			slot, found = r.Slot, true
			break
		}
	}
	var queue []waitlist.Candidate
	for _, r := range s.Rivals {
		if found && r.Slot == slot {
			queue = append(queue, r.Candidate)
		}
	}
	return slot, queue
}

// editEntry changes how an entry that waits stands in line, and perhaps others' keys with it.
func (s *Service) editEntry(ctx context.Context, caller tenant.Caller, action string, id tenant.EntryID, reason string,
	edit func(context.Context, *engine.Tx, waitlist.Entry) (waitlist.Entry, []waitlist.Entry, error),
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
		changes := map[string]any{"flagged": e.Flagged, "score": e.Score, "position": edited.Position, "position_before": before.Position}
		tx.Audit(action, "waitlist_entry", id.UUID, reason, changes)
		changes["entry_id"] = id.String()
		outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
			ID: tenant.Next[tenant.EventID](tx.IDs), Type: outbox.WaitlistChanged, Session: e.Session, Member: e.Member,
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

// OfferPlace offers open seats to an entry, whatever the order and whatever it wishes for.
func (s *Service) OfferPlace(ctx context.Context, caller tenant.Caller, r OfferRequest) (waitlist.Offer, error) {
	var made waitlist.Offer
	err := s.engine.Write(ctx, caller, "offer.by_hand", func(ctx context.Context, tx *engine.Tx) error {
		e, err := s.waiting(ctx, tx, r.Entry)
		if err != nil {
			return err
		}
		if e.Status == waitlist.Offered {
			return fault.New(fault.FailedPrecondition, fault.BookingState, "The entry has a live offer.").With("status", string(e.Status))
		}
		var slot *booking.Slot
		var batch pg.Batch
		bookingdb.FindSlot(&batch, tx.Tenant, r.Session, &slot)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if slot == nil {
			return seats.NoSession
		}
		l, err := s.lineFor(ctx, tx, slot, waitlist.ByHand, nil)
		if err != nil {
			return err
		}
		grant, err := l.choose(ctx, e, r.Until)
		if err != nil {
			return err
		}
		l.openRound()
		bookingdb.MoveSeats(tx.Tx, tx.Tenant, slot.ID, bookingdb.Seats{Taken: grant.Seats})
		l.record()
		made = l.offer(e, grant, false, true)
		tx.Audit("offer.made", "offer", made.ID.UUID, r.Reason, map[string]any{
			"entry_id": e.ID.String(), "member_id": e.Member.String(), "session_id": slot.ID.String(), "expire_time": made.ExpiresAt,
		})
		return nil
	}, engine.Answers(&made))
	return made, seats.Refusal(err)
}

// choose decides for an entry that staff have chosen: its booking must be possible, and nothing else is asked.
func (l *line) choose(ctx context.Context, e waitlist.Entry, until time.Time) (waitlist.Grant, error) {
	grant := waitlist.ByChoice(e.Candidate(), l.facts.Slot, l.rules, l.Now)
	closes := l.facts.Slot.Closes
	switch {
	case until.IsZero():
	case until.After(l.Now) && !until.After(closes):
		grant.Until = until
	default:
		return grant, fault.Invalid("expire_time", "The offer must end in the future, and before booking closes.").With("closes_at", closes.UTC().Format(time.RFC3339))
	}
	l.entries[e.ID] = e
	l.facts.Queue = []waitlist.Candidate{e.Candidate()}
	if err := l.judge(ctx, []waitlist.Entry{e}); err != nil {
		return grant, err
	}
	// The refusal itself, with all that it says, rather than its name in the candidate.
	if _, err := booking.Decide(l.judged[e.ID].facts, booking.Command{
		ID: l.judged[e.ID].id, Party: e.Party, Subscription: e.Subscription, Channel: e.Channel, Staff: true, Promotion: true,
		Actor: l.Caller.Actor(), OpenUntil: &closes,
	}, l.Now); err != nil {
		return grant, err
	}
	l.verdict = waitlist.Chosen(l.facts.Queue[0], grant)
	return grant, nil
}
