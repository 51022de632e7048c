package outbox

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// minInterval is the minimum time between two reads of a log, so that under load one read returns many events.
	// Each watcher adds to it, up to maxInterval, because a read wakes all of them.
	minInterval, intervalPerWatcher, maxInterval = 5 * time.Millisecond, 5 * time.Microsecond, 50 * time.Millisecond
	// If an older transaction holds events back, the log is read again after this time, then less and less often.
	minHeldBackoff, maxHeldBackoff = 5 * time.Millisecond, 200 * time.Millisecond
	// readLimit is the maximum number of events that one read returns.
	readLimit = 500
	// A tail keeps what was read in this time, up to this many events. A watcher that is further behind reads the log.
	tailAge, maxTail = 30 * time.Second, 8192
	// readBackoff is how long to wait after a failed read.
	readBackoff = time.Second
)

// feed reads the log of one tenant for all its watchers. It lives as long as it has any.
type feed struct {
	relay    *Relay
	in       tenant.TenantID
	watchers int // guarded by the relay's lock
	stop     context.CancelFunc
	wakeups  chan struct{}

	mu sync.RWMutex
	tail
}

// tail is the end of the log. Its slices are replaced, never changed, so readers can use them without a lock.
type tail struct {
	start, end Cursor
	segments   []segment
	size       int
	changed    chan struct{} // closed when there are new events
}

type segment struct {
	records []*Record
	end     Cursor
	readAt  time.Time
}

func (f *feed) wake() {
	select {
	case f.wakeups <- struct{}{}:
	default: // a wakeup is pending
	}
}

func (f *feed) currentTail() tail {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.tail
}

// run follows the log until the last watcher closes.
func (f *feed) run(ctx context.Context) {
	timer := time.NewTimer(f.relay.poll)
	defer timer.Stop()
	var held heldPause
	for {
		begun := time.Now()
		next, err := f.readNew(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			f.relay.log.WarnContext(ctx, "reading events failed",
				slog.String("tenant_id", f.in.String()), slog.Any("error", err))
			timer.Reset(readBackoff)
		case next.More:
			timer.Reset(0)
		case next.Held:
			f.relay.metrics.held.Inc()
			timer.Reset(held.longer(next))
		default:
			timer.Reset(f.relay.poll)
			held = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-f.wakeups:
			held = 0
			timer.Reset(f.readInterval() - time.Since(begun))
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
		}
	}
}

// heldPause is how long a feed waited last while events were held back, and 0 if they were not.
type heldPause time.Duration

// longer returns how long to wait after a read that found events held back.
func (p *heldPause) longer(after Page) time.Duration {
	if len(after.Records) > 0 {
		*p = 0 // other events are held back by other transactions now
	}
	*p = min(max(2**p, heldPause(minHeldBackoff)), heldPause(maxHeldBackoff))
	return time.Duration(*p)
}

func (f *feed) readInterval() time.Duration {
	f.relay.mu.Lock()
	defer f.relay.mu.Unlock()
	return min(minInterval+time.Duration(f.watchers)*intervalPerWatcher, maxInterval)
}

// readNew reads new events.
func (f *feed) readNew(ctx context.Context) (Page, error) {
	page, err := Read(ctx, f.relay.db, f.in, Range{From: f.currentTail().end, Limit: readLimit})
	if err != nil {
		return page, err
	}
	now := time.Now()
	for _, r := range page.Records {
		f.relay.metrics.lag.Observe(now.Sub(r.At).Seconds())
	}
	// Do this before watchers wake up: once a caller can see such an event, it has to apply to that caller's own rights.
	if changesRoles(page.Records) {
		f.relay.rolesChanged(f.in)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.append(page, now, f.relay.maxTail)
	if len(page.Records) > 0 {
		close(f.changed)
		f.changed = make(chan struct{})
	}
	return page, nil
}

// changesRoles reports whether the records may change what a caller is allowed to do.
func changesRoles(records []*Record) bool {
	return slices.ContainsFunc(records, func(r *Record) bool {
		switch r.Data.(type) {
		case event.AccessChanged, event.MemberChanged:
			return true
		}
		return false
	})
}

// append adds a page and drops old segments.
func (t *tail) append(page Page, now time.Time, limit int) {
	t.end = page.End
	segments := t.segments
	if len(page.Records) > 0 {
		segments = append(slices.Clip(segments), segment{page.Records, page.End, now})
		t.size += len(page.Records)
	}
	for len(segments) > 0 && (t.size > limit || now.Sub(segments[0].readAt) > tailAge) {
		t.start = segments[0].end
		t.size -= len(segments[0].records)
		segments = segments[1:]
	}
	if len(segments) == 0 {
		segments = nil
	}
	t.segments = segments
}

// after returns up to limit records after a position, and the position after them.
func (t *tail) after(at Cursor, limit int) ([]*Record, Cursor) {
	first, _ := slices.BinarySearchFunc(t.segments, at, func(s segment, at Cursor) int {
		return cmp.Or(s.end.Compare(at), -1) // a segment that ends at the position has been read
	})
	var found []*Record
	for _, s := range t.segments[first:] {
		records := s.records
		if found == nil {
			skip, _ := slices.BinarySearchFunc(records, at, func(r *Record, at Cursor) int {
				return cmp.Or(r.Cursor.Compare(at), -1)
			})
			records = records[skip:]
		}
		if len(found)+len(records) > limit {
			records = records[:limit-len(found)]
			found = append(slices.Clip(found), records...)
			return found, found[limit-1].Cursor
		}
		if found == nil {
			found = records
		} else {
			found = append(slices.Clip(found), records...)
		}
	}
	return found, t.end
}

// Watcher reads a tenant's log from a position on. It holds only that position,
// so a watcher that does not read costs others nothing.
type Watcher struct {
	feed *feed
	at   Cursor
	// caughtUp is when the watcher last had read everything; zero if it never had.
	caughtUp time.Time
}

// At returns the position after all events that Next has returned.
func (w *Watcher) At() Cursor { return w.at }

// Close stops watching.
func (w *Watcher) Close() { w.feed.relay.release(w.feed) }

// Next waits for events and returns them in order, up to a few hundred at once. It returns none if a tick comes first.
// Errors: WATCHER_TOO_SLOW, SHUTTING_DOWN, the error of ctx, or why the log cannot be read. After any of them
// a new watcher can continue from At.
func (w *Watcher) Next(ctx context.Context, tick, other <-chan time.Time) ([]*Record, error) {
	const limit = 200
	relay := w.feed.relay
	for {
		select {
		case <-relay.draining:
			return nil, errShuttingDown
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		default:
		}
		tail := w.feed.currentTail()
		if w.at.Compare(tail.start) >= 0 {
			found, end := tail.after(w.at, limit)
			if len(found) > 0 {
				w.at = end
				return found, nil
			}
			if end.Compare(w.at) > 0 {
				w.at = end // what is dropped from the tail before it is not missed
			}
			w.caughtUp = time.Now()
		} else {
			if !w.caughtUp.IsZero() && time.Since(w.caughtUp) > relay.maxLag {
				relay.metrics.slow.Inc()
				return nil, errTooSlow.WithMetadata("cursor", w.at.Token(w.feed.in))
			}
			relay.metrics.catchUps.Inc()
			page, err := Read(ctx, relay.db, w.feed.in, Range{From: w.at, Limit: limit})
			if ctx.Err() != nil {
				continue
			}
			if err != nil {
				return nil, err
			}
			w.at = page.End
			if len(page.Records) > 0 {
				if changesRoles(page.Records) {
					relay.rolesChanged(w.feed.in) // the feed may not have read these events yet
				}
				return page.Records, nil
			}
			w.caughtUp = time.Now()
		}
		select {
		case <-tail.changed:
		case <-tick:
			return nil, nil
		case <-other:
			return nil, nil
		case <-relay.draining:
		case <-ctx.Done():
		}
	}
}

var (
	errTooSlow = fault.New(fault.Aborted, fault.WatcherTooSlow,
		"Events arrived faster than they were read. Watch again from the last cursor.")
	errShuttingDown = fault.New(fault.Unavailable, fault.ShuttingDown,
		"The server is shutting down. Watch again from the last cursor.")
)
