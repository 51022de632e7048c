// Package faulttest writes errors as text, so that a table of a test can say in one column what a client gets.
package faulttest

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/berthhq/berth/internal/fault"
)

// Text returns what programs read of an error: its reason, its field and its metadata by key, as in
// "PARTY_SIZE @party_size max=4 min=1". It returns "" for nil, and the whole text of any other error.
func Text(err error) string {
	if err == nil {
		return ""
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err.Error()
	}
	parts := []string{string(f.Reason)}
	if f.Field != "" {
		parts = append(parts, "@"+f.Field)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		parts = append(parts, key+"="+f.Metadata[key])
	}
	return strings.Join(parts, " ")
}
