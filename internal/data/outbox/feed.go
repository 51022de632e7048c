package outbox

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// gather is the least time between two readings of a log: under load one of them brings many events. Every
	// watcher adds to it, up to a limit, because a reading wakes all of them.
	gather, gatherEach, gatherMost = 5 * time.Millisecond, 5 * time.Microsecond, 50 * time.Millisecond
	// Events that an older transaction keeps back are looked for again so soon, and then less and less often.
	holdFirst, holdLast = 5 * time.Millisecond, 200 * time.Millisecond
	// readLimit is the most events that one reading brings.
	readLimit = 500
	// A tail keeps what was read so recently, and so much of it at most. Who is further behind reads the log.
	tailAge, tailMost = 30 * time.Second, 8192
	// failedPause is how long a log that could not be read is left alone.
	failedPause = time.Second
)

// feed reads the log of one tenant for all who watch it, for as long as anybody does.
type feed struct {
	relay    *Relay
	in       tenant.TenantID
	watchers int // guarded by the relay's lock
	stop     context.CancelFunc
	pokes    chan struct{}

	mu sync.RWMutex
	tail
}

// tail is what was read last. Its slices are replaced, never changed, so that readers need no lock to go through them.
type tail struct {
	known      bool // false until the log was read for the first time
	start, end Cursor
	stretches  []stretch
	size       int
	moved      chan struct{} // closed when there is a newer tail
}

type stretch struct {
	records []*Record
	end     Cursor
	read    time.Time
}

func (f *feed) poke() {
	select {
	case f.pokes <- struct{}{}:
	default: // it looks anyway
	}
}

func (f *feed) now() tail {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.tail
}

// run follows the log until nobody watches any more.
func (f *feed) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	hold := holdFirst
	for {
		begun := time.Now()
		next, err := f.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			f.relay.log.WarnContext(ctx, "events not read", slog.String("tenant_id", f.in.String()), slog.Any("error", err))
			timer.Reset(failedPause)
		case next.More:
			timer.Reset(0)
		case next.Held:
			f.relay.metrics.held.Inc()
			if len(next.Records) > 0 {
				hold = holdFirst // there are others now who keep back others
			}
			timer.Reset(hold)
			hold = min(2*hold, holdLast)
		default:
			timer.Reset(f.relay.poll)
			hold = holdFirst
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-f.pokes:
			hold = holdFirst
			if rest := f.gather() - time.Since(begun); rest > 0 {
				timer.Reset(rest)
				select {
				case <-ctx.Done():
					return
				case <-timer.C:
				}
			}
		}
	}
}

func (f *feed) gather() time.Duration {
	f.relay.mu.Lock()
	defer f.relay.mu.Unlock()
	return min(gather+time.Duration(f.watchers)*gatherEach, gatherMost)
}

// look reads what is new. The first look finds the end of the log: whoever wants what was before reads it by themselves.
func (f *feed) look(ctx context.Context) (Page, error) {
	before := f.now()
	limit := readLimit
	if !before.known {
		limit = 0
	}
	page, err := Read(ctx, f.relay.db, f.in, Stretch{From: before.end, Limit: limit})
	if err != nil {
		return page, err
	}
	now := time.Now()
	for _, r := range page.Records {
		f.relay.metrics.lag.Observe(now.Sub(r.At).Seconds())
	}
	// Before anybody is told: whoever sees such an event is judged by what it says. At first that is all that was before.
	if !before.known || changesRoles(page.Records) {
		f.relay.rolesChanged(f.in)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	wake := len(page.Records) > 0 || !f.known
	f.append(page, now, f.relay.tailMost)
	if wake {
		close(f.moved)
		f.moved = make(chan struct{})
	}
	return page, nil
}

// changesRoles reports whether somebody may now do something else.
func changesRoles(records []*Record) bool {
	return slices.ContainsFunc(records, func(r *Record) bool { return r.Type == RolesChanged || r.Type == MemberChanged })
}

// append adds a page and lets go of what is old.
func (t *tail) append(page Page, now time.Time, most int) {
	if !t.known {
		t.known, t.start = true, page.End
	}
	t.end = page.End
	stretches := t.stretches
	if len(page.Records) > 0 {
		stretches = append(slices.Clip(stretches), stretch{page.Records, page.End, now})
		t.size += len(page.Records)
	}
	for len(stretches) > 0 && (t.size > most || now.Sub(stretches[0].read) > tailAge) {
		t.start = stretches[0].end
		t.size -= len(stretches[0].records)
		stretches = stretches[1:]
	}
	if len(stretches) == 0 {
		stretches = nil
	}
	t.stretches = stretches
}

// after gives up to limit records behind a position, and the position behind them.
func (t *tail) after(at Cursor, limit int) ([]*Record, Cursor) {
	first, _ := slices.BinarySearchFunc(t.stretches, at, func(s stretch, at Cursor) int {
		return cmp.Or(s.end.Compare(at), -1) // one that ends right there has been read
	})
	var found []*Record
	for _, s := range t.stretches[first:] {
		records := s.records
		if found == nil {
			skip, _ := slices.BinarySearchFunc(records, at, func(r *Record, at Cursor) int { return cmp.Or(r.Cursor.Compare(at), -1) })
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

// Watcher goes through a tenant's log from a position on. It holds nothing but that position: what it does not take
// costs nobody anything.
type Watcher struct {
	feed *feed
	at   Cursor
	// caughtUp is when there was nothing left to take; zero as long as that has never been so.
	caughtUp time.Time
}

// At is the position behind everything that Next has given.
func (w *Watcher) At() Cursor { return w.at }

// Close lets go of the log.
func (w *Watcher) Close() { w.feed.relay.release(w.feed) }

// Next waits for events and gives them in order, at most a few hundred at once. It gives none when tick comes first.
// Errors: WATCHER_TOO_SLOW, SHUTTING_DOWN, that of ctx, or why the log cannot be read. After any of them a new watcher
// goes on from At.
func (w *Watcher) Next(ctx context.Context, tick <-chan time.Time) ([]*Record, error) {
	const most = 200
	relay := w.feed.relay
	for {
		select {
		case <-relay.draining:
			return nil, errShuttingDown
		default:
		}
		tail := w.feed.now()
		if tail.known && w.at.Compare(tail.start) >= 0 {
			found, end := tail.after(w.at, most)
			if len(found) > 0 {
				w.at = end
				return found, nil
			}
			if end.Compare(w.at) > 0 {
				w.at = end
			}
			w.caughtUp = time.Now()
		} else {
			if !w.caughtUp.IsZero() && time.Since(w.caughtUp) > relay.patience {
				relay.metrics.slow.Inc()
				return nil, errTooSlow.With("cursor", w.at.Token(w.feed.in))
			}
			relay.metrics.catchUps.Inc()
			page, err := Read(ctx, relay.db, w.feed.in, Stretch{From: w.at, Limit: most})
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				return nil, err
			}
			w.at = page.End
			if n := len(page.Records); n > 0 {
				if last := page.Records[n-1].Cursor; last.Compare(tail.end) > 0 && changesRoles(page.Records) {
					relay.rolesChanged(w.feed.in) // the feed has not seen it yet
				}
				return page.Records, nil
			}
			w.caughtUp = time.Now()
			if tail.known {
				continue // it is there now
			}
		}
		select {
		case <-tail.moved:
		case <-tick:
			return nil, nil
		case <-relay.draining:
			return nil, errShuttingDown
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

var (
	errTooSlow      = fault.New(fault.Aborted, fault.WatcherTooSlow, "Events came faster than they were taken. Watch again, from the last cursor.")
	errShuttingDown = fault.New(fault.Unavailable, fault.ShuttingDown, "This server stops. Watch again, from the last cursor.")
)
