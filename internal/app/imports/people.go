package imports

import (
	"context"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// findPeople looks up the members whom rows name, or adds the problem to the rows that name none, or several. Of gives
// each row, whom it names, and where the member goes: nowhere, if the row is of no member.
func (s *Service) findPeople(
	ctx context.Context, caller tenant.Caller, rows int,
	of func(n int) (*csvfile.Row, *member.Person, *tenant.MemberID),
) error {
	var zones []string
	var locale string
	var batch pg.Batch
	accountdb.ListZones(&batch, caller.Tenant, &zones, &locale)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	countries := member.Countries(nil, zones, locale)
	var sought member.SoughtPeople
	for n := range rows {
		row, person, _ := of(n)
		if problem := person.ReadNational(countries); problem != "" {
			row.AddProblem(fault.InvalidField, "phone", "%s", problem)
		}
		sought.Add(*person)
	}
	var known []member.Known
	var people pg.Batch
	accountdb.ListKnown(&people, caller.Tenant, sought, &known)
	if err := s.engine.Read(ctx, caller, &people); err != nil {
		return err
	}
	directory := member.NewDirectory(known)
	for n := range rows {
		row, person, into := of(n)
		if len(row.Problems) > 0 || into == nil {
			continue
		}
		found, problem := directory.Find(*person)
		if problem != nil {
			row.Problems = append(row.Problems, *problem)
		}
		*into = found
	}
	return nil
}
