package pg

import (
	"bytes"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// bufferedRows holds rows until the transaction that returned them is durable. It implements pgx.Rows, so a reader
// cannot tell the difference.
type bufferedRows struct {
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	tag    pgconn.CommandTag
	values [][][]byte
	at     int // number of rows read so far; the current one is at-1
	err    error
}

// buffer reads rows to their end. It is the reader of their statement.
func (r *bufferedRows) buffer(rows pgx.Rows) error {
	r.fields = slices.Clone(rows.FieldDescriptions())
	for rows.Next() {
		raw := rows.RawValues()
		row := make([][]byte, len(raw))
		for i, value := range raw {
			row[i] = bytes.Clone(value) // the buffer belongs to the connection; nil stays nil
		}
		r.values = append(r.values, row)
	}
	r.tag = rows.CommandTag()
	return rows.Err()
}

func (r *bufferedRows) Close()                                       { r.at = len(r.values) }
func (r *bufferedRows) Err() error                                   { return r.err }
func (r *bufferedRows) CommandTag() pgconn.CommandTag                { return r.tag }
func (r *bufferedRows) FieldDescriptions() []pgconn.FieldDescription { return r.fields }
func (r *bufferedRows) RawValues() [][]byte                          { return r.values[r.at-1] }
func (r *bufferedRows) Conn() *pgx.Conn                              { return nil }
func (r *bufferedRows) TypeMap() *pgtype.Map                         { return r.types }

func (r *bufferedRows) Next() bool {
	if r.at == len(r.values) {
		return false
	}
	r.at++
	return true
}

func (r *bufferedRows) Scan(targets ...any) error {
	if len(targets) == 1 {
		if scanner, ok := targets[0].(pgx.RowScanner); ok {
			return r.fail(scanner.ScanRow(r))
		}
	}
	return r.fail(pgx.ScanRow(r.types, r.fields, r.RawValues(), targets...))
}

func (r *bufferedRows) Values() ([]any, error) {
	values, targets := make([]any, len(r.fields)), make([]any, len(r.fields))
	for i := range values {
		targets[i] = &values[i]
	}
	return values, r.Scan(targets...)
}

// fail keeps the first error, and ends the rows.
func (r *bufferedRows) fail(err error) error {
	if err != nil && r.err == nil {
		r.err, r.at = err, len(r.values)
	}
	return err
}
