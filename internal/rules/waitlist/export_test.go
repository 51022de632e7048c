package waitlist

import "cel.dev/cel-go/cel"

// Variable is a variable that expressions can use.
type Variable struct {
	Name string
	Type string // as CEL writes it
	Doc  string
}

// Variables returns the variables of expressions, in the order of the documentation.
func Variables() []Variable {
	all := make([]Variable, len(variables))
	for i, v := range variables {
		all[i] = Variable{Name: v.name, Type: cel.FormatCELType(v.is), Doc: v.doc}
	}
	return all
}
