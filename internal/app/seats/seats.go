// Package seats holds the writes that change who has which seat, and what the operations of a batch share. Bookings,
// waitlists and schedules are made of them.
package seats

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Place is the result of asking for a place, or of giving one up: a booking or a waitlist entry.
type Place struct {
	Booking *booking.Booking
	Entry   *waitlist.Entry
	// Repeated: an earlier request with the same external reference has made it.
	Repeated bool
}

// Cancelled is the result of cancelling a booking or leaving a waitlist.
type Cancelled struct {
	Place
	Refunded bool
	Late     bool
	Promoted int // from the waitlist into the seats that it freed
}

// CancelOptions says why a place is given up, and whether the member is told.
type CancelOptions struct {
	Reason string
	Notify bool
}

// ErrNoSession refuses what names a session that does not exist.
var ErrNoSession = fault.Missing(fault.SessionNotFound, "Session")

// Take writes a booking, confirmed unless it is a hold: first what the database may refuse.
func Take(tx *engine.Tx, f booking.Facts, b booking.Booking, plan booking.Decision) booking.Booking {
	seats := bookingdb.Seats{Taken: b.Party}
	if b.Status == booking.Pending {
		seats.Holds = 1
	} else {
		b.Status, b.ConfirmedAt = booking.Confirmed, &tx.Now
	}
	b.Payment.Status = booking.Unpaid
	b.Credits, b.Counted, b.Exclusive = plan.Credits, plan.Counted, plan.Exclusive
	b.StartsAt, b.EndsAt, b.CreatedAt = f.Slot.StartsAt, f.Slot.EndsAt, tx.Now
	b.MemberName, b.MemberTier = f.Member.Name, f.Member.Tier
	b.SessionTitle, b.TimeZone, b.LocalDate, b.Rules = f.Slot.Title, f.Slot.TimeZone, f.Slot.LocalDate, f.Slot.Rules
	if plan.Payer != nil {
		b.Subscription = plan.Payer.ID
	}
	bookingdb.InsertBooking(tx.Tx, tx.Tenant, b)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, seats)
	if plan.Payer != nil {
		WriteCredits(tx, *plan.Payer, plan.Ledger)
		if plan.Counted {
			bookingdb.CountBooking(tx.Tx, tx.Tenant, plan.Payer.ID, f.Slot.LocalDate, +1)
		}
	}
	return b
}

// Cancel writes a cancellation: the booking, its seats, its credits and its quota.
func Cancel(tx *engine.Tx, c booking.CancelResult, notify bool) {
	b := c.Booking
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, b, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -c.SeatsFreed, Holds: -c.HoldsEnded})
	if b.HasItems {
		bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, nil, booking.ItemCancelled)
	}
	if c.Payer != nil {
		WriteCredits(tx, *c.Payer, c.Ledger)
	}
	if c.ReleasesQuota {
		bookingdb.CountBooking(tx.Tx, tx.Tenant, b.Subscription, b.LocalDate, -1)
	}
	BookingEvent(tx, outbox.BookingCancelled, b, map[string]any{
		"credit_refunded": c.Refunded, "late": c.Late, "reason": b.CancelReason, "notify": notify,
		"session_gone": c.SessionGone,
	})
}

// EndHold writes the end of a hold: its seats and items are free.
func EndHold(tx *engine.Tx, b *booking.Booking, what outbox.Type) {
	bookingdb.UpdateBooking(tx.Tx, tx.Tenant, *b, tx.Now)
	bookingdb.MoveSeats(tx.Tx, tx.Tenant, b.Session, bookingdb.Seats{Taken: -b.Party, Holds: -1})
	if b.HasItems {
		bookingdb.SetLines(tx.Tx, tx.Tenant, b.ID, nil, booking.ItemCancelled)
	}
	for i := range b.Items {
		b.Items[i].Status = booking.ItemCancelled
	}
	BookingEvent(tx, what, *b, nil)
}

// BookingEvent appends what happened to a booking to the event log.
func BookingEvent(tx *engine.Tx, what outbox.Type, b booking.Booking, data map[string]any) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: what, Session: b.Session, Booking: b.ID, Member: b.Member,
		Actor: tx.Caller.Actor(), Data: data, At: tx.Now,
	})
}

// WriteCredits writes a subscription's new balance with the lines that led to it, so that the balance always equals the
// sum of its lines.
func WriteCredits(tx *engine.Tx, s credit.Subscription, ledger []credit.Entry) {
	if len(ledger) == 0 {
		return
	}
	for i := range ledger {
		ledger[i].ID = tenant.NextID[tenant.CreditEntryID](tx.IDs)
	}
	bookingdb.UpdateSubscription(tx.Tx, tx.Tenant, s, tx.Now)
	bookingdb.AppendLedger(tx.Tx, tx.Tenant, ledger)
}

// CatalogChanged records that something of what a tenant sets up was made or edited: in the audit log, and as an event
// for those that keep a copy.
func CatalogChanged(tx *engine.Tx, action, kind string, id tenant.UUID, changes map[string]any) {
	tx.Audit(action, kind, id, "", changes)
	CatalogEvent(tx, kind, id.String())
}

// CatalogEvent is the event alone.
func CatalogEvent(tx *engine.Tx, kind, id string) {
	outbox.Append(tx.Tx, tx.Tenant, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Type: outbox.CatalogChanged, Actor: tx.Caller.Actor(),
		Data: map[string]any{"kind": kind, "id": id}, At: tx.Now,
	})
}

// RepeatedPlace answers a request whose external reference is known: with what the first made, if it asked for the same.
func RepeatedPlace(made Place, hash []byte) (Place, error) {
	var before []byte
	if made.Booking != nil {
		before, made.Entry = made.Booking.RequestHash, nil // a promoted entry's reference moved to its booking
	} else {
		before = made.Entry.RequestHash
	}
	if string(before) != string(hash) {
		return Place{}, fault.New(fault.AlreadyExists, fault.ExternalRefConflict,
			"The external reference was used for another request.").WithField("external_ref")
	}
	made.Repeated = true
	return made, nil
}

// AlreadyBooked finds the booking or entry that a member has in a session, and refuses with it; nil if there is none.
func AlreadyBooked(
	ctx context.Context, e *engine.Engine, by tenant.Caller, session tenant.SessionID, member tenant.MemberID,
) error {
	var batch pg.Batch
	var booked *booking.Booking
	var waiting *waitlist.Entry
	bookingdb.FindActiveBooking(&batch, by.Tenant, session, member, &booked)
	waitlistdb.FindActiveEntry(&batch, by.Tenant, session, member, &waiting)
	if err := e.Read(ctx, by, &batch); err != nil {
		return err
	}
	var id tenant.BookingID
	var entry tenant.EntryID
	if booked != nil {
		id = booked.ID
	}
	if waiting != nil {
		entry = waiting.ID
	}
	if id.IsZero() && entry.IsZero() {
		return nil
	}
	return booking.AlreadyBooked(id, entry)
}
