package pg

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// SQL registers a statement that is put together from parts, and returns its text. Call it in the initializer of a
// package variable, so that the text is built once and Statements knows it.
func SQL(text string) string {
	statements = append(statements, text)
	return text
}

var statements []string

// Statements returns the texts that SQL registered, so that a test can prepare each of them.
func Statements() []string { return slices.Clone(statements) }

// Batch is a list of statements that are sent to the database in one round trip.
// Fill a new one for each use: a transaction's body may run several times.
type Batch struct {
	statements []*Statement
	lookups    map[any]any // *Lookup[K, V] → *lookupQuery[K, V]
}

// Queue adds a statement. Its result is discarded unless a method of Statement sets a reader.
func (b *Batch) Queue(sql string, args ...any) *Statement {
	s := &Statement{sql: sql, args: args}
	b.statements = append(b.statements, s)
	return s
}

// Len is the number of statements.
func (b *Batch) Len() int { return len(b.statements) }

// Statement is one statement of a batch. It has at most one reader: the last one set wins.
// If a reader fails, the rest of the batch is not read and Load returns the error.
// The error does not fail the transaction.
type Statement struct {
	sql  string
	args []any
	bind func() []any // if set, returns the arguments when the statement is sent
	read func(rows pgx.Rows) error
}

func (s *Statement) arguments() []any {
	if s.bind != nil {
		return s.bind()
	}
	return s.args
}

// Query sets a reader of all rows. The reader need not close them.
func (s *Statement) Query(read func(rows pgx.Rows) error) { s.read = read }

// QueryRow sets a reader of the first row. Its Scan returns pgx.ErrNoRows if there is none.
func (s *Statement) QueryRow(read func(row pgx.Row) error) {
	s.read = func(rows pgx.Rows) error { return read(firstRow{rows}) }
}

// Scan reads the first row into the targets. The batch fails with pgx.ErrNoRows if there is none.
func (s *Statement) Scan(targets ...any) {
	s.QueryRow(func(row pgx.Row) error { return row.Scan(targets...) })
}

// ScanAny is Scan for a row that may be missing. Without a row the targets stay as they are.
func (s *Statement) ScanAny(targets ...any) {
	s.QueryRow(func(row pgx.Row) error {
		if err := row.Scan(targets...); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
}

// Each calls a function for each row, after it was read into the targets.
func (s *Statement) Each(row func(), targets ...any) {
	s.Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, targets, func() error {
			row()
			return nil
		})
		return err
	})
}

// Collect reads all rows of a statement into a slice. It replaces the slice's contents,
// so a transaction's body that runs again starts from nothing.
//
//	pg.Collect(batch.Queue(`SELECT …`), &sessions, pgx.RowToStructByPos[sessionRow])
func Collect[T any](s *Statement, into *[]T, row pgx.RowToFunc[T]) {
	s.Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, row)
		*into = all
		return err
	})
}

// firstRow implements pgx.Row over rows that have been received.
type firstRow struct{ rows pgx.Rows }

func (r firstRow) Scan(targets ...any) error {
	if r.rows.Next() {
		return r.rows.Scan(targets...) // send reads to the end, and finds an error of later rows
	}
	return cmp.Or(r.rows.Err(), pgx.ErrNoRows)
}

// send runs the statements in one pipeline with a single Sync at its end, so the server skips everything after an
// error. It returns the number of statements that succeeded; dbErr, the error of the database or the connection that
// stopped the next one; and readErr, the first error of a reader. After a reader's error the remaining statements run,
// but nothing reads their results.
//
// Statements that are new to this connection are prepared first, which costs one extra round trip once.
func send(ctx context.Context, conn *pgx.Conn, statements []*Statement) (done int, dbErr, readErr error) {
	if len(statements) == 0 {
		return 0, nil, nil
	}
	batch := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(statements))}
	for _, s := range statements {
		batch.Queue(s.sql, s.arguments()...)
	}
	results := conn.SendBatch(ctx, batch)
	for _, s := range statements {
		if s.read == nil || readErr != nil {
			_, dbErr = results.Exec()
		} else if rows, err := results.Query(); err != nil {
			dbErr = err
		} else {
			readErr = s.read(rows)
			rows.Close()
			dbErr = rows.Err()
		}
		if dbErr != nil {
			break
		}
		done++
	}
	if keepsPrepared(dbErr) {
		// pgx drops all prepared statements of a failed batch. It would prepare and plan them again,
		// just when contention is highest.
		batch.QueuedQueries = nil
	}
	err := results.Close()
	if dbErr != nil && readErr != nil && Code(dbErr) == "" && !conn.IsClosed() {
		// A value did not fit its target. The server reported no error; pgx skipped its other results.
		return done, nil, readErr
	}
	if dbErr == nil {
		dbErr = err
	}
	return done, dbErr, readErr
}
