package pg

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// registerTypes adds the domain's types to a connection:
//
//   - uuid maps to tenant.UUID and every tenant.ID, alone, behind a pointer and in slices. A zero ID is NULL in both
//     directions, also as an array element, so optional references need no wrapper. The database rejects a forgotten ID
//     in a NOT NULL column, and a comparison with one matches nothing.
//   - timestamptz is read in UTC, so a value does not depend on the time zone of the machine.
func registerTypes(conn *pgx.Conn) {
	m := conn.TypeMap()
	id := &pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}}
	m.RegisterType(id)
	m.RegisterType(&pgtype.Type{
		Name: "_uuid", OID: pgtype.UUIDArrayOID, Codec: uuidArrayCodec{&pgtype.ArrayCodec{ElementType: id}},
	})

	instant := &pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	}
	m.RegisterType(instant)
	m.RegisterType(&pgtype.Type{
		Name: "_timestamptz", OID: pgtype.TimestamptzArrayOID, Codec: &pgtype.ArrayCodec{ElementType: instant},
	})
}

// uuidSource and uuidTarget are implemented by the IDs of package tenant.
type (
	uuidSource interface{ Bytes() [16]byte }
	uuidTarget interface{ SetBytes(b [16]byte) }
)

// uuidCodec encodes and decodes IDs without text or reflection. It leaves other types to pgx's codec.
type uuidCodec struct{ pgtype.UUIDCodec }

func (c uuidCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(uuidSource); ok && format == pgtype.BinaryFormatCode {
		return encodeUUID{}
	}
	return c.UUIDCodec.PlanEncode(m, oid, format, value)
}

func (c uuidCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(uuidTarget); ok && format == pgtype.BinaryFormatCode {
		return scanUUID{}
	}
	return c.UUIDCodec.PlanScan(m, oid, format, target)
}

type encodeUUID struct{}

func (encodeUUID) Encode(value any, buf []byte) ([]byte, error) {
	b := value.(uuidSource).Bytes()
	if b == [16]byte{} {
		return nil, nil
	}
	return append(buf, b[:]...), nil
}

type scanUUID struct{}

func (scanUUID) Scan(src []byte, target any) error {
	var b [16]byte
	if src != nil && len(src) != len(b) {
		return fmt.Errorf("uuid of %d bytes", len(src))
	}
	copy(b[:], src)
	target.(uuidTarget).SetBytes(b)
	return nil
}

// uuidArrayCodec encodes slices of IDs in one pass. A batch sends about a dozen of them with up to 128 elements each;
// the generic codec would plan and box every element.
type uuidArrayCodec struct{ *pgtype.ArrayCodec }

var uuidSourceType = reflect.TypeFor[uuidSource]()

func (c uuidArrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	t := reflect.TypeOf(value)
	if format == pgtype.BinaryFormatCode && t.Kind() == reflect.Slice && t.Elem().Implements(uuidSourceType) {
		// The element is a [16]byte or a struct with one such field.
		switch e := t.Elem(); {
		case isUUID(e):
			return encodeUUIDs{wrapped: false}
		case e.Kind() == reflect.Struct && e.NumField() == 1 && isUUID(e.Field(0).Type):
			return encodeUUIDs{wrapped: true}
		}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

func isUUID(t reflect.Type) bool {
	return t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8
}

type encodeUUIDs struct{ wrapped bool }

// Encode writes the binary form of a one-dimensional array: number of dimensions, whether
// any element is NULL, element type, length, lower bound, elements.
func (p encodeUUIDs) Encode(value any, buf []byte) ([]byte, error) {
	slice := reflect.ValueOf(value) // not nil: pgx encodes nil as NULL before it asks a codec
	n := slice.Len()
	if n == 0 {
		buf = binary.BigEndian.AppendUint32(buf, 0)
		buf = binary.BigEndian.AppendUint32(buf, 0)
		return binary.BigEndian.AppendUint32(buf, pgtype.UUIDOID), nil
	}
	buf = binary.BigEndian.AppendUint32(buf, 1)
	nullsAt := len(buf)
	buf = binary.BigEndian.AppendUint32(buf, 0)
	buf = binary.BigEndian.AppendUint32(buf, pgtype.UUIDOID)
	buf = binary.BigEndian.AppendUint32(buf, uint32(n))
	buf = binary.BigEndian.AppendUint32(buf, 1)
	for i := range n {
		element := slice.Index(i)
		if p.wrapped {
			element = element.Field(0)
		}
		if element.IsZero() {
			binary.BigEndian.PutUint32(buf[nullsAt:], 1)
			buf = binary.BigEndian.AppendUint32(buf, ^uint32(0)) // length -1: NULL
			continue
		}
		buf = binary.BigEndian.AppendUint32(buf, 16)
		buf = append(buf, element.Bytes()...)
	}
	return buf, nil
}
