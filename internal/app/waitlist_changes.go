package app

import (
	"context"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// apply writes changes with their events, and then refills the session if they say so. Rounds come first: offers refer
// to them.
func (t *tx) apply(ctx context.Context, c waitlist.Changes) error {
	if c.Opened != nil {
		store.InsertRound(t.Tx, t.in, *c.Opened)
	}
	for _, r := range c.Rounds {
		store.UpdateRound(t.Tx, t.in, r)
	}
	if c.Decision != nil {
		t.writeDecision(*c.Decision)
	}
	for _, e := range c.Entries {
		t.writeEntry(e)
	}
	store.SkipEntries(t.Tx, t.in, c.Skipped, t.now)
	store.MoveSeats(t.Tx, t.in, c.Session, store.Seats{Taken: c.Seats})
	if c.Refill == nil {
		return nil
	}
	_, _, err := t.fillSession(ctx, *c.Refill)
	return err
}

// writeDecision keeps a decision, and tells staff if it leaves them something to do.
func (t *tx) writeDecision(r waitlist.Record) {
	id := tenant.Next[tenant.DecisionID](t.mint)
	store.InsertDecision(t.Tx, t.in, store.Decided{ID: id, Record: r})
	if r.Note != "" {
		outbox.Append(t.Tx, t.in, outbox.Event{
			ID: tenant.Next[tenant.EventID](t.mint), Type: outbox.WaitlistStaffNote, Session: r.Case.Slot.Session,
			Actor: credit.SystemActor, At: t.now,
			Data: map[string]any{"decision_id": id.String(), "move": string(r.Decision.Move), "note": r.Note},
		})
	}
}

// writeEntry writes what becomes of an entry, and of the offer that was made to it or has ended.
func (t *tx) writeEntry(c waitlist.EntryChange) {
	if c.Offer != nil {
		t.writeOffer(c.Offer)
	}
	store.UpdateEntry(t.Tx, t.in, c.Entry, t.now)
	if c.Entry.Status.Active() {
		return
	}
	store.RemovePlaces(t.Tx, t.in, c.Entry.ID)
	t.tally.entry(c.Entry.Status)
	if c.Entry.Status != waitlist.Booked {
		t.left(c.Entry, c.Reason, c.Notify)
	}
}

var offerEvents = map[waitlist.OfferStatus]outbox.Type{
	waitlist.Live: outbox.OfferCreated, waitlist.Accepted: outbox.OfferAccepted, waitlist.Declined: outbox.OfferDeclined,
	waitlist.RanOut: outbox.OfferExpired, waitlist.Withdrawn: outbox.OfferWithdrawn,
}

// writeOffer writes an offer that was made or has ended. A new one gets the token of its link, and its code.
func (t *tx) writeOffer(o *waitlist.Offer) {
	actor, data := t.caller.Actor(), make(map[string]any)
	if o.Status == waitlist.Live {
		o.ClaimHash, o.Code = waitlist.HashClaim(t.claims.Token(t.in, o.ID)), t.claims.Code(o.ID)
		store.InsertOffer(t.Tx, t.in, *o)
		t.dueAt(o.ExpiresAt)
		if !o.ByHand {
			actor = credit.SystemActor
		}
		data["expire_time"], data["seats"], data["first_to_claim"], data["try"] = o.ExpiresAt, o.Seats, o.Shared, o.Try
	} else {
		store.UpdateOffer(t.Tx, t.in, *o)
		if o.Reason != "" {
			data["reason"] = o.Reason
		}
	}
	data["offer_id"], data["entry_id"] = o.ID.String(), o.Entry.String()
	outbox.Append(t.Tx, t.in, outbox.Event{
		ID: tenant.Next[tenant.EventID](t.mint), Type: offerEvents[o.Status], Session: o.Session, Booking: o.Booking,
		Member: o.Member, Actor: actor, Data: data, At: t.now,
	})
	t.tally.offer(*o)
}

// entriesOf loads the entries that offers were made to.
func (t *tx) entriesOf(ctx context.Context, offers []waitlist.Offer) (map[tenant.EntryID]waitlist.Entry, error) {
	if len(offers) == 0 {
		return nil, nil
	}
	entries := make(map[tenant.EntryID]waitlist.Entry, len(offers))
	var batch pg.Batch
	for _, o := range offers {
		store.FindEntryFunc(&batch, t.in, o.Entry, func(e waitlist.Entry) { entries[e.ID] = e })
	}
	return entries, t.Load(ctx, &batch)
}
