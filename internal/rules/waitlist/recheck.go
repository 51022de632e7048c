package waitlist

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
)

// RecheckDelay is how long after its reason has gone a passed-over entry is checked again. What happens to many members
// within that time is handled together.
const RecheckDelay = time.Second

// RecheckReasons are the verdicts on an entry that can change without an edit of the rules and without a freed seat:
// its member got credits or a plan, became active, or cancelled another booking.
func RecheckReasons() []VerdictReason {
	return []VerdictReason{
		VerdictReason(fault.MemberNotFound), VerdictReason(fault.AlreadyBooked), VerdictReason(fault.NoActivePlan),
		VerdictReason(fault.PlanChoiceRequired), VerdictReason(fault.OutstandingBalance), VerdictReason(fault.NoCredits),
		VerdictReason(fault.DailyLimit), VerdictReason(fault.WeeklyLimit), VerdictReason(fault.Overlap),
	}
}
