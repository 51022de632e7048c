package credit

import (
	"strings"
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// ErrOwnCredits is that of callers who would change their own credits.
var ErrOwnCredits = fault.Own("Someone else manages your own plans and credits, or an owner does.")

// ImportPlans has the plans that a file names, and what its rows are judged by.
type ImportPlans struct {
	byName map[string]Plan // in lower case
	zone   *time.Location
	caller tenant.Caller // with the roles that they have now
}

// NewImportPlans returns the plans for rows that a caller imports, whose days are in a zone.
func NewImportPlans(plans []Plan, zone *time.Location, caller tenant.Caller) ImportPlans {
	p := ImportPlans{byName: make(map[string]Plan), zone: zone, caller: caller}
	for _, plan := range plans {
		p.byName[strings.ToLower(plan.Name)] = plan
	}
	return p
}

// IDs returns the ids of the plans.
func (p ImportPlans) IDs() []tenant.PlanID {
	var ids []tenant.PlanID
	for _, plan := range p.byName {
		ids = append(ids, plan.ID)
	}
	return ids
}

// Start makes the subscription of a row, or adds its problems.
func (p ImportPlans) Start(
	row *ImportRow, id tenant.SubscriptionID, actor string, now time.Time,
) (Subscription, []Line, bool) {
	plan, found := p.byName[strings.ToLower(row.Plan)]
	switch {
	case len(row.Problems) > 0:
		return Subscription{}, nil, false
	case !found:
		row.AddProblem(fault.PlanNotFound, "plan", "There is no active plan %q.", row.Plan)
	case !p.caller.CanSettle(row.Member):
		row.AddProblem(fault.PermissionDeniedReason, "", "%s", ErrOwnCredits.Message)
	}
	return row.StartImported(id, plan, p.zone, actor, now)
}
