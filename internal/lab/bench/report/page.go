package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	*Report
	Notes   []note
	Figures []figure
	Columns []string
	Rows    [][]string
}

// note is one ratio in large type.
type note struct{ Value, Baseline, Cheaper, What string }

// figure is the result of one workload.
type figure struct {
	Name, About string
	Legend      []mark
	Panels      []panel
}

// mark is the sign of a series: a colour of the palette, from 1, or 0 for pgbench's line.
type mark struct {
	Name  string
	Color int
	Dash  bool
}

// WritePage writes a page that loads nothing from the network.
func (r *Report) WritePage(to io.Writer) error {
	p := page{Report: r, Notes: r.notes(), Figures: r.figures(), Columns: Columns}
	for _, one := range r.Results {
		p.Rows = append(p.Rows, r.Cells(one))
	}
	return pageTemplate.Execute(to, p)
}

// notes are the ratios of the service under the largest number of callers.
func (r *Report) notes() (all []note) {
	for _, load := range r.workloads() {
		most := slices.MaxFunc(r.of(load), byCallers).Callers
		for _, one := range r.of(load) {
			if one.Callers != most || one.Via != Direct && one.Via != GRPC {
				continue
			}
			for _, baseline := range []string{Pgbench, Plain(one.Via), Mutex} {
				times, ok := r.Times(one, baseline)
				if !ok || (baseline == Pgbench) != (load == "spread") || baseline == Mutex && one.Via != Direct {
					continue
				}
				cheaper, _ := r.Cheaper(one, baseline)
				all = append(all, note{
					Times(times.Median), baseline, Times(cheaper.Median),
					r.label(one) + ", " + load + ", " + count(one.Callers, "caller"),
				})
			}
		}
	}
	return all
}

// Times writes a ratio.
func Times(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.2f×", n)
	}
	return Number(n) + "×"
}

// workloads lists the workloads that were measured, except pgbench's.
func (r *Report) workloads() (all []string) {
	for _, one := range r.Results {
		if one.Via != Pgbench && !slices.Contains(all, one.Workload) {
			all = append(all, one.Workload)
		}
	}
	return all
}

func (r *Report) of(workload string) (all []*Result) {
	for _, one := range r.Results {
		if one.Workload == workload && one.Via != Pgbench {
			all = append(all, one)
		}
	}
	return all
}

// label names a series of a figure.
func (r *Report) label(one *Result) string {
	s := one.Via
	if one.Work != "book" && one.Work != one.Workload {
		s = one.Work + " " + s
	}
	if slices.ContainsFunc(r.Results, func(o *Result) bool { return o.Nodes > 1 }) && one.Via == Direct {
		s += ", " + count(one.Nodes, "node")
	}
	if r.sized() {
		s += fmt.Sprintf(", %s, %s", count(one.Tenants, "tenant"), count(one.Bookings, "booking"))
	}
	return s
}

// about describes the workloads.
var about = map[string]string{
	"spread":    "Any of 9,000 sessions of one tenant.",
	"zipf":      "Some sessions are wanted much more than others (Zipf, 1.1).",
	"hot":       "All callers want the same session, which has room.",
	"rush":      "2,000 callers want the last 30 places of one session at the same time.",
	"mixed":     "70% week pages of 300 sessions, 20% bookings, 8% cancellations, 2% staff.",
	"read-only": "Week pages of 300 sessions, with what booking each would come to.",
	Quiet:       "One member of a lone tenant, a request every 20 ms: week pages, or bookings and cancellations in turn.",
	Neighbor:    "The same, while another tenant sends all it can: one member with 16 threads reads, or 40 members write.",
	"tenants":   "One booking in each tenant in turn, so that hardly any two can share a transaction.",
}

// colours of the palette.
const colours = 7

func (r *Report) figures() (all []figure) {
	marks := make(map[string]mark)
	for _, load := range r.workloads() {
		f := figure{Name: load, About: about[load]}
		var lines []series
		for _, one := range r.of(load) {
			name := r.label(one)
			m, known := marks[name]
			if !known {
				m = mark{name, len(marks)%colours + 1, len(marks) >= colours}
				marks[name] = m
			}
			at := slices.IndexFunc(lines, func(s series) bool { return s.mark == m })
			if at < 0 {
				at = len(lines)
				lines = append(lines, series{mark: m})
				f.Legend = append(f.Legend, m)
			}
			lines[at].results = append(lines[at].results, one)
		}
		for _, s := range lines {
			slices.SortStableFunc(s.results, byCallers)
		}
		var limit float64
		if load == "spread" || load == "zipf" || load == "hot" || load == "tenants" {
			if baseline := r.Baseline(lines[0].results[0], Pgbench); baseline != nil {
				limit = baseline.Rate().Median
				f.Legend = append(f.Legend, mark{Name: Pgbench + ", one booking in a transaction", Dash: true})
			}
		}
		f.Panels = []panel{
			plot("Answers per second", lines, (*Result).Rate, limit),
			plot("99% are answered within, ms", lines, (*Result).Late, 0),
			plot("Processor time of each, µs", lines, (*Result).Processor, 0),
		}
		all = append(all, f)
	}
	return all
}

// Summary is the page's second line.
func (p page) Summary() string {
	runs := 0
	for _, one := range p.Results {
		runs = max(runs, len(one.Runs))
	}
	return strings.Join([]string{
		p.Made.UTC().Format("2 January 2006, 15:04 UTC"), p.Machine,
		fmt.Sprintf("%s of %s each, in turns", count(runs, "run"), p.Length),
	}, " · ")
}
