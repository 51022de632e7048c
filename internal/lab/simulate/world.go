package simulate

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// world is a tenant in virtual time.
type world struct {
	tables
	bug         bug
	rng         *rand.Rand
	now         time.Time
	locations   []*location
	services    []*service
	series      []*sessionSeries
	plans       []planForSale
	rulesEdited bool                     // since the start
	changed     map[tenant.MemberID]bool // whose passed-over entries are to be checked again
	tasks       taskQueue
	model       *model
	dispatcher  *dispatcher
	onEvent     func(Event)
	onOperation func(Operation, State)
	cause       string // of the operations that no one asked for
	report      *Report
	step        string // what is running, for error messages
	recent      [25]Event
	recorded    int // how many events; the last ones are in recent
	failed      error
}

// task is something that will happen.
type task struct {
	at    time.Time
	order int // among tasks of the same time
	do    func()
}

// taskQueue is a heap of tasks, the earliest first.
type taskQueue struct {
	tasks []task
	added int
}

func (q *taskQueue) Len() int { return len(q.tasks) }

func (q *taskQueue) Less(i, j int) bool {
	if !q.tasks[i].at.Equal(q.tasks[j].at) {
		return q.tasks[i].at.Before(q.tasks[j].at)
	}
	return q.tasks[i].order < q.tasks[j].order
}

func (q *taskQueue) Swap(i, j int) { q.tasks[i], q.tasks[j] = q.tasks[j], q.tasks[i] }

func (q *taskQueue) Push(d any) { q.tasks = append(q.tasks, d.(task)) }

func (q *taskQueue) Pop() any {
	last := q.tasks[len(q.tasks)-1]
	q.tasks[len(q.tasks)-1] = task{}
	q.tasks = q.tasks[:len(q.tasks)-1]
	return last
}

// scheduleIn schedules a task after a delay, truncated to seconds.
func (w *world) scheduleIn(in time.Duration, do func()) {
	w.schedule(w.now.Add(in.Truncate(time.Second)), do)
}

func (w *world) schedule(at time.Time, do func()) {
	if at.Before(w.now) {
		return
	}
	w.tasks.added++
	heap.Push(&w.tasks, task{at: at, order: w.tasks.added, do: do})
}

// maxAlarmDelay is how late an alarm can fire.
const maxAlarmDelay = time.Second

// alarm ends holds and offers that expire at a time. It fires within a second of it.
func (w *world) alarm(at time.Time) {
	late := w.randomDuration(maxAlarmDelay).Truncate(time.Microsecond) // as Postgres stores times
	w.schedule(at.Add(late), func() { w.mustSucceed(w.onItsOwn("alarm", w.expireDue)) })
}

// runUntil runs tasks up to a time, or until an invariant fails.
func (w *world) runUntil(until time.Time) {
	for len(w.tasks.tasks) > 0 && w.failed == nil && w.tasks.tasks[0].at.Before(until) {
		next := heap.Pop(&w.tasks).(task)
		w.now = next.at
		next.do()
	}
}

// emit appends an event of the running transaction.
func (w *world) emit(ev Event) {
	ev.At = w.now
	w.events = append(w.events, ev)
}

// transact runs a transaction. A refusal rolls it back, and so does a violated constraint, which members see as a
// refusal. Any other error is a failure.
func (w *world) transact(op Operation, body func() error) (err error) {
	w.step = op.Name
	w.report.Transactions++
	func() {
		defer func() {
			if v := recover(); v != nil {
				constraint, ok := v.(violation)
				if !ok {
					panic(v)
				}
				if err = constraint.refusal(); err == nil || !mayConflict[op.Name] {
					err = w.fail("%s", constraint)
				}
			}
		}()
		err = body()
	}()
	if err != nil {
		w.rollback()
		op.Reason = fault.ReasonOf(err)
		if op.Reason == fault.InternalError && w.failed == nil {
			return w.fail("%v", err)
		}
		w.report.Refused++
		w.operated(op)
		return err
	}
	w.undo = w.undo[:0]
	for _, ev := range w.events {
		w.record(ev)
		if w.onEvent != nil {
			w.onEvent(ev)
		}
	}
	if wrong := w.model.apply(w.events, w.now); wrong != nil {
		err = w.fail("%v", wrong)
	} else if wrong := w.compare(w.touched); wrong != nil {
		err = w.fail("%v", wrong)
	}
	events := w.events
	w.events, w.touched = nil, w.touched[:0]
	op.Events = events
	w.operated(op)
	for _, ev := range events {
		if w.dispatcher != nil {
			w.dispatcher.checker.track(ev)
			w.dispatcher.receive(ev)
		}
		w.scheduleReactions(ev)
	}
	return err
}

// operated reports an operation.
func (w *world) operated(op Operation) {
	if w.onOperation != nil {
		op.At, op.Cause = w.now, w.cause
		w.onOperation(op, State{w})
	}
}

// onItsOwn runs operations that no one asks for, and reports their end as an operation.
func (w *world) onItsOwn(cause string, run func() error) error {
	w.cause = cause
	err := run()
	w.cause = ""
	w.operated(Operation{Name: cause})
	return err
}

// mayConflict lists the transactions that a constraint may refuse.
var mayConflict = map[string]bool{
	"book": true, "confirm": true, "reschedule": true, "accept": true, "join": true, "undo no-show": true,
}

var errInvariant = errors.New("an invariant does not hold")

// fail records an invariant that does not hold. Only the first one is kept.
func (w *world) fail(format string, args ...any) error {
	if w.failed == nil {
		w.failed = fmt.Errorf(
			"%w at %s, after %q: %s", errInvariant, w.now.UTC().Format(time.RFC3339), w.step, fmt.Sprintf(format, args...),
		)
	}
	return w.failed
}

// mustSucceed fails the simulation if an operation that cannot be refused returns an error.
func (w *world) mustSucceed(err error) {
	if err != nil && w.failed == nil {
		_ = w.fail("%v", err)
	}
}

// record keeps the most recent events, for error messages.
func (w *world) record(ev Event) {
	w.report.Events++
	w.report.count(ev)
	w.recent[w.recorded%len(w.recent)] = ev
	w.recorded++
}

func (w *world) randomDuration(length time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(length)))
}

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

func pick[T any](w *world, all []T) T { return all[w.rng.IntN(len(all))] }
