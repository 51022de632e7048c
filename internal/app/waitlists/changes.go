package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Write writes changes that need no refill, with their events. Rounds are written first, because offers refer to them.
func (s *Service) Write(tx *engine.Tx, c waitlist.Changes) {
	if c.Opened != nil {
		waitlistdb.InsertRound(tx.Tx, tx.Tenant, *c.Opened)
	}
	for _, r := range c.Rounds {
		waitlistdb.UpdateRound(tx.Tx, tx.Tenant, r)
	}
	if c.Decision != nil {
		s.writeDecision(tx, *c.Decision)
	}
	for _, e := range c.Entries {
		s.writeEntry(tx, e)
	}
	waitlistdb.SkipEntries(tx.Tx, tx.Tenant, c.Skipped, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, c.Session, bookingdb.Seats{Taken: c.Seats})
}

// Apply writes changes with their events, and then refills the session if they say so.
func (s *Service) Apply(ctx context.Context, tx *engine.Tx, c waitlist.Changes) error {
	s.Write(tx, c)
	if c.Refill == nil {
		return nil
	}
	var findRound func(*pg.Batch, **waitlist.Round)
	if round := c.Refill.Round; !round.IsZero() {
		findRound = func(b *pg.Batch, into **waitlist.Round) { waitlistdb.FindRound(b, tx.Tenant, round, into) }
	}
	_, err := s.fillSession(ctx, tx, c.Refill.Session, c.Refill.Trigger, findRound)
	return err
}

// writeDecision records a decision, and sends staff a note if it leaves them something to do.
func (s *Service) writeDecision(tx *engine.Tx, r waitlist.Record) {
	id := tenant.NextID[tenant.DecisionID](tx.IDs)
	waitlistdb.InsertDecision(tx.Tx, tx.Tenant, waitlistdb.DecisionRecord{ID: id, Record: r})
	if r.Note != "" {
		outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
			ID: tenant.NextID[tenant.EventID](tx.IDs), Session: r.Case.Slot.Session, Actor: credit.SystemActor, At: tx.Now,
			Data: event.WaitlistStaffNote{Decision: id, Move: string(r.Decision.Move), Note: r.Note}, Facts: event.NoFacts,
		})
	}
}

// writeEntry writes a changed entry, and the offer that was made to it or has ended.
func (s *Service) writeEntry(tx *engine.Tx, c waitlist.EntryChange) {
	if c.Offer != nil {
		s.writeOffer(tx, c.Offer)
	}
	waitlistdb.UpdateEntry(tx.Tx, tx.Tenant, c.Entry, tx.Now)
	if c.Entry.Status.Active() {
		return
	}
	waitlistdb.RemovePlaces(tx.Tx, tx.Tenant, c.Entry.ID)
	waitlistdb.CountWaiting(tx.Tx, tx.Tenant, c.Entry.Member, -1)
	s.countEntry(tx, c.Entry.Status)
	if c.Entry.Status != waitlist.Booked || c.Taken {
		entryEvent(tx, c.Entry, event.WaitlistLeft{Reason: c.Reason, Notify: c.Notify, TellUntil: c.TellUntil})
	}
}

// entryEvent appends an event of an entry to the event log.
func entryEvent(tx *engine.Tx, e waitlist.Entry, data event.Data) {
	record.Event(tx, outbox.Event{
		Session: e.Session, Member: e.Member, Entry: e.ID, Data: data,
		Facts: event.Facts{Status: string(e.Status), Party: e.Party, ExternalRef: e.ExternalRef, Payment: event.NoPayment},
	})
}

// offerEvent appends an event of an offer, and of the booking that came of it, to the event log.
func offerEvent(tx *engine.Tx, o waitlist.Offer, actor string, data event.Data, facts event.Facts) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Session: o.Session, Booking: o.Booking, Member: o.Member,
		Entry: o.Entry, Offer: o.ID, Actor: actor, Data: data, Facts: facts, At: tx.Now,
	})
}

func offerFacts(o waitlist.Offer) event.Facts {
	return event.Facts{Status: string(o.Status), Party: o.Seats, ExternalRef: "", Payment: event.NoPayment}
}

// offerEnd returns what the event says with which an offer ended.
func offerEnd(o waitlist.Offer) event.Data {
	end := event.OfferEnd{Reason: o.Reason}
	switch o.Status {
	case waitlist.Accepted:
		return event.OfferAccepted(end)
	case waitlist.Declined:
		return event.OfferDeclined(end)
	case waitlist.RanOut:
		return event.OfferExpired(end)
	default:
		return event.OfferWithdrawn{Cause: string(o.Cause), Reason: o.Reason}
	}
}

// writeOffer writes an offer that was made or has ended. A new one gets the hashes of its link's token and of its code.
func (s *Service) writeOffer(tx *engine.Tx, o *waitlist.Offer) {
	actor, data := tx.Caller.Actor(), offerEnd(*o)
	if o.Status == waitlist.Live {
		o.ClaimHash = waitlist.HashClaim(s.claims.Token(tx.Tenant, o.ID))
		o.CodeHash = s.claims.HashCode(tx.Tenant, s.claims.Code(o.ID))[0]
		waitlistdb.InsertOffer(tx.Tx, tx.Tenant, *o)
		tx.WakeAt(o.ExpiresAt)
		if !o.ByHand {
			actor = credit.SystemActor
		}
		data = event.OfferCreated{Expires: o.ExpiresAt, FirstToClaim: o.Shared, Try: o.Try}
	} else {
		waitlistdb.UpdateOffer(tx.Tx, tx.Tenant, *o)
	}
	offerEvent(tx, *o, actor, data, offerFacts(*o))
	s.countOffer(tx, *o)
}

// entriesOf loads the entries of offers.
func (s *Service) entriesOf(
	ctx context.Context, tx *engine.Tx, offers []waitlist.Offer,
) (map[tenant.EntryID]waitlist.Entry, error) {
	if len(offers) == 0 {
		return nil, nil
	}
	entries := make(map[tenant.EntryID]waitlist.Entry, len(offers))
	var batch pg.Batch
	for _, o := range offers {
		waitlistdb.FindEntryFunc(&batch, tx.Tenant, o.Entry, func(e waitlist.Entry) { entries[e.ID] = e })
	}
	return entries, tx.Load(ctx, &batch)
}
