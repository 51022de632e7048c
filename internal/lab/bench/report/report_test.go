package report

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func result(via string, callers int, rates ...float64) *Result {
	r := &Result{Case: Case{Work: "book", Workload: "spread", Via: via, Callers: callers, Nodes: 1, Tenants: 1}}
	for _, rate := range rates {
		r.Runs = append(r.Runs, Run{
			Answers: 100, PerSecond: rate, P50: time.Millisecond, P99: 20 * time.Millisecond, OwnCPU: 30, PostgresCPU: 90,
		})
	}
	return r
}

func sample() *Report {
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	command := "bench --html <page>"
	return &Report{Made: made, Machine: "2 processors", Command: command, Length: time.Second, Results: []*Result{
		result(Pgbench, 16, 1000, 500, 2000),
		result(Direct, 8, 1000, 600, 2200),
		result(Direct, 128, 3000, 2000, 4000),
		result(Naive, 128, 300, 100, 400),
	}}
}

// A slow round is slow for all cases.
func TestTimesAndCheaper_CompareWithinRounds(t *testing.T) {
	t.Parallel()
	r := sample()
	tests := []struct {
		of       int
		baseline string
		want     Spread
	}{
		{2, Pgbench, Spread{3, 2, 4}},
		{1, Pgbench, Spread{1.1, 1, 1.2}},
		{2, Naive, Spread{10, 10, 20}},
	}
	for _, tt := range tests {
		got, ok := r.Times(r.Results[tt.of], tt.baseline)
		diff := cmp.Diff(tt.want, got)
		test.True(t, ok,
			test.Sprintf("%v compared with %s (-want +got):\n%s", r.Results[tt.of].Case, tt.baseline, diff))
		test.EqOp(t, "", diff,
			test.Sprintf("%v compared with %s (-want +got):\n%s", r.Results[tt.of].Case, tt.baseline, diff))
	}
	alone, next := result(GRPC, 1, 50, 50, 50), result(GRPC, 1, 50, 50, 50)
	alone.Workload, next.Workload = Quiet, Neighbor
	for i, took := range []time.Duration{60 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond} {
		next.Runs[i].P99 = took
	}
	r.Results = append(r.Results, alone, next)
	disturbed, ok := r.Disturbed(next)
	test.True(t, ok)
	test.Eq(t, Spread{1.5, 1, 3}, disturbed)
	_, ok = r.Times(r.Results[1], Naive)
	test.False(t, ok, test.Sprint("compared with another number of callers"))
}

func TestSpread_IsMedianLeastAndMost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{9, 1}, Spread{5, 1, 9}},
		{[]float64{9, 1, 2}, Spread{2, 1, 9}},
	} {
		test.Eq(t, tc.want, spreadOf(tc.values), test.Sprint(tc.values))
	}
}

func TestNumber_KeepsTwoToFourDigits(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{
		0: "0", 0.25: "0.25", 3: "3", 3.14: "3.1", 42.4: "42", 999: "999", 1000: "1,000", 12345678: "12,345,678",
	} {
		test.EqOp(t, want, Number(n), test.Sprint(n))
	}
	for d, want := range map[time.Duration]string{
		0: "", 1500 * time.Microsecond: "1.5 ms", 53 * time.Millisecond: "53 ms", 2500 * time.Millisecond: "2.50 s",
	} {
		test.EqOp(t, want, Short(d), test.Sprint(d))
	}
}

func TestWritePage_IsSelfContainedAndEscaped(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	must.NoError(t, sample().WritePage(&page))
	text := page.String()
	for _, want := range []string{
		"&lt;page&gt;", "3.00×", "<path", "direct, 128 callers: 3,000 (2,000 to 4,000)", "prefers-color-scheme: dark",
	} {
		test.StrContains(t, text, want, test.Sprintf("%q is missing", want))
	}
	for _, not := range []string{"http:", "https:", "<script", "src=", "ZgotmplZ", "NaN", "Inf"} {
		test.StrNotContains(t, text, not, test.Sprintf("%q is in it", not))
	}
}

func TestWriteJSON_KeepsAllRuns(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	must.NoError(t, sample().WriteJSON(&text))
	var back Report
	must.NoError(t, json.Unmarshal(text.Bytes(), &back))
	test.Eq(t, sample(), &back)
}

func TestTable_HasACellPerColumn(t *testing.T) {
	t.Parallel()
	r := sample()
	cells := r.Cells(r.Results[2])
	must.EqOp(t, len(Columns), len(cells), must.Sprintf("%d cells for %d columns", len(cells), len(Columns)))
	got := make(map[string]string)
	for i, name := range Columns {
		got[name] = cells[i]
	}
	for name, want := range map[string]string{
		"via": Direct, "callers": "128", "answers/s": "3,000", "least–most": "2,000–4,000",
		"×pgbench": "3.00", "×naive": "10.00", "×mutex": "", "p99": "20 ms",
	} {
		test.EqOp(t, want, got[name], test.Sprint(name))
	}
}
