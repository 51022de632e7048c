package settings

import (
	"slices"
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// Number rejects a number that is out of bounds.
func Number(least, most int) func(field string, value int) error {
	return func(field string, value int) error {
		if value < least || value > most {
			return fault.Invalid(field, "It is %d to %d.", least, most)
		}
		return nil
	}
}

// Span rejects a duration that is out of bounds, or not a whole number of seconds, because columns store seconds.
func Span(least, most time.Duration) func(field string, value time.Duration) error {
	return func(field string, value time.Duration) error {
		switch {
		case value < least || value > most:
			return fault.Invalid(field, "It is %s to %s long.", least, most)
		case value%time.Second != 0:
			return fault.Invalid(field, "It is a whole number of seconds.")
		}
		return nil
	}
}

// OneOf rejects a value that is not in the list.
func OneOf[T ~string](all ...T) func(field string, value T) error {
	return func(field string, value T) error {
		if !slices.Contains(all, value) {
			return fault.Invalid(field, "It is one of %v.", all)
		}
		return nil
	}
}
