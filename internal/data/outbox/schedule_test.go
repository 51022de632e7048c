package outbox

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func numberedTenant(n byte) tenant.TenantID { return tenant.TenantID{UUID: tenant.UUID{n}} }

// The pauses double from a second to a minute, and start over after a success.
func TestBackoffs_DoubleUpToAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &backoffs{tenants: make(map[tenant.TenantID]backoff)}
		one, two := numberedTenant(1), numberedTenant(2)
		for _, want := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
			test.EqOp(t, time.Duration(want)*time.Second, b.add(one))
			test.EqOp(t, time.Duration(want)*time.Second, b.remaining(one))
		}
		<-time.After(59 * time.Second)
		test.EqOp(t, time.Second, b.remaining(one))
		test.LessEq(t, 0, b.remaining(two))
		test.EqOp(t, time.Second, b.add(two))
		b.reset(one)
		test.LessEq(t, 0, b.remaining(one))
		test.EqOp(t, time.Second, b.add(one))
	})
}

// A notice of another node wakes the readers of the tenants that it names. Its own consumers have a head start.
func TestRelay_WakesReadersOfNamedTenants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, two, soon := numberedTenant(1), numberedTenant(2), time.Now().Add(time.Second)
		for _, tt := range []struct {
			notice    string
			woken     []bool // the readers of each tenant
			now, then []tenant.TenantID
		}{
			{"other " + one.String(), []bool{true, false}, nil, []tenant.TenantID{one}},
			{"other *", []bool{true, true}, []tenant.TenantID{everyTenant}, nil},
			{"self " + one.String(), []bool{false, false}, nil, nil},
			{"other odd " + two.String(), []bool{false, true}, nil, []tenant.TenantID{two}},
			{"", []bool{false, false}, nil, nil},
		} {
			feeds := map[tenant.TenantID]*feed{one: {wakeups: make(chan struct{}, 1)}, two: {wakeups: make(chan struct{}, 1)}}
			c := new(alarm.Clock)
			r := &Relay{name: "self", feeds: feeds, consumers: []*alarm.Clock{c}}
			r.onNotify(tt.notice)
			test.Eq(t, tt.woken, []bool{len(feeds[one].wakeups) == 1, len(feeds[two].wakeups) == 1}, test.Sprint(tt.notice))
			now, _ := c.Next(soon.Add(-1))
			then, _ := c.Next(soon)
			test.Eq(t, [][]tenant.TenantID{tt.now, tt.then}, [][]tenant.TenantID{now, then}, test.Sprint(tt.notice))
		}
	})
}

// A read that wakes many watchers waits longer for more events.
func TestFeed_ReadsLessOftenForManyWatchers(t *testing.T) {
	t.Parallel()
	for watchers, want := range map[int]time.Duration{
		0: 5 * time.Millisecond, 1000: 10 * time.Millisecond, 9000: 50 * time.Millisecond, 10_000: 50 * time.Millisecond,
	} {
		f := &feed{relay: new(Relay), watchers: watchers}
		test.EqOp(t, want, f.readInterval(), test.Sprint(watchers))
	}
}

func TestNewRelay_HasDefaults(t *testing.T) {
	t.Parallel()
	r := expect.Value(NewRelay(RelayConfig{}))(t)
	defer r.Close()
	r.rolesChanged(numberedTenant(1)) // tells no one
	r.log.Error("discarded")
	test.EqOp(t, 5*time.Second, r.poll)
}

// While events are held back, pauses double from 5 to 200 ms, and start over when a read found others.
func TestHeldPause_DoublesWithoutProgress(t *testing.T) {
	t.Parallel()
	var p heldPause
	for i, want := range []int{5, 10, 20, 40, 80, 160, 200, 200, 5, 10} {
		var page Page
		if i == 8 {
			page.Records = []*Record{{}}
		}
		test.EqOp(t, time.Duration(want)*time.Millisecond, p.longer(page), test.Sprint("pause ", i))
	}
}

// A watcher that has read everything is at the end of the tail. What is dropped from the tail later does not make it
// slow.
func TestWatcher_FollowsTheEndOfTheTail(t *testing.T) {
	t.Parallel()
	start, end := Cursor{XID: 1}, Cursor{XID: 9}
	w := &Watcher{at: start, feed: &feed{
		relay: &Relay{draining: make(chan struct{})},
		tail:  tail{start: start, end: end, changed: make(chan struct{})},
	}}
	tick := make(chan time.Time, 1)
	tick <- time.Time{}
	test.SliceEmpty(t, expect.Value(w.Next(t.Context(), tick, nil))(t))
	test.EqOp(t, end, w.At())
}

// For any pages: a tail keeps the last ones, as far as they fit and were read within half a minute. What it gives after
// a position is what was read after it, up to a limit.
func TestTail_GivesWhatWasReadAfterAPosition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var (
			all   []*Record
			pages [][]*Record
			reads []time.Time
		)
		at, now := Cursor{XID: 1}, time.Date(2026, time.March, 16, 12, 0, 0, 0, time.UTC)
		before, fits := at, rapid.IntRange(1, 12).Draw(t, "fits")
		kept := tail{start: at, end: at}
		for range rapid.IntRange(1, 12).Draw(t, "pages") {
			now = now.Add(time.Duration(rapid.IntRange(0, 16).Draw(t, "seconds")) * time.Second)
			page := make([]*Record, rapid.IntRange(0, 4).Draw(t, "records"))
			for i := range page {
				at = Cursor{XID: at.XID + rapid.Uint64Range(0, 1).Draw(t, "transaction"), ID: at.ID}
				at.ID.UUID[15]++
				page[i] = &Record{Cursor: at}
			}
			at.XID++ // what can be read now ends later
			kept.append(Page{Records: page, End: at}, now, fits)
			pages, reads, all = append(pages, page), append(reads, now), append(all, page...)
		}
		var want []*Record
		for i, page := range slices.Backward(pages) {
			if len(want)+len(page) > fits || now.Sub(reads[i]) > 30*time.Second {
				break
			}
			want = slices.Concat(page, want)
		}
		if dropped := len(all) - len(want); dropped > 0 {
			before = all[dropped-1].Cursor
			before.XID++
		}
		must.EqOp(t, before, kept.start)
		must.EqOp(t, at, kept.end)
		must.EqOp(t, len(want), kept.size)
		for i := range len(want) + 1 {
			n, end := rapid.IntRange(1, 6).Draw(t, "limit"), at
			if i > 0 {
				before = want[i-1].Cursor
			}
			rest := want[i:]
			if len(rest) > n {
				rest, end = rest[:n], rest[n-1].Cursor
			}
			found, foundEnd := kept.after(before, n)
			must.True(t, slices.Equal(rest, found), must.Sprintf("%v, want %v", found, rest))
			must.EqOp(t, end, foundEnd)
		}
	})
}
