package quota

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
)

// Rows are read rarely, and before a rejection at most once a second.
func TestRowCount_ReadsRarely(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	unreachable := fault.New(fault.DeadlineExceeded, fault.Timeout, "It does not answer.")
	var c rowCount
	for i, step := range []struct {
		after   time.Duration // the start
		stored  int           // rows in the database then
		n       int
		reads   bool
		refused fault.Reason
	}{
		{0, 7, 1, true, ""},
		{time.Minute, 100, 2, false, ""}, // what other nodes insert is not known yet
		{2 * time.Minute, 8, 1, true, ""},
		{2*time.Minute + time.Millisecond, 5, 2, false, fault.QuotaExceeded},
		{2*time.Minute + time.Second, 9, 2, true, fault.QuotaExceeded},
		{2*time.Minute + time.Second, 9, 1, false, ""},
		{8 * time.Minute, 10, 1, true, fault.QuotaExceeded},
		{0, 3, 1, true, ""}, // the clock was set back
		{5*time.Minute - 1, 9, 1, false, ""},
		{5 * time.Minute, -1, 1, true, fault.Timeout}, // they cannot be read
		{5 * time.Minute, 9, 1, true, ""},
	} {
		read := false
		err := c.grow(Quota{Name: "members", Limit: 10}, step.n, start.Add(step.after), func() (int, error) {
			read = true
			return step.stored, map[int]error{-1: unreachable}[step.stored]
		})
		must.EqOp(t, step.refused, fault.ReasonOf(err), must.Sprintf("step %d: %v", i, err))
		test.EqOp(t, step.reads, read, test.Sprintf("step %d", i))
	}
}
