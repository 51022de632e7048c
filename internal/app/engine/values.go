package engine

import (
	"slices"

	"github.com/berthhq/berth/internal/fault"
)

// Distinct drops repeated values and keeps the order of the rest.
func Distinct[T comparable](values []T) []T {
	seen := make(map[T]bool)
	return slices.DeleteFunc(slices.Clone(values), func(v T) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// CheckVersion rejects an edit of an entity that was edited since it was read.
func CheckVersion(expect *int, version int) error {
	if expect != nil && *expect != version {
		return ErrEdited
	}
	return nil
}

// ErrEdited says that something was edited since it was read.
var ErrEdited = fault.New(fault.Aborted, fault.ETagMismatch,
	"Someone else has edited this. Read it again, then try again.").WithField("etag")

// ReasonData returns the data of an event with a reason.
func ReasonData(reason string) map[string]any {
	if reason == "" {
		return nil
	}
	return map[string]any{"reason": reason}
}
