// Package report holds the results of measurements: runs, their medians, spread and ratios. It shows them as a table, a
// page and JSON.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The ways in which requests are made.
const (
	Pgbench   = "pgbench"    // the SQL of one booking, sent by Postgres's own load generator
	Direct    = "direct"     // the use case, in the same process
	GRPC      = "grpc"       // over loopback, by HTTP/2 without TLS, as the next two
	Connect   = "connect"    // Connect with protobuf
	JSON      = "json"       // Connect with JSON
	Mutex     = "mutex"      // the use case in the same process, one booking per transaction, one at a time per session
	Naive     = "naive"      // statement by statement, in the same process
	NaiveGRPC = "naive-grpc" // the same behind a server
)

// Case is what is measured.
type Case struct {
	Work     string `json:"work"`
	Workload string `json:"workload"`
	Via      string `json:"via"`
	Callers  int    `json:"callers"`
	Nodes    int    `json:"nodes"`
	// Tenants and Bookings are how many the database has before the run.
	Tenants  int `json:"tenants"`
	Bookings int `json:"bookings"`
}

func (c Case) String() string {
	s := fmt.Sprintf("%s %s, %s, %s", c.Workload, c.Work, c.Via, count(c.Callers, "caller"))
	if c.Nodes > 1 {
		s += ", " + count(c.Nodes, "node")
	}
	if c.Tenants > 1 || c.Bookings > 0 {
		s += fmt.Sprintf(", %s, %s", count(c.Tenants, "tenant"), count(c.Bookings, "booking"))
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Number(float64(n)) + " " + what + "s"
}

// Run is the result of one run. "Each" means per answer.
type Run struct {
	Answers   int           `json:"answers"`
	Seconds   float64       `json:"seconds"`
	PerSecond float64       `json:"answers_per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	Together  float64       `json:"bookings_per_transaction"`
	Retries   float64       `json:"retries_each"`
	// OwnCPU and PostgresCPU are microseconds of processor time: of load generator and server, and of Postgres.
	OwnCPU      float64 `json:"own_cpu_us_each"`
	PostgresCPU float64 `json:"postgres_cpu_us_each"`
	WALBytes    float64 `json:"wal_bytes_each"`
	Fsyncs      float64 `json:"fsyncs_per_second"`
	// LastPlace is, in a rush, the position in the order of requests of the last one that got a place. It is the number of
	// places if requests are served in the order of arrival.
	LastPlace int `json:"last_place,omitempty"`
	// Parts are the results by kind of request, for a mixed load.
	Parts []Part `json:"parts,omitempty"`
}

// Part is the result of one kind of request.
type Part struct {
	Name    string        `json:"name"`
	Answers int           `json:"answers"`
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`
}

func (r Run) String() string {
	return fmt.Sprintf("%s/s, p99 %s, %.1f together, %.4f retries, %.0f + %.0f µs",
		Number(r.PerSecond), Short(r.P99), r.Together, r.Retries, r.OwnCPU, r.PostgresCPU)
}

// Result is a case with its runs, one per round.
type Result struct {
	Case
	Runs []Run `json:"runs"`
}

// Of returns the spread of one value over the runs.
func (r *Result) Of(value func(Run) float64) Spread {
	values := make([]float64, len(r.Runs))
	for i, run := range r.Runs {
		values[i] = value(run)
	}
	return spreadOf(values)
}

// Rate is the number of answers per second.
func (r *Result) Rate() Spread { return r.Of(func(r Run) float64 { return r.PerSecond }) }

// Late is the 99th percentile of the latency, in milliseconds.
func (r *Result) Late() Spread { return r.Of(func(r Run) float64 { return milliseconds(r.P99) }) }

// Processor is the processor time per answer, in microseconds.
func (r *Result) Processor() Spread {
	return r.Of(func(r Run) float64 { return r.OwnCPU + r.PostgresCPU })
}

// Spread is the median and the range of some values.
type Spread struct{ Median, Least, Most float64 }

func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	middle := sorted[half]
	if len(sorted)%2 == 0 {
		middle = (sorted[half-1] + middle) / 2
	}
	return Spread{middle, sorted[0], sorted[len(sorted)-1]}
}

// Report is a whole measurement.
type Report struct {
	Made    time.Time `json:"made"`
	Machine string    `json:"machine"`
	Command string    `json:"command"`
	// Length is the length of a run.
	Length  time.Duration `json:"length_ns"`
	Results []*Result     `json:"results"`
}

// Baseline returns the result of another way that one is compared with: the one under the same load, or for pgbench the
// one on the same database. It returns nil if there is none.
func (r *Report) Baseline(one *Result, via string) *Result {
	like := one.Case
	like.Via, like.Nodes = via, 1 // the results that others are compared with have one node
	for _, other := range r.Results {
		c := other.Case
		if via == Pgbench { // whatever the load
			c.Work, c.Workload, c.Callers = like.Work, like.Workload, like.Callers
		}
		if c == like && other.Via != one.Via {
			return other
		}
	}
	return nil
}

// Times is how many times as fast as another way one is. The ratio is taken round by round, because other load on the
// machine affects both runs of a round alike.
func (r *Report) Times(one *Result, via string) (Spread, bool) {
	return r.ratios(one, via, func(run, other Run) float64 { return run.PerSecond / other.PerSecond })
}

// Cheaper is how many times as much processor time another way takes per answer. Times is equal to it if the processor
// is the limit and nothing else runs on the machine. On a busy machine, the way with more processes gets a larger
// share of the processor.
func (r *Report) Cheaper(one *Result, via string) (Spread, bool) {
	return r.ratios(one, via, func(run, other Run) float64 {
		return (other.OwnCPU + other.PostgresCPU) / (run.OwnCPU + run.PostgresCPU)
	})
}

func (r *Report) ratios(one *Result, via string, ratio func(run, other Run) float64) (Spread, bool) {
	other := r.Baseline(one, via)
	if other == nil || len(other.Runs) == 0 {
		return Spread{}, false
	}
	var all []float64
	for i, run := range one.Runs[:min(len(one.Runs), len(other.Runs))] {
		all = append(all, ratio(run, other.Runs[i]))
	}
	return spreadOf(all), true
}

// The loads of a quiet tenant.
const (
	Quiet    = "quiet"    // alone
	Neighbor = "neighbor" // while another tenant sends all it can
)

// Disturbed is how many times as long the 99th percentile is next to another tenant as it is alone, round by round.
func (r *Report) Disturbed(one *Result) (Spread, bool) {
	if one.Workload != Neighbor {
		return Spread{}, false
	}
	alone := one.Case
	alone.Workload = Quiet
	for _, other := range r.Results {
		if other.Case == alone {
			var all []float64
			for i, run := range one.Runs[:min(len(one.Runs), len(other.Runs))] {
				all = append(all, float64(run.P99)/float64(other.Runs[i].P99))
			}
			return spreadOf(all), true
		}
	}
	return Spread{}, false
}

// Plain is the naive way that another way is compared with: over the network if that is, else in the process.
func Plain(via string) string {
	switch via {
	case GRPC, Connect, JSON:
		return NaiveGRPC
	default:
		return Naive
	}
}

// WriteJSON writes all runs.
func (r *Report) WriteJSON(to io.Writer) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// sized reports whether databases of several sizes were measured.
func (r *Report) sized() bool {
	return slices.ContainsFunc(r.Results, func(o *Result) bool {
		return o.Tenants != r.Results[0].Tenants || o.Bookings != r.Results[0].Bookings
	})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Short writes a duration with its significant digits.
func Short(d time.Duration) string {
	switch ms := milliseconds(d); {
	case d == 0:
		return ""
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.2f s", ms/1000)
	}
}

// Number writes a number with its significant digits.
func Number(n float64) string {
	switch {
	case n == 0:
		return "0"
	case n < 1:
		return fmt.Sprintf("%.2f", n)
	case n < 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0")
	}
	digits := fmt.Sprintf("%.0f", n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func byCallers(a, b *Result) int { return cmp.Compare(a.Callers, b.Callers) }
