package catalogapi

import (
	"context"
	"strings"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func planMessage(p credit.Plan) *v1.Plan {
	return &v1.Plan{
		Id: convert.IDText(p.ID),
		Plan: &v1.PlanInput{
			Name:         p.Name,
			Description:  p.Description,
			Kind:         convert.Enum[v1.PlanKind](v1.PlanKind_value, convert.PlanKindPrefix, p.Kind),
			Credits:      int32(p.Credits),
			Period:       convert.OptionalDurationMessage(p.Period),
			Term:         convert.OptionalDurationMessage(p.Term),
			DailyLimit:   convert.OptionalInt32(p.DailyLimit),
			WeeklyLimit:  convert.OptionalInt32(p.WeeklyLimit),
			AllowOverlap: p.AllowOverlap,
			Price:        convert.MoneyMessage(p.Price),
			Active:       p.Active,
		},
		Etag:       convert.Etag(p.Version),
		CreateTime: convert.Timestamp(p.CreatedAt),
		UpdateTime: convert.Timestamp(p.UpdatedAt),
	}
}

func planValue(m *v1.PlanInput) credit.Plan {
	return credit.Plan{
		Name:         m.GetName(),
		Description:  m.GetDescription(),
		Kind:         convert.EnumName[credit.PlanKind](convert.PlanKindPrefix, m.GetKind()),
		Credits:      int(m.GetCredits()),
		Period:       convert.OptionalDurationValue(m.GetPeriod()),
		Term:         convert.OptionalDurationValue(m.GetTerm()),
		DailyLimit:   convert.OptionalInt(m.DailyLimit),
		WeeklyLimit:  convert.OptionalInt(m.WeeklyLimit),
		AllowOverlap: m.GetAllowOverlap(),
		Price:        convert.MoneyValue(m.GetPrice()),
		Active:       m.GetActive(),
	}
}

// CreatePlan handles CreditService.CreatePlan.
func (s *Catalog) CreatePlan(
	ctx context.Context, req *connect.Request[v1.CreatePlanRequest],
) (*connect.Response[v1.CreatePlanResponse], error) {
	p, err := s.Service.CreatePlan(ctx, request.Caller(ctx), planValue(req.Msg.Plan))
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CreatePlanResponse{Plan: planMessage(p)})
}

// UpdatePlan handles CreditService.UpdatePlan.
func (s *Catalog) UpdatePlan(
	ctx context.Context, req *connect.Request[v1.UpdatePlanRequest],
) (*connect.Response[v1.UpdatePlanResponse], error) {
	expect, err := convert.ExpectedVersion(req.Msg.Etag)
	if err != nil {
		return nil, err
	}
	edited := planValue(req.Msg.Plan)
	p, err := s.Service.UpdatePlan(ctx, request.Caller(ctx), convert.ID[tenant.PlanID](req.Msg.PlanId), expect,
		func(p *credit.Plan) error {
			for _, path := range req.Msg.UpdateMask.GetPaths() {
				switch path {
				case "name":
					p.Name = edited.Name
				case "description":
					p.Description = edited.Description
				case "kind":
					p.Kind = edited.Kind
				case "credits":
					p.Credits = edited.Credits
				case "period":
					p.Period = edited.Period
				case "term":
					p.Term = edited.Term
				case "daily_limit":
					p.DailyLimit = edited.DailyLimit
				case "weekly_limit":
					p.WeeklyLimit = edited.WeeklyLimit
				case "allow_overlap":
					p.AllowOverlap = edited.AllowOverlap
				case "price":
					p.Price = edited.Price
				case "active":
					p.Active = edited.Active
				default:
					return fault.Invalid("update_mask", "A plan has no field %q.", path)
				}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.UpdatePlanResponse{Plan: planMessage(p)})
}

// ListPlans handles CreditService.ListPlans.
func (s *Catalog) ListPlans(
	ctx context.Context, req *connect.Request[v1.ListPlansRequest],
) (*connect.Response[v1.ListPlansResponse], error) {
	page, err := convert.ParsePage[convert.NameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	var after convert.NameCursor
	if page.After != nil {
		after = *page.After
	}
	plans, err := s.Service.ListPlans(
		ctx, request.Caller(ctx), req.Msg.IncludeInactive, after.Name, tenant.PlanID{UUID: after.ID}, page.Size+1,
	)
	if err != nil {
		return nil, err
	}
	plans, next, err := convert.Paginate(page, plans, func(p credit.Plan) convert.NameCursor {
		return convert.NameCursor{Name: strings.ToLower(p.Name), ID: p.ID.UUID}
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListPlansResponse{Plans: convert.Messages(plans, planMessage), NextPageToken: next})
}
