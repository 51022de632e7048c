package pg

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// LogStatements returns a tracer that logs each round trip to Postgres, and the statements in it, at the level debug.
// It never logs a parameter, nor the text of an error of the database, which can quote one. About adds what is known of
// the request; it may be nil. The tracer is nil if the log leaves out that level.
func LogStatements(
	ctx context.Context, log *slog.Logger, about func(context.Context) []slog.Attr,
) pgx.QueryTracer {
	if !log.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	return statementLog{log, about}
}

type statementLog struct {
	log   *slog.Logger
	about func(context.Context) []slog.Attr
}

type roundTripKey struct{}

// roundTrip is a batch that was sent.
type roundTrip struct {
	began      time.Time
	statements int
}

// TraceBatchStart implements pgx.BatchTracer.
func (s statementLog) TraceBatchStart(
	ctx context.Context, _ *pgx.Conn, of pgx.TraceBatchStartData,
) context.Context {
	return context.WithValue(ctx, roundTripKey{}, roundTrip{time.Now(), of.Batch.Len()})
}

// TraceBatchQuery implements pgx.BatchTracer.
func (s statementLog) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, of pgx.TraceBatchQueryData) {
	s.log.LogAttrs(ctx, slog.LevelDebug, "statement", s.attrs(ctx, of.Err,
		slog.String("sql", strings.Join(strings.Fields(of.SQL), " ")),
		slog.Int64("rows", of.CommandTag.RowsAffected()))...)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (s statementLog) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, of pgx.TraceBatchEndData) {
	s.ended(ctx, of.Err)
}

// TraceQueryStart implements pgx.QueryTracer.
func (s statementLog) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, roundTripKey{}, roundTrip{time.Now(), 1})
}

// TraceQueryEnd implements pgx.QueryTracer.
func (s statementLog) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, of pgx.TraceQueryEndData) {
	s.ended(ctx, of.Err)
}

func (s statementLog) ended(ctx context.Context, err error) {
	if trip, ok := ctx.Value(roundTripKey{}).(roundTrip); ok {
		s.log.LogAttrs(ctx, slog.LevelDebug, "round trip", s.attrs(ctx, err,
			slog.Int("statements", trip.statements), slog.Duration("took", time.Since(trip.began)))...)
	}
}

// attrs completes what a line says.
func (s statementLog) attrs(ctx context.Context, err error, attrs ...slog.Attr) []slog.Attr {
	if err != nil {
		attrs = append(attrs, slog.String("sqlstate", Code(err))) // empty if the connection failed
	}
	if s.about != nil {
		attrs = append(s.about(ctx), attrs...)
	}
	return attrs
}
