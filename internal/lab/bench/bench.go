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
	Workloads []string      `default:"spread,zipf,hot,rush,mixed" enum:"spread,zipf,hot,rush,mixed,read-only,tenants" help:"What is asked for: ${enum}. spread: any of 9,000 sessions; zipf: some much more than others; hot: all of them the same session; rush: 2,000 at once for 30 places; mixed: 70% week pages, 20% bookings, 8% cancellations, 2% staff; read-only: week pages; tenants: one booking in each tenant in turn."`
	Doors     []string      `default:"direct,grpc,naive" enum:"direct,grpc,connect,json,mutex,naive,naive-grpc" help:"Through what: ${enum}. direct: the application layer, in the same process; connect and json: Connect with protobuf or JSON; mutex: the same, one booking in a transaction, one at a time in a session; naive: statement by statement, counting rows."`
	Work      []string      `default:"book" enum:"book,hold+confirm,reschedule" help:"What is done, of: ${enum}. What is more than booking is done through a network, spread."`
	Clients   []int         `default:"8,128" help:"Numbers of concurrent callers."`
	Nodes     []int         `default:"1" help:"Numbers of nodes on the one database that take turns at the direct door."`
	Tenants   []int         `default:"1" help:"Numbers of tenants that the database has. Each number is a database of its own."`
	Bookings  []int         `default:"0" help:"Numbers of bookings that the database has from before. Each number is a database of its own."`
	Duration  time.Duration `default:"1s" help:"Length of one run."`
	Repeats   int           `default:"3" help:"Rounds. In each, every case has one run; medians are shown."`
	Profile   string        `type:"path" placeholder:"FILE" help:"Write there where the processor time of this process goes, load generator included, for go tool pprof."`
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
)

// offered reports whether a combination can be measured.
func offered(c report.Case) bool {
	network := c.Door == report.GRPC || c.Door == report.Connect || c.Door == report.JSON
	switch {
	case c.Nodes > 1 && c.Door != report.Direct:
		return false
	case c.Workload == tenantsLoad:
		return c.Door == report.Direct && c.Work == justBook && c.Tenants > 1
	case c.Work == justBook:
		return true
	case c.Workload == mixedLoad, c.Workload == readLoad:
		return network || c.Door == report.Direct
	default:
		return network && c.Workload == spreadLoad
	}
}

// cases are what one round measures on a database of one size.
func (o Options) cases(s dbSize) []report.Case {
	all := []report.Case{{
		Work: justBook, Workload: spreadLoad, Door: report.Pgbench, Callers: pgbenchConns, Nodes: 1,
		Tenants: s.tenants, Bookings: s.bookings,
	}}
	for _, load := range o.Workloads {
		works, clients := o.Work, o.Clients
		switch load {
		case mixedLoad, readLoad:
			works = []string{load}
		case rushLoad:
			clients = []int{rushCallers}
		}
		for _, what := range works {
			for _, callers := range clients {
				for _, door := range o.Doors {
					for _, nodes := range o.Nodes {
						one := report.Case{
							Work: what, Workload: load, Door: door, Callers: callers, Nodes: nodes,
							Tenants: s.tenants, Bookings: s.bookings,
						}
						if offered(one) {
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
	boot.TuneForLoad()
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
			bed, err := openTestbed(ctx, size, say)
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
func (h *testbed) machine(ctx context.Context) (string, error) {
	var version, fsync string
	err := h.owner.QueryRow(ctx, "select current_setting('server_version'), current_setting('fsync')").
		Scan(&version, &fsync)
	version, _, _ = strings.Cut(version, " ")
	return fmt.Sprintf("%d processors, %s/%s, %s, Postgres %s, fsync %s",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version, fsync), err
}
