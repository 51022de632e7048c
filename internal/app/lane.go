package app

import (
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// mostTogether bounds the deals of one transaction: beyond it, a deal costs no less, and waits longer.
	mostTogether = 128
	// furthestLook bounds how much of a queue is looked through for deals that may go now.
	furthestLook = 8 * mostTogether
	// mostLanes bounds the transactions under way while hardly any deals can go together. It leaves some of the command
	// pool's connections to whatever is no deal.
	mostLanes = 12
)

// lanes carry deals to the database, a few transactions at a time. Deals queue up while transactions are under way,
// and a lane that becomes free takes all that may go together: nobody ever waits for a timer, and the
// busier it gets the less each deal costs.
//
// A session is in one lane at most, and so are a member, a waitlist, and what changes bookings, so that a node does not
// fight itself; who comes first in a session is served first. Each transaction is of one tenant, and tenants take turns. Few lanes make large batches, so a
// tenant has width of them; where many tenants have a deal each there is nothing to put together, and up to widest are open. All that is for
// speed and fairness: what is true is guarded by the database.
type lanes struct {
	width  int                                        // transactions at a time of one tenant, and of all while they carry many deals
	widest int                                        // transactions at a time while they carry fewer deals than this
	depth  int                                        // deals of one tenant that may wait
	settle func(batch []*waiting) (rejoin []*waiting) // answers each deal, or gives it back to go by itself

	mu      sync.Mutex
	queues  map[tenant.TenantID]*queue
	turns   []*queue // of those in which somebody waits; the first is next
	running int
	flying  int           // deals in lanes
	pace    time.Duration // that a deal has taken lately
	closed  bool
	resting sync.Cond // broadcast when nothing runs any more
}

func newLanes(width, widest, depth int, settle func([]*waiting) []*waiting) *lanes {
	l := &lanes{width: width, widest: widest, depth: depth, settle: settle, queues: make(map[tenant.TenantID]*queue)}
	l.resting.L = &l.mu
	return l
}

// queue is what waits of one tenant.
type queue struct {
	tenant  tenant.TenantID
	waiting []*waiting               // in order of arrival
	taken   map[tenant.UUID]struct{} // what deals in some lane are about
	lanes   int                      // that are busy with some of it
	changes bool                     // one of them changes bookings
	listed  bool                     // in turns
}

// waiting is a deal in a queue.
type waiting struct {
	writing
	ctx     context.Context //nolint:containedctx // a batch is settled under none of its callers' contexts
	caller  tenant.Caller
	request string // its id in the log
	name    string
	deal    deal
	about   subjects

	wants []tenant.UUID // what it turned out to be about, and waits for if it is given back
	alone bool          // it goes by itself
	begun bool          // it is in a lane, or has been
	left  bool          // its caller gave up before
	done  chan error
}

// subjects are what a deal is about. Deals about one session, or one queue, may go together; of those about one
// member, or anything else that only one deal may change at a time, only one goes.
type subjects struct {
	shared []tenant.UUID
	sole   []tenant.UUID
	alone  bool // it goes by itself
	// changes: it writes bookings anew that are there. Those that were made about the same time stand on one page of an index, and
	// two transactions that each find one there and put its next version beside it fail each other. So one lane at a time has such deals.
	changes bool
}

func (s subjects) anyIn(set map[tenant.UUID]struct{}) bool {
	in := func(id tenant.UUID) bool { _, ok := set[id]; return ok }
	return slices.ContainsFunc(s.shared, in) || slices.ContainsFunc(s.sole, in)
}

func (s subjects) addTo(set map[tenant.UUID]struct{}) {
	for _, id := range s.shared {
		set[id] = struct{}{}
	}
	for _, id := range s.sole {
		set[id] = struct{}{}
	}
}

// do queues a deal and waits until it is settled. Who gives up before it has begun has not asked for anything; who
// does so later finds out by their idempotency key what became of it.
func (l *lanes) do(w *waiting) error {
	w.done = make(chan error, 1)
	if err := l.join(w); err != nil {
		return err
	}
	select {
	case err := <-w.done:
		return err
	case <-w.ctx.Done():
		l.leave(w)
		return w.ctx.Err()
	}
}

func (l *lanes) join(w *waiting) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fault.New(fault.Unavailable, fault.Contention, "The server is stopping. Try again.")
	}
	q := l.queues[w.caller.Tenant]
	if q == nil {
		q = &queue{tenant: w.caller.Tenant, taken: make(map[tenant.UUID]struct{})}
		l.queues[w.caller.Tenant] = q
	}
	if len(q.waiting) >= l.depth {
		return l.busy(q)
	}
	q.waiting = append(q.waiting, w)
	l.list(q)
	if !q.occupied(w) { // else whoever is busy with it goes on with this
		l.wake()
	}
	return nil
}

// busy refuses a deal because too many wait already, and tells when it is likely to be worth another try.
func (l *lanes) busy(q *queue) error {
	seconds := math.Ceil((time.Duration(len(q.waiting)) * l.pace / time.Duration(l.width)).Seconds())
	return fault.New(fault.ResourceExhausted, fault.RateLimited, "Too many requests are waiting already. Try again.").
		With("retry_after", strconv.Itoa(max(int(seconds), 1)))
}

func (l *lanes) leave(w *waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.begun {
		w.left = true
		q := l.queues[w.caller.Tenant]
		q.waiting = slices.DeleteFunc(q.waiting, func(other *waiting) bool { return other == w })
	}
}

// list lets a queue have its turn, behind all others.
func (l *lanes) list(q *queue) {
	if !q.listed && len(q.waiting) > 0 {
		q.listed = true
		l.turns = append(l.turns, q)
	}
}

// wake opens one more lane, if there may be something to do for it.
func (l *lanes) wake() {
	room := l.running < l.width || max(l.running, l.flying) < l.widest
	if room && slices.ContainsFunc(l.turns, l.open) {
		l.running++
		go l.serve()
	}
}

// open reports whether one more lane may serve a queue.
func (l *lanes) open(q *queue) bool { return q.lanes < l.width }

// serve is one lane, until nothing is left to do for it.
func (l *lanes) serve() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		q, batch := l.next()
		if batch == nil {
			break
		}
		l.wake()
		l.mu.Unlock()
		begun := time.Now() //nolint:forbidigo // how long things take is no matter of the clock of the rules
		rejoin := l.settle(batch)
		took := time.Since(begun) / time.Duration(len(batch)) //nolint:forbidigo // as above
		l.mu.Lock()
		l.pace += (took - l.pace) / 8
		l.release(q, batch, rejoin)
	}
	l.running--
	if l.running == 0 {
		l.resting.Broadcast()
	}
}

// next takes what may go together out of the queue whose turn it is.
func (l *lanes) next() (*queue, []*waiting) {
	for i, q := range l.turns {
		if !l.open(q) {
			continue
		}
		batch := q.take()
		if len(batch) == 0 && len(q.waiting) > 0 {
			continue // all of them wait for a lane that is busy with their session or member
		}
		l.turns = slices.Delete(l.turns, i, i+1)
		q.listed = false
		l.list(q)
		if len(batch) > 0 {
			q.lanes++
			l.flying += len(batch)
			return q, batch
		}
		l.drop(q)
		return l.next()
	}
	return nil, nil
}

// take removes, in order of arrival, the deals that may go together now. One that may not keeps back all later
// ones about the same things.
func (q *queue) take() []*waiting {
	var batch []*waiting
	sole, back := make(map[tenant.UUID]struct{}), make(map[tenant.UUID]struct{})
	rest := q.waiting[:0]
	for i, w := range q.waiting {
		if len(batch) == mostTogether || i == furthestLook || len(batch) == 1 && batch[0].alone {
			rest = append(rest, q.waiting[i:]...)
			break
		}
		together := !slices.ContainsFunc(w.about.sole, func(id tenant.UUID) bool { _, ok := sole[id]; return ok })
		switch {
		case w.ctx.Err() != nil: // its caller has gone, or is about to
			w.left = true
		case q.occupied(w), w.about.anyIn(back), !together, w.alone && len(batch) > 0:
			w.about.addTo(back)
			rest = append(rest, w)
		default:
			w.begun = true
			batch = append(batch, w)
			for _, id := range w.about.sole {
				sole[id] = struct{}{}
			}
		}
	}
	clear(q.waiting[len(rest):])
	q.waiting = rest
	for _, w := range batch {
		w.about.addTo(q.taken)
	}
	q.changes = q.changes || slices.ContainsFunc(batch, (*waiting).changesWith)
	return batch
}

// occupied reports whether a deal has to wait for some lane.
func (q *queue) occupied(w *waiting) bool {
	return w.about.anyIn(q.taken) || q.changes && w.changesWith()
}

// changesWith reports whether a deal changes bookings together with others. One that goes by itself takes its chance: it must not keep all
// others waiting.
func (w *waiting) changesWith() bool { return w.about.changes && !w.alone }

// release ends a batch. Those that are to go by themselves keep their place before all who came later.
func (l *lanes) release(q *queue, batch, rejoin []*waiting) {
	for _, w := range batch {
		for _, id := range w.about.shared {
			delete(q.taken, id)
		}
		for _, id := range w.about.sole {
			delete(q.taken, id)
		}
	}
	if slices.ContainsFunc(batch, (*waiting).changesWith) {
		q.changes = false
	}
	q.lanes--
	l.flying -= len(batch)
	for _, w := range rejoin {
		w.alone = true
		w.about.shared = append(w.about.shared, w.wants...)
		w.wants = nil
	}
	if len(rejoin) > 0 {
		q.waiting = slices.Concat(rejoin, q.waiting)
	}
	l.list(q)
	l.drop(q)
}

// drop forgets a queue in which nobody is.
func (l *lanes) drop(q *queue) {
	if len(q.waiting) == 0 && q.lanes == 0 {
		delete(l.queues, q.tenant)
	}
}

// drain takes no more deals, and waits until those that were taken are settled.
func (l *lanes) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for l.running > 0 {
		l.resting.Wait()
	}
}
