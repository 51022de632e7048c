package engine

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
	var c rowCount
	for i, step := range []struct {
		after   time.Duration // the start
		stored  int           // rows in the database then
		n       int
		reads   bool
		refused bool
	}{
		{0, 7, 1, true, false},
		{time.Minute, 100, 2, false, false}, // what other nodes insert is not known yet
		{2 * time.Minute, 8, 1, true, false},
		{2*time.Minute + time.Millisecond, 5, 2, false, true},
		{2*time.Minute + time.Second, 9, 2, true, true},
		{2*time.Minute + time.Second, 9, 1, false, false},
		{8 * time.Minute, 10, 1, true, true},
		{0, 3, 1, true, false}, // the clock was set back
	} {
		read := false
		err := c.grow(step.n, 10, start.Add(step.after), Members, func(time.Time) (int, error) {
			read = true
			return step.stored, nil
		})
		must.EqOp(t, step.refused, fault.ReasonOf(err) == fault.QuotaExceeded, must.Sprintf("step %d: %v", i, err))
		test.EqOp(t, step.reads, read, test.Sprintf("step %d", i))
	}
}
