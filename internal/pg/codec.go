package pg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/berthhq/berth/internal/civil"
)

// registerTypes adds the domain's types to a connection:
//
//   - uuid maps to tenant.UUID and every tenant.ID, alone, behind a pointer and in slices. A zero ID is NULL in both
//     directions, also as an array element, so optional references need no wrapper. The database rejects a forgotten ID
//     in a NOT NULL column, and a comparison with one matches nothing.
//   - timestamptz is read in UTC, so a value does not depend on the time zone of the machine.
//   - date maps to civil.Date; a zero one is NULL, like an ID. time maps to civil.TimeOfDay.
//   - a time.Duration in an integer column is a number of whole seconds.
func registerTypes(conn *pgx.Conn) error {
	m := conn.TypeMap()
	var unknown error
	lookUp := func(oid uint32) *pgtype.Type {
		known, ok := m.TypeForOID(oid)
		if !ok {
			unknown = errors.Join(unknown, fmt.Errorf("pg: pgx does not know the type %d", oid))
			return &pgtype.Type{OID: oid}
		}
		return known
	}
	register := func(oid uint32, codec pgtype.Codec) *pgtype.Type {
		own := &pgtype.Type{Name: lookUp(oid).Name, OID: oid, Codec: codec}
		m.RegisterType(own)
		return own
	}
	id := register(pgtype.UUIDOID, uuidCodec{})
	register(pgtype.UUIDArrayOID, uuidArrayCodec{&pgtype.ArrayCodec{ElementType: id}})

	instant := register(pgtype.TimestamptzOID, &pgtype.TimestamptzCodec{ScanLocation: time.UTC})
	register(pgtype.TimestamptzArrayOID, arrayCodec[time.Time]{&pgtype.ArrayCodec{ElementType: instant}, encodeInstant})
	text := lookUp(pgtype.TextOID)
	register(pgtype.TextArrayOID, arrayCodec[string]{&pgtype.ArrayCodec{ElementType: text}, encodeText})

	register(pgtype.DateOID, numberCodec[civil.Date]{
		Codec: pgtype.DateCodec{}, width: 4, zeroIsNull: true,
		number: func(d civil.Date) int64 { return int64(d.DaysSince(firstDay)) },
		value:  func(days int64) civil.Date { return firstDay.AddDays(int(days)) },
	})
	register(pgtype.TimeOID, numberCodec[civil.TimeOfDay]{
		Codec: pgtype.TimeCodec{}, width: 8,
		number: func(c civil.TimeOfDay) int64 { return c.SinceMidnight().Microseconds() },
		value:  func(n int64) civil.TimeOfDay { return civil.TimeOf(time.UnixMicro(n), time.UTC) },
	})
	span := numberCodec[time.Duration]{
		Codec: pgtype.Int8Codec{}, width: 8,
		number: func(d time.Duration) int64 { return int64(d / time.Second) },
		value:  func(n int64) time.Duration { return time.Duration(n) * time.Second },
	}
	register(pgtype.Int8OID, span)
	span.Codec, span.width = pgtype.Int4Codec{}, 4
	register(pgtype.Int4OID, span)
	return unknown
}

// Postgres counts days and microseconds from this one.
var (
	firstDay     = civil.Date{Year: 2000, Month: time.January, Day: 1}
	firstInstant = firstDay.On(time.UTC).UnixMicro()
)

// numberCodec reads and writes values of one Go type that are numbers of so many bytes in the database. All other
// values are left to pgx's own codec.
type numberCodec[T comparable] struct {
	pgtype.Codec
	width      int
	zeroIsNull bool
	number     func(T) int64
	value      func(int64) T
}

// PlanEncode implements pgtype.Codec.
func (c numberCodec[T]) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(T); ok && format == pgtype.BinaryFormatCode {
		return c
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// PlanScan implements pgtype.Codec.
func (c numberCodec[T]) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*T); ok && format == pgtype.BinaryFormatCode {
		return c
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

// Encode implements pgtype.EncodePlan.
func (c numberCodec[T]) Encode(value any, buf []byte) ([]byte, error) {
	v := value.(T)
	switch n := c.number(v); {
	case c.zeroIsNull && v == *new(T):
		return nil, nil
	case c.width == 8:
		return binary.BigEndian.AppendUint64(buf, uint64(n)), nil
	case n != int64(int32(n)):
		return nil, fmt.Errorf("%v does not fit", value)
	default:
		return binary.BigEndian.AppendUint32(buf, uint32(n)), nil
	}
}

// Scan implements pgtype.ScanPlan.
func (c numberCodec[T]) Scan(src []byte, target any) error {
	into := target.(*T)
	switch {
	case src == nil && c.zeroIsNull:
		*into = *new(T)
	case len(src) != c.width:
		return fmt.Errorf("%d bytes for a %T", len(src), *into) // NULL has none
	case c.width == 4:
		*into = c.value(int64(int32(binary.BigEndian.Uint32(src))))
	default:
		*into = c.value(int64(binary.BigEndian.Uint64(src)))
	}
	return nil
}

func encodeText(s string, buf []byte) []byte { return append(buf, s...) }

func encodeInstant(t time.Time, buf []byte) []byte {
	return binary.BigEndian.AppendUint64(buf, uint64(t.UnixMicro()-firstInstant))
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
	if src != nil && len(src) != len(b) { // NULL has none
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

const uuidSize = 16

func (c uuidArrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	t := reflect.TypeOf(value)
	if format == pgtype.BinaryFormatCode && t.Kind() == reflect.Slice && t.Elem().Implements(uuidSourceType) &&
		holdsUUID(t.Elem()) {
		return encodeUUIDs{}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

// holdsUUID reports whether a value is a [16]byte, or a struct that has nothing else.
func holdsUUID(t reflect.Type) bool {
	if t.Kind() == reflect.Struct && t.NumField() == 1 {
		t = t.Field(0).Type
	}
	return t.Kind() == reflect.Array && t.Len() == uuidSize && t.Elem().Kind() == reflect.Uint8
}

type encodeUUIDs struct{}

// Encode implements pgtype.EncodePlan.
func (encodeUUIDs) Encode(value any, buf []byte) ([]byte, error) {
	slice := reflect.ValueOf(value) // not nil: pgx encodes nil as NULL before it asks a codec
	return appendArray(buf, pgtype.UUIDOID, slice.Len(), func(buf []byte, i int) []byte {
		element := slice.Index(i) // a tenant.UUID, or an ID that has nothing else
		if element.Kind() == reflect.Struct {
			element = element.Field(0)
		}
		if element.IsZero() {
			return nil
		}
		return append(buf, element.Bytes()...)
	}), nil
}

// arrayCodec does the same for slices of values and of pointers to them, which are NULL where they are nil.
type arrayCodec[V any] struct {
	*pgtype.ArrayCodec
	encode func(value V, buf []byte) []byte
}

// PlanEncode implements pgtype.Codec.
func (c arrayCodec[V]) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	switch value.(type) {
	case []V, []*V:
		if format == pgtype.BinaryFormatCode {
			return c
		}
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

// Encode implements pgtype.EncodePlan.
func (c arrayCodec[V]) Encode(value any, buf []byte) ([]byte, error) {
	if all, ok := value.([]V); ok {
		return appendArray(buf, c.ElementType.OID, len(all), func(buf []byte, i int) []byte {
			return c.encode(all[i], buf)
		}), nil
	}
	all := value.([]*V)
	return appendArray(buf, c.ElementType.OID, len(all), func(buf []byte, i int) []byte {
		if all[i] == nil {
			return nil
		}
		return c.encode(*all[i], buf)
	}), nil
}

// appendArray writes the binary form of a one-dimensional array: dimensions, whether any element is NULL, element type,
// length, lower bound, elements. No bytes are NULL.
func appendArray(buf []byte, element uint32, length int, appendTo func(buf []byte, i int) []byte) []byte {
	buf = binary.BigEndian.AppendUint32(buf, 1)
	nullsAt := len(buf)
	buf = binary.BigEndian.AppendUint32(buf, 0)
	buf = binary.BigEndian.AppendUint32(buf, element)
	buf = binary.BigEndian.AppendUint32(buf, uint32(length))
	buf = binary.BigEndian.AppendUint32(buf, 1)
	for i := range length {
		at := len(buf)
		buf = binary.BigEndian.AppendUint32(buf, ^uint32(0)) // length -1: NULL
		if with := appendTo(buf, i); with != nil {
			buf = with
			binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
		} else {
			binary.BigEndian.PutUint32(buf[nullsAt:], 1)
		}
	}
	return buf
}
