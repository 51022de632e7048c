package events

import (
	"context"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/event"
)

// The event log's types belong to its package.
type (
	EventFilter = outbox.Filter
	EventType   = event.Type
	EventRecord = outbox.Record
	EventCursor = outbox.Cursor
	EventReader = outbox.Reader
)

// ReadPermissions are the permissions that decide which events a caller may read.
var ReadPermissions = outbox.ReadPermissions

// EventQuery selects a page of the event log.
type EventQuery struct {
	Filter EventFilter
	// Cursor is the token of the position where the first page starts. If it is empty the page starts at the beginning of
	// the log, or at its end when reading backwards.
	Cursor string
	// After is where the previous page ended; nil for the first page. It wins over Cursor.
	After     *EventCursor
	Backwards bool
	Limit     int
}

// EventPage is one page of the event log.
type EventPage struct {
	Events []*EventRecord
	// Next is where the next page starts; nil on the last page.
	Next *EventCursor
	// End is the token of the log's end when the page was read.
	End string
}

const (
	// scanLimit is the number of events after which a page ends, so that a narrow filter costs no more than a wide one. A
	// page may therefore have few events, or none, and still not be the last.
	scanLimit = 5000
	// readLimit is the maximum number of events in one read.
	readLimit = 1000
)

// ListEvents reads the events that the caller may see, in commit order or backwards.
func (s *Service) ListEvents(ctx context.Context, caller EventReader, q EventQuery) (EventPage, error) {
	part := outbox.Range{Backwards: q.Backwards}
	switch {
	case q.After != nil:
		part.From = *q.After
	case q.Cursor != "":
		var err error
		if part.From, err = outbox.ParseCursor(caller.Tenant, q.Cursor); err != nil {
			return EventPage{}, err
		}
	case q.Backwards:
		part.From = outbox.EndOfLog
	}
	var page EventPage
	for scanned := 0; scanned < scanLimit; {
		part.Limit = readLimit
		if q.Filter.IsZero() && caller.ReadsAll() {
			part.Limit = min(readLimit, q.Limit+1)
		}
		found, err := outbox.Read(ctx, s.db, caller.Tenant, part)
		if err != nil {
			return EventPage{}, err
		}
		if scanned == 0 {
			page.End = found.Horizon.Token(caller.Tenant)
		}
		page.Events = append(page.Events, caller.See(q.Filter, found.Records)...)
		if len(page.Events) > q.Limit {
			page.Events = page.Events[:q.Limit]
			page.Next = &page.Events[q.Limit-1].Cursor
			return page, nil
		}
		if !found.More {
			return page, nil
		}
		scanned += len(found.Records)
		part.From = found.End
	}
	page.Next = &part.From
	return page, nil
}
