package traffic

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"
)

// Of two keys that send all they can, each gets half. One that sends little waits for one that works, at most, however
// many of another wait.
func TestTurns_ShareFairly(t *testing.T) {
	t.Parallel()
	const work = 10 * time.Millisecond
	for name, tt := range map[string]struct {
		width, total int
		floods       int           // keys that send all they can, with 16 threads each
		longest      time.Duration // of a quiet key's calls, until they are done, except for the first
	}{
		"one place":                       {1, 1, 1, 2 * work},
		"two places":                      {2, 2, 1, work},
		"eight places":                    {8, 8, 1, work},
		"eight places, one busy neighbor": {2, 8, 1, work},
		"eight places, four of them":      {2, 8, 4, work},
		"eight places, nine of them":      {2, 8, 9, 2 * work},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns := NewTurns[int](tt.width, tt.total, 100)
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			do := func(key int) bool {
				leave, ok, err := turns.Enter(ctx, key)
				if err != nil {
					return false
				}
				must.True(t, ok)
				<-time.After(work) // on the clock of the test
				leave()
				return true
			}
			done := make([]atomic.Int32, tt.floods)
			var threads sync.WaitGroup
			for key := range tt.floods {
				for range 16 {
					threads.Go(func() {
						for do(key) {
							done[key].Add(1)
						}
					})
				}
			}
			const quiet = -1
			longest := time.Duration(0)
			for i := range 100 {
				<-time.After(37 * time.Millisecond)
				began := time.Now()
				must.True(t, do(quiet))
				if took := time.Since(began); i == 0 {
					test.LessEq(t, 2*work, took, test.Sprint(name))
				} else {
					longest = max(longest, took)
				}
			}
			test.LessEq(t, tt.longest, longest, test.Sprint(name))
			threads.Wait()
			for key := range done {
				of := float64(done[0].Load())
				test.InDelta(t, of, float64(done[key].Load()), of/20, test.Sprintf("%s: key %d", name, key))
			}
			test.EqOp(t, 0, len(turns.lines)+len(turns.turns)+turns.working, test.Sprint(name))
		})
	}
}

// A key that is alone uses its whole width, and half of it while another has come within ten seconds.
func TestTurns_LeavePlacesWhileOthersArePresent(t *testing.T) {
	t.Parallel()
	turns := NewTurns[string](4, 8, 10)
	for _, step := range []struct {
		at   time.Duration
		key  string
		want int // of the busy key at work
	}{
		{0, "busy", 1}, {0, "busy", 2}, {0, "busy", 3}, {0, "busy", 4}, {0, "busy", 4},
		{time.Second, "quiet", 4},
	} {
		turns.join(step.key, start.Add(step.at))
		test.EqOp(t, step.want, turns.lines["busy"].working)
	}
	busy := turns.lines["busy"]
	now := start.Add(time.Second)
	turns.leave(turns.lines["quiet"], now, now)
	for range 2 { // so far they were more than half of the width
		turns.leave(busy, now, now)
	}
	test.EqOp(t, 2, busy.working)
	turns.join("busy", start.Add(10*time.Second))
	test.EqOp(t, 2, busy.working)
	turns.join("busy", start.Add(11*time.Second))
	test.EqOp(t, 4, busy.working)
}

// A key with one place works half of the time while another is present, after the first 100 ms, and all of it alone.
// With more places it need not rest.
func TestTurns_RestWhileOthersArePresent(t *testing.T) {
	t.Parallel()
	const work = 5 * time.Millisecond
	for _, tt := range []struct {
		width  int
		others bool
		want   time.Duration // of work in a second
	}{
		{1, false, time.Second}, {1, true, 550 * time.Millisecond}, {2, true, 550 * time.Millisecond},
		{2, false, 2 * time.Second}, {3, true, 550 * time.Millisecond}, {4, true, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns := NewTurns[string](tt.width, 8, 100)
			if tt.others {
				leave, _, err := turns.Enter(t.Context(), "quiet")
				must.NoError(t, err)
				leave()
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			var worked atomic.Int64
			var threads sync.WaitGroup
			for range 16 {
				threads.Go(func() {
					for {
						leave, _, err := turns.Enter(ctx, "busy")
						if err != nil {
							return
						}
						<-time.After(work)
						worked.Add(int64(work))
						leave()
					}
				})
			}
			threads.Wait()
			test.InDelta(t, tt.want.Seconds(), time.Duration(worked.Load()).Seconds(), 0.1, test.Sprint(tt))
			test.EqOp(t, 0, len(turns.lines)+len(turns.turns)+turns.working)
		})
	}
}

// After one long piece of work, the next of its key waits a moment, and not as long again.
func TestTurns_RestIsShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns[string](1, 8, 100)
		enter := func(key string) (leave func()) {
			leave, _, err := turns.Enter(t.Context(), key)
			must.NoError(t, err)
			return leave
		}
		enter("quiet")()
		leave := enter("busy")
		next := make(chan time.Time)
		go func() {
			defer enter("busy")()
			next <- time.Now()
		}()
		<-time.After(2 * time.Second)
		leave()
		left := time.Now()
		test.EqOp(t, maxRest, (<-next).Sub(left))
	})
}

// No order of arrivals, departures and cancellations exceeds a limit, or lets a place stay empty that one could use.
func TestTurns_UseEveryPlaceWithinTheirLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		width, total := rapid.IntRange(1, 3).Draw(t, "width"), rapid.IntRange(1, 5).Draw(t, "total")
		const depth = 4
		turns := NewTurns[int](width, total, depth)
		type member struct {
			line *line[int]
			turn chan struct{}
		}
		var inside []member
		now := start
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch now = now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "seconds")) * time.Second); {
			case len(inside) > 0 && rapid.Bool().Draw(t, "out"):
				i := rapid.IntRange(0, len(inside)-1).Draw(t, "who")
				if m := inside[i]; !turns.stepOut(m.line, m.turn, now) {
					turns.leave(m.line, now, now)
				}
				inside = append(inside[:i], inside[i+1:]...)
			default:
				l, turn := turns.join(rapid.IntRange(0, 3).Draw(t, "key"), now)
				if turn != nil {
					inside = append(inside, member{l, turn})
				} else if full := len(turns.turns); full == 0 {
					t.Fatal("refused although none waits")
				}
			}
			working, idle := 0, false
			for _, l := range turns.lines {
				working += l.working
				must.LessEq(t, width, l.working, must.Sprintf("%d of one key work, %d wait", l.working, len(l.waiting)))
				must.LessEq(t, depth, len(l.waiting),
					must.Sprintf("%d of one key work, %d wait", l.working, len(l.waiting)))
				places, _ := turns.places()
				idle = idle || len(l.waiting) > 0 && l.working < places
			}
			must.EqOp(t, turns.working, working, must.Sprintf("%d work, counted %d", working, turns.working))
			must.LessEq(t, total, working, must.Sprintf("%d work, counted %d", working, turns.working))
			must.False(t, working < total && idle, must.Sprintf("%d work, counted %d", working, turns.working))
		}
	})
}

// Who comes when a line is full, and finds that the other key is long gone, takes the place that this sets free.
func TestTurns_FillWhatAnotherKeyLeft(t *testing.T) {
	t.Parallel()
	turns := NewTurns[string](2, 2, 1)
	now := start
	other, turn := turns.join("other", now)
	must.NotNil(t, turn)
	for range 2 { // one works, one waits
		_, turn = turns.join("busy", now)
		must.NotNil(t, turn)
	}
	turns.leave(other, now, now)
	_, turn = turns.join("busy", now.Add(presence-1))
	must.Nil(t, turn)
	_, turn = turns.join("busy", now.Add(presence))
	must.NotNil(t, turn)
	test.EqOp(t, 2, turns.working)
}

// One that leaves while it waits takes no place, and those behind it are let in.
func TestTurns_GoOnWithoutThoseWhoLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns[int](1, 1, 2)
		leave, _, err := turns.Enter(t.Context(), 0)
		must.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, _, err := turns.Enter(ctx, 0)
			left <- err
		}()
		synctest.Wait()
		entered := make(chan func())
		go func() {
			leave, _, _ := turns.Enter(t.Context(), 0)
			entered <- leave
		}()
		synctest.Wait()
		cancel()
		test.ErrorIs(t, <-left, context.Canceled)
		leave()
		(<-entered)()
		test.EqOp(t, 0, len(turns.lines)+len(turns.turns)+turns.working)
	})
}
