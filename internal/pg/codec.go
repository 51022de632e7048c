package pg

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// registerTypes teaches a connection the domain's values:
//
//   - uuid is tenant.UUID and every tenant.ID, alone, behind a pointer and in
//     slices. A zero id is NULL, in both directions and as an element of an
//     array too, so optional references need no wrapper. Where the column is
//     NOT NULL a forgotten id is then refused by the database, and where it is
//     compared it matches nothing.
//   - timestamptz is read in UTC, so that a value does not depend on the zone
//     of the machine that read it.
func registerTypes(conn *pgx.Conn) {
	m := conn.TypeMap()
	id := &pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}}
	m.RegisterType(id)
	m.RegisterType(&pgtype.Type{Name: "_uuid", OID: pgtype.UUIDArrayOID, Codec: uuidArrayCodec{&pgtype.ArrayCodec{ElementType: id}}})

	instant := &pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}}
	m.RegisterType(instant)
	m.RegisterType(&pgtype.Type{Name: "_timestamptz", OID: pgtype.TimestamptzArrayOID, Codec: &pgtype.ArrayCodec{ElementType: instant}})
}

// uuidSource and uuidTarget are what the identifiers of package tenant offer.
type (
	uuidSource interface{ Bytes() [16]byte }
	uuidTarget interface{ SetBytes(b [16]byte) }
)

// uuidCodec reads and writes identifiers without detours through text or
// reflection; whatever it does not know is left to pgx's own codec.
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

// uuidArrayCodec writes slices of identifiers in one pass. A batch sends a
// dozen of them with up to 128 elements each; the generic codec would plan and
// box every element.
type uuidArrayCodec struct{ *pgtype.ArrayCodec }

var uuidSourceType = reflect.TypeFor[uuidSource]()

func (c uuidArrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if t := reflect.TypeOf(value); format == pgtype.BinaryFormatCode && t.Kind() == reflect.Slice && t.Elem().Implements(uuidSourceType) {
		// The element is the array itself, or a struct around it.
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

// Encode writes the binary form of a one-dimensional array: dimensions, whether
// any element is NULL, element type, length, lower bound, elements.
func (p encodeUUIDs) Encode(value any, buf []byte) ([]byte, error) {
	slice := reflect.ValueOf(value) // not nil: that is NULL before any codec is asked
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
