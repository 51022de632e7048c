package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// session is a connection inside one transaction.
type session struct {
	conn *pgx.Conn
	// pending statements are sent before the next one: at first those that begin
	// the transaction, later the queued writes.
	pending []*Statement
	// rows are those of Rows.Add, sent after them.
	rows []*rowGroup
	// begun says whether anything was sent.
	begun bool
	// failed is the database's first error. Only ROLLBACK can follow it,
	// even if the transaction's body ignored it.
	failed error
}

// ErrFailed says that the body of a transaction went on after the database's first error. Nothing was committed.
var ErrFailed = errors.New("pg: the transaction has failed")

func (s *session) send(ctx context.Context, statements []*Statement) error {
	if s.failed != nil {
		return s.wentOn()
	}
	s.writeRows()
	all := slices.Concat(s.pending, statements)
	s.pending = nil
	s.begun = s.begun || len(all) > 0
	_, dbErr, readErr := send(ctx, s.conn, all)
	if dbErr == nil && s.conn.PgConn().TxStatus() == 'E' {
		dbErr = readErr // it hid the server's error about a later statement
	}
	if dbErr != nil {
		s.failed = dbErr
		return dbErr
	}
	return readErr
}

// ignoredFailure reports whether a body that returned err has gone on after the database's first error. A body may
// return an error of its own for the violation of a constraint.
func (s *session) ignoredFailure(err error) bool {
	return s.failed != nil &&
		(err == nil || errors.Is(err, ErrFailed) || contended(s.failed) && !errors.Is(err, s.failed))
}

func (s *session) wentOn() error { return fmt.Errorf("%w: %w", ErrFailed, s.failed) }

// Load sends the batch in one round trip and runs its readers. After a reader's error
// the transaction is still usable. After a database error it is not.
func (s *session) Load(ctx context.Context, batch *Batch) error {
	return s.send(ctx, batch.statements)
}

const rollbackTimeout = 5 * time.Second

// rollBack ends the transaction if one is open, and then runs the cleanup statements, even if ctx has ended.
// It closes a connection that fails.
func (s *session) rollBack(ctx context.Context, cleanup ...*Statement) {
	if s.conn.IsClosed() {
		return
	}
	var statements []*Statement
	if s.conn.PgConn().TxStatus() != 'I' {
		statements = append(statements, &Statement{sql: "rollback"})
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	// No statement has a reader, and so none has an error of one.
	if _, dbErr, _ := send(ctx, s.conn, append(statements, cleanup...)); dbErr != nil {
		_ = s.conn.Close(ctx) // the pool drops it either way
	}
}
