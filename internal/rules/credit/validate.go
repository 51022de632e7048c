package credit

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
)

const (
	day     = 24 * time.Hour
	maxName = 200 // characters
)

// ValidateEdit is Validate for an edit, which cannot change the kind of a plan. A name that stays is not judged again.
func (p Plan) ValidateEdit(before Plan) error {
	if p.Kind != before.Kind {
		return fault.Invalid("plan.kind", "A plan's kind cannot be changed.")
	}
	p.Name = field.Kept(before.Name, p.Name)
	return p.Validate()
}

// Validate rejects a plan with invalid fields: INVALID_FIELD.
func (p Plan) Validate() error {
	problem := field.CheckName(p.Name, maxName)
	switch {
	case problem != "":
		return fault.Invalid("plan.name", "%s", problem)
	case p.Kind == Credits && (p.Credits < 1 || p.Credits > 10_000):
		return fault.Invalid("plan.credits", "A plan of the kind CREDITS grants 1 to 10,000 credits.")
	case p.Kind != Credits && p.Credits != 0:
		return fault.Invalid("plan.credits", "Only plans of the kind CREDITS grant credits.")
	case p.Kind != Credits && p.Period != nil:
		return fault.Invalid("plan.period", "Only plans of the kind CREDITS have periods.")
	case p.Period != nil && (*p.Period < day || *p.Period > 400*day):
		return fault.Invalid("plan.period", "A period lasts 1 to 400 days.")
	case p.Term != nil && (*p.Term < day || *p.Term > 3660*day):
		return fault.Invalid("plan.term", "A term lasts 1 to 3,660 days.")
	case p.DailyLimit != nil && *p.DailyLimit < 1:
		return fault.Invalid("plan.daily_limit", "A limit is at least 1. For no limit, leave it out.")
	case p.WeeklyLimit != nil && *p.WeeklyLimit < 1:
		return fault.Invalid("plan.weekly_limit", "A limit is at least 1. For no limit, leave it out.")
	case p.Price.Currency == "" && (p.Price.Units != 0 || p.Price.Nanos != 0):
		return fault.Invalid("plan.price.currency_code", "A price needs a currency.")
	case p.Price.Units < 0 || p.Price.Nanos < 0 || p.Price.Nanos > 999_999_999:
		return fault.Invalid("plan.price", "A price must not be negative, and its nanos must be below 1,000,000,000.")
	}
	return nil
}
