// Package vary makes values that differ from a base in some fields, so that a row of a table says in values what its
// case differs in.
package vary

import (
	"fmt"
	"reflect"
	"strings"
)

// Fields are values by the name of their field. "Rules.HoldTTL" is a field of a field, and nil is a field's zero value.
type Fields map[string]any

// From returns a copy of base with other values in some fields. A field that is a pointer also takes what it points to.
// It panics if there is no such field, or if the value is of another kind.
func From[T any](base T, fields Fields) T {
	for path, value := range fields {
		field := reflect.ValueOf(&base).Elem()
		for name := range strings.SplitSeq(path, ".") {
			if field.Kind() == reflect.Pointer { // what it points to belongs to the base
				own := reflect.New(field.Type().Elem())
				own.Elem().Set(field.Elem())
				field.Set(own)
				field = own.Elem()
			}
			field = field.FieldByName(name)
		}
		if !field.IsValid() {
			panic(fmt.Sprintf("%T has no field %s", base, path))
		}
		field.Set(as(value, field.Type()))
	}
	return base
}

// as returns a value as one of a type.
func as(value any, of reflect.Type) reflect.Value {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return reflect.Zero(of)
	case v.Type().AssignableTo(of):
		return v
	case of.Kind() == reflect.Pointer:
		own := reflect.New(of.Elem())
		own.Elem().Set(as(value, of.Elem()))
		return own
	case v.Kind() == of.Kind(), v.CanInt() && reflect.Zero(of).CanInt(), v.CanInt() && reflect.Zero(of).CanFloat():
		return v.Convert(of)
	}
	panic(fmt.Sprintf("%v is no %v", value, of))
}
