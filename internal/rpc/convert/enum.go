package convert

import "strings"

// Enum returns the value of an enum of the contract whose name is the prefix and the domain's name of it. A name that
// the contract does not have becomes UNSPECIFIED.
func Enum[E ~int32, S ~string](values map[string]int32, prefix string, name S) E {
	return E(values[prefix+string(name)])
}

// EnumName is the inverse of Enum: it returns the name of a value without the prefix. UNSPECIFIED becomes "".
func EnumName[S ~string, E interface {
	~int32
	String() string
}](prefix string, value E) S {
	if value == 0 {
		return ""
	}
	return S(strings.TrimPrefix(value.String(), prefix))
}
