package campaign

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/berthhq/berth/internal/pgproxy"
)

// commitProxy is a bad network to Postgres. It also resets a connection right after a COMMIT passed through: the
// transaction may be durable, and the client gets no response.
type commitProxy struct {
	*pgproxy.Proxy
	// armed is the number of commits after which it resets the connection.
	armed atomic.Int32
	// bothSides also resets the connection to Postgres, which then may never read the COMMIT.
	bothSides atomic.Bool
	cut       atomic.Int64
}

func newCommitProxy(upstream string) (*commitProxy, error) {
	p := new(commitProxy)
	var err error
	p.Proxy, err = pgproxy.Start(pgproxy.Config{Upstream: upstream, OnRoundTrip: p.decide})
	return p, err
}

func (p *commitProxy) decide(executed []string) pgproxy.Action {
	if !slices.ContainsFunc(executed, isCommit) || p.armed.Add(-1) < 0 {
		return pgproxy.Forward
	}
	p.cut.Add(1)
	if p.bothSides.Load() {
		return pgproxy.DropBoth
	}
	return pgproxy.DropAnswer
}

func isCommit(sql string) bool { return strings.EqualFold(strings.TrimSpace(sql), "commit") }
