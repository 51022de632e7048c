package catalog

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
)

// MaxDays is how many days a report can have: those of a leap year.
const MaxDays = 366

// CheckPeriod checks the first and the last day of a report: INVALID_FIELD.
func CheckPeriod(from, to civil.Date) error {
	switch {
	case !from.Valid():
		return fault.Invalid("filter.start_date", "There is no such day.")
	case !to.Valid():
		return fault.Invalid("filter.end_date", "There is no such day.")
	case to.Before(from):
		return fault.Invalid("filter.end_date", "The last day must not be before the first.")
	case to.DaysSince(from) >= MaxDays:
		return fault.Invalid("filter.end_date", "At most %d days at once.", MaxDays)
	}
	return nil
}

// CheckPeriodLength checks the length of a report that is asked for by instants, which can be in any zone:
// INVALID_FIELD.
func CheckPeriodLength(period civil.Span) error {
	if period.Length() > (MaxDays+1)*24*time.Hour {
		return fault.Invalid("within", "At most %d days at once.", MaxDays)
	}
	return nil
}
