package pg

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQL is for a statement that is put together from parts: in the initialisation of a package variable, so that it is
// done once. It returns the text, and keeps it for Statements.
func SQL(text string) string {
	statements = append(statements, text)
	return text
}

var statements []string

// Statements are the texts that SQL was given, so that a test can have each of them prepared.
func Statements() []string { return slices.Clone(statements) }

// Batch is a list of statements that travel to the database together, in one
// round trip. Fill it anew for every use: a transaction's body may run again.
type Batch struct {
	statements []*Statement
	lookups    map[any]any // *Lookup[K, V] → *question[K, V]
}

// Queue adds a statement. What it returns is dropped unless a method of
// Statement says how to read it.
func (b *Batch) Queue(sql string, args ...any) *Statement {
	s := &Statement{sql: sql, args: args}
	b.statements = append(b.statements, s)
	return s
}

// Len is the number of statements.
func (b *Batch) Len() int { return len(b.statements) }

// Statement is one statement of a batch. It has at most one reader; the last
// one set counts. A reader's error ends the reading of its batch and is what
// Load returns; by itself it does not fail the transaction.
type Statement struct {
	sql  string
	args []any
	bind func() []any // gives the arguments when the statement is sent; nil: args are they
	read func(rows pgx.Rows) error
}

func (s *Statement) arguments() []any {
	if s.bind != nil {
		return s.bind()
	}
	return s.args
}

// Query reads the rows. The reader need not close them.
func (s *Statement) Query(read func(rows pgx.Rows) error) { s.read = read }

// QueryRow reads the first row; its Scan gives pgx.ErrNoRows where there is none.
func (s *Statement) QueryRow(read func(row pgx.Row) error) {
	s.read = func(rows pgx.Rows) error { return read(firstRow{rows}) }
}

// Scan reads the first row into the targets; pgx.ErrNoRows if there is none.
func (s *Statement) Scan(targets ...any) {
	s.QueryRow(func(row pgx.Row) error { return row.Scan(targets...) })
}

// ScanAny is Scan for a row that need not be there. Where there is none the targets stay as they are.
func (s *Statement) ScanAny(targets ...any) {
	s.QueryRow(func(row pgx.Row) error {
		if err := row.Scan(targets...); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
}

// Each calls a function after each row, which has been read into the targets.
func (s *Statement) Each(row func(), targets ...any) {
	s.Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, targets, func() error {
			row()
			return nil
		})
		return err
	})
}

// Exec reads the command's tag, which knows how many rows were affected.
func (s *Statement) Exec(read func(tag pgconn.CommandTag) error) {
	s.read = func(rows pgx.Rows) error {
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
		return read(rows.CommandTag())
	}
}

// Collect reads all rows of a statement into a slice, replacing what it held,
// so that running a transaction's body again starts from nothing.
//
//	pg.Collect(batch.Queue(`SELECT …`), &sessions, pgx.RowToStructByPos[sessionRow])
func Collect[T any](s *Statement, into *[]T, row pgx.RowToFunc[T]) {
	s.Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, row)
		*into = all
		return err
	})
}

// firstRow is pgx.Row over rows that have been received already.
type firstRow struct{ rows pgx.Rows }

func (r firstRow) Scan(targets ...any) error {
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(targets...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// send runs the statements in one pipeline with a single Sync at its end, so
// that after an error the server skips all that follow. It returns how many have
// answered, what the database or the connection had against the next, and apart
// from that the first error of a reader; after the latter the remaining
// statements have run unread.
//
// Statements that this connection has not met are prepared first, which costs
// a round trip once.
func send(ctx context.Context, conn *pgx.Conn, statements []*Statement) (done int, failed, unread error) {
	if len(statements) == 0 {
		return 0, nil, nil
	}
	batch := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(statements))}
	for _, s := range statements {
		batch.Queue(s.sql, s.arguments()...)
	}
	results := conn.SendBatch(ctx, batch)
	for _, s := range statements {
		if s.read == nil || unread != nil {
			_, failed = results.Exec()
		} else if rows, err := results.Query(); err != nil {
			failed = err
		} else {
			unread = s.read(rows)
			rows.Close()
			failed = rows.Err()
		}
		if failed != nil {
			break
		}
		done++
	}
	if failed != nil && keepsPlans(failed) {
		// pgx forgets every statement of a failed batch and would prepare and
		// plan them again, at the very moment when contention is highest.
		batch.QueuedQueries = nil
	}
	err := results.Close()
	if failed != nil && unread != nil && Code(failed) == "" && !conn.IsClosed() {
		// A value did not fit its target. The server saw nothing wrong, and its
		// other answers were skipped.
		return done, nil, unread
	}
	if failed == nil {
		failed = err
	}
	return done, failed, unread
}
