package testkit

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
)

// contention makes each transaction fail in each of its round trips, once in a test process, as if another transaction
// were in the way. The body must not go on, and runs again: nothing of the first time may be left.
type contention struct {
	pgtest.Tracer

	mu   sync.Mutex
	seen map[string]bool
	sent map[*pgx.Conn]string // name of the transaction, and what it has sent
}

var rival = newContention()

func newContention() *contention {
	c := &contention{seen: make(map[string]bool), sent: make(map[*pgx.Conn]string)}
	c.Batch = c.sending
	return c
}

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

func (f failing) Write(text []byte) (int, error) {
	f.Error(string(text))
	return len(text), nil
}

// TraceTxStart implements pg.TxTracer.
func (c *contention) TraceTxStart(conn *pgx.Conn, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[conn] = name
}

// sending lets a batch of a transaction that writes fail, unless its like has failed before.
func (c *contention) sending(_ context.Context, conn *pgx.Conn, queries []*pgx.QueuedQuery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, first := c.sent[conn], 0
	if sent == "" {
		return
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
}

const contended = `do $$ begin raise exception 'contention' using errcode = '40001'; end $$`
