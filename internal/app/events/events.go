package events

import (
	"context"
	"errors"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/tenant"
)

// EventFilter, EventType, EventRecord and EventCursor are how the event log is read.
type (
	EventFilter = outbox.Filter
	EventType   = outbox.Type
	EventRecord = outbox.Record
	EventCursor = outbox.Cursor
)

// EventQuery chooses a page of the event log.
type EventQuery struct {
	Filter EventFilter
	// Cursor is where to begin, as a token; "" is the beginning of the log, backwards its end.
	Cursor string
	// After is where the page before ended, if there was one. It wins over Cursor.
	After     *EventCursor
	Backwards bool
	Limit     int
}

// EventPage is one page of the event log.
type EventPage struct {
	Events []*EventRecord
	// Next is where the next page begins; nil on the last.
	Next *EventCursor
	// End is the end of the log when the page was read, as a token.
	End string
}

const (
	// A page looks at so many events at most, so that a narrow filter costs no more than a wide one.
	eventReach = 5000
	eventChunk = 1000
)

// ListEvents reads the events that the caller may see, in the order in which they became durable, or backwards.
func (s *Service) ListEvents(ctx context.Context, caller tenant.Caller, q EventQuery) (EventPage, error) {
	at := outbox.Range{Backwards: q.Backwards}
	switch {
	case q.After != nil:
		at.From = *q.After
	case q.Cursor != "":
		var err error
		if at.From, err = outbox.ParseCursor(caller.Tenant, q.Cursor); err != nil {
			return EventPage{}, err
		}
	case q.Backwards:
		at.From = outbox.EndOfLog
	}
	var page EventPage
	for looked := 0; looked < eventReach; {
		at.Limit = min(eventChunk, eventReach-looked)
		if q.Filter.IsZero() && !caller.SelfOnly {
			at.Limit = min(at.Limit, q.Limit+1-len(page.Events)) // each of them is one of the page
		}
		found, err := outbox.Read(ctx, s.db, caller.Tenant, at)
		if err != nil {
			return EventPage{}, err
		}
		if looked == 0 {
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
		looked += len(found.Records)
		at.From = found.End
	}
	page.Next = &at.From
	return page, nil
}

// EventWatch goes through the event log as it grows.
type EventWatch struct {
	watcher *outbox.Watcher
	in      tenant.TenantID
	filter  EventFilter
}

var errNoRelay = errors.New("app: there is no relay to watch events through")

// WatchEvents begins to watch events behind a cursor, or from now on where it is empty. The caller closes the watch.
func (s *Service) WatchEvents(ctx context.Context, caller tenant.Caller, filter EventFilter, cursor string) (*EventWatch, error) {
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

// Next waits for events, whether chosen or not: at most until tick, which is told by none. It moves on the cursor.
func (w *EventWatch) Next(ctx context.Context, tick <-chan time.Time) ([]*EventRecord, error) {
	return w.watcher.Next(ctx, tick)
}

// See gives those of the events that are chosen, as the caller may see them at this moment.
func (w *EventWatch) See(events []*EventRecord, caller tenant.Caller) []*EventRecord {
	return w.filter.VisibleTo(events, caller)
}

// Cursor is the position behind everything that Next has given.
func (w *EventWatch) Cursor() string { return w.watcher.At().Token(w.in) }

// Close ends the watch.
func (w *EventWatch) Close() { w.watcher.Close() }
