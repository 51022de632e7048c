package rpc

import (
	"context"
	"strings"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// creditService serves berth.v1.CreditService.
type creditService struct{ app *app.App }

func (s *creditService) CreatePlan(ctx context.Context, req *connect.Request[v1.CreatePlanRequest]) (*connect.Response[v1.CreatePlanResponse], error) {
	p, err := s.app.Catalog.CreatePlan(ctx, caller(ctx), planValue(req.Msg.Plan))
	if err != nil {
		return nil, err
	}
	return reply(&v1.CreatePlanResponse{Plan: planMessage(p)})
}

func (s *creditService) UpdatePlan(ctx context.Context, req *connect.Request[v1.UpdatePlanRequest]) (*connect.Response[v1.UpdatePlanResponse], error) {
	expect, err := expected(req.Msg.Etag)
	if err != nil {
		return nil, err
	}
	edited := planValue(req.Msg.Plan)
	p, err := s.app.Catalog.UpdatePlan(ctx, caller(ctx), id[tenant.PlanID](req.Msg.PlanId), expect, func(p *credit.Plan) error {
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
	return reply(&v1.UpdatePlanResponse{Plan: planMessage(p)})
}

// nameCursor is a position in a list that is ordered by name.
type nameCursor struct {
	Name string
	ID   tenant.UUID
}

func (s *creditService) ListPlans(ctx context.Context, req *connect.Request[v1.ListPlansRequest]) (*connect.Response[v1.ListPlansResponse], error) {
	page, err := openPage[nameCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	var after nameCursor
	if page.After != nil {
		after = *page.After
	}
	plans, err := s.app.Catalog.ListPlans(ctx, caller(ctx), req.Msg.IncludeInactive, after.Name, tenant.PlanID{UUID: after.ID}, page.Size+1)
	if err != nil {
		return nil, err
	}
	plans, next, err := cut(page, plans, func(p credit.Plan) nameCursor { return nameCursor{strings.ToLower(p.Name), p.ID.UUID} })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListPlansResponse{Plans: messages(plans, planMessage), NextPageToken: next})
}

func (s *creditService) Subscribe(ctx context.Context, req *connect.Request[v1.SubscribeRequest]) (*connect.Response[v1.SubscribeResponse], error) {
	sub, err := s.app.Accounts.Subscribe(ctx, caller(ctx), accounts.SubscribeRequest{
		Member: id[tenant.MemberID](req.Msg.MemberId), Plan: id[tenant.PlanID](req.Msg.PlanId),
		Starts: instant(req.Msg.StartTime), Reason: req.Msg.Reason,
	})
	if err != nil {
		return nil, err
	}
	return reply(&v1.SubscribeResponse{Subscription: subscriptionMessage(sub)})
}

func (s *creditService) PauseSubscription(ctx context.Context, req *connect.Request[v1.PauseSubscriptionRequest]) (*connect.Response[v1.PauseSubscriptionResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Paused)
	if err != nil {
		return nil, err
	}
	return reply(&v1.PauseSubscriptionResponse{Subscription: sub})
}

func (s *creditService) ResumeSubscription(ctx context.Context, req *connect.Request[v1.ResumeSubscriptionRequest]) (*connect.Response[v1.ResumeSubscriptionResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Active)
	if err != nil {
		return nil, err
	}
	return reply(&v1.ResumeSubscriptionResponse{Subscription: sub})
}

func (s *creditService) MarkDebt(ctx context.Context, req *connect.Request[v1.MarkDebtRequest]) (*connect.Response[v1.MarkDebtResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Debt)
	if err != nil {
		return nil, err
	}
	return reply(&v1.MarkDebtResponse{Subscription: sub})
}

func (s *creditService) CancelSubscription(ctx context.Context, req *connect.Request[v1.CancelSubscriptionRequest]) (*connect.Response[v1.CancelSubscriptionResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Cancelled)
	if err != nil {
		return nil, err
	}
	return reply(&v1.CancelSubscriptionResponse{Subscription: sub})
}

// statusRequest is any request that moves a subscription to another status.
type statusRequest interface {
	GetSubscriptionId() string
	GetReason() string
}

func (s *creditService) setStatus(ctx context.Context, req statusRequest, to credit.Status) (*v1.Subscription, error) {
	sub, err := s.app.Accounts.SetSubscriptionStatus(ctx, caller(ctx), id[tenant.SubscriptionID](req.GetSubscriptionId()), to, req.GetReason())
	if err != nil {
		return nil, err
	}
	return subscriptionMessage(sub), nil
}

func (s *creditService) GrantCredits(ctx context.Context, req *connect.Request[v1.GrantCreditsRequest]) (*connect.Response[v1.GrantCreditsResponse], error) {
	line, sub, err := s.app.Accounts.GrantCredits(ctx, caller(ctx), id[tenant.SubscriptionID](req.Msg.SubscriptionId), int(req.Msg.Amount), req.Msg.Reason)
	if err != nil {
		return nil, err
	}
	return reply(&v1.GrantCreditsResponse{Entry: creditEntryMessage(line), Subscription: subscriptionMessage(sub)})
}

func (s *creditService) RefundCredit(ctx context.Context, req *connect.Request[v1.RefundCreditRequest]) (*connect.Response[v1.RefundCreditResponse], error) {
	line, sub, err := s.app.Accounts.RefundCredit(ctx, caller(ctx), id[tenant.BookingID](req.Msg.BookingId), req.Msg.Reason)
	if err != nil {
		return nil, err
	}
	return reply(&v1.RefundCreditResponse{Entry: creditEntryMessage(line), Subscription: subscriptionMessage(sub)})
}

func (s *creditService) GetBalance(ctx context.Context, req *connect.Request[v1.GetBalanceRequest]) (*connect.Response[v1.GetBalanceResponse], error) {
	subs, err := s.app.Accounts.GetBalance(ctx, caller(ctx), id[tenant.MemberID](req.Msg.MemberId), req.Msg.IncludeEnded)
	if err != nil {
		return nil, err
	}
	balance, unlimited := credit.Bookable(subs)
	return reply(&v1.GetBalanceResponse{
		Subscriptions: messages(subs, subscriptionMessage), Balance: int32(balance), Unlimited: unlimited,
	})
}

func (s *creditService) ListLedger(ctx context.Context, req *connect.Request[v1.ListLedgerRequest]) (*connect.Response[v1.ListLedgerResponse], error) {
	page, err := openPage[int32](req.Msg)
	if err != nil {
		return nil, err
	}
	var before int
	if page.After != nil {
		before = int(*page.After)
	}
	lines, err := s.app.Accounts.ListLedger(ctx, caller(ctx), id[tenant.SubscriptionID](req.Msg.SubscriptionId), before, page.Size+1)
	if err != nil {
		return nil, err
	}
	lines, next, err := cut(page, lines, func(e credit.Entry) int32 { return int32(e.Line) })
	if err != nil {
		return nil, err
	}
	return reply(&v1.ListLedgerResponse{Entries: messages(lines, creditEntryMessage), NextPageToken: next})
}
