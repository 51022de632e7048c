// Package outbox is the event log: what happened in each tenant, in commit order. An event is written in the
// transaction that caused it, so there is never one without the other. Nothing is notified inside that transaction.
//
// Events are ordered by (transaction, ID). Readers stop before the oldest transaction that is still running:
// what they can see never changes, and what becomes durable later comes after it. So a slow transaction
// delays readers, but they miss nothing.
package outbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

// Event is one thing that happened, and what it is about. IDs that do not apply are zero.
type Event struct {
	ID      tenant.EventID
	Session tenant.SessionID
	Booking tenant.BookingID
	Member  tenant.MemberID
	Entry   tenant.EntryID
	Offer   tenant.OfferID
	Facts   event.Facts
	Actor   string
	Data    event.Data
	At      time.Time
}

// row is an event as it is stored. Its data have the ids and facts, too, that no column has.
type row struct {
	Event
	what event.Type
	data json.RawMessage
}

// extraData are the ids and facts that have no column: they are stored with the fields of the data.
type extraData struct {
	Entry tenant.EntryID `json:"entry_id,omitzero"`
	Offer tenant.OfferID `json:"offer_id,omitzero"`
	event.Facts
}

var eventRows = pg.NewTable("e", func(r *row) []pg.Column {
	return []pg.Column{
		pg.Fixed("id", &r.ID),
		pg.Fixed("type", (*string)(&r.what)),
		pg.Fixed("session_id", &r.Session),
		pg.Fixed("booking_id", &r.Booking),
		pg.Fixed("member_id", &r.Member),
		pg.Fixed("actor", &r.Actor),
		pg.Fixed("data", pg.JSON(&r.data)),
		pg.Fixed("occurred_at", &r.At),
	}
})

// rowOf returns the row of an event.
func rowOf(e Event) *row {
	r := &row{Event: e, what: e.Data.Type(), data: pg.Encode(e.Data)}
	if extra := (extraData{e.Entry, e.Offer, e.Facts}); extra != (extraData{}) {
		r.data = merge(pg.Encode(extra), r.data)
	}
	return r
}

// merge returns an object with the fields of two.
func merge(one, other json.RawMessage) json.RawMessage {
	if string(other) == "{}" {
		return one
	}
	return slices.Concat(one[:len(one)-1], []byte(","), other[1:])
}

// event returns the event of a row, whose data are read in one of two ways.
func (r *row) event(decode func(event.Type, []byte) (event.Data, error)) (Event, error) {
	e := r.Event
	var err error
	if e.Data, err = decode(r.what, r.data); err != nil {
		return e, fmt.Errorf("event %s: %w", e.ID, err)
	}
	if string(r.data) == "{}" {
		return e, nil
	}
	var extra extraData
	if err := json.Unmarshal(r.data, &extra); err != nil {
		return e, fmt.Errorf("event %s: %w", e.ID, err)
	}
	e.Entry, e.Offer, e.Facts = extra.Entry, extra.Offer, extra.Facts
	return e, nil
}

var insert = pg.SQL(`
insert into events ` + eventRows.Rows())

// rows are written last: no other statement waits for an event, and the database rejects none.
var rows = pg.RowWriter[*row]{
	Rank: 100,
	Write: func(tx *pg.Tx, in tenant.TenantID, events []*row) {
		tx.Write(insert, eventRows.InsertAll(in, events)...)
	},
}

// Append writes events in the transaction. Readers get them in the order given.
func Append(tx *pg.Tx, in tenant.TenantID, events ...Event) {
	if len(events) > 0 {
		rows.Add(tx, in, pg.Array(events, rowOf)...)
	}
}
