package report

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// WriteTable writes medians, with the least and the most of the answers per second.
func (r *Report) WriteTable(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, name := range Columns {
		fmt.Fprint(w, name)
		if i < len(Columns) {
			fmt.Fprint(w, "\t")
		}
	}
	fmt.Fprintln(w)
	for _, one := range r.Results {
		for _, cell := range r.Cells(one) {
			fmt.Fprint(w, cell, "\t")
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// Columns are the names of what Cells returns.
var Columns = []string{
	"workload", "work", "via", "callers", "nodes", "tenants", "bookings", "answers/s", "least–most",
	"×pgbench", "×naive", "×mutex", "CPU ×pgbench", "CPU ×naive", "CPU ×mutex",
	"p50", "p99", "p99 ×quiet", "together", "retries each", "own µs", "Postgres µs", "WAL bytes", "fsyncs/s", "last place",
}

// Cells are a line of the table. A value that was not measured is empty.
func (r *Report) Cells(one *Result) []string {
	ratio := func(of func(*Result, string) (Spread, bool), via string) string {
		if one.Via == Pgbench || via != Pgbench && (one.Via == Naive || one.Via == NaiveGRPC) {
			return ""
		}
		s, ok := of(one, via)
		if !ok {
			return ""
		}
		return fmt.Sprintf("%.2f", s.Median)
	}
	rate := one.Rate()
	of := func(value func(Run) float64) float64 { return one.Of(value).Median }
	took := func(value func(Run) time.Duration) string {
		return Short(time.Duration(of(func(r Run) float64 { return float64(value(r)) })))
	}
	together, last := "", ""
	if n := of(func(r Run) float64 { return r.Together }); n > 0 {
		together = fmt.Sprintf("%.1f", n)
	}
	if n := of(func(r Run) float64 { return float64(r.LastPlace) }); n > 0 {
		last = Number(n)
	}
	disturbed := ""
	if s, ok := r.Disturbed(one); ok {
		disturbed = fmt.Sprintf("%.2f", s.Median)
	}
	return []string{
		one.Workload, one.Work, one.Via, Number(float64(one.Callers)), Number(float64(one.Nodes)),
		Number(float64(one.Tenants)), Number(float64(one.Bookings)),
		Number(rate.Median), Number(rate.Least) + "–" + Number(rate.Most),
		ratio(r.Times, Pgbench), ratio(r.Times, Plain(one.Via)), ratio(r.Times, Mutex),
		ratio(r.Cheaper, Pgbench), ratio(r.Cheaper, Plain(one.Via)), ratio(r.Cheaper, Mutex),
		took(func(r Run) time.Duration { return r.P50 }), took(func(r Run) time.Duration { return r.P99 }),
		disturbed, together,
		fmt.Sprintf("%.4f", of(func(r Run) float64 { return r.Retries })),
		Number(of(func(r Run) float64 { return r.OwnCPU })), Number(of(func(r Run) float64 { return r.PostgresCPU })),
		Number(of(func(r Run) float64 { return r.WALBytes })), Number(of(func(r Run) float64 { return r.Fsyncs })), last,
	}
}
