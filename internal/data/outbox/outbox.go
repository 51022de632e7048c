// Package outbox is the event log: what happened in each tenant, in commit order. An event is written in the
// transaction that caused it, so there is never one without the other. Nothing is notified inside that transaction.
//
// Events are ordered by (transaction, ID). Readers stop before the oldest transaction that is still running:
// what they can see never changes, and what becomes durable later comes after it. So a slow transaction
// delays readers, but they miss nothing.
package outbox

import (
	"encoding/json"
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

const insert = `
insert into events (tenant_id, id, type, session_id, booking_id, member_id, actor, data, occurred_at)
select $1, e.id, e.type, e.session_id, e.booking_id, e.member_id, e.actor, e.data, e.occurred_at
from unnest($2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::jsonb[], $9::timestamptz[])
  as e (id, type, session_id, booking_id, member_id, actor, data, occurred_at)`

// rows are written last: no other statement waits for an event, and the database rejects none.
var rows = pg.Rows[Event]{
	Rank: 100,
	Write: func(tx *pg.Tx, in tenant.TenantID, events []Event) {
		n := len(events)
		ids := make([]tenant.EventID, n)
		types := make([]string, n)
		sessions := make([]tenant.SessionID, n)
		bookings := make([]tenant.BookingID, n)
		members := make([]tenant.MemberID, n)
		actors := make([]string, n)
		data := make([][]byte, n)
		times := make([]time.Time, n)
		for i, e := range events {
			ids[i], types[i], sessions[i], bookings[i] = e.ID, string(e.Type), e.Session, e.Booking
			members[i], actors[i], data[i], times[i] = e.Member, e.Actor, encode(e.Data), e.At
		}
		tx.Write(insert, in, ids, types, sessions, bookings, members, actors, data, times)
	},
}

// Append writes events in the transaction. Readers get them in the order given.
func Append(tx *pg.Tx, in tenant.TenantID, events ...Event) {
	if len(events) > 0 {
		rows.Add(tx, in, events...)
	}
}

func encode(data map[string]any) []byte {
	if len(data) == 0 {
		return []byte("{}")
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic("outbox: event data: " + err.Error()) // data only holds plain values
	}
	return text
}
