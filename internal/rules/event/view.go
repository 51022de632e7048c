package event

import (
	"reflect"
	"strings"
)

// View says how much of an event's data a caller sees.
type View uint8

// The views.
const (
	Whole  View = iota // everything
	Own                // what callers see of what is about themselves: fields with the tag `see:"own"`
	Public             // nothing
)

// Of returns the data with zero values for what the view does not show.
func (v View) Of(data Data) Data {
	if v == Whole {
		return data
	}
	from := reflect.ValueOf(data)
	seen := reflect.New(from.Type()).Elem()
	for f, value := range from.Fields() {
		if v.shows(f) {
			seen.FieldByIndex(f.Index).Set(value)
		}
	}
	return seen.Interface().(Data)
}

// Shows reports whether the view shows the field of the data that has a name in JSON.
func (v View) Shows(data Data, name string) bool {
	for f := range reflect.TypeOf(data).Fields() {
		if jsonName(f) == name {
			return v.shows(f)
		}
	}
	return false
}

func (v View) shows(f reflect.StructField) bool {
	return v == Whole || v == Own && f.Tag.Get("see") == "own"
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
