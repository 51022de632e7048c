// Package simulate runs a tenant for years of virtual time. It applies the rules of booking, waitlist, credits and
// messages to tables in memory, as internal/app applies them to the database. Simulated members book, wait, answer,
// cancel and miss sessions. After each transaction, the tables are compared with a simple model that knows only the
// events so far. Everything follows from a seed.
package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Options configure a simulation.
type Options struct {
	Seed uint64
	// From is the start. If it is zero, the seed chooses a start near a clock change.
	From   time.Time
	Length time.Duration
	Size   Size
	// NoMessages leaves messages out: offers begin at once, also in quiet hours.
	NoMessages bool
	// OnSetUp, if not nil, receives the tenant before anything happens in it.
	OnSetUp func(Tenant)
	// OnOperation, if not nil, receives every operation after its end, in order.
	OnOperation func(Operation, State)
	// OnEvent, if not nil, receives every event, in order.
	OnEvent func(Event)
	// Progress, if not nil, is called after each simulated week.
	Progress func(at time.Time, soFar Report)

	bug bug
}

// Size is the size of a tenant.
type Size struct {
	Locations int
	Services  int // per location
	Members   int
	Capacity  int // the largest of a session
	PerDay    int // sessions per day of each service
}

// Small is a tenant in which few members compete for few seats. Busy is a tenant whose sessions are full every day.
var (
	Small = Size{Locations: 1, Services: 2, Members: 7, Capacity: 3, PerDay: 1}
	Busy  = Size{Locations: 3, Services: 2, Members: 250, Capacity: 16, PerDay: 4}
)

// Failure is an invariant that did not hold, with the events before it.
type Failure struct {
	Seed   uint64
	Err    error
	Events []Event // the most recent
}

func (f *Failure) Error() string {
	lines := []string{fmt.Sprintf("seed %d: %v", f.Seed, f.Err)}
	for _, fact := range f.Events {
		lines = append(lines, fact.String())
	}
	return strings.Join(lines, "\n  ")
}

func (f *Failure) Unwrap() error { return f.Err }

// Run runs a simulation. It returns a *Failure if an invariant does not hold, or the error of ctx.
func Run(ctx context.Context, o Options) (Report, error) {
	w := &world{
		changed: make(map[tenant.MemberID]bool),
		tables:  newTables(), bug: o.bug, model: newModel(), onEvent: o.OnEvent, onOperation: o.OnOperation,
		report: new(Report),
		rng:    rand.New(rand.NewPCG(o.Seed, 0x6265727468)), //nolint:gosec // reproducible, not secret
	}
	from := w.setUp(o)
	for week := from; week.Before(from.Add(o.Length)) && w.failed == nil && ctx.Err() == nil; {
		week = week.Add(7 * 24 * time.Hour)
		if end := from.Add(o.Length); week.After(end) {
			week = end
		}
		w.runUntil(week)
		if w.failed == nil {
			w.now = week
		}
		w.report.Length = w.now.Sub(from)
		if o.Progress != nil {
			o.Progress(w.now, *w.report)
		}
	}
	if w.failed != nil {
		failure := &Failure{Seed: o.Seed, Err: w.failed}
		for i := max(0, w.recorded-len(w.recent)); i < w.recorded; i++ {
			failure.Events = append(failure.Events, w.recent[i%len(w.recent)])
		}
		return *w.report, failure
	}
	return *w.report, ctx.Err()
}
