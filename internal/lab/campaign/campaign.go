// Package campaign makes everything go wrong at once, and then proves that nothing did. It runs several servers on a
// Postgres, all of them processes of their own, lets a crowd book, cancel, hold, confirm and answer offers, and meanwhile
// kills, cuts, slows and resets what it can reach, with clocks that are wrong and go over a clock change. Afterwards every
// invariant must hold, every history must be one that one who does one thing after the other could have told, and what
// was acknowledged must be there.
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
	"path/filepath"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/token"
)

// Config says how long, and what repeats.
type Config struct {
	// Seed decides what goes wrong when, counted in attempts, and what each caller asks for. How processes take turns it does
	// not decide: a seed that failed may pass, and is worth several tries.
	Seed uint64
	// For is how long the storm lasts.
	For time.Duration
	// Operations ends the storm earlier; 0: time alone does.
	Operations int
	Nodes      int // servers
	Workers    int // at least one
	Callers    int
	// Binary is the berth command whose servers are tried.
	Binary string
	// Folder keeps Postgres, keys, logs and histories. It is made, and must not be there.
	Folder string
	// Say hears of progress, a line at a time.
	Say func(string)
}

// Report is what came of a campaign.
type Report struct {
	Seed       uint64
	Took       time.Duration
	Operations int
	Attempts   int64
	Unknown    int // operations whose callers never learned what came of them
	Broken     int64
	Faults     map[string]int
	Trouble    map[string]int // what attempts were told, apart from answers and refusals
	Histories  int
	Longest    time.Duration // that one history took to be judged
	Told       int           // events that concern somebody
	Messages   int           // that were sent
	Twice      int           // of which the log says that they may be duplicates
	Replayed   int
	Rounds     int
	Crossing   string // which clock change was crossed
	// Failures are what must never happen.
	Failures []string
}

// zones are places whose clocks change, one of them by half an hour.
var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"}

// Run is a campaign from the beginning to the verdict. The error says that it could not be carried out; what it found wrong the report
// says.
func Run(ctx context.Context, config Config) (_ Report, err error) {
	random := rand.New(rand.NewPCG(config.Seed, 0))
	report := Report{Seed: config.Seed}
	zone := zones[random.IntN(len(zones))]
	place, err := time.LoadLocation(zone)
	if err != nil {
		return report, err
	}
	// The clocks of the site pass the next change in the middle of the storm.
	now := time.Now()
	_, change := now.In(place).ZoneBounds()
	offset := change.Sub(now.Add(config.For / 2))
	report.Crossing = fmt.Sprintf("%s, %s", zone, change.UTC().Format(time.RFC3339))

	if err := os.Mkdir(config.Folder, 0o711); err != nil { //nolint:gosec // Postgres's user has to enter
		return report, err
	}
	s, err := openSite(ctx, config.Folder, config.Binary, offset, config.Nodes, config.Workers)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	l, err := s.settle(ctx, config, zone)
	if err != nil {
		return report, err
	}
	defer l.maker.stop()
	for _, n := range s.all() {
		if err := n.start(ctx, s.skew(random)); err != nil {
			return report, err
		}
	}
	config.Say(fmt.Sprintf("seed %d: %d servers, %d workers, %d callers, the clocks pass the change of %s", config.Seed, config.Nodes, config.Workers, config.Callers, report.Crossing))
	if err := l.weather(ctx, config, newStorm(s, random, config.Say)); err != nil {
		return report, err
	}
	err = l.verdict(ctx, config, &report)
	return report, err
}

// maker makes rounds ahead of the crowd, by a way to Postgres of its own.
type maker struct {
	db   *pg.DB
	stop func()
}

// settle makes the tenants and the first rounds.
func (s *site) settle(ctx context.Context, config Config, zone string) (_ *load, err error) {
	db, err := pg.Open(ctx, pg.Config{URL: s.postgres.TCP, CommandConns: 2, ReadConns: 2, ApplicationName: "campaign"})
	if err != nil {
		return nil, err
	}
	a := app.New(app.Config{DB: db, Now: s.now})
	issuer, err := token.OpenIssuer(filepath.Join(s.folder, "signing-key.pem"), "berth", "berth", time.Now)
	if err != nil {
		db.Close()
		return nil, err
	}
	var houses []*house
	for range 2 {
		h, err := newHouse(ctx, a, s.now, zone)
		if err != nil {
			db.Close()
			return nil, err
		}
		houses = append(houses, h)
	}
	making, stop := context.WithCancel(context.WithoutCancel(ctx))
	l := &load{
		site: s, issuer: issuer, life: config.For + time.Hour, begun: time.Now(), rounds: make(chan *round, 2),
		tokens: make(map[person]string), trouble: make(map[string]int),
	}
	var done sync.WaitGroup
	done.Go(func() {
		random := rand.New(rand.NewPCG(config.Seed, 1))
		for i := 0; making.Err() == nil; i++ {
			r, err := houses[i%len(houses)].newRound(making, random)
			if err != nil { // what is half made nobody uses
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

// weather lets the crowd work through the storm, and heals everything.
func (l *load) weather(ctx context.Context, config Config, st *storm) error {
	l.storm = st
	storming, calm := context.WithTimeout(ctx, config.For)
	defer calm()
	var crowd, rest sync.WaitGroup
	for i := range config.Callers {
		c := &caller{load: l, number: i, random: rand.New(rand.NewPCG(config.Seed, uint64(i)+2))}
		crowd.Go(func() { l.run(storming, c) })
	}
	rest.Go(func() {
		for last := time.Now(); pause(storming, 100*time.Millisecond) == nil; {
			if config.Operations > 0 && l.size() >= config.Operations {
				calm()
			}
			if time.Since(last) >= 5*time.Second {
				last = time.Now()
				faults, _ := st.faults()
				config.Say(fmt.Sprintf("seed %d, %s: %d operations in %d attempts, %d faults", config.Seed, l.clock().Round(time.Second), l.size(), st.attempts.Load(), faults))
			}
		}
	})
	err := st.rage(storming)
	calm()
	l.healed.Store(new(time.Now()))
	crowd.Wait()
	rest.Wait()
	return errors.Join(err, ctx.Err())
}

// verdict looks at everything that is left.
func (l *load) verdict(ctx context.Context, config Config, r *Report) error {
	config.Say("everything is healed; asking again what was answered")
	r.Replayed = l.askAgain(ctx)
	for _, n := range l.site.all() {
		if err := n.down().stop(); err != nil {
			l.fail("%v", err)
		}
		r.Broken += n.wire.cut.Load()
	}
	l.maker.stop()
	config.Say("all have ended; sending what is left to be sent")
	if err := l.sendOut(ctx, r); err != nil {
		return err
	}
	config.Say("verifying")
	if out, err := exec.CommandContext(ctx, config.Binary, "verify", "--database-url", l.site.postgres.TCP).CombinedOutput(); err != nil {
		l.fail("berth verify: %v\n%s", err, out)
	}
	t, err := readTruth(ctx, l.site.postgres.TCP)
	if err != nil {
		return err
	}
	r.Operations, r.Attempts, r.Rounds, r.Trouble = len(l.operations), l.storm.attempts.Load(), len(l.all), l.trouble
	for _, op := range l.operations {
		if op.Outcome == "unknown" {
			r.Unknown++
		}
	}
	_, r.Faults = l.storm.faults()
	l.compare(t)
	l.complete(t)
	config.Say(fmt.Sprintf("judging the histories of %d rounds", len(l.all)))
	err = l.judge(config.Folder, r)
	r.Failures, r.Took = l.failures, l.clock()
	return err
}

// Print writes the report for people.
func (r Report) Print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nseed\t%d\ntook\t%s\nclock change\t%s\n", r.Seed, r.Took.Round(time.Second), r.Crossing)
	fmt.Fprintf(w, "operations\t%d in %d attempts, in %d rounds\nwithout an answer\t%d\n", r.Operations, r.Attempts, r.Rounds, r.Unknown)
	fmt.Fprintf(w, "commits that were cut off\t%d\n", r.Broken)
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		fmt.Fprintf(w, "%s\t%d times\n", name, r.Faults[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Trouble)) {
		fmt.Fprintf(w, "attempts that ended %s\t%d\n", name, r.Trouble[name])
	}
	fmt.Fprintf(w, "asked again\t%d\nevents to tell of\t%d\nmessages sent\t%d, %d of them perhaps twice\nhistories judged\t%d, the longest in %s\nfailures\t%d\n",
		r.Replayed, r.Told, r.Messages, r.Twice, r.Histories, r.Longest.Round(time.Millisecond), len(r.Failures))
	if err := w.Flush(); err != nil {
		return err
	}
	for _, failure := range r.Failures {
		fmt.Fprintln(to, "✗", failure)
	}
	return nil
}
