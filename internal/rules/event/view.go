package event

import "reflect"

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
	if _, unknown := data.(Unknown); unknown || v == Whole {
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

func (v View) shows(f reflect.StructField) bool {
	return v == Whole || v == Own && f.Tag.Get("see") == "own"
}
