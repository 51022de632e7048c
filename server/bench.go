package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// benchCommand measures bookings, and what becomes of them, beside pgbench, which sends the SQL of a single booking to the same database, in turns, so that
// what the machine does meanwhile meets all of them. The ratios are what to look at.
type benchCommand struct {
	Work      []string      `default:"book" enum:"book,hold+confirm,reschedule" help:"What is done: ${enum}. What is more than booking is done through grpc, spread."`
	Workloads []string      `default:"spread" enum:"spread,zipf,hot,rush" help:"What is booked: ${enum}. spread: any of 10,000 sessions; zipf: some much more than others; hot: all of them the same session; rush: 2,000 at once for 30 places."`
	Doors     []string      `default:"direct,grpc" enum:"direct,grpc,naive" help:"Through what: ${enum}. direct: the application layer, in the same process; naive: statement by statement, counting rows."`
	Clients   []int         `default:"1,8,32,128" help:"Numbers of concurrent callers."`
	Nodes     int           `default:"1" help:"Nodes on the one database that take turns at the direct door."`
	Duration  time.Duration `default:"4s" help:"Length of one run."`
	Repeats   int           `default:"3" help:"Runs of each kind; medians are shown."`
	JSON      string        `type:"path" placeholder:"FILE" help:"Write all runs there, too."`
}

// benchConns are the connections that pgbench gets: as many as the command pool has.
const benchConns = 16

// benchCase is one line of the table.
type benchCase struct {
	Work     string `json:"work"`
	Door     string `json:"door"`
	Workload string `json:"workload"`
	Callers  int    `json:"callers"`
}

func (c benchCase) String() string {
	return fmt.Sprintf("%s, %s, %s, %d callers", c.Work, c.Door, c.Workload, c.Callers)
}

// benchResult is a line with its runs.
type benchResult struct {
	benchCase
	Runs []benchRun `json:"runs"`
}

func (r *benchResult) median(value func(benchRun) float64) float64 {
	values := make([]float64, len(r.Runs))
	for i, run := range r.Runs {
		values[i] = value(run)
	}
	return median(values)
}

func (c *benchCommand) cases() []benchCase {
	var all []benchCase
	for _, what := range c.Work {
		if what != justBook {
			all = append(all, casesOf(what, "grpc", "spread", c.Clients)...)
			continue
		}
		for _, load := range c.Workloads {
			for _, door := range c.Doors {
				all = append(all, casesOf(what, door, load, c.Clients)...)
			}
		}
	}
	return all
}

func casesOf(what, door, load string, clients []int) (all []benchCase) {
	if load == "rush" {
		clients = []int{rushCallers}
	}
	for _, callers := range clients {
		all = append(all, benchCase{what, door, load, callers})
	}
	return all
}

// Run implements kong's command.
func (c *benchCommand) Run(ctx context.Context, to *console) (err error) {
	tuneMemory()
	steps := newSteps(to.out)
	house, err := openBench(ctx, steps.say)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, house.close()) }()
	if err := house.join(ctx, c.Nodes-1); err != nil {
		return err
	}
	script, err := house.script(ctx)
	if err != nil {
		return err
	}
	limit := &benchResult{benchCase: benchCase{justBook, "pgbench", "spread", benchConns}}
	var results []*benchResult
	for _, one := range c.cases() {
		results = append(results, &benchResult{benchCase: one})
	}
	for repeat := range c.Repeats {
		round := func(what string) string { return fmt.Sprintf("round %d of %d: %s", repeat+1, c.Repeats, what) }
		run, err := house.pgbench(ctx, script, c.Duration)
		if err != nil {
			return err
		}
		limit.Runs = append(limit.Runs, run)
		steps.say(round(fmt.Sprintf("%s: %s", limit.benchCase, run)))
		for _, result := range results {
			run, err := house.measure(ctx, result.benchCase, c.Duration)
			if err != nil {
				return fmt.Errorf("%s: %w", result.benchCase, err)
			}
			result.Runs = append(result.Runs, run)
			steps.say(round(fmt.Sprintf("%s: %s", result.benchCase, run)))
		}
	}
	if err := house.verify(ctx, steps.say); err != nil {
		return err
	}
	if err := benchTable(to.out, limit, results); err != nil || c.JSON == "" {
		return err
	}
	text, err := json.MarshalIndent(append([]*benchResult{limit}, results...), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.JSON, append(text, '\n'), 0o644) //nolint:gosec // numbers are no secret
}

func benchTable(to io.Writer, limit *benchResult, results []*benchResult) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nwork\tdoor\tworkload\tcallers\tanswers/s\tof pgbench\tp50\tp99\ttogether\tretries each\town µs\tPostgres µs\t\n")
	perSecond := func(r benchRun) float64 { return r.PerSecond }
	for _, r := range append([]*benchResult{limit}, results...) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.0f\t%.2f\t%s\t%s\t%.1f\t%.4f\t%.0f\t%.0f\t\n", r.Work, r.Door, r.Workload, r.Callers,
			r.median(perSecond), r.median(perSecond)/limit.median(perSecond),
			round(time.Duration(r.median(func(r benchRun) float64 { return float64(r.P50) }))),
			round(time.Duration(r.median(func(r benchRun) float64 { return float64(r.P99) }))),
			r.median(func(r benchRun) float64 { return r.Together }),
			r.median(func(r benchRun) float64 { return r.Retries }),
			r.median(func(r benchRun) float64 { return r.OwnCPU }),
			r.median(func(r benchRun) float64 { return r.PostgresCPU }))
	}
	return w.Flush()
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
