package testkit

import "github.com/berthhq/berth/internal/fault"

// Reasons counts errors by reason; "" is success.
func Reasons(errs []error) map[fault.Reason]int {
	count := make(map[fault.Reason]int)
	for _, err := range errs {
		reason := fault.ReasonOf(err)
		if err != nil && reason == "" {
			reason = fault.Reason(err.Error())
		}
		count[reason]++
	}
	return count
}
