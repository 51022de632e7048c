package pg

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/tenant"
)

// Column pairs a column of a table with the value of a row that it is scanned into and written from: a pointer, or a
// Field. The functions that make one say when it is written.
type Column struct {
	sql   string
	value any
	use   use
}

type use uint8

const (
	always use = iota
	asKey
	onInsert
	onUpdate
	never
)

// Col is a column that is written when its row is inserted and whenever it is updated.
func Col(name string, value any) Column { return Column{name, value, always} }

// Key is a column that tells a row from the others of its tenant. It never changes.
func Key(name string, value any) Column { return Column{name, value, asKey} }

// Fixed is a column that is written when its row is inserted, and never changes.
func Fixed(name string, value any) Column { return Column{name, value, onInsert} }

// Later is a column that a new row has the default of. It is written when the row is updated.
func Later(name string, value any) Column { return Column{name, value, onUpdate} }

// Read is an expression that is only read: a counter, a column of a joined table, a subquery.
func Read(expression string, value any) Column { return Column{expression, value, never} }

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
	return reflect.ValueOf(c.value).Elem().Interface()
}

// sqlType is what Postgres calls the values of a column. Where the column is of a wider type than this it converts
// them.
func (c Column) sqlType() string {
	switch c.value.(type) {
	case list, document:
		return "jsonb"
	case derived:
		return "text"
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

// Derived is what is made of a text when it is written. It is never read.
func Derived(text *string, of func(string) string) Field { return derived{text, of} }

type derived struct {
	text *string
	of   func(string) string
}

func (d derived) Target() any { return new(string) }

func (d derived) Value() any { return d.of(*d.text) }

// list is any listOf.
type list interface{ document() any }

// array collects the values that a column has in several rows, as an argument for unnest.
type array interface {
	begin(rows int)
	add()
	end() any
}

func (c Column) array() array {
	switch v := c.value.(type) {
	case *string:
		return &copies[string]{from: v}
	case *int:
		return &collection[int64]{value: func() int64 { return int64(*v) }} // for which pgx needs no reflection
	case *bool:
		return &copies[bool]{from: v}
	case *time.Time:
		return &copies[time.Time]{from: v}
	case **time.Time:
		return &copies[*time.Time]{from: v}
	case *[]byte:
		return &copies[[]byte]{from: v}
	case uuidSource:
		return &collection[tenant.UUID]{value: func() tenant.UUID { return v.Bytes() }}
	case list:
		return &collection[any]{value: v.document}
	default:
		return &collection[any]{value: c.written}
	}
}

// copies are what a pointer leads to.
type copies[V any] struct {
	from *V
	all  []V
}

func (c *copies[V]) begin(rows int) { c.all = make([]V, 0, rows) }
func (c *copies[V]) add()           { c.all = append(c.all, *c.from) }
func (c *copies[V]) end() any       { return c.all }

// collection is what a function gives.
type collection[V any] struct {
	value func() V
	all   []V
}

func (c *collection[V]) begin(rows int) { c.all = make([]V, 0, rows) }
func (c *collection[V]) add()           { c.all = append(c.all, c.value()) }
func (c *collection[V]) end() any       { return c.all }
