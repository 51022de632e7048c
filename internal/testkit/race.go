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
	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Tests of races run each race with its guards, where it must pass, and without them, where it must fail. Otherwise it
// would prove nothing.

// Parallel runs n functions at the same time.
func Parallel(n int, do func(i int)) {
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			do(i)
		})
	}
	start.Done()
	done.Wait()
}

// ParallelErrors runs a function n times at the same time and returns the errors.
func ParallelErrors(n int, do func(i int) error) []error {
	errs := make([]error, n)
	Parallel(n, func(i int) { errs[i] = do(i) })
	return errs
}

// Barrier makes transactions overlap: none can write before all have read. It sees every batch before it is sent. It
// can also take isolation away from transactions and change statements.
type Barrier struct {
	// ReadCommitted makes every transaction READ COMMITTED, so that others can change what it has read.
	ReadCommitted bool
	// Rewrite changes statements.
	Rewrite func(sql string) string
	// MeetAtInsert lets transactions meet before they insert bookings, for those that read again after that.
	MeetAtInsert bool
	// owner is a pool whose response time shows how busy the database is.
	owner *pgxpool.Pool

	Mu      sync.Mutex
	missing int
	all     chan struct{}        // closed when all have arrived
	Commits [][]*pgx.QueuedQuery // the batches before which transactions met
}

// NewRace creates a studio whose transactions go through a barrier.
func NewRace(t *testing.T) (*Barrier, *Studio) {
	t.Helper()
	b := new(Barrier)
	s := New(t, func(c *pg.Config) { c.Tracer = b })
	b.owner = s.DB.Owner
	return b, s
}

// Run runs all functions at the same time. The first transaction of each cannot commit until every other one is about
// to commit, too, or has ended. So each has read what the others are about to change.
func (b *Barrier) Run(runners ...func()) {
	b.Mu.Lock()
	b.missing, b.all, b.Commits = len(runners), make(chan struct{}), nil
	b.Mu.Unlock()
	Parallel(len(runners), func(i int) {
		defer b.arrive()
		runners[i]()
	})
	b.Mu.Lock()
	b.all = nil
	b.Mu.Unlock()
}

// arrive counts an arrival and returns the channel to wait for, nil if no race is running.
func (b *Barrier) arrive() <-chan struct{} {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.missing--; b.missing == 0 && b.all != nil {
		close(b.all)
	}
	return b.all
}

// TraceBatchStart implements pgx.BatchTracer.
func (b *Barrier) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queries := data.Batch.QueuedQueries
	if len(queries) == 0 {
		return ctx
	}
	if b.ReadCommitted && strings.HasPrefix(queries[0].SQL, "begin isolation level serializable") {
		queries[0].SQL = "begin isolation level read committed, read write"
	}
	if b.Rewrite != nil {
		for _, q := range queries {
			q.SQL = b.Rewrite(q.SQL)
		}
	}
	if !b.meets(queries) {
		return ctx
	}
	b.Mu.Lock()
	b.Commits = append(b.Commits, queries)
	b.Mu.Unlock()
	if all := b.arrive(); all != nil {
		b.await(ctx, all)
	}
	return ctx
}

// await waits until all have arrived. It gives up after a while, because a transaction that waits for a lock of another
// one cannot arrive; then the two do not overlap, which is a correct outcome, too. The time is counted in round trips:
// while the database is busy, the others need longer as well.
func (b *Barrier) await(ctx context.Context, all <-chan struct{}) {
	poll := time.NewTicker(20 * time.Millisecond) //nolint:forbidigo // it polls
	defer poll.Stop()
	for range 200 {
		select {
		case <-all:
			return
		case <-ctx.Done():
			return
		case <-poll.C:
			if b.owner != nil {
				_ = b.owner.Ping(ctx)
			}
		}
	}
}

// meets reports whether transactions meet before this batch.
func (b *Barrier) meets(queries []*pgx.QueuedQuery) bool {
	return slices.ContainsFunc(queries, func(q *pgx.QueuedQuery) bool {
		if b.MeetAtInsert {
			return strings.HasPrefix(strings.TrimSpace(q.SQL), "insert into bookings")
		}
		return q.SQL == "commit"
	})
}

// TraceQueryStart implements pgx.QueryTracer.
func (*Barrier) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*Barrier) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchQuery implements pgx.BatchTracer.
func (*Barrier) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (*Barrier) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// RetriesFor counts the transactions that were retried because of an SQLSTATE.
func RetriesFor(t *testing.T, registry *prometheus.Registry, code string) float64 {
	t.Helper()
	n := 0.0
	for _, count := range expect.Metrics(t, registry, "berth_transaction_retries_total sqlstate="+code) {
		n += count
	}
	return n
}
