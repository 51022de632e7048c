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
		got := w.NoShowFrom(starts, ends, c.after)
		test.EqOp(t, ends.Add(c.want), got, test.Sprintf("%+v", c))
		test.False(t, w.Open(starts, ends, got), test.Sprintf("%+v", c))
	}
}

func TestAbsent_SoonAfterTheStartEndsCheckIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ after, closes, absent time.Duration }{
		{after: 10 * time.Minute, closes: 10 * time.Minute, absent: 10 * time.Minute},
		{after: 5 * time.Hour, closes: ends.Sub(starts) + 30*time.Minute, absent: 5 * time.Hour},
	} {
		w := checkin.Window{OpensBefore: time.Hour, ClosesAfterEnd: 30 * time.Minute, NoShowAfterStart: c.after}
		test.EqOp(t, starts.Add(c.closes), w.Closes(starts, ends), test.Sprintf("%+v", c))
		test.True(t, w.Open(starts, ends, starts.Add(c.closes-1)))
		test.False(t, w.Open(starts, ends, starts.Add(c.closes)))
		test.EqOp(t, starts.Add(c.absent), w.NoShowFrom(starts, ends, time.Minute), test.Sprintf("%+v", c))
	}
}
