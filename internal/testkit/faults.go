package testkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Faults makes one statement fail in the database, whatever it is, and those after it with another error.
type Faults struct {
	*Studio

	mu     sync.Mutex
	failed map[string]bool // the statements that have failed, by their batches; nil: none fails
	last   string          // the one that fails in this call
}

// NewFaults creates a studio in which statements can fail.
func NewFaults(t *testing.T) *Faults {
	t.Helper()
	f := new(Faults)
	f.Studio = New(t, func(c *pg.Config) { c.Tracer = f })
	return f
}

// WantErrors makes each call again and again. Each time, the first of its statements that has not failed before fails.
// The call must fail with that error, and at once: it would otherwise answer with what it does not know, or lose what
// it was told. What follows fails, too, so a call of several transactions still has to do what it has not done. The
// last time no statement fails, and the call must not.
func (f *Faults) WantErrors(calls ...func() error) {
	f.T.Helper()
	for i, call := range calls {
		f.fail(make(map[string]bool))
		for {
			f.last = ""
			err := call()
			if f.last == "" {
				expect.OK(f.T)(err)
				break
			}
			pgErr, _ := errors.AsType[*pgconn.PgError](err)
			must.NotNil(f.T, pgErr, must.Sprintf("call %d, though this failed: %s: %v", i+1, f.last, err))
			test.EqOp(f.T, "22012", pgErr.Code, test.Sprintf("call %d, though this failed: %s: %v", i+1, f.last, err))
			test.False(f.T, errors.Is(err, pg.ErrFailed),
				test.Sprintf("call %d, though this failed: %s: %v", i+1, f.last, err))
		}
	}
	f.fail(nil)
}

func (f *Faults) fail(failed map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = failed
}

// TraceBatchStart implements pgx.BatchTracer.
func (f *Faults) TraceBatchStart(ctx context.Context, _ *pgx.Conn, of pgx.TraceBatchStartData) context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	var batch strings.Builder
	for _, q := range of.Batch.QueuedQueries {
		batch.WriteString(q.SQL)
	}
	for i, q := range of.Batch.QueuedQueries {
		name := fmt.Sprint(i, " of ", batch.String())
		switch {
		case f.failed == nil, q.SQL == "rollback": // that ends a read, whose answer is there
		case f.last != "":
			q.SQL, q.Arguments = "select ln(0)", nil
		case !f.failed[name]:
			f.failed[name], f.last = true, name
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
