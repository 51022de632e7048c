package testkit

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/berthhq/berth/internal/pg"
)

// Arena is a way to the database on which transactions meet for certain, and on which their isolation can be
// taken away. It sees, and may change, every batch before it is sent.
type Arena struct {
	// Careless makes every transaction READ COMMITTED: what one has read another may have changed.
	Careless bool
	// Rewrite changes statements.
	Rewrite func(sql string) string
	// Early lets transactions meet before the first that they write of bookings: for those that read on after they have written.
	Early bool
	// owner measures how long things take.
	owner *pgxpool.Pool

	Mu      sync.Mutex
	missing int
	all     chan struct{} // closed as soon as nobody is missing
	Commits [][]*pgx.QueuedQuery
}

// ArenaHouse is a house whose transactions go through an arena.
func ArenaHouse(t *testing.T) (*Arena, *House) {
	t.Helper()
	a := new(Arena)
	h := NewHouse(t, func(c *pg.Config) { c.Tracer = a })
	a.owner = h.DB.Owner
	return a, h
}

// Race runs all at once, and keeps each from sending the last that it writes in its first transaction until every other has got so
// far, or has ended: each has read by then what the others are about to change.
func (a *Arena) Race(runners ...func()) {
	a.Mu.Lock()
	a.missing, a.all, a.Commits = len(runners), make(chan struct{}), nil
	a.Mu.Unlock()
	Together(len(runners), func(i int) {
		defer a.arrive()
		runners[i]()
	})
	a.Mu.Lock()
	a.all = nil
	a.Mu.Unlock()
}

// arrive counts somebody in, and gives what to wait for; nil where no race is on.
func (a *Arena) arrive() <-chan struct{} {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	if a.missing--; a.missing == 0 && a.all != nil {
		close(a.all)
	}
	return a.all
}

// TraceBatchStart implements pgx.BatchTracer.
func (a *Arena) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queries := data.Batch.QueuedQueries
	if len(queries) == 0 {
		return ctx
	}
	if a.Careless && strings.HasPrefix(queries[0].SQL, "begin isolation level serializable") {
		queries[0].SQL = "begin isolation level read committed, read write"
	}
	if a.Rewrite != nil {
		for _, q := range queries {
			q.SQL = a.Rewrite(q.SQL)
		}
	}
	if !a.meets(queries) {
		return ctx
	}
	a.Mu.Lock()
	a.Commits = append(a.Commits, queries)
	a.Mu.Unlock()
	if all := a.arrive(); all != nil {
		a.await(ctx, all)
	}
	return ctx
}

// await gives up where somebody waits in line for what another one here holds. They do not meet then, which is fine, too. How long that
// takes is counted in questions to the database: others get no further than here for as long as it has no time for them.
func (a *Arena) await(ctx context.Context, all <-chan struct{}) {
	pace := time.NewTicker(20 * time.Millisecond) //nolint:forbidigo // it polls
	defer pace.Stop()
	for range 200 {
		select {
		case <-all:
			return
		case <-ctx.Done():
			return
		case <-pace.C:
			if a.owner != nil {
				_ = a.owner.Ping(ctx)
			}
		}
	}
}

func (a *Arena) meets(queries []*pgx.QueuedQuery) bool {
	return slices.ContainsFunc(queries, func(q *pgx.QueuedQuery) bool {
		if a.Early {
			return strings.HasPrefix(strings.TrimSpace(q.SQL), "insert into bookings")
		}
		return q.SQL == "commit"
	})
}

// TraceQueryStart implements pgx.QueryTracer.
func (*Arena) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*Arena) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchQuery implements pgx.BatchTracer.
func (*Arena) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (*Arena) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
