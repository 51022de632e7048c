// Package bench measures bookings and the operations on them. It compares them with pgbench, which sends the SQL of a
// single booking to the same database. All cases take turns, so that other load on the machine affects all of them
// alike: look at the ratios.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/lab/bench/report"
)

// Options say what is measured, and how. A command embeds them: kong fills them in from flags.
type Options struct {
	Workloads []string `default:"spread,zipf,hot,rush,mixed" enum:"spread,zipf,hot,rush,mixed,read-only,tenants,quiet,neighbor" help:"The loads to measure: ${enum}. spread books any of 9,000 sessions; zipf books some much more often than others; hot books one session; in rush 2,000 callers want 30 places at once; mixed is 70% week pages, 20% bookings, 8% cancellations and 2% staff; read-only is week pages; tenants makes one booking in each tenant in turn; quiet is a member who sends a request every 20 ms, week pages or bookings and cancellations in turn, and neighbor the same while another tenant sends all it can: one member with 16 threads reads, or 40 members write."`
	Via       []string `default:"direct,grpc,naive" enum:"direct,grpc,connect,json,mutex,naive,naive-grpc" help:"How requests are made: ${enum}. direct calls the application layer in the same process; grpc, connect (protobuf) and json (Connect) use the network; mutex is direct with one booking per transaction and one at a time per session; naive runs statement by statement and counts rows; naive-grpc is the same behind a server."`
	Work      []string `default:"book" enum:"book,hold+confirm,reschedule" help:"The operations to measure: ${enum}. All but book need the network and the load spread."`
	Clients   []int    `default:"8,128" help:"Numbers of concurrent callers."`
	Nodes     []int    `default:"1" help:"Numbers of nodes on one database, which take turns. For direct only."`
	Tenants   []int    `default:"1" help:"Numbers of tenants in the database. Each number has a database of its own."`
	Bookings  []int    `default:"0" help:"Numbers of past bookings in the database. Each number has a database of its own."`
	// The flood of neighbor is refused above it.
	CallerRate float64       `help:"How many calls a second a caller may send, as BERTH_CALLER_RATE; 0 for no limit."`
	Duration   time.Duration `default:"1s" help:"Length of a run."`
	Repeats    int           `default:"3" help:"Number of rounds. Each round has one run of every case; the medians are shown."`
	Profile    string        `type:"path" placeholder:"FILE" help:"Write a CPU profile of this process, including the load generator, for go tool pprof."`
}

// Kinds of load.
const (
	spreadLoad  = "spread"
	zipfLoad    = "zipf"
	hotLoad     = "hot"
	rushLoad    = "rush"
	mixedLoad   = "mixed"
	readLoad    = "read-only"
	tenantsLoad = "tenants"
	// quietLoad and neighborLoad compare a quiet tenant alone with the same tenant next to another one.
	quietLoad    = report.Quiet
	neighborLoad = report.Neighbor
)

// measurable reports whether a combination can be measured.
func measurable(c report.Case) bool {
	network := c.Via == report.GRPC || c.Via == report.Connect || c.Via == report.JSON
	switch {
	case c.Nodes > 1 && c.Via != report.Direct:
		return false
	case c.Workload == tenantsLoad:
		return c.Via == report.Direct && c.Work == bookOnly && c.Tenants > 1
	case c.Workload == quietLoad, c.Workload == neighborLoad:
		return network
	case c.Work == bookOnly:
		return true
	case c.Workload == mixedLoad, c.Workload == readLoad:
		return network || c.Via == report.Direct
	default:
		return network && c.Workload == spreadLoad
	}
}

// cases are what one round measures on a database of one size.
func (o Options) cases(s dbSize) []report.Case {
	all := []report.Case{{
		Work: bookOnly, Workload: spreadLoad, Via: report.Pgbench, Callers: pgbenchConns, Nodes: 1,
		Tenants: s.tenants, Bookings: s.bookings,
	}}
	for _, load := range o.Workloads {
		works, clients := o.Work, o.Clients
		switch load {
		case mixedLoad, readLoad:
			works = []string{load}
		case quietLoad, neighborLoad:
			works, clients = []string{readLoad, writeLoad}, []int{1}
		case rushLoad:
			clients = []int{rushCallers}
		}
		for _, what := range works {
			for _, callers := range clients {
				for _, via := range o.Via {
					for _, nodes := range o.Nodes {
						one := report.Case{
							Work: what, Workload: load, Via: via, Callers: callers, Nodes: nodes,
							Tenants: s.tenants, Bookings: s.bookings,
						}
						if measurable(one) {
							all = append(all, one)
						}
					}
				}
			}
		}
	}
	return all
}

// Run measures every case that the options ask for, Repeats times in turns. Then it verifies every invariant of the
// data that was written. It reports progress through say, one line per call.
func Run(ctx context.Context, o Options, say func(string)) (_ *report.Report, err error) {
	if err := boot.TuneForLoad(); err != nil {
		return nil, err
	}
	testbeds := make(map[dbSize]*testbed)
	defer func() {
		for _, bed := range testbeds {
			err = errors.Join(err, bed.close())
		}
	}()
	r := &report.Report{Made: time.Now(), Length: o.Duration}
	for _, tenants := range o.Tenants {
		for _, bookings := range o.Bookings {
			size := dbSize{tenants, bookings}
			bed, err := openTestbed(ctx, size, o.CallerRate, say)
			if err != nil {
				return nil, err
			}
			testbeds[size] = bed
			for _, c := range o.cases(size) {
				r.Results = append(r.Results, &report.Result{Case: c})
			}
			if r.Machine, err = bed.machine(ctx); err != nil {
				return nil, err
			}
		}
	}
	stop, err := profile(o.Profile)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(o.measure(ctx, testbeds, r, say), stop()); err != nil {
		return nil, err
	}
	for _, bed := range testbeds {
		if err := bed.verify(ctx, say); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// profile starts to write a CPU profile of this process. It does nothing if the path is empty.
func profile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	stop = func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}
	return stop, pprof.StartCPUProfile(file)
}

// measure runs all cases in turns.
func (o Options) measure(
	ctx context.Context, testbeds map[dbSize]*testbed, r *report.Report, say func(string),
) error {
	begun, done, all := time.Now(), 0, o.Repeats*len(r.Results)
	for range o.Repeats {
		for _, result := range r.Results {
			run, err := testbeds[dbSize{result.Tenants, result.Bookings}].measure(ctx, result.Case, o.Duration)
			if err != nil {
				return fmt.Errorf("%s: %w", result.Case, err)
			}
			result.Runs = append(result.Runs, run)
			done++
			left := time.Since(begun) / time.Duration(done) * time.Duration(all-done)
			say(fmt.Sprintf("%d of %d, %s left · %s: %s", done, all, left.Round(time.Second), result.Case, run))
		}
	}
	return nil
}

// machine describes the machine, Go and Postgres.
func (b *testbed) machine(ctx context.Context) (string, error) {
	var version, fsync string
	err := b.owner.QueryRow(ctx, "select current_setting('server_version'), current_setting('fsync')").
		Scan(&version, &fsync)
	version, _, _ = strings.Cut(version, " ")
	return fmt.Sprintf("%d processors, %s/%s, %s, Postgres %s, fsync %s",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version, fsync), err
}
