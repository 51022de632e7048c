// Package simulate lets a tenant live for years in virtual time. The rules of booking, waitlist and credits, which are
// functions of values and the time, are applied to tables in memory as package app applies them to the database; people
// with habits book, wait, answer, cancel and stay away; and after each transaction what the tables say is compared with
// a naive model that knows of nothing but what happened. Everything follows from a seed.
package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Options say what is simulated.
type Options struct {
	Seed uint64
	// From is when it begins; zero: when the seed says, near a change of clocks.
	From   time.Time
	Length time.Duration
	Size   Size
	// Told receives every fact, in order; nil: nobody listens.
	Told func(Fact)
	// Progress is called after each simulated week; nil: nobody looks.
	Progress func(at time.Time, soFar Report)

	flaw flaw
}

// Size is how busy a tenant is.
type Size struct {
	Locations int
	Services  int // at each location
	Members   int
	Capacity  int // of a session, at most
	PerDay    int // sessions of each service
}

// Small is a tenant in which few people fight for few seats, and Busy one with a full house every day.
var (
	Small = Size{Locations: 1, Services: 2, Members: 7, Capacity: 3, PerDay: 1}
	Busy  = Size{Locations: 3, Services: 2, Members: 250, Capacity: 16, PerDay: 4}
)

// Report counts what happened.
type Report struct {
	Simulated  time.Duration
	Steps      int // transactions, those refused included
	Refused    int
	Facts      int
	Bookings   int
	Cancelled  int
	Late       int // cancellations without refund
	NoShows    int
	Holds      int
	RunOut     int // holds
	Moved      int // rescheduled
	Joined     int
	Decisions  int
	Promoted   int // without being asked
	Offers     int
	Accepted   int
	Sessions   int
	CalledOff  int
	HandedBack int // decisions that left staff something to do
	Messages   int // that left, or may have
	Reminders  int
	Repeated   int // messages of which the log says that they may be there twice
	PutOff     int
	Withheld   int
}

// Sum adds up.
func (r Report) Sum(o Report) Report {
	r.Simulated += o.Simulated
	mine, theirs := r.counts(), o.counts()
	for i, c := range mine {
		*c.n += *theirs[i].n
	}
	return r
}

// String is a line for each count.
func (r Report) String() (text string) {
	for _, c := range r.counts() {
		text += fmt.Sprintf("%10d %s\n", *c.n, c.of)
	}
	return text
}

type count struct {
	n  *int
	of string
}

func (r *Report) counts() []count {
	return []count{
		{&r.Steps, "transactions"}, {&r.Refused, "of them refused"}, {&r.Facts, "facts"}, {&r.Sessions, "sessions"},
		{&r.CalledOff, "of them called off"}, {&r.Bookings, "bookings"}, {&r.Cancelled, "cancelled"},
		{&r.Late, "of them late"},
		{&r.Moved, "moved to another session"}, {&r.NoShows, "no-shows"}, {&r.Holds, "holds"}, {&r.RunOut, "of them ran out"},
		{&r.Joined, "waitlist entries"}, {&r.Decisions, "decisions about free seats"},
		{&r.HandedBack, "of them handed back to staff"},
		{&r.Promoted, "promoted"}, {&r.Offers, "offers"}, {&r.Accepted, "of them accepted"},
		{&r.Messages, "messages"}, {&r.Reminders, "of them reminders"}, {&r.Repeated, "of them maybe for the second time"},
		{&r.PutOff, "times a message was put off"}, {&r.Withheld, "messages withheld, with a reason"},
	}
}

func (r *Report) count(f Fact) {
	add := func(n *int, when bool) {
		if when {
			*n++
		}
	}
	add(&r.Bookings, f.What == Booked || f.What == Confirmed)
	add(&r.Cancelled, f.What == Cancelled)
	add(&r.Late, f.What == Cancelled && f.Late)
	add(&r.NoShows, f.What == NoShow)
	add(&r.Holds, f.What == Held)
	add(&r.RunOut, f.What == HoldExpired)
	add(&r.Moved, f.What == Rescheduled)
	add(&r.Joined, f.What == Joined)
	add(&r.Decisions, f.What == Decided)
	add(&r.Promoted, f.What == Booked && f.Promoted && f.Offer.IsZero())
	add(&r.Offers, f.What == Offered)
	add(&r.Accepted, f.What == OfferEnded && f.Ended == waitlist.Accepted)
	add(&r.Sessions, f.What == Published)
	add(&r.CalledOff, f.What == CalledOff)
	add(&r.HandedBack, f.decision != nil && f.decision.Decision.LeftMove == waitlist.HandBack)
}

// Failure is an invariant that did not hold, with what happened just before.
type Failure struct {
	Seed  uint64
	Err   error
	Facts []Fact // the last ones
}

func (f *Failure) Error() string {
	lines := []string{fmt.Sprintf("seed %d: %v", f.Seed, f.Err)}
	for _, fact := range f.Facts {
		lines = append(lines, fact.String())
	}
	return strings.Join(lines, "\n  ")
}

func (f *Failure) Unwrap() error { return f.Err }

// Run simulates. The error is a *Failure where an invariant did not hold, or that of ctx.
func Run(ctx context.Context, o Options) (Report, error) {
	w := &world{
		tables: newTables(), flaw: o.flaw, model: newModel(), told: o.Told, report: new(Report),
		rng: rand.New(rand.NewPCG(o.Seed, 0x6265727468)), //nolint:gosec // chance that can be repeated
	}
	from := w.settleDown(o)
	for week := from; week.Before(from.Add(o.Length)) && w.failed == nil && ctx.Err() == nil; {
		week = week.Add(7 * 24 * time.Hour)
		if end := from.Add(o.Length); week.After(end) {
			week = end
		}
		w.run(week)
		if w.failed == nil {
			w.now = week
		}
		w.report.Simulated = w.now.Sub(from)
		if o.Progress != nil {
			o.Progress(w.now, *w.report)
		}
	}
	if w.failed != nil {
		failure := &Failure{Seed: o.Seed, Err: w.failed}
		for i := max(0, w.next-len(w.last)); i < w.next; i++ {
			failure.Facts = append(failure.Facts, w.last[i%len(w.last)])
		}
		return *w.report, failure
	}
	return *w.report, ctx.Err()
}
