package boot

import (
	"runtime"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestPoolConfig_FollowsTheProcessors(t *testing.T) {
	t.Parallel()
	commands, reads, err := PoolConfig{}.Sizes()
	test.NoError(t, err)
	test.EqOp(t, min(max(16, 8*runtime.GOMAXPROCS(0)), 32), commands)
	test.EqOp(t, min(max(8, 4*runtime.GOMAXPROCS(0)), 16), reads)
	test.EqOp(t, 3*(20+5+notifyConns), expect.Value(PoolConfig{Commands: 20, Reads: 5}.Connections(3))(t))
	for _, c := range []PoolConfig{{Commands: 3}, {Commands: 1001}, {Commands: -1}} {
		test.ErrorContains(t, expect.Error(c.Sizes()), "BERTH_DB_COMMANDS")
	}
	for _, c := range []PoolConfig{{Reads: -1}, {Reads: 1001}} {
		test.ErrorContains(t, expect.Error(c.Sizes()), "BERTH_DB_READS")
	}
}

func TestListenConfig_SharesAreLessThanTheWhole(t *testing.T) {
	t.Parallel()
	shares := func(concurrency, reads int) error {
		return ListenConfig{Concurrency: concurrency, Traffic: TrafficConfig{Reads: reads}}.checkShares(16, 8)
	}
	test.NoError(t, shares(16, 8))
	test.NoError(t, shares(0, 0)) // the defaults
	test.ErrorContains(t, shares(17, 8), "BERTH_CONCURRENCY is 17; it must be from 1 to 16")
	test.ErrorContains(t, shares(-1, 8), "BERTH_CONCURRENCY")
	test.ErrorContains(t, shares(16, 9), "BERTH_READS is 9; it must be from 1 to 8")
	test.ErrorContains(t, shares(16, -1), "BERTH_READS")
}
