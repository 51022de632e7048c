package events

import (
	"context"
	"errors"
	"time"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/tenant"
)

// EventWatch follows the event log.
type EventWatch struct {
	watcher *outbox.Watcher
	in      tenant.TenantID
	filter  EventFilter
	seats   seatChanges
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
	return &EventWatch{
		watcher: watcher, in: caller.Tenant, filter: filter, seats: seatChanges{every: s.seatsInterval, sent: watcher.At()},
	}, nil
}

// Next waits for events and returns them, selected or not. It returns none if a tick comes first.
func (w *EventWatch) Next(ctx context.Context, tick, due <-chan time.Time) ([]*EventRecord, error) {
	return w.watcher.Next(ctx, tick, due)
}

// See returns the selected events, as far as the caller may see them now, and the changes of seats that are due.
func (w *EventWatch) See(events []*EventRecord, caller EventReader, now time.Time) []*EventRecord {
	seen := caller.See(w.filter, events)
	if caller.SelfOnly || !caller.May[outbox.BookingRead] {
		w.seats.add(caller.See(w.filter, seatsChanged(events)))
	}
	return append(seen, w.seats.take(w.watcher.At(), now)...)
}

// Cursor returns the token of the position after all events that See has returned.
func (w *EventWatch) Cursor() string { return w.seats.sent.Token(w.in) }

// Wait returns after which time See has changes of seats that it kept back, or 0 if there are none.
func (w *EventWatch) Wait(now time.Time) time.Duration {
	if len(w.seats.pending) == 0 {
		return 0
	}
	return max(w.seats.wait(now), 1)
}

// Close ends the watch.
func (w *EventWatch) Close() { w.watcher.Close() }

// seatChanges are the changes of open seats that a stream has not sent yet. A session that is booked by many changes
// often: only the last change in an interval is sent.
type seatChanges struct {
	every   time.Duration
	pending map[tenant.SessionID]*EventRecord
	order   []tenant.SessionID
	taken   time.Time
	// sent is the position before which nothing is pending.
	sent outbox.Cursor
}

func seatsChanged(events []*EventRecord) []*EventRecord {
	var all []*EventRecord
	for _, e := range events {
		all = append(all, e.SeatsChanged()...)
	}
	return all
}

func (c *seatChanges) add(changes []*EventRecord) {
	for _, e := range changes {
		if c.pending == nil {
			c.pending = make(map[tenant.SessionID]*EventRecord)
		}
		if c.pending[e.Session] == nil {
			c.order = append(c.order, e.Session)
		}
		c.pending[e.Session] = e
	}
}

// take returns the pending changes if the last ones are long enough ago. If not, the position stays.
func (c *seatChanges) take(at outbox.Cursor, now time.Time) []*EventRecord {
	if len(c.pending) == 0 {
		c.sent = at
		return nil
	}
	if c.wait(now) > 0 {
		return nil
	}
	changes := make([]*EventRecord, len(c.order))
	for i, id := range c.order {
		changes[i] = c.pending[id]
	}
	clear(c.pending)
	c.order, c.taken, c.sent = nil, now, at
	return changes
}

// wait returns how long the last changes are too recent for the next.
func (c *seatChanges) wait(now time.Time) time.Duration {
	return c.every - now.Sub(c.taken)
}
