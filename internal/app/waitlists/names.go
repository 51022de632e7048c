package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// MembersIn lists the members that a decision is about.
func MembersIn(d waitlist.Decision) []tenant.MemberID {
	ids := make([]tenant.MemberID, len(d.Verdicts))
	for i, v := range d.Verdicts {
		ids[i] = v.Member
	}
	return ids
}

// Names looks up what members are called now.
func (s *Service) Names(ctx context.Context, caller tenant.Caller, members []tenant.MemberID) (func(tenant.MemberID) string, error) {
	var people []store.Person
	var batch pg.Batch
	store.ListPeople(&batch, caller.Tenant, engine.Distinct(members), &people)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, err
	}
	called := make(map[tenant.MemberID]string, len(people))
	for _, p := range people {
		called[p.ID] = p.Name
	}
	return func(id tenant.MemberID) string { return called[id] }, nil
}
