package app_test

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

// arena is a way to the database on which transactions meet for certain, and on which their isolation can be
// taken away. It sees, and may change, every batch before it is sent.
type arena struct {
	// careless makes every transaction READ COMMITTED: what one has read another may have changed.
	careless bool
	// rewrite changes statements.
	rewrite func(sql string) string
	// early lets transactions meet before the first that they write of bookings: for those that read on after they have written.
	early bool
	// owner measures how long things take.
	owner *pgxpool.Pool

	mu      sync.Mutex
	missing int
	all     chan struct{} // closed as soon as nobody is missing
	commits [][]*pgx.QueuedQuery
}

// arenaHouse is a house whose transactions go through an arena.
func arenaHouse(t *testing.T) (*arena, *house) {
	t.Helper()
	a := new(arena)
	h := newHouse(t, func(c *pg.Config) { c.Tracer = a })
	a.owner = h.db.Owner
	return a, h
}

// race runs all at once, and keeps each from sending the last that it writes in its first transaction until every other has got so
// far, or has ended: each has read by then what the others are about to change.
func (a *arena) race(runners ...func()) {
	a.mu.Lock()
	a.missing, a.all, a.commits = len(runners), make(chan struct{}), nil
	a.mu.Unlock()
	together(len(runners), func(i int) {
		defer a.arrive()
		runners[i]()
	})
	a.mu.Lock()
	a.all = nil
	a.mu.Unlock()
}

// arrive counts somebody in, and gives what to wait for; nil where no race is on.
func (a *arena) arrive() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.missing--; a.missing == 0 && a.all != nil {
		close(a.all)
	}
	return a.all
}

func (a *arena) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queries := data.Batch.QueuedQueries
	if len(queries) == 0 {
		return ctx
	}
	if a.careless && strings.HasPrefix(queries[0].SQL, "begin isolation level serializable") {
		queries[0].SQL = "begin isolation level read committed, read write"
	}
	if a.rewrite != nil {
		for _, q := range queries {
			q.SQL = a.rewrite(q.SQL)
		}
	}
	if !a.meets(queries) {
		return ctx
	}
	a.mu.Lock()
	a.commits = append(a.commits, queries)
	a.mu.Unlock()
	if all := a.arrive(); all != nil {
		a.await(ctx, all)
	}
	return ctx
}

// await gives up where somebody waits in line for what another one here holds. They do not meet then, which is fine, too. How long that
// takes is counted in questions to the database: others get no further than here for as long as it has no time for them.
func (a *arena) await(ctx context.Context, all <-chan struct{}) {
	pace := time.NewTicker(20 * time.Millisecond)
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

func (a *arena) meets(queries []*pgx.QueuedQuery) bool {
	return slices.ContainsFunc(queries, func(q *pgx.QueuedQuery) bool {
		if a.early {
			return strings.HasPrefix(strings.TrimSpace(q.SQL), "insert into bookings")
		}
		return q.SQL == "commit"
	})
}

func (*arena) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (*arena) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (*arena) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*arena) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
