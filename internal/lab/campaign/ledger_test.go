package campaign

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestLedger_KeepsCampaigns(t *testing.T) {
	t.Parallel()
	text := expect.Value(os.ReadFile("../../../docs/verification.md"))(t)
	ledger := Ledger{filepath.Join(t.TempDir(), "verification.md")}
	must.NoError(t, os.WriteFile(ledger.File, text, 0o600))
	before := expect.Value(ledger.Seeds())(t)
	for seed := range uint64(2) {
		must.NoError(t, ledger.Add(Report{
			Seed: seed + 1, Took: 20 * time.Minute, Operations: 9000,
			Faults: map[string]int{"server killed": 3, "worker killed": 2}, CutCommits: 4,
			Rare: map[string]int{movedCarts: 6, twoServers: 5}, Histories: 50, Messages: 700, Failures: []string{"one"}[:seed],
		}, time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)))
	}
	after, err := ledger.Seeds()
	before[1], before[2] = true, true
	test.NoError(t, err,
		test.Sprintf("%v, %v, want %v", slices.Sorted(maps.Keys(after)), err, slices.Sorted(maps.Keys(before))))
	test.True(t, maps.Equal(before, after),
		test.Sprintf("%v, %v, want %v", slices.Sorted(maps.Keys(after)), err, slices.Sorted(maps.Keys(before))))
	got := expect.Value(os.ReadFile(ledger.File))(t)
	rows := "| 1 | 2027-03-04 | 20 | 9000 | 5 | 4 | 11 | 50 | 700 | 0 |\n" +
		"| 2 | 2027-03-04 | 20 | 9000 | 5 | 4 | 11 | 50 | 700 | 1 |\n"
	test.EqOp(t, string(text), strings.Replace(string(got), rows, "", 1),
		test.Sprintf("the ledger is not the old one with two more rows:\n%s", got))
}

func TestLedger_RejectsFileWithoutTable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no ledger":     "# Verification\n",
		"other columns": "# Verification\n\n### Ledger\n\n| Seed |\n|---|\n",
	} {
		file := filepath.Join(t.TempDir(), "page.md")
		must.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		test.Error(t, expect.Error((Ledger{file}).Seeds()), test.Sprintf("%s: no error", name))
		test.Error(t, (Ledger{file}).Add(Report{}, time.Time{}), test.Sprintf("%s: no error of Add", name))
	}
}

func TestBlame_NeedsFaultOrBusyProcessor(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time { return time.Unix(1_800_000_000, 0).Add(time.Duration(seconds * 1e9)) }
	faults := []span{{at(10), at(12)}, {at(30), at(31)}}
	for name, tt := range map[string]struct {
		begun, ended float64
		pressure     float64
		want         string
	}{
		"before all faults":          {2, 9.9, 0, ""},
		"a fault began at the end":   {8, 10, 0, "during a fault"},
		"during a fault":             {10.5, 11, 0, "during a fault"},
		"effects of a fault":         {15, 17, 0, "during a fault"},
		"effects are over":           {15.1, 17.6, 0, ""},
		"busy":                       {15.1, 17.6, busyProcessor, "with a busy processor"},
		"not busy enough":            {15.1, 17.6, busyProcessor - 1, ""},
		"longer than the last fault": {20, 40, 0, "during a fault"},
	} {
		test.EqOp(t, tt.want, blame(at(tt.begun), at(tt.ended), faults, tt.pressure), test.Sprint(name))
	}
}

func TestParsePressure_ReadsShareOfTenSeconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"some avg10=99.11 avg60=98.22 avg300=97.33 total=289\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=0\n": 99.11,
		"full avg10=1.00 avg60=0.00 avg300=0.00 total=0\n":                                                      0,
		"": 0,
	} {
		test.EqOp(t, want, parsePressure(text), test.Sprintf("%q", text))
	}
}
