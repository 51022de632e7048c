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

// MemberNames looks up what members are called now.
func (s *Service) MemberNames(ctx context.Context, caller tenant.Caller, members []tenant.MemberID) (func(tenant.MemberID) string, error) {
	var people []accountdb.Person
	var batch pg.Batch
	accountdb.ListPeople(&batch, caller.Tenant, engine.Distinct(members), &people)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	called := make(map[tenant.MemberID]string, len(people))
	for _, p := range people {
		called[p.ID] = p.Name
	}
	return func(id tenant.MemberID) string { return called[id] }, nil
}
