package pgtest

import (
	"context"
	"os"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"

	"github.com/berthhq/berth/internal/pg"
)

// traceMarks makes a database print marks in statements, if any are wanted.
func traceMarks(config *pg.Config) {
	begin := os.Getenv("BERTH_TEST_MARKS")
	if begin == "" {
		return
	}
	printer := pgx.QueryTracer(marks{regexp.MustCompile(`/\*(` + regexp.QuoteMeta(begin) + `[^*]*)\*/`)})
	if config.Tracer != nil {
		printer = multitracer.New(printer, config.Tracer)
	}
	config.Tracer = printer
}

// marks prints the marks of statements.
type marks struct{ pattern *regexp.Regexp }

func (m marks) print(sql string) {
	for _, found := range m.pattern.FindAllStringSubmatch(sql, -1) {
		_, _ = os.Stdout.WriteString("\n" + found[1] + "\n") // in one piece, so that lines stay lines
	}
}

func (m marks) TraceQueryStart(ctx context.Context, _ *pgx.Conn, of pgx.TraceQueryStartData) context.Context {
	m.print(of.SQL)
	return ctx
}

func (marks) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (m marks) TracePrepareStart(ctx context.Context, _ *pgx.Conn, of pgx.TracePrepareStartData) context.Context {
	m.print(of.SQL)
	return ctx
}

func (marks) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

func (m marks) TraceBatchStart(ctx context.Context, _ *pgx.Conn, of pgx.TraceBatchStartData) context.Context {
	for _, q := range of.Batch.QueuedQueries {
		m.print(q.SQL)
	}
	return ctx
}

func (marks) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (marks) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
