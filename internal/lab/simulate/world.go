package simulate

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// flaw is a rule that a world breaks on purpose, so that tests see that this is noticed.
type flaw int

const (
	noFlaw          flaw = iota
	keepSeats            // a cancellation frees no seats
	refundLate           // a late cancellation gives the credit back
	passFlagged          // whoever staff flagged is passed over
	sleepOnCancel        // a cancellation wakes nobody
	offerUnreserved      // offers keep no seats
	holdForever          // holds do not run out
	keepCount            // a cancelled booking counts against quotas
	countInUTC           // quotas count by days in UTC
	offerAtNight         // offers do not wait for the morning
	outliveClose         // offers live until the session is over
	loseEntry            // whoever let an offer go stays OFFERED
	forgetLine           // a balance changes without a line on the ledger
	keepUnclaimed        // what nobody claims stays kept
	promoteTwice         // seats are given twice
	askOnce              // whoever was too slow is not asked again
	askAgain             // whoever cannot be told is asked again
	ignoreLimits         // limits on a plan are not held to
	skipRefill           // what an offer leaves goes to no one
	frozenRound          // a round does not take in seats that were open
	stayClosed           // a round that keeps seats again is closed
	hushSkipped          // entries are not told why they were passed over
	hushNote             // staff are not told what is left
	sleepOnRules         // an edit of rules wakes no one

	wakeUp           // quiet hours do not hold
	tenantsNight     // quiet hours are those of the tenant's zone
	ownNightOnly     // quiet hours hold for those alone who have chosen some
	wakeForOffers    // every offer may be told at night
	ignoreStop       // STOP is not listened to
	writeAnyway      // stops are not looked at
	keepToken        // what is unregistered is used again
	writeOften       // nobody counts
	writeStale       // what has been cancelled is told all the same
	writeMoved       // what has moved is told all the same
	writeLate        // offers are told after their end
	nightEats        // the window of an offer begins when it is made, whenever it is told
	planTwice        // what is read twice is planned twice
	remindByCalendar // reminders come a day before by the calendar, not 24 hours
	forgetMoved      // a booking that moves gets no new reminders
	repeatUnsaid     // the log does not say that something may be sent twice
	dropUnsaid       // the log does not say why something was not sent
	loseAttempt      // a node that dies takes its messages with it
	giveUp           // nothing is tried twice
	stayOnChannel    // what one channel cannot deliver goes by no other
	trustSilence     // who does not answer is taken to have it
	believeLast      // the last report counts, whatever came before
	ignoreReports    // what did not arrive goes by no other channel
	storm            // a provider that does not answer is asked all the same
	flaws            // how many there are
)

// world is a tenant in virtual time.
type world struct {
	tables
	flaw     flaw
	rng      *rand.Rand
	now      time.Time
	venues   []*venue
	rulings  []*ruling
	weeklies []*weekly
	plans    []plan
	edited   bool // the rules, since the beginning
	agenda   agenda
	model    *model
	post     *post
	told     func(Fact)
	report   *Report
	act      string // what goes on, for those who look for what went wrong
	last     [25]Fact
	next     int // in last
	failed   error
}

// due is something that will happen.
type due struct {
	at    time.Time
	order int // of those at the same moment
	do    func()
}

// agenda is what will happen, the earliest first.
type agenda struct {
	all   []due
	added int
}

func (a *agenda) Len() int { return len(a.all) }
func (a *agenda) Less(i, j int) bool {
	if !a.all[i].at.Equal(a.all[j].at) {
		return a.all[i].at.Before(a.all[j].at)
	}
	return a.all[i].order < a.all[j].order
}
func (a *agenda) Swap(i, j int) { a.all[i], a.all[j] = a.all[j], a.all[i] }
func (a *agenda) Push(d any)    { a.all = append(a.all, d.(due)) }
func (a *agenda) Pop() any {
	last := a.all[len(a.all)-1]
	a.all[len(a.all)-1] = due{}
	a.all = a.all[:len(a.all)-1]
	return last
}

// later has something done in a while, to the second.
func (w *world) later(in time.Duration, do func()) { w.on(w.now.Add(in.Truncate(time.Second)), do) }

func (w *world) on(at time.Time, do func()) {
	if at.Before(w.now) {
		return
	}
	w.agenda.added++
	heap.Push(&w.agenda, due{at: at, order: w.agenda.added, do: do})
}

// latency is how late an alarm goes off at most.
const latency = time.Second

// alarm ends what runs out at a moment, within the second.
func (w *world) alarm(at time.Time) {
	w.on(at.Add(w.upTo(latency)), func() { w.must(w.expireDue()) })
}

// run lets things happen until a moment, or until something is wrong.
func (w *world) run(until time.Time) {
	for len(w.agenda.all) > 0 && w.failed == nil && w.agenda.all[0].at.Before(until) {
		next := heap.Pop(&w.agenda).(due)
		w.now = next.at
		next.do()
	}
}

// say tells a fact of the transaction that is under way.
func (w *world) say(f Fact) {
	f.At = w.now
	w.tell(f)
}

// do runs a transaction. A refusal takes back what it did; so does a constraint, which is the same for those who book.
// Anything else is wrong.
func (w *world) do(name string, body func() error) (err error) {
	w.act = name
	w.report.Steps++
	func() {
		defer func() {
			if v := recover(); v != nil {
				constraint, ok := v.(broken)
				if !ok {
					panic(v)
				}
				if err = constraint.refusal(); err == nil || !mayLose[name] {
					err = w.wrong("%s", constraint)
				}
			}
		}()
		err = body()
	}()
	if err != nil {
		w.rollback()
		if reason := fault.ReasonOf(err); reason == fault.InternalError && w.failed == nil {
			return w.wrong("%v", err)
		}
		w.report.Refused++
		return err
	}
	w.undo = w.undo[:0]
	for _, f := range w.facts {
		w.remember(f)
		if w.told != nil {
			w.told(f)
		}
	}
	if wrong := w.model.apply(w.facts, w.now); wrong != nil {
		err = w.wrong("%v", wrong)
	} else if wrong := w.compare(w.touched); wrong != nil {
		err = w.wrong("%v", wrong)
	}
	facts := w.facts
	w.facts, w.touched = nil, w.touched[:0]
	for _, f := range facts {
		w.post.judged.note(f)
		w.post.hear(f)
		w.react(f)
	}
	return err
}

// mayLose are the transactions that a constraint may refuse.
var mayLose = map[string]bool{
	"book": true, "confirm": true, "reschedule": true, "accept": true, "join": true, "undo no-show": true,
}

var errWrong = errors.New("an invariant does not hold")

// wrong notes what does not hold. The first is the one that counts.
func (w *world) wrong(format string, args ...any) error {
	if w.failed == nil {
		w.failed = fmt.Errorf(
			"%w at %s, after %q: %s", errWrong, w.now.UTC().Format(time.RFC3339), w.act, fmt.Sprintf(format, args...),
		)
	}
	return w.failed
}

// must is for what nobody may refuse.
func (w *world) must(err error) {
	if err != nil && w.failed == nil {
		_ = w.wrong("%v", err)
	}
}

// remember keeps the last facts, for those who look for what went wrong.
func (w *world) remember(f Fact) {
	w.report.Facts++
	w.report.count(f)
	w.last[w.next%len(w.last)] = f
	w.next++
}

func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.rng.Int64N(int64(d))) }

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

func pick[T any](w *world, all []T) T { return all[w.rng.IntN(len(all))] }
