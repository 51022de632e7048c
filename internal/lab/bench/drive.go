package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/lab/bench/report"
)

// act is what a caller did: a kind of request.
type act uint8

const (
	booked act = iota
	refused
	cancelled
	looked
	staffed
	over // the caller has nothing left to do
)

// actNames are the parts of a mixed load.
var actNames = [...]string{booked: "book", cancelled: "cancel", looked: "week page", staffed: "staff"}

// turn makes the n-th request of a caller.
type turn func(ctx context.Context, caller, n int) (act, error)

// measure runs a case for a time.
func (h *testbed) measure(ctx context.Context, c report.Case, length time.Duration) (report.Run, error) {
	if c.Via == report.Pgbench {
		return h.pgbench(ctx, length)
	}
	next, err := h.target(ctx, c)
	if err != nil {
		return report.Run{}, err
	}
	what := workNamed(c.Work)
	through, closeClient, err := h.open(ctx, c, what)
	if err != nil {
		return report.Run{}, err
	}
	defer closeClient()
	d := &drive{testbed: h, Case: c, what: what, next: next, through: through}
	return d.run(ctx, length)
}

// drive is one run.
type drive struct {
	*testbed
	report.Case
	what    work
	next    target
	through client

	// In a rush: how many have asked, and the position in that order of the last one who got a place.
	asked, last atomic.Int64
}

type sample struct {
	took time.Duration
	act  act
}

// turns returns what callers do.
func (d *drive) turns() turn {
	wide, ok := d.through.(wideClient)
	if !ok || d.Workload != mixedLoad && d.Workload != readLoad {
		return d.book
	}
	states := make([]struct {
		dice     *rand.Rand
		bookings []string
		n        int // sessions that were booked
	}, d.Callers)
	for i := range states {
		states[i].dice = rand.New(rand.NewPCG(2, uint64(i)))
	}
	return func(ctx context.Context, i, n int) (act, error) {
		s := &states[i]
		who, ok := d.next(i, s.n)
		if !ok {
			return over, nil
		}
		chance := s.dice.IntN(100)
		switch {
		case d.Workload == readLoad || chance < 70:
			return looked, wide.week(ctx, who.member, aWeek(s.dice.IntN(7)))
		case chance < 71:
			return staffed, wide.roster(ctx, who.session)
		case chance < 72:
			return staffed, wide.describe(ctx, who.session, fmt.Sprintf("Turn %d of %d", n, i))
		case chance < 80 && len(s.bookings) > 0:
			at := s.dice.IntN(len(s.bookings))
			id := s.bookings[at]
			s.bookings = slices.Delete(s.bookings, at, at+1)
			return cancelled, wide.cancel(ctx, who.member, id)
		default:
			s.n++
			id, err := wide.book(ctx, who)
			s.bookings = append(s.bookings, id)
			return booked, err
		}
	}
}

func (d *drive) book(ctx context.Context, caller, n int) (act, error) {
	who, ok := d.next(caller, n)
	if !ok {
		return over, nil
	}
	place := d.asked.Add(1)
	_, err := d.through.book(ctx, who)
	if d.Workload == rushLoad {
		if isFull(err) {
			return refused, nil
		}
		for last := d.last.Load(); err == nil && place > last && !d.last.CompareAndSwap(last, place); {
			last = d.last.Load()
		}
	}
	return booked, err
}

func isFull(err error) bool {
	return err != nil && (fault.ReasonOf(err) == fault.SessionFull || wireReason(err) == string(fault.SessionFull))
}

// run lets all callers make requests as fast as they can.
func (d *drive) run(ctx context.Context, length time.Duration) (report.Run, error) {
	before, err := d.counters(ctx, d.what)
	if err != nil {
		return report.Run{}, err
	}
	samples := make([][]sample, d.Callers)
	errs := make([]error, d.Callers)
	do := d.turns()
	var late atomic.Bool
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range d.Callers {
		done.Go(func() {
			<-start
			for n := 0; n == 0 || !late.Load(); n++ {
				asked := time.Now()
				did, err := do(ctx, i, n)
				if errs[i] = err; err != nil || did == over {
					return
				}
				samples[i] = append(samples[i], sample{time.Since(asked), did})
			}
		})
	}
	stop := time.AfterFunc(length, func() { late.Store(true) })
	defer stop.Stop()
	cpu := d.measureCPU()
	begun := time.Now()
	close(start)
	done.Wait()
	elapsed := time.Since(begun)
	used := cpu()
	if err := errors.Join(errs...); err != nil {
		return report.Run{}, err
	}
	after, err := d.finalCounters(ctx, d.what)
	if err != nil {
		return report.Run{}, err
	}
	run, err := d.sumUp(slices.Concat(samples...), elapsed, after.since(before))
	run.OwnCPU, run.PostgresCPU = perAnswer(used.own, run.Answers), perAnswer(used.postgres, run.Answers)
	return run, err
}

// sumUp computes the result of a run from its samples.
func (d *drive) sumUp(all []sample, elapsed time.Duration, counted counters) (report.Run, error) {
	if len(all) == 0 {
		return report.Run{}, errors.New("nothing was answered")
	}
	of := func(those func(act) bool) report.Part {
		var took []time.Duration
		for _, s := range all {
			if those(s.act) {
				took = append(took, s.took)
			}
		}
		slices.Sort(took)
		if len(took) == 0 {
			return report.Part{}
		}
		return report.Part{Answers: len(took), P50: took[len(took)/2], P99: took[len(took)*99/100]}
	}
	whole := of(func(act) bool { return true })
	answers := float64(len(all))
	run := report.Run{
		Answers: len(all), Seconds: elapsed.Seconds(), PerSecond: answers / elapsed.Seconds(), P50: whole.P50, P99: whole.P99,
		WALBytes: counted.wal / answers, Fsyncs: counted.fsyncs / elapsed.Seconds(), LastPlace: int(d.last.Load()),
	}
	deals := 0
	for kind, name := range actNames {
		part := of(func(a act) bool { return a == act(kind) })
		if part.Name = name; part.Answers > 0 && d.Workload == mixedLoad {
			run.Parts = append(run.Parts, part)
		}
		if act(kind) == booked || act(kind) == cancelled || act(kind) == refused {
			deals += part.Answers
		}
	}
	if deals > 0 {
		run.Retries = counted.retries / float64(deals)
	}
	if counted.transactions > 0 {
		run.Together = float64(deals*max(len(d.what.transactions), 1)) / counted.transactions
	}
	if wins := of(func(a act) bool { return a == booked }).Answers; d.Workload == rushLoad && wins != rushPlaces {
		return run, fmt.Errorf("%d booked for %d places", wins, rushPlaces)
	}
	return run, nil
}

// pause returns after d, or with the error of a context that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
