// Package outbox is the event log: what happened, per tenant, in commit order.
// Events are written in the transaction that made them happen, so that there is
// never one without the other. Nobody is notified inside that transaction.
//
// Readers go by (transaction, id), below the oldest transaction that still runs:
// what is there once, stays as it is, and whatever becomes durable later comes
// behind it. A slow transaction so delays those who read, and loses them nothing.
package outbox

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Type says what happened.
type Type string

// The types, named subject.verb.
const (
	SessionCreated     Type = "session.created"
	SessionUpdated     Type = "session.updated"
	SessionPublished   Type = "session.published"
	SessionUnpublished Type = "session.unpublished"
	SessionBlocked     Type = "session.blocked"
	SessionUnblocked   Type = "session.unblocked"
	SessionCancelled   Type = "session.cancelled"
	SessionDeleted     Type = "session.deleted"

	BookingHeld        Type = "booking.held"
	BookingReleased    Type = "booking.released"
	BookingExpired     Type = "booking.expired"
	BookingUpdated     Type = "booking.updated"
	BookingRescheduled Type = "booking.rescheduled"
	BookingConfirmed   Type = "booking.confirmed"
	BookingCancelled   Type = "booking.cancelled"
	BookingAttended    Type = "booking.attended"
	BookingCheckInUndo Type = "booking.check_in_undone"
	BookingNoShow      Type = "booking.no_show"
	BookingNoShowUndo  Type = "booking.no_show_undone"
	BookingReminderDue Type = "booking.reminder_due"

	WaitlistJoined    Type = "waitlist.joined"
	WaitlistLeft      Type = "waitlist.left"
	WaitlistPromoted  Type = "waitlist.promoted"
	WaitlistChanged   Type = "waitlist.changed" // flagged, scored or moved by staff
	WaitlistStaffNote Type = "waitlist.staff_note"

	OfferCreated   Type = "offer.created"
	OfferExtended  Type = "offer.extended" // its member could only be told later
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

// Event is one thing that happened. Ids that do not apply are zero.
type Event struct {
	ID      tenant.EventID
	Type    Type
	Session tenant.SessionID
	Booking tenant.BookingID
	Member  tenant.MemberID
	Actor   string
	// Data are facts that a reader cannot look up later, such as whether a credit
	// came back, or whether the people concerned are to be told ("notify": false where not).
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

// rows go last: nothing waits for an event, and no event is refused.
var rows = pg.Rows[*Event]{
	Rank: 100,
	Write: func(tx *pg.Tx, in tenant.TenantID, events []*Event) {
		tx.Write(insert, eventRows.InsertAll(in, events)...)
	},
}

// Append writes events with the transaction. They are read in the order given.
func Append(tx *pg.Tx, in tenant.TenantID, events ...Event) {
	if len(events) > 0 {
		rows.Add(tx, in, pg.Array(events, func(e Event) *Event { return &e })...)
	}
}
