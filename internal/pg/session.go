package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier is what both kinds of transaction offer to whoever reads: Tx, which
// may write, and ReadTx.
type Querier interface {
	// Load sends the batch in one round trip and runs its readers. After a
	// reader's error the transaction is still good; after the database's it is not.
	Load(ctx context.Context, batch *Batch) error
	// Query, QueryRow and Exec send one statement, in a round trip of its own.
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

var (
	_ Querier = (*Tx)(nil)
	_ Querier = (*ReadTx)(nil)
)

// session is a connection inside one transaction.
type session struct {
	conn *pgx.Conn
	// pending statements go ahead of whatever is sent next: at first the
	// beginning of the transaction, later the writes queued so far.
	pending []*Statement
	// gathered rows follow them.
	gathered []*gathering
	// begun is whether the server was told anything at all.
	begun bool
	// failed is the database's first error. Nothing can follow it but ROLLBACK,
	// even if the transaction's body chose to overlook it.
	failed error
}

var errFailed = errors.New("pg: the transaction has failed already")

func (s *session) send(ctx context.Context, statements []*Statement) error {
	if s.failed != nil {
		return fmt.Errorf("%w: %w", errFailed, s.failed)
	}
	s.gather()
	all := slices.Concat(s.pending, statements)
	s.pending = nil
	s.begun = s.begun || len(all) > 0
	_, failed, unread := send(ctx, s.conn, all)
	if failed == nil && s.conn.PgConn().TxStatus() == 'E' {
		failed = unread // which hid what the server said about a later statement
	}
	if failed != nil {
		s.failed = failed
		return failed
	}
	return unread
}

// Load implements Querier.
func (s *session) Load(ctx context.Context, batch *Batch) error {
	return s.send(ctx, batch.statements)
}

// Exec implements Querier.
func (s *session) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	var batch Batch
	batch.Queue(sql, args...).Exec(func(t pgconn.CommandTag) error { tag = t; return nil })
	err = s.send(ctx, batch.statements)
	return tag, err
}

// QueryRow implements Querier. The statement is sent when the row is scanned.
func (s *session) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return rowFunc(func(targets ...any) error {
		var batch Batch
		batch.Queue(sql, args...).Scan(targets...)
		return s.send(ctx, batch.statements)
	})
}

type rowFunc func(targets ...any) error

func (f rowFunc) Scan(targets ...any) error { return f(targets...) }

// Query implements Querier. The rows must be closed, or read to their end,
// before the transaction can go on.
func (s *session) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	s.gather()
	if slices.ContainsFunc(s.pending, func(ahead *Statement) bool { return ahead.read != nil }) {
		if err := s.send(ctx, nil); err != nil {
			return nil, err
		}
	}
	if s.failed != nil {
		return nil, fmt.Errorf("%w: %w", errFailed, s.failed)
	}
	batch := &pgx.Batch{}
	for _, ahead := range s.pending {
		batch.Queue(ahead.sql, ahead.arguments()...)
	}
	batch.Queue(sql, args...)
	stream := &streamedRows{session: s, results: s.conn.SendBatch(ctx, batch)}
	ahead := len(s.pending)
	s.pending, s.begun = nil, true
	for range ahead {
		if _, err := stream.results.Exec(); err != nil {
			break // Query reports it again
		}
	}
	rows, err := stream.results.Query()
	stream.Rows = rows
	if err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}

// streamedRows are the rows of the last statement of a batch; with them ends
// the batch.
type streamedRows struct {
	pgx.Rows
	session *session
	results pgx.BatchResults
	closed  bool
	err     error
}

func (r *streamedRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *streamedRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	r.err = r.results.Close()
	if r.err != nil && (Code(r.err) != "" || r.session.conn.IsClosed()) {
		r.session.failed = r.err
	}
}

func (r *streamedRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

const rollbackTimeout = 5 * time.Second

// rollBack ends the transaction, if one is open, and then runs what else is to
// be undone. It does so for callers that have left, too. A connection that cannot
// do it is closed.
func (s *session) rollBack(ctx context.Context, undo ...*Statement) {
	if s.conn.IsClosed() {
		return
	}
	var statements []*Statement
	if s.conn.PgConn().TxStatus() != 'I' {
		statements = append(statements, &Statement{sql: "rollback"})
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, failed, _ := send(ctx, s.conn, append(statements, undo...)); failed != nil {
		_ = s.conn.Close(ctx)
	}
}
