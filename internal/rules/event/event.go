// Package event has the types of events, and what each of them says: one struct per type, with its names in JSON. The
// event log stores these structs, messages and streams read them, and tags say what callers see of their own events.
//
// What an event is about (its session, booking, member, waitlist entry and offer) is beside its data, in the event log.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Type is the type of an event, named subject.verb.
type Type string

// Data is what an event says that nobody can look up later, such as whether a credit was returned. Its type is that of
// the event. Fields with the tag `see:"own"` are also for callers who see an event only because it is about themselves;
// see View.
//
// Stored events keep the JSON that was written. A field can be added: rows from before lack it, and are read with what
// the list of stored types has for it. A field is never renamed, and its values keep their meaning.
type Data interface {
	Type() Type
}

// stored is a type of data as it is read.
type stored struct {
	absent Data // what a row without any field means
	decode func(text []byte) (Data, error)
}

func as[D Data](absent D) stored {
	return stored{absent, func(text []byte) (Data, error) {
		data := absent
		err := json.Unmarshal(text, &data)
		return data, err
	}}
}

// storedTypes are all types but SessionSeatsChanged, which is never stored. Each file lists its own.
var storedTypes = byType(sessionTypes, bookingTypes, waitlistTypes, tenantTypes)

func byType(areas ...[]stored) map[Type]stored {
	types := make(map[Type]stored)
	for _, s := range slices.Concat(areas...) {
		types[s.absent.Type()] = s
	}
	return types
}

// Decode reads stored data. Fields that it does not know are ignored. An unknown type, and JSON that is not of this
// type, are errors: a reader that skipped an event would never know.
func Decode(t Type, text []byte) (Data, error) {
	s, ok := storedTypes[t]
	switch {
	case !ok:
		return nil, fmt.Errorf("event: no type %q is known", t)
	case string(text) == "{}":
		return s.absent, nil
	case !bytes.HasPrefix(text, []byte("{")):
		return nil, fmt.Errorf("event: the data of %s are no object", t)
	}
	data, err := s.decode(text)
	if err != nil {
		return nil, fmt.Errorf("event: data of %s: %w", t, err)
	}
	return data, nil
}

// Unknown is the data of a type that this version does not know, because a newer one wrote them.
type Unknown struct{ Of Type }

// Type implements Data.
func (u Unknown) Type() Type { return u.Of }

// DecodeKnown is Decode for readers that pass on what happened and act on none of it: an unknown type is no error.
func DecodeKnown(t Type, text []byte) (Data, error) {
	if _, ok := storedTypes[t]; !ok {
		return Unknown{t}, nil
	}
	return Decode(t, text)
}

// Types returns all types in alphabetical order.
func Types() []Type {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(storedTypes)), SessionSeatsChanged{}.Type())))
}
