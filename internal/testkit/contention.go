package testkit

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
)

// contention makes each transaction fail in each of its round trips, once in a test process, as if another transaction
// were in the way. The body must not go on, and runs again: nothing of the first time may be left.
type contention struct {
	mu   sync.Mutex
	seen map[string]bool
	sent map[*pgx.Conn]string // name of the transaction, and what it has sent
}

var rival = &contention{seen: make(map[string]bool), sent: make(map[*pgx.Conn]string)}

// contend lets transactions contend, and fails the test if a body goes on after an error of the database. It is not for
// benchmarks.
func contend(t testing.TB) func(*pg.Config) {
	t.Helper()
	return func(c *pg.Config) {
		if _, tests := t.(*testing.T); tests {
			c.Tracer, c.Logger = rival, slog.New(
				slog.NewTextHandler(failing{t}, &slog.HandlerOptions{Level: slog.LevelError}),
			)
		}
	}
}

// failing fails a test for what is logged as an error.
type failing struct{ testing.TB }

func (e failing) Write(text []byte) (int, error) {
	e.Error(string(text))
	return len(text), nil
}

// TraceTxStart implements pg.TxTracer.
func (c *contention) TraceTxStart(conn *pgx.Conn, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[conn] = name
}

// TraceBatchStart implements pgx.BatchTracer.
func (c *contention) TraceBatchStart(ctx context.Context, conn *pgx.Conn, of pgx.TraceBatchStartData) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, first, queries := c.sent[conn], 0, of.Batch.QueuedQueries
	if sent == "" {
		return ctx // no transaction that writes
	}
	if conn.PgConn().TxStatus() == 'I' {
		first = 2 // it begins, and sets the tenant
	}
	for _, q := range queries {
		sent += q.SQL
		if q.SQL == "commit" || q.SQL == "rollback" {
			defer delete(c.sent, conn)
		}
	}
	c.sent[conn] = sent
	if !c.seen[sent] && first < len(queries) && queries[first].SQL != "rollback" {
		c.seen[sent] = true
		queries[first].SQL, queries[first].Arguments = contended, nil
	}
	return ctx
}

const contended = `do $$ begin raise exception 'contention' using errcode = '40001'; end $$`

// TraceBatchQuery implements pgx.BatchTracer.
func (*contention) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (*contention) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceQueryStart implements pgx.QueryTracer.
func (*contention) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*contention) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
