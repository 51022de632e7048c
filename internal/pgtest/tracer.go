package pgtest

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Tracer shows a test what is sent to the database. Its functions run before it is sent, and Done when a statement of a
// batch has ended. They may be nil.
type Tracer struct {
	Batch func(ctx context.Context, conn *pgx.Conn, statements []*pgx.QueuedQuery)
	Done  func(pgx.TraceBatchQueryData)
	Query func(conn *pgx.Conn, sql string)
}

// TraceBatchStart implements pgx.BatchTracer.
func (t *Tracer) TraceBatchStart(ctx context.Context, conn *pgx.Conn, of pgx.TraceBatchStartData) context.Context {
	if t.Batch != nil && len(of.Batch.QueuedQueries) > 0 {
		t.Batch(ctx, conn, of.Batch.QueuedQueries)
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (t *Tracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, of pgx.TraceBatchQueryData) {
	if t.Done != nil {
		t.Done(of)
	}
}

// TraceBatchEnd implements pgx.BatchTracer.
func (*Tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceQueryStart implements pgx.QueryTracer.
func (t *Tracer) TraceQueryStart(ctx context.Context, conn *pgx.Conn, of pgx.TraceQueryStartData) context.Context {
	if t.Query != nil {
		t.Query(conn, of.SQL)
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*Tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
