package convert

import "strings"

// The values of the contract's enums are the domain's words behind a prefix, so
// both directions go by name. A word that the contract lacks maps to UNSPECIFIED.

func Enum[E ~int32, S ~string](values map[string]int32, prefix string, word S) E {
	return E(values[prefix+string(word)])
}

// Word gives "" for UNSPECIFIED.
func Word[S ~string, E interface {
	~int32
	String() string
}](prefix string, value E) S {
	if value == 0 {
		return ""
	}
	return S(strings.TrimPrefix(value.String(), prefix))
}
