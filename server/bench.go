package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/cli"
	"github.com/berthhq/berth/server/bench"
)

// benchCommand measures bookings, and what becomes of them, beside pgbench, which sends the SQL of a single booking to the same database, in turns, so that
// what the machine does meanwhile meets all of them. The ratios are what to look at.
type benchCommand struct {
	Workloads []string      `default:"spread,zipf,hot,rush,mixed" enum:"spread,zipf,hot,rush,mixed,read-only,tenants" help:"What is asked for: ${enum}. spread: any of 9,000 sessions; zipf: some much more than others; hot: all of them the same session; rush: 2,000 at once for 30 places; mixed: 70% week pages, 20% bookings, 8% cancellations, 2% staff; read-only: week pages; tenants: one booking in each tenant in turn."`
	Doors     []string      `default:"direct,grpc,naive" enum:"direct,grpc,connect,json,mutex,naive,naive-grpc" help:"Through what: ${enum}. direct: the application layer, in the same process; connect and json: Connect with protobuf or JSON; mutex: the same, one booking in a transaction, one at a time in a session; naive: statement by statement, counting rows."`
	Work      []string      `default:"book" enum:"book,hold+confirm,reschedule" help:"What is done, of: ${enum}. What is more than booking is done through a network, spread."`
	Clients   []int         `default:"8,128" help:"Numbers of concurrent callers."`
	Nodes     []int         `default:"1" help:"Numbers of nodes on the one database that take turns at the direct door."`
	Tenants   []int         `default:"1" help:"Numbers of tenants that the database has. Each number is a database of its own."`
	Bookings  []int         `default:"0" help:"Numbers of bookings that the database has from before. Each number is a database of its own."`
	Duration  time.Duration `default:"1s" help:"Length of one run."`
	Repeats   int           `default:"3" help:"Rounds. In each, every case has one run; medians are shown."`
	JSON      string        `type:"path" placeholder:"FILE" help:"Write all runs there."`
	HTML      string        `type:"path" placeholder:"FILE" help:"Write a page with plots there, which needs nothing else."`
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

// offered reports whether there is such a case.
func offered(c bench.Case) bool {
	network := c.Door == bench.GRPC || c.Door == bench.Connect || c.Door == bench.JSON
	switch {
	case c.Nodes > 1 && c.Door != bench.Direct:
		return false
	case c.Workload == tenantsLoad:
		return c.Door == bench.Direct && c.Work == justBook && c.Tenants > 1
	case c.Work == justBook:
		return true
	case c.Workload == mixedLoad, c.Workload == readLoad:
		return network || c.Door == bench.Direct
	default:
		return network && c.Workload == spreadLoad
	}
}

// cases are what one round measures on a database of some size.
func (c *benchCommand) cases(s benchSize) []bench.Case {
	all := []bench.Case{{Work: justBook, Workload: spreadLoad, Door: bench.Pgbench, Callers: benchConns, Nodes: 1, Tenants: s.tenants, Bookings: s.bookings}}
	for _, load := range c.Workloads {
		works, clients := c.Work, c.Clients
		switch load {
		case mixedLoad, readLoad:
			works = []string{load}
		case rushLoad:
			clients = []int{rushCallers}
		}
		for _, what := range works {
			for _, callers := range clients {
				for _, door := range c.Doors {
					for _, nodes := range c.Nodes {
						one := bench.Case{Work: what, Workload: load, Door: door, Callers: callers, Nodes: nodes, Tenants: s.tenants, Bookings: s.bookings}
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

// Run implements kong's command.
func (c *benchCommand) Run(ctx context.Context, to *cli.Console) (err error) {
	boot.TuneForLoad()
	progress := cli.NewProgress(to.Out)
	houses := make(map[benchSize]*benchHouse)
	defer func() {
		for _, house := range houses {
			err = errors.Join(err, house.close())
		}
	}()
	report := &bench.Report{Made: time.Now(), Command: "berth " + strings.Join(os.Args[1:], " "), Length: c.Duration}
	for _, tenants := range c.Tenants {
		for _, bookings := range c.Bookings {
			size := benchSize{tenants, bookings}
			house, err := openBench(ctx, size, progress.Say)
			if err != nil {
				return err
			}
			houses[size] = house
			for _, one := range c.cases(size) {
				report.Results = append(report.Results, &bench.Result{Case: one})
			}
			if report.Machine, err = house.machine(ctx); err != nil {
				return err
			}
		}
	}
	stop, err := profile(c.Profile)
	if err != nil {
		return err
	}
	if err := errors.Join(c.rounds(ctx, houses, report, progress), stop()); err != nil {
		return err
	}
	for _, house := range houses {
		if err := house.verify(ctx, progress.Say); err != nil {
			return err
		}
	}
	fmt.Fprintln(to.Out)
	if err := report.WriteTable(to.Out); err != nil {
		return err
	}
	for path, write := range map[string]func(io.Writer) error{c.JSON: report.WriteJSON, c.HTML: report.WritePage} {
		if err := writeTo(path, write); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		fmt.Fprintf(to.Out, "\nPlots: file://%s\n", c.HTML)
	}
	return nil
}

// profile begins to write a profile of this process, if one is wanted.
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

// rounds measures all cases in turns.
func (c *benchCommand) rounds(ctx context.Context, houses map[benchSize]*benchHouse, report *bench.Report, progress *cli.Progress) error {
	begun, done, all := time.Now(), 0, c.Repeats*len(report.Results)
	for range c.Repeats {
		for _, result := range report.Results {
			run, err := houses[benchSize{result.Tenants, result.Bookings}].measure(ctx, result.Case, c.Duration)
			if err != nil {
				return fmt.Errorf("%s: %w", result.Case, err)
			}
			result.Runs = append(result.Runs, run)
			done++
			left := time.Since(begun) / time.Duration(done) * time.Duration(all-done)
			progress.Say(fmt.Sprintf("%d of %d, %s left · %s: %s", done, all, left.Round(time.Second), result.Case, run))
		}
	}
	return nil
}

// writeTo writes a file, or nothing where none is wanted.
func writeTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // numbers are no secret
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// machine tells where this was measured.
func (h *benchHouse) machine(ctx context.Context) (string, error) {
	var version, synced string
	err := h.owner.QueryRow(ctx, "select current_setting('server_version'), current_setting('fsync')").Scan(&version, &synced)
	version, _, _ = strings.Cut(version, " ")
	return fmt.Sprintf("%d processors, %s/%s, %s, Postgres %s, fsync %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), version, synced), err
}
