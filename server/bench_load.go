package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/berthhq/berth/internal/fault"
)

// benchRun is what one run came to.
type benchRun struct {
	PerSecond float64       `json:"answers_per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	Together  float64       `json:"bookings_per_transaction"`
	Retries   float64       `json:"retries_per_booking"`
	Seconds   float64       `json:"seconds"`
	// OwnCPU and PostgresCPU are microseconds of a processor for each answer: load generator and server, and the database.
	OwnCPU      float64 `json:"own_cpu_us"`
	PostgresCPU float64 `json:"postgres_cpu_us"`
}

func (r benchRun) String() string {
	return fmt.Sprintf("%.0f answers/s, p50 %s, p99 %s, %.1f together, %.4f retries, %.0f + %.0f µs CPU each, in %.2f s",
		r.PerSecond, round(r.P50), round(r.P99), r.Together, r.Retries, r.OwnCPU, r.PostgresCPU, r.Seconds)
}

// door is a way to work: a turn does what the work is once, with another session each time. Sessions and members are numbers.
type door interface {
	turn(ctx context.Context, session, member int) error
}

// target is what a caller books next; false ends its run.
type target func(caller, n int) (session, member int, ok bool)

// Members of the first half book for themselves again and again, those of the second half come to a session in turn.
const ownMembers = benchMembers / 2

// spread lets each caller be a member, and book any session, none twice.
func (h *benchHouse) spread(callers int) (target, error) {
	if h.nextUser+callers > ownMembers {
		return nil, errors.New("every member has been used; run fewer rounds")
	}
	first := h.nextUser
	h.nextUser += callers
	return func(i, n int) (int, int, bool) {
		// 7,919 is prime: each caller meets every session but the last once, and all at other times.
		return (i*31 + n*7919) % lastSession, first + i, n < lastSession
	}, nil
}

// zipf lets some sessions be wanted much more than others, each time by another member.
func (h *benchHouse) zipf(callers int) target {
	dice := make([]*rand.Zipf, callers)
	for i := range dice {
		dice[i] = rand.NewZipf(rand.New(rand.NewPCG(1, uint64(i))), 1.1, 1, benchSessions-1)
	}
	return func(i, _ int) (int, int, bool) {
		session := int(dice[i].Uint64())
		for {
			if member, ok := h.visitor(session); ok {
				return session, member, true
			}
			session++ // everybody has been there
		}
	}
}

// visitor gives the next member who has not been to a session.
func (h *benchHouse) visitor(session int) (member int, ok bool) {
	n := int(h.visits[session].Add(1)) - 1
	return ownMembers + (n+session*7919)%ownMembers, n < ownMembers
}

// hot lets everybody want the same session, and the next one when all have been there.
func (h *benchHouse) hot() target {
	var mu sync.Mutex
	session := h.crowd()
	return func(int, int) (int, int, bool) {
		mu.Lock()
		defer mu.Unlock()
		for {
			if member, ok := h.visitor(session); ok {
				return session, member, true
			}
			session = h.crowd()
		}
	}
}

// crowd gives a session that nobody has been to: those that the dice of zipf hardly ever show.
func (h *benchHouse) crowd() int {
	h.nextHot++
	return lastSession - h.nextHot
}

const (
	rushCallers = 2000
	rushPlaces  = 30
)

// rush lets everybody want one of a few places at the same moment.
func (h *benchHouse) rush(ctx context.Context) (target, error) {
	session := h.crowd()
	if err := h.exec(ctx, "update sessions set capacity = seats_taken + $1 where id = $2", rushPlaces, numberedID("9000", session)); err != nil {
		return nil, err
	}
	return func(i, n int) (int, int, bool) { return session, ownMembers + i, n == 0 }, nil
}

// measure runs a case for so long.
func (h *benchHouse) measure(ctx context.Context, c benchCase, length time.Duration) (benchRun, error) {
	var next target
	var err error
	switch c.Workload {
	case "zipf":
		next = h.zipf(c.Callers)
	case "hot":
		next = h.hot()
	case "rush":
		next, err = h.rush(ctx)
	default:
		next, err = h.spread(c.Callers)
	}
	if err != nil {
		return benchRun{}, err
	}
	what, err := workNamed(c.Work)
	if err != nil {
		return benchRun{}, err
	}
	through, closeDoor, err := h.door(ctx, c, what)
	if err != nil {
		return benchRun{}, err
	}
	defer closeDoor()
	return h.drive(ctx, c, what, through, next, length)
}

// drive works as fast as the callers can.
func (h *benchHouse) drive(ctx context.Context, c benchCase, what work, through door, next target, length time.Duration) (benchRun, error) {
	before, err := h.counters(ctx, what)
	if err != nil {
		return benchRun{}, err
	}
	times := make([][]time.Duration, c.Callers)
	errs := make([]error, c.Callers)
	var booked atomic.Int64
	var over atomic.Bool
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range c.Callers {
		done.Go(func() {
			<-start
			for n := 0; !over.Load() && errs[i] == nil; n++ {
				session, member, ok := next(i, n)
				if !ok {
					return
				}
				asked := time.Now()
				err := through.turn(ctx, session, member)
				times[i] = append(times[i], time.Since(asked))
				switch {
				case err == nil:
					booked.Add(1)
				case c.Workload != "rush" || !isFull(err):
					errs[i] = err
				}
			}
		})
	}
	stop := time.AfterFunc(length, func() { over.Store(true) })
	defer stop.Stop()
	worked := h.processor()
	begun := time.Now()
	close(start)
	done.Wait()
	elapsed := time.Since(begun)
	workedSince := h.processor()
	if err := errors.Join(errs...); err != nil {
		return benchRun{}, err
	}
	if c.Workload == "rush" && booked.Load() != rushPlaces {
		return benchRun{}, fmt.Errorf("%d booked for %d places", booked.Load(), rushPlaces)
	}
	after, err := h.counters(ctx, what)
	if err != nil {
		return benchRun{}, err
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	answers := float64(len(all))
	run := benchRun{
		PerSecond: answers / elapsed.Seconds(), P50: all[len(all)/2], P99: all[len(all)*99/100], Seconds: elapsed.Seconds(),
		Retries: (after.retries - before.retries) / float64(booked.Load()),
	}
	run.OwnCPU, run.PostgresCPU = workedSince.since(worked, len(all))
	if transactions := after.transactions - before.transactions; transactions > 0 {
		run.Together = answers * float64(len(what.transactions)) / transactions
	}
	return run, nil
}

func isFull(err error) bool {
	return fault.ReasonOf(err) == fault.SessionFull || grpcReason(err) == string(fault.SessionFull)
}

// benchCounters are read from the node's own metrics.
type benchCounters struct{ transactions, retries float64 }

func (h *benchHouse) counters(ctx context.Context, of work) (benchCounters, error) {
	var c benchCounters
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.address+"/metrics", nil)
	if err != nil {
		return c, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, err
	}
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		return c, err
	}
	all := slices.Collect(maps.Values(families))
	for _, other := range h.others {
		more, err := other.metrics.Gather()
		if err != nil {
			return c, err
		}
		all = append(all, more...)
	}
	sum := func(name string) (total float64) {
		for _, family := range all {
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if family.GetName() == name && label.GetName() == "transaction" && of.takes(label.GetValue()) {
						total += metric.GetCounter().GetValue()
					}
				}
			}
		}
		return total
	}
	c.transactions, c.retries = sum("berth_transactions_total"), sum("berth_transaction_retries_total")
	return c, nil
}
