package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// DecisionMembers lists the members that a decision is about.
func DecisionMembers(d waitlist.Decision) []tenant.MemberID {
	ids := make([]tenant.MemberID, len(d.Verdicts))
	for i, v := range d.Verdicts {
		ids[i] = v.Member
	}
	return ids
}

// MemberNames looks up the current names of members.
func (s *Service) MemberNames(
	ctx context.Context, caller tenant.Caller, members []tenant.MemberID,
) (func(tenant.MemberID) string, error) {
	people, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]accountdb.Person) {
		accountdb.ListPeople(b, caller.Tenant, pg.Distinct(members), into)
	})
	if err != nil {
		return nil, err
	}
	names := make(map[tenant.MemberID]string, len(people))
	for _, p := range people {
		names[p.ID] = p.Name
	}
	return func(id tenant.MemberID) string { return names[id] }, nil
}
