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

// action is what a caller did: a kind of request.
type action uint8

const (
	booked action = iota
	refused
	cancelled
	readWeek
	actedAsStaff
	finished // the caller has nothing left to do
)

// actionNames are the parts of a mixed load.
var actionNames = [...]string{booked: "book", cancelled: "cancel", readWeek: "week page", actedAsStaff: "staff"}

// requestFunc makes the n-th request of a caller.
type requestFunc func(ctx context.Context, caller, n int) (action, error)

// measure runs a case for a time.
func (b *testbed) measure(ctx context.Context, c report.Case, length time.Duration) (report.Run, error) {
	if c.Via == report.Pgbench {
		return b.pgbench(ctx, length)
	}
	if c.Workload == quietLoad || c.Workload == neighborLoad {
		return b.measureQuiet(ctx, c, length)
	}
	next, err := b.target(ctx, c)
	if err != nil {
		return report.Run{}, err
	}
	what := workNamed(c.Work)
	through, closeClient, err := b.open(ctx, c, what)
	if err != nil {
		return report.Run{}, err
	}
	defer closeClient()
	d := &loadRun{testbed: b, Case: c, work: what, next: next, client: through}
	return d.run(ctx, length)
}

// loadRun is one run of a case.
type loadRun struct {
	*testbed
	report.Case
	work   work
	next   target
	client client

	// In a rush: how many requests were sent, and the position in that order of the last one that got a place.
	requests, last atomic.Int64
}

type sample struct {
	took   time.Duration
	action action
}

// request returns the function that makes a caller's next request.
func (r *loadRun) request() requestFunc {
	wide, ok := r.client.(wideClient)
	if !ok || r.Workload != mixedLoad && r.Workload != readLoad {
		return r.book
	}
	states := make([]struct {
		rng      *rand.Rand
		bookings []string
		n        int // sessions that were booked
	}, r.Callers)
	for i := range states {
		states[i].rng = rand.New(rand.NewPCG(2, uint64(i)))
	}
	return func(ctx context.Context, i, n int) (action, error) {
		s := &states[i]
		target, ok := r.next(i, s.n)
		if !ok {
			return finished, nil
		}
		chance := s.rng.IntN(100)
		switch {
		case r.Workload == readLoad || chance < 70:
			return readWeek, wide.week(ctx, target.member, aWeek(s.rng.IntN(7)))
		case chance < 71:
			return actedAsStaff, wide.roster(ctx, target.session)
		case chance < 72:
			return actedAsStaff, wide.describe(ctx, target.session, fmt.Sprintf("Turn %d of %d", n, i))
		case chance < 80 && len(s.bookings) > 0:
			at := s.rng.IntN(len(s.bookings))
			id := s.bookings[at]
			s.bookings = slices.Delete(s.bookings, at, at+1)
			return cancelled, wide.cancel(ctx, target.member, id)
		default:
			s.n++
			id, err := wide.book(ctx, target)
			s.bookings = append(s.bookings, id)
			return booked, err
		}
	}
}

func (r *loadRun) book(ctx context.Context, caller, n int) (action, error) {
	target, ok := r.next(caller, n)
	if !ok {
		return finished, nil
	}
	place := r.requests.Add(1)
	_, err := r.client.book(ctx, target)
	if r.Workload == rushLoad {
		if isFull(err) {
			return refused, nil
		}
		for last := r.last.Load(); err == nil && place > last && !r.last.CompareAndSwap(last, place); {
			last = r.last.Load()
		}
	}
	return booked, err
}

func isFull(err error) bool {
	return err != nil && (fault.ReasonOf(err) == fault.SessionFull || wireReason(err) == string(fault.SessionFull))
}

// run lets all callers make requests as fast as they can.
func (r *loadRun) run(ctx context.Context, length time.Duration) (report.Run, error) {
	before, err := r.counters(ctx, r.work)
	if err != nil {
		return report.Run{}, err
	}
	samples := make([][]sample, r.Callers)
	errs := make([]error, r.Callers)
	do := r.request()
	var late atomic.Bool
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range r.Callers {
		done.Go(func() {
			<-start
			for n := 0; n == 0 || !late.Load(); n++ {
				asked := time.Now()
				did, err := do(ctx, i, n)
				if errs[i] = err; err != nil || did == finished {
					return
				}
				samples[i] = append(samples[i], sample{time.Since(asked), did})
			}
		})
	}
	stop := time.AfterFunc(length, func() { late.Store(true) })
	defer stop.Stop()
	cpu := r.measureCPU()
	begun := time.Now()
	close(start)
	done.Wait()
	elapsed := time.Since(begun)
	used := cpu()
	if err := errors.Join(errs...); err != nil {
		return report.Run{}, err
	}
	after, err := r.finalCounters(ctx, r.work)
	if err != nil {
		return report.Run{}, err
	}
	run, err := r.sumUp(slices.Concat(samples...), elapsed, after.since(before))
	run.OwnCPU, run.PostgresCPU = perAnswer(used.own, run.Answers), perAnswer(used.postgres, run.Answers)
	return run, err
}

// sumUp computes the result of a run from its samples.
func (r *loadRun) sumUp(all []sample, elapsed time.Duration, counted counters) (report.Run, error) {
	if len(all) == 0 {
		return report.Run{}, errors.New("nothing was answered")
	}
	of := func(those func(action) bool) report.Part {
		var took []time.Duration
		for _, s := range all {
			if those(s.action) {
				took = append(took, s.took)
			}
		}
		slices.Sort(took)
		if len(took) == 0 {
			return report.Part{}
		}
		return report.Part{Answers: len(took), P50: took[len(took)/2], P99: took[len(took)*99/100]}
	}
	whole := of(func(action) bool { return true })
	answers := float64(len(all))
	run := report.Run{
		Answers: len(all), Seconds: elapsed.Seconds(), PerSecond: answers / elapsed.Seconds(), P50: whole.P50, P99: whole.P99,
		WALBytes: counted.wal / answers, Fsyncs: counted.fsyncs / elapsed.Seconds(), LastPlace: int(r.last.Load()),
	}
	deals := 0
	for kind, name := range actionNames {
		part := of(func(a action) bool { return a == action(kind) })
		if part.Name = name; part.Answers > 0 && r.Workload == mixedLoad {
			run.Parts = append(run.Parts, part)
		}
		if action(kind) == booked || action(kind) == cancelled || action(kind) == refused {
			deals += part.Answers
		}
	}
	if deals > 0 {
		run.Retries = counted.retries / float64(deals)
	}
	if counted.transactions > 0 {
		run.Together = float64(deals*max(len(r.work.transactions), 1)) / counted.transactions
	}
	if wins := of(func(a action) bool { return a == booked }).Answers; r.Workload == rushLoad && wins != rushPlaces {
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
