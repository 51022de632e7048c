// Package campaign injects faults into a running system, and then checks that nothing was lost. It runs several servers
// on a Postgres, each as a process. Callers book, cancel, hold, confirm and answer offers. At the same time it kills
// processes, and cuts, slows down and resets connections, with wrong clocks that pass a clock change. Afterwards every
// invariant must hold, every history must have an order that explains it, and everything acknowledged must exist.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Config says how long a campaign runs, and how to repeat it.
type Config struct {
	// Seed determines the faults, their times counted in attempts, and the requests of each caller. It does not determine
	// how processes are scheduled: a seed that failed may pass. Try it several times.
	Seed uint64
	// For is how long faults are injected.
	For time.Duration
	// Operations ends the faults after this number of operations; 0: only the time does.
	Operations int
	Nodes      int // servers
	Workers    int // at least one
	Callers    int
	// Binary is the berth command to test.
	Binary string
	// Folder is a new folder for Postgres, keys, logs and histories. It must not exist.
	Folder string
	// Rare brings about each rare case once, before any fault.
	Rare bool
	// Say prints a line of progress.
	Say func(string)
}

// Report is the result of a campaign.
type Report struct {
	Seed       uint64
	Took       time.Duration
	Operations int
	Attempts   int64
	Unknown    int // operations without a response
	CutCommits int64
	Faults     map[string]int
	Rare       map[string]int // how often each rare case occurred
	Errors     map[string]int // results of attempts other than responses and refusals
	Histories  int
	Longest    time.Duration // time to check one history
	Events     int           // events that must lead to a message
	Messages   int           // messages sent
	Duplicates int           // messages marked as possible duplicates in the log
	Replayed   int
	Rounds     int
	Crossing   string // the clock change that was passed
	// Failures are broken promises.
	Failures []string
}

// zones have clock changes, one of them by half an hour.
var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"}

// Run runs a campaign and checks the result. An error means that it could not run; what it found is in the report.
func Run(ctx context.Context, config Config) (_ Report, err error) {
	random := rand.New(rand.NewPCG(config.Seed, 0))
	report := Report{Seed: config.Seed}
	zone := zones[random.IntN(len(zones))]
	place, err := time.LoadLocation(zone)
	if err != nil {
		return report, err
	}
	// The clocks of the cluster pass the next clock change in the middle of the campaign.
	now := time.Now()
	_, change := now.In(place).ZoneBounds()
	offset := change.Sub(now.Add(config.For / 2))
	report.Crossing = fmt.Sprintf("%s, %s", zone, change.UTC().Format(time.RFC3339))

	if err := os.Mkdir(config.Folder, 0o711); err != nil { //nolint:gosec // Postgres's user has to enter
		return report, err
	}
	s, err := openCluster(ctx, config.Folder, config.Binary, offset, config.Nodes, config.Workers)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	l, err := s.setUp(ctx, config, zone)
	if err != nil {
		return report, err
	}
	defer l.maker.stop()
	for _, n := range s.all() {
		if err := n.start(ctx, s.skew(random)); err != nil {
			return report, err
		}
	}
	config.Say(fmt.Sprintf(
		"seed %d: %d servers, %d workers, %d callers, clock change %s", config.Seed, config.Nodes, config.Workers,
		config.Callers, report.Crossing,
	))
	l.injector = newInjector(s, random, config.Say)
	if config.Rare {
		if err := l.meetRareCases(ctx, config.Seed); err != nil {
			return report, err
		}
	}
	if err := l.runLoad(ctx, config); err != nil {
		return report, err
	}
	err = l.check(ctx, config, &report)
	return report, err
}

// maker creates rounds in advance, with its own connection to Postgres.
type maker struct {
	db   *pg.DB
	stop func()
}

// setUp creates the tenants and the first rounds.
func (c *cluster) setUp(ctx context.Context, config Config, zone string) (_ *load, err error) {
	db, err := pg.Open(ctx, pg.Config{URL: c.postgres.TCP, CommandConns: 2, ReadConns: 2, ApplicationName: "campaign"})
	if err != nil {
		return nil, err
	}
	a := app.New(app.Config{DB: db, Now: c.now})
	keys := boot.KeyConfig{Data: c.folder, Issuer: "berth", Audience: "berth"}
	if _, err := keys.Files().Create(); err != nil {
		db.Close()
		return nil, err
	}
	issuer, err := keys.OpenIssuer(ctx, keys.Files())
	if err != nil {
		db.Close()
		return nil, err
	}
	var tenants []*testTenant
	for _, quiet := range []notify.QuietHours{{}, notify.DefaultSettings().QuietHours} {
		h, err := newTenant(ctx, a, c.now, zone, quiet)
		if err != nil {
			db.Close()
			return nil, err
		}
		tenants = append(tenants, h)
	}
	making, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &load{
		cluster: c, issuer: issuer, life: config.For + time.Hour, begun: time.Now(), rounds: make(chan *round, 2),
		tokens: make(map[person]string), errors: make(map[string]int), rare: make(map[string]int),
	}
	var done sync.WaitGroup
	done.Go(func() {
		random := rand.New(rand.NewPCG(config.Seed, 1))
		for i := 0; making.Err() == nil; i++ {
			r, err := tenants[i%len(tenants)].newRound(making, random)
			if err != nil { // an incomplete round is never used
				_ = pause(making, 200*time.Millisecond)
				continue
			}
			select {
			case l.rounds <- r:
			case <-making.Done():
			}
		}
	})
	l.maker = maker{db: db, stop: func() { stop(); done.Wait(); db.Close() }}
	l.next(ctx)
	return l, ctx.Err()
}

// runLoad runs the callers while faults are injected, and ends all faults.
func (l *load) runLoad(ctx context.Context, config Config) error {
	loadCtx, stopLoad := context.WithTimeout(ctx, config.For)
	defer stopLoad()
	var callers, rest sync.WaitGroup
	for i := range config.Callers {
		c := l.newCaller(i, config.Seed)
		callers.Go(func() { l.run(loadCtx, c) })
	}
	rest.Go(func() {
		for last := time.Now(); pause(loadCtx, 100*time.Millisecond) == nil; {
			if config.Operations > 0 && l.size() >= config.Operations {
				stopLoad()
			}
			if time.Since(last) >= 5*time.Second {
				last = time.Now()
				faults, _ := l.injector.faults()
				config.Say(fmt.Sprintf(
					"seed %d, %s: %d operations in %d attempts, %d faults", config.Seed, l.clock().Round(time.Second), l.size(),
					l.injector.attempts.Load(), faults,
				))
			}
		}
	})
	err := l.injector.run(loadCtx)
	stopLoad()
	l.healed.Store(new(time.Now()))
	callers.Wait()
	rest.Wait()
	return errors.Join(err, ctx.Err())
}

// check checks everything after the faults have ended.
func (l *load) check(ctx context.Context, config Config, r *Report) error {
	config.Say("all faults have ended; repeating answered calls")
	r.Replayed = l.repeatCalls(ctx)
	for _, n := range l.cluster.all() {
		if err := n.down().stop(); err != nil {
			l.fail("%v", err)
		}
		r.CutCommits += n.proxy.cut.Load()
	}
	l.maker.stop()
	config.Say("all processes have stopped; sending the remaining messages")
	if err := l.flushMessages(ctx, r); err != nil {
		return err
	}
	config.Say("verifying")
	verify := exec.CommandContext(ctx, config.Binary, "verify", "--database-url", l.cluster.postgres.TCP)
	if out, err := verify.CombinedOutput(); err != nil {
		l.fail("berth verify: %v\n%s", err, out)
	}
	t, err := readFinalState(ctx, l.cluster.postgres.TCP)
	if err != nil {
		return err
	}
	r.Operations, r.Attempts, r.Rounds, r.Errors = len(l.operations), l.injector.attempts.Load(), len(l.all), l.errors
	for _, op := range l.operations {
		if op.Outcome == "unknown" {
			r.Unknown++
		}
	}
	_, r.Faults = l.injector.faults()
	r.Rare = l.countRareCases(t)
	l.compareResults(t)
	l.completeHistories(t)
	config.Say(fmt.Sprintf("checking the histories of %d rounds", len(l.all)))
	err = l.checkHistories(config.Folder, r)
	r.Failures, r.Took = l.failures, l.clock()
	return err
}

// Print writes the report as text.
func (r Report) Print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nseed\t%d\ntook\t%s\nclock change\t%s\n", r.Seed, r.Took.Round(time.Second), r.Crossing)
	fmt.Fprintf(w, "operations\t%d in %d attempts, in %d rounds\nwithout a response\t%d\n",
		r.Operations, r.Attempts, r.Rounds, r.Unknown)
	fmt.Fprintf(w, "connections reset after COMMIT\t%d\n", r.CutCommits)
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		fmt.Fprintf(w, "%s\t%d times\n", name, r.Faults[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Rare)) {
		fmt.Fprintf(w, "%s\t%d times\n", name, r.Rare[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Errors)) {
		fmt.Fprintf(w, "attempts that ended %s\t%d\n", name, r.Errors[name])
	}
	fmt.Fprintf(w, "calls repeated\t%d\nevents with a message\t%d\nmessages sent\t%d, %d of them possible duplicates\n"+
		"histories checked\t%d, the longest in %s\nfailures\t%d\n",
		r.Replayed, r.Events, r.Messages, r.Duplicates, r.Histories, r.Longest.Round(time.Millisecond), len(r.Failures))
	if err := w.Flush(); err != nil {
		return err
	}
	for _, failure := range r.Failures {
		fmt.Fprintln(to, "✗", failure)
	}
	return nil
}
