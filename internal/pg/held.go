package pg

import (
	"bytes"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// heldRows are rows kept until it is certain that the transaction which
// returned them is durable. They are pgx.Rows, so that a reader cannot tell.
type heldRows struct {
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	tag    pgconn.CommandTag
	values [][][]byte
	at     int // rows read so far; the current one is at-1
	err    error
}

// hold reads rows to their end. It is the reader of their statement.
func (h *heldRows) hold(rows pgx.Rows) error {
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

func (h *heldRows) Close()                                       { h.at = len(h.values) + 1 }
func (h *heldRows) Err() error                                   { return h.err }
func (h *heldRows) CommandTag() pgconn.CommandTag                { return h.tag }
func (h *heldRows) FieldDescriptions() []pgconn.FieldDescription { return h.fields }
func (h *heldRows) RawValues() [][]byte                          { return h.values[h.at-1] }
func (h *heldRows) Conn() *pgx.Conn                              { return nil }
func (h *heldRows) TypeMap() *pgtype.Map                         { return h.types }

func (h *heldRows) Next() bool {
	if h.at < len(h.values) {
		h.at++
		return true
	}
	h.Close()
	return false
}

func (h *heldRows) Scan(targets ...any) error {
	if len(targets) == 1 {
		if scanner, ok := targets[0].(pgx.RowScanner); ok {
			return h.fail(scanner.ScanRow(h))
		}
	}
	return h.fail(pgx.ScanRow(h.types, h.fields, h.RawValues(), targets...))
}

func (h *heldRows) Values() ([]any, error) {
	values := make([]any, len(h.fields))
	for i, field := range h.fields {
		if err := h.types.Scan(field.DataTypeOID, field.Format, h.RawValues()[i], &values[i]); err != nil {
			return nil, h.fail(err)
		}
	}
	return values, nil
}

func (h *heldRows) fail(err error) error {
	if err != nil && h.err == nil {
		h.err = err
		h.Close()
	}
	return err
}
