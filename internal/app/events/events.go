package events

import (
	"context"
	"errors"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/tenant"
)

// The event log's types belong to its package.
type (
	EventFilter = outbox.Filter
	EventType   = outbox.Type
	EventRecord = outbox.Record
	EventCursor = outbox.Cursor
)

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
	// scanLimit is the maximum number of events that are read for one page, so that a narrow filter costs no more than a
	// wide one. A page may therefore have few events, or none, and still not be the last.
	scanLimit = 5000
	// readLimit is the maximum number of events in one read.
	readLimit = 1000
)

// ListEvents reads the events that the caller may see, in commit order or backwards.
func (s *Service) ListEvents(ctx context.Context, caller tenant.Caller, q EventQuery) (EventPage, error) {
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
		part.Limit = min(readLimit, scanLimit-scanned)
		if q.Filter.IsZero() && !caller.SelfOnly {
			part.Limit = min(part.Limit, q.Limit+1-len(page.Events)) // the caller sees every event
		}
		found, err := outbox.Read(ctx, s.db, caller.Tenant, part)
		if err != nil {
			return EventPage{}, err
		}
		if scanned == 0 {
			page.End = found.Horizon.Token(caller.Tenant)
		}
		page.Events = append(page.Events, q.Filter.VisibleTo(found.Records, caller)...)
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

// EventWatch follows the event log.
type EventWatch struct {
	watcher *outbox.Watcher
	in      tenant.TenantID
	filter  EventFilter
}

var errNoRelay = errors.New("events: no relay to watch")

// WatchEvents starts to follow the event log after a cursor, or from now on if the cursor is empty. The caller closes
// the watch.
func (s *Service) WatchEvents(
	ctx context.Context, caller tenant.Caller, filter EventFilter, cursor string,
) (*EventWatch, error) {
	if s.relay == nil {
		return nil, errNoRelay
	}
	var after *outbox.Cursor
	if cursor != "" {
		at, err := outbox.ParseCursor(caller.Tenant, cursor)
		if err != nil {
			return nil, err
		}
		after = &at
	}
	watcher, err := s.relay.Watch(ctx, caller.Tenant, after)
	if err != nil {
		return nil, err
	}
	return &EventWatch{watcher, caller.Tenant, filter}, nil
}

// Next waits for events and returns them, selected or not. It returns none if tick comes first. It advances the cursor.
func (w *EventWatch) Next(ctx context.Context, tick <-chan time.Time) ([]*EventRecord, error) {
	return w.watcher.Next(ctx, tick)
}

// See returns the selected events, as far as the caller may see them now.
func (w *EventWatch) See(events []*EventRecord, caller tenant.Caller) []*EventRecord {
	return w.filter.VisibleTo(events, caller)
}

// Cursor returns the token of the position after all events that Next has returned.
func (w *EventWatch) Cursor() string { return w.watcher.At().Token(w.in) }

// Close ends the watch.
func (w *EventWatch) Close() { w.watcher.Close() }
