package checkin_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/checkin"
)

func TestAbsent_NeverBeforeCheckInCloses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ closes, after, want time.Duration }{
		{closes: 30 * time.Minute, after: 30 * time.Minute, want: 30 * time.Minute},
		{closes: 30 * time.Minute, after: 2 * time.Hour, want: 2 * time.Hour},
		{closes: 90 * time.Minute, after: 0, want: 90 * time.Minute},
		{closes: 0, after: 0, want: 0},
	} {
		w := checkin.Window{OpensBefore: time.Hour, ClosesAfterEnd: c.closes}
		got := w.NoShowFrom(ends, c.after)
		test.EqOp(t, ends.Add(c.want), got, test.Sprintf("%+v", c))
		test.False(t, w.Open(starts, ends, got), test.Sprintf("%+v", c))
	}
}
