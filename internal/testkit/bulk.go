package testkit

import "github.com/berthhq/berth/internal/rules/session"

// WholeWeek is the filter of week.
func WholeWeek() session.Filter { return Week().Filter }
