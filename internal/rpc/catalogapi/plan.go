package catalogapi

import (
	"context"
	"strings"
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/catalog"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func planMessage(p credit.Plan) *v1.Plan {
	return &v1.Plan{
		Id:           convert.IDText(p.ID),
		Name:         p.Name,
		Description:  p.Description,
		Kind:         convert.Enum[v1.PlanKind](v1.PlanKind_value, convert.PlanKindPrefix, p.Kind),
		Credits:      int32(p.Credits),
		Period:       lengthMessage(p.Period),
		Term:         lengthMessage(p.Term),
		DailyLimit:   convert.OptionalInt32(p.DailyLimit),
		WeeklyLimit:  convert.OptionalInt32(p.WeeklyLimit),
		AllowOverlap: p.AllowOverlap,
		Price:        convert.MoneyMessage(p.Price),
		Active:       p.Active,
		Etag:         convert.Etag(p.Version),
		CreateTime:   convert.Timestamp(p.CreatedAt),
		UpdateTime:   convert.Timestamp(p.UpdatedAt),
	}
}

func planValue(m *v1.PlanInput) credit.Plan {
	return credit.Plan{
		Name:         m.GetName(),
		Description:  m.GetDescription(),
		Kind:         convert.EnumName[credit.PlanKind](convert.PlanKindPrefix, m.GetKind()),
		Credits:      int(m.GetCredits()),
		Period:       lengthValue(m.GetPeriod()),
		Term:         lengthValue(m.GetTerm()),
		DailyLimit:   convert.OptionalInt(m.DailyLimit),
		WeeklyLimit:  convert.OptionalInt(m.WeeklyLimit),
		AllowOverlap: m.GetAllowOverlap(),
		Price:        convert.MoneyValue(m.GetPrice()),
		Active:       convert.TrueUnlessSet(m.Active),
	}
}

const day = 24 * time.Hour

func lengthMessage(d *time.Duration) *v1.PlanLength {
	if d == nil {
		return nil
	}
	return &v1.PlanLength{Length: &v1.PlanLength_Days{Days: int32(*d / day)}}
}

// lengthValue converts a length in days. The contract's rules refuse months.
func lengthValue(m *v1.PlanLength) *time.Duration {
	if m == nil {
		return nil
	}
	return new(time.Duration(m.GetDays()) * day)
}

// CreatePlan handles CreditService.CreatePlan.
func (s *Catalog) CreatePlan(ctx context.Context, req *v1.CreatePlanRequest) (*v1.CreatePlanResponse, error) {
	p, err := s.Service.CreatePlan(ctx, request.Caller(ctx), planValue(req.Plan))
	if err != nil {
		return nil, err
	}
	return &v1.CreatePlanResponse{Plan: planMessage(p)}, nil
}

// UpdatePlan handles CreditService.UpdatePlan.
func (s *Catalog) UpdatePlan(ctx context.Context, req *v1.UpdatePlanRequest) (*v1.UpdatePlanResponse, error) {
	expect, err := convert.ExpectedVersion(req.Etag)
	if err != nil {
		return nil, err
	}
	edited := planValue(req.Plan)
	p, err := s.Service.UpdatePlan(ctx, request.Caller(ctx), convert.ID[tenant.PlanID](req.PlanId), expect,
		func(p *credit.Plan) error {
			unknown := convert.Fields{
				"name":          convert.Field(&p.Name, edited.Name),
				"description":   convert.Field(&p.Description, edited.Description),
				"kind":          convert.Field(&p.Kind, edited.Kind),
				"credits":       convert.Field(&p.Credits, edited.Credits),
				"period":        convert.Field(&p.Period, edited.Period),
				"term":          convert.Field(&p.Term, edited.Term),
				"daily_limit":   convert.Field(&p.DailyLimit, edited.DailyLimit),
				"weekly_limit":  convert.Field(&p.WeeklyLimit, edited.WeeklyLimit),
				"allow_overlap": convert.Field(&p.AllowOverlap, edited.AllowOverlap),
				"price":         convert.Field(&p.Price, edited.Price),
				"active":        convert.Field(&p.Active, edited.Active),
			}.Set(req.UpdateMask.GetPaths())
			if unknown != "" {
				return fault.Invalid("update_mask", "A plan has no field %q.", unknown)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return &v1.UpdatePlanResponse{Plan: planMessage(p)}, nil
}

// GetPlan handles CreditService.GetPlan.
func (s *Catalog) GetPlan(ctx context.Context, req *v1.GetPlanRequest) (*v1.GetPlanResponse, error) {
	found, err := s.Service.GetPlan(ctx, request.Caller(ctx), convert.ID[tenant.PlanID](req.PlanId))
	if err != nil {
		return nil, err
	}
	return &v1.GetPlanResponse{Plan: planMessage(found)}, nil
}

// ListPlans handles CreditService.ListPlans.
func (s *Catalog) ListPlans(ctx context.Context, req *v1.ListPlansRequest) (*v1.ListPlansResponse, error) {
	page, err := convert.ParsePage[convert.NameCursor](req)
	if err != nil {
		return nil, err
	}
	q := catalog.PlanQuery{Active: activeValues(req.GetFilter().GetStatuses()), Limit: page.Limit()}
	if page.After != nil {
		q.AfterName, q.AfterID.UUID = page.After.Name, page.After.ID
	}
	plans, err := s.Service.ListPlans(ctx, request.Caller(ctx), q)
	if err != nil {
		return nil, err
	}
	plans, next := convert.Paginate(page, plans, func(p credit.Plan) convert.NameCursor {
		return convert.NameCursor{Name: strings.ToLower(p.Name), ID: p.ID.UUID}
	})
	return &v1.ListPlansResponse{Plans: convert.Messages(plans, planMessage), NextPageToken: next}, nil
}
