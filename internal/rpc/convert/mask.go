package convert

// Fields are the fields of an entity that an update mask can name, each with a function that sets it to the value of
// the request.
type Fields map[string]func()

// Field returns a function that sets a field to a value.
func Field[T any](field *T, value T) func() { return func() { *field = value } }

// Set sets the fields that the paths name. It returns the first path that names none, or "". The contract's rules
// accept paths into a field, such as name.x.
func (f Fields) Set(paths []string) (unknown string) {
	for _, path := range paths {
		if set := f[path]; set != nil {
			set()
		} else if unknown == "" {
			unknown = path
		}
	}
	return unknown
}
