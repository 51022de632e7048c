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
func (h *bufferedRows) buffer(rows pgx.Rows) error {
	h.fields = slices.Clone(rows.FieldDescriptions())
	for rows.Next() {
		raw := rows.RawValues()
		row := make([][]byte, len(raw))
		for i, value := range raw {
			row[i] = bytes.Clone(value) // the buffer belongs to the connection; nil stays nil
		}
		h.values = append(h.values, row)
	}
	h.tag = rows.CommandTag()
	return rows.Err()
}

func (h *bufferedRows) Close()                                       { h.at = len(h.values) }
func (h *bufferedRows) Err() error                                   { return h.err }
func (h *bufferedRows) CommandTag() pgconn.CommandTag                { return h.tag }
func (h *bufferedRows) FieldDescriptions() []pgconn.FieldDescription { return h.fields }
func (h *bufferedRows) RawValues() [][]byte                          { return h.values[h.at-1] }
func (h *bufferedRows) Conn() *pgx.Conn                              { return nil }
func (h *bufferedRows) TypeMap() *pgtype.Map                         { return h.types }

func (h *bufferedRows) Next() bool {
	if h.at == len(h.values) {
		return false
	}
	h.at++
	return true
}

func (h *bufferedRows) Scan(targets ...any) error {
	if len(targets) == 1 {
		if scanner, ok := targets[0].(pgx.RowScanner); ok {
			return h.fail(scanner.ScanRow(h))
		}
	}
	return h.fail(pgx.ScanRow(h.types, h.fields, h.RawValues(), targets...))
}

func (h *bufferedRows) Values() ([]any, error) {
	values, targets := make([]any, len(h.fields)), make([]any, len(h.fields))
	for i := range values {
		targets[i] = &values[i]
	}
	return values, h.Scan(targets...)
}

// fail keeps the first error, and ends the rows.
func (h *bufferedRows) fail(err error) error {
	if err != nil && h.err == nil {
		h.err, h.at = err, len(h.values)
	}
	return err
}
