package testkit

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Faults makes one statement fail in the database, whatever it is.
type Faults struct {
	*Studio

	mu       sync.Mutex
	at, seen int // which statement fails, and how many were sent
}

// NewFaults creates a studio in which statements can fail.
func NewFaults(t *testing.T) *Faults {
	t.Helper()
	f := new(Faults)
	f.Studio = New(t, func(c *pg.Config) { c.Tracer = f })
	return f
}

// WantErrors makes each call with each of its statements failing, the first, then the second, and so on. The call must
// fail with that error, and at once: it would otherwise answer with what it does not know, or lose what it was told.
// The last time no statement fails, and the call must not. A call that writes is rolled back until then.
func (f *Faults) WantErrors(calls ...func() error) {
	f.T.Helper()
	for i, call := range calls {
		for at := 1; ; at++ {
			f.fail(at)
			err := call()
			if !f.failed() {
				expect.OK(f.T)(err)
				break
			}
			pgErr, _ := errors.AsType[*pgconn.PgError](err)
			test.True(f.T, pgErr != nil && pgErr.Code == "22012" && !errors.Is(err, pg.ErrFailed),
				test.Sprintf("call %d, though statement %d failed: %v", i+1, at, err))
		}
	}
	f.fail(0)
}

func (f *Faults) fail(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.seen = at, 0
}

func (f *Faults) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen >= f.at
}

// TraceBatchStart implements pgx.BatchTracer.
func (f *Faults) TraceBatchStart(ctx context.Context, _ *pgx.Conn, of pgx.TraceBatchStartData) context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range of.Batch.QueuedQueries {
		if q.SQL == "rollback" {
			continue // it ends a read, whose answer is there
		}
		if f.seen++; f.seen == f.at {
			q.SQL, q.Arguments = "select 1/0", nil
		}
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (*Faults) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (*Faults) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceQueryStart implements pgx.QueryTracer.
func (*Faults) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*Faults) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
