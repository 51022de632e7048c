package app

import (
	"context"

	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

// queuePage is how many entries are looked at in one go. Most freed seats go to one of the first.
const queuePage = 50

// fill promotes from the waitlist into a session's open seats, in the transaction that freed
// them. The slot says how the session will be once that transaction's writes are done; afterwards it says how
// it will be with the promotions.
func (t *tx) fill(ctx context.Context, slot *booking.Slot, trigger waitlist.Trigger) (promoted int, err error) {
	if slot.Waiting == 0 || !slot.Fits(1) {
		return 0, nil
	}
	queue, err := t.queue(ctx, *slot)
	if err != nil {
		return 0, err
	}
	if len(queue) == 0 {
		return 0, nil
	}
	candidates := make([]waitlist.Candidate, len(queue))
	for i, q := range queue {
		candidates[i] = q.Candidate
	}
	seats := slot.SeatsOpen()
	decision := waitlist.Decide(seats, candidates)
	store.InsertDecision(t.Tx, t.in, tenant.Next[tenant.DecisionID](t.mint), slot.ID, trigger, seats, decision, t.now)

	for i, verdict := range decision.Verdicts {
		q := queue[i]
		switch verdict.Reason {
		case waitlist.Promoted:
			t.promote(q)
			slot.SeatsTaken += q.Entry.Party
			slot.Waiting--
			promoted++
		case waitlist.NoSeatsLeft, q.Entry.PassedOver:
		default:
			q.Entry.PassedOver = verdict.Reason
			store.UpdateEntry(t.Tx, t.in, q.Entry, t.now)
		}
	}
	return promoted, nil
}

// queued is an entry with all that its booking would take.
type queued struct {
	waitlist.Candidate
	id    tenant.BookingID
	facts booking.Facts
	plan  booking.Plan
}

// queue reads entries in order until the open seats are spoken for or nobody is left, and
// asks for each what its booking would say.
func (t *tx) queue(ctx context.Context, slot booking.Slot) ([]queued, error) {
	var all []queued
	var candidates []waitlist.Candidate
	var after int64
	for {
		var entries []waitlist.Entry
		var page pg.Batch
		store.ListQueue(&page, t.in, slot.ID, after, queuePage, &entries)
		if err := t.Load(ctx, &page); err != nil {
			return nil, err
		}
		judged, err := t.judge(ctx, slot, entries)
		if err != nil {
			return nil, err
		}
		for _, q := range judged {
			all, candidates, after = append(all, q), append(candidates, q.Candidate), q.Entry.Seq
		}
		if len(entries) < queuePage || spokenFor(slot, waitlist.Decide(slot.SeatsOpen(), candidates)) {
			return all, nil
		}
	}
}

func spokenFor(slot booking.Slot, d waitlist.Decision) bool {
	for _, e := range d.Promote {
		slot.SeatsTaken += e.Party
	}
	return !slot.Fits(1)
}

// judge asks for each entry what its booking would say.
func (t *tx) judge(ctx context.Context, slot booking.Slot, entries []waitlist.Entry) ([]queued, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	members := make([]tenant.MemberID, len(entries))
	named := make([]tenant.SubscriptionID, len(entries))
	for i, e := range entries {
		members[i], named[i] = e.Member, e.Subscription
	}
	var payers []credit.Subscription
	var busy []store.BusySpan
	var batch pg.Batch
	store.ListPayers(&batch, t.in, slot.ID, members, named, &payers)
	store.ListBusy(&batch, t.in, members, civil.Span{Start: slot.StartsAt, End: slot.EndsAt}, &busy)
	if err := t.Load(ctx, &batch); err != nil {
		return nil, err
	}
	facts := make(map[tenant.MemberID]*booking.Facts, len(entries))
	for _, e := range entries {
		facts[e.Member] = &booking.Facts{
			Slot:   slot,
			Member: booking.Member{ID: e.Member, Name: e.MemberName, Tier: e.MemberTier, Active: e.MemberActive},
		}
	}
	for _, p := range payers {
		f := facts[p.Member]
		f.Subscriptions = append(f.Subscriptions, p)
	}
	for _, b := range busy {
		f := facts[b.Member]
		f.Busy = append(f.Busy, b.Span)
	}
	judged := make([]queued, len(entries))
	for i, e := range entries {
		q := queued{id: tenant.Next[tenant.BookingID](t.mint), facts: *facts[e.Member]}
		q.Entry = e
		if !e.MemberActive {
			q.Refused = fault.Missing(fault.MemberNotFound, "Member")
		} else {
			q.plan, q.Refused = booking.Decide(q.facts, booking.Command{
				ID: q.id, Party: e.Party, Subscription: e.Subscription, Channel: e.Channel,
				Staff: e.ByStaff, Promotion: true, Actor: credit.SystemActor,
			}, t.now)
		}
		judged[i] = q
	}
	return judged, nil
}

// promote turns an entry into a booking.
func (t *tx) promote(q queued) {
	e := q.Entry
	grace := waitlist.GraceUntil(t.now, q.facts.Slot.StartsAt)
	b := t.place(q.facts, booking.Booking{
		ID: q.id, Session: e.Session, Member: e.Member, Party: e.Party, Channel: e.Channel, ExternalRef: e.ExternalRef,
		RequestHash: e.RequestHash, Note: e.Note, Promoted: true, GraceUntil: &grace, CreatedBy: e.CreatedBy,
	}, q.plan)
	e.Status, e.Booking, e.PassedOver = waitlist.Booked, b.ID, ""
	store.UpdateEntry(t.Tx, t.in, e, t.now)
	store.MoveSeats(t.Tx, t.in, e.Session, store.Seats{Waiting: -1})
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: outbox.WaitlistPromoted, Session: e.Session, Booking: b.ID, Member: e.Member,
		Actor: credit.SystemActor, Data: map[string]any{"entry_id": e.ID.String()}, At: t.now,
	})
}
