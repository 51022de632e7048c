// Package outbox is the event log: what happened in each tenant, in commit order. An event is written in the
// transaction that caused it, so there is never one without the other. Nothing is notified inside that transaction.
//
// Events are ordered by (transaction, ID). Readers stop before the oldest transaction that is still running:
// what they can see never changes, and what becomes durable later comes after it. So a slow transaction
// delays readers, but they miss nothing.
package outbox

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Type is the type of an event.
type Type string

// The types of events, named subject.verb.
const (
	SessionCreated     Type = "session.created"
	SessionUpdated     Type = "session.updated"
	SessionPublished   Type = "session.published"
	SessionUnpublished Type = "session.unpublished"
	SessionBlocked     Type = "session.blocked"
	SessionUnblocked   Type = "session.unblocked"
	SessionCancelled   Type = "session.cancelled"
	SessionDeleted     Type = "session.deleted"
	// SessionSeatsChanged is never stored: streams derive it from other events. See Record.SeatsChanged.
	SessionSeatsChanged Type = "session.seats_changed"

	BookingHeld          Type = "booking.held"
	BookingReleased      Type = "booking.released"
	BookingExpired       Type = "booking.expired"
	BookingUpdated       Type = "booking.updated"
	BookingRescheduled   Type = "booking.rescheduled"
	BookingConfirmed     Type = "booking.confirmed"
	BookingCancelled     Type = "booking.cancelled"
	BookingAttended      Type = "booking.attended"
	BookingCheckInUndone Type = "booking.check_in_undone"
	BookingNoShow        Type = "booking.no_show"
	BookingNoShowUndone  Type = "booking.no_show_undone"
	BookingReminderDue   Type = "booking.reminder_due"

	WaitlistJoined    Type = "waitlist.joined"
	WaitlistLeft      Type = "waitlist.left"
	WaitlistPromoted  Type = "waitlist.promoted"
	WaitlistChanged   Type = "waitlist.changed" // flagged, scored or moved by staff
	WaitlistStaffNote Type = "waitlist.staff_note"

	OfferCreated   Type = "offer.created"
	OfferExtended  Type = "offer.extended" // its member was told later than planned
	OfferAccepted  Type = "offer.accepted"
	OfferDeclined  Type = "offer.declined"
	OfferExpired   Type = "offer.expired"
	OfferWithdrawn Type = "offer.withdrawn"

	CreditsChanged      Type = "credits.changed"
	SubscriptionChanged Type = "subscription.changed"
	MemberChanged       Type = "member.changed"
	RolesChanged        Type = "roles.changed"
	CatalogChanged      Type = "catalog.changed"
	RulesChanged        Type = "rules.changed"
)

// Event is one thing that happened. IDs that do not apply are zero.
type Event struct {
	ID      tenant.EventID
	Type    Type
	Session tenant.SessionID
	Booking tenant.BookingID
	Member  tenant.MemberID
	Actor   string
	// Data holds facts that a reader cannot look up later, such as whether a credit was returned,
	// or whether to notify the people concerned ("notify": false if not).
	Data map[string]any
	At   time.Time
}

var eventRows = pg.NewTable("e", func(e *Event) []pg.Column {
	return []pg.Column{
		pg.Fixed("id", &e.ID),
		pg.Fixed("type", (*string)(&e.Type)),
		pg.Fixed("session_id", &e.Session),
		pg.Fixed("booking_id", &e.Booking),
		pg.Fixed("member_id", &e.Member),
		pg.Fixed("actor", &e.Actor),
		pg.Fixed("data", pg.JSON(&e.Data)),
		pg.Fixed("occurred_at", &e.At),
	}
})

var insert = pg.SQL(`
insert into events ` + eventRows.Rows())

// rows are written last: no other statement waits for an event, and the database rejects none.
var rows = pg.RowWriter[*Event]{
	Rank: 100,
	Write: func(tx *pg.Tx, in tenant.TenantID, events []*Event) {
		tx.Write(insert, eventRows.InsertAll(in, events)...)
	},
}

// Append writes events in the transaction. Readers get them in the order given.
func Append(tx *pg.Tx, in tenant.TenantID, events ...Event) {
	if len(events) > 0 {
		rows.Add(tx, in, pg.Array(events, func(e Event) *Event { return &e })...)
	}
}
