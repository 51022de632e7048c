package pg

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/berthhq/berth/internal/civil"
)

// Field is a value that its column holds in another form than Go does.
type Field interface {
	// Target is what the column is scanned into.
	Target() any
	// Value is what is written. It stays as it is when the field changes.
	Value() any
}

// Null is a text or a time of which the zero value is NULL in the database.
func Null[T string | time.Time](value *T) Field {
	if text, ok := any(value).(*string); ok {
		return nullText{text}
	}
	return nullTime{any(value).(*time.Time)}
}

// OrNull gives NULL for a zero time, as an argument.
func OrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

type nullText struct{ text *string }

func (n nullText) Target() any { return n }

func (n nullText) Value() any {
	if *n.text == "" {
		return nil
	}
	return *n.text
}

// ScanText implements pgtype.TextScanner.
func (n nullText) ScanText(v pgtype.Text) error {
	*n.text = v.String
	return nil
}

type nullTime struct{ time *time.Time }

func (n nullTime) Target() any { return n }

func (n nullTime) Value() any {
	if n.time.IsZero() {
		return nil
	}
	return *n.time
}

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (n nullTime) ScanTimestamptz(v pgtype.Timestamptz) error {
	*n.time = v.Time
	return nil
}

// JSON is a value of which the column holds the JSON: value points to it. A nil pointer and a nil json.RawMessage are
// NULL, and a nil map is an empty object.
func JSON(value any) Field { return document{value} }

type document struct{ value any }

func (d document) Target() any { return d.value }

func (d document) Value() any {
	if raw, ok := d.value.(*json.RawMessage); ok {
		return []byte(*raw)
	}
	switch v := reflect.ValueOf(d.value).Elem(); {
	case v.Kind() == reflect.Map && v.IsNil():
		return []byte("{}")
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil
	}
	return Encode(d.value)
}

// Encode gives the JSON of a value for a column. The value is a plain one, of which there always is JSON.
func Encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("pg: " + err.Error())
	}
	return text
}

// List is a list of which the column, an array, is never NULL.
func List[E any](values *[]E) Field { return listOf[E]{values} }

type listOf[E any] struct{ values *[]E }

func (l listOf[E]) Target() any { return l.values }

func (l listOf[E]) Value() any {
	if *l.values == nil {
		return []E{}
	}
	return *l.values
}

func (l listOf[E]) document() any { return Encode(l.Value()) }

// list is any listOf.
type list interface{ document() any }

func (c Column) target() any {
	if field, ok := c.value.(Field); ok {
		return field.Target()
	}
	return c.value
}

// written is what the value is now. It does not point to it.
func (c Column) written() any {
	if field, ok := c.value.(Field); ok {
		return field.Value()
	}
	v := reflect.ValueOf(c.value).Elem()
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return v.Interface()
}

// sqlType is what Postgres calls the values of a column. Where the column is of a wider type than this it converts
// them.
func (c Column) sqlType() string {
	switch c.value.(type) {
	case list, document:
		return "jsonb"
	}
	switch c.target().(type) {
	case uuidSource:
		return "uuid"
	case pgtype.TextScanner:
		return "text"
	case pgtype.TimestamptzScanner, *time.Time, **time.Time:
		return "timestamptz"
	case *time.Duration, **time.Duration, *int64, **int64:
		return "bigint"
	case *civil.Date:
		return "date"
	case *civil.TimeOfDay, **civil.TimeOfDay:
		return "time"
	case *[]byte:
		return "bytea"
	}
	t := reflect.TypeOf(c.value).Elem()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32:
		return "integer"
	case reflect.Int64:
		return "bigint"
	case reflect.Float64:
		return "double precision"
	default:
		panic(fmt.Sprintf("pg: no type is known for the column %s, a %v", c.sql, t))
	}
}
