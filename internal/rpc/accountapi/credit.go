package accountapi

import (
	"context"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// CreateSubscription handles CreditService.CreateSubscription.
func (s *Accounts) CreateSubscription(
	ctx context.Context, req *v1.CreateSubscriptionRequest,
) (*v1.CreateSubscriptionResponse, error) {
	sub, err := s.Service.CreateSubscription(ctx, request.Caller(ctx), accounts.NewSubscription{
		Member: convert.ID[tenant.MemberID](req.MemberId), Plan: convert.ID[tenant.PlanID](req.Subscription.GetPlanId()),
		Starts: convert.Time(req.Subscription.GetStartTime()), Ends: subscriptionEnd(req.Subscription), Reason: req.Reason,
	})
	if err != nil {
		return nil, err
	}
	return &v1.CreateSubscriptionResponse{Subscription: subscriptionMessage(sub)}, nil
}

// UpdateSubscription handles CreditService.UpdateSubscription.
func (s *Accounts) UpdateSubscription(
	ctx context.Context, req *v1.UpdateSubscriptionRequest,
) (*v1.UpdateSubscriptionResponse, error) {
	expect, err := convert.ExpectedVersion(req.Etag)
	if err != nil {
		return nil, err
	}
	sub, err := s.Service.UpdateSubscription(
		ctx, request.Caller(ctx), convert.ID[tenant.SubscriptionID](req.SubscriptionId), expect,
		editSubscription(req.Subscription, req.UpdateMask.GetPaths()), req.Reason,
	)
	if err != nil {
		return nil, err
	}
	return &v1.UpdateSubscriptionResponse{Subscription: subscriptionMessage(sub)}, nil
}

// GetSubscription handles CreditService.GetSubscription.
func (s *Accounts) GetSubscription(
	ctx context.Context, req *v1.GetSubscriptionRequest,
) (*v1.GetSubscriptionResponse, error) {
	sub, err := s.Service.GetSubscription(
		ctx, request.Caller(ctx), convert.ID[tenant.SubscriptionID](req.SubscriptionId),
	)
	if err != nil {
		return nil, err
	}
	return &v1.GetSubscriptionResponse{Subscription: subscriptionMessage(sub)}, nil
}

// ListSubscriptions handles CreditService.ListSubscriptions.
func (s *Accounts) ListSubscriptions(
	ctx context.Context, req *v1.ListSubscriptionsRequest,
) (*v1.ListSubscriptionsResponse, error) {
	caller, err := request.Scoped(ctx, req.Scope, "credit.read")
	if err != nil {
		return nil, err
	}
	page, err := convert.ParsePage[tenant.SubscriptionID](req)
	if err != nil {
		return nil, err
	}
	q := subscriptionQuery(req.Filter)
	q.Limit = page.Limit()
	if page.After != nil {
		q.Before = *page.After
	}
	subs, err := s.Service.ListSubscriptions(ctx, caller, q)
	if err != nil {
		return nil, err
	}
	subs, next := convert.Paginate(page, subs, func(s credit.Subscription) tenant.SubscriptionID { return s.ID })
	return &v1.ListSubscriptionsResponse{
		Subscriptions: convert.Messages(subs, subscriptionMessage), NextPageToken: next,
	}, nil
}

// PauseSubscription handles CreditService.PauseSubscription.
func (s *Accounts) PauseSubscription(
	ctx context.Context, req *v1.PauseSubscriptionRequest,
) (*v1.PauseSubscriptionResponse, error) {
	sub, err := s.setStatus(ctx, req, credit.Paused)
	if err != nil {
		return nil, err
	}
	return &v1.PauseSubscriptionResponse{Subscription: sub}, nil
}

// ResumeSubscription handles CreditService.ResumeSubscription.
func (s *Accounts) ResumeSubscription(
	ctx context.Context, req *v1.ResumeSubscriptionRequest,
) (*v1.ResumeSubscriptionResponse, error) {
	sub, err := s.setStatus(ctx, req, credit.Active)
	if err != nil {
		return nil, err
	}
	return &v1.ResumeSubscriptionResponse{Subscription: sub}, nil
}

// MarkSubscriptionInDebt handles CreditService.MarkSubscriptionInDebt.
func (s *Accounts) MarkSubscriptionInDebt(
	ctx context.Context, req *v1.MarkSubscriptionInDebtRequest,
) (*v1.MarkSubscriptionInDebtResponse, error) {
	sub, err := s.setStatus(ctx, req, credit.Debt)
	if err != nil {
		return nil, err
	}
	return &v1.MarkSubscriptionInDebtResponse{Subscription: sub}, nil
}

// CancelSubscription handles CreditService.CancelSubscription.
func (s *Accounts) CancelSubscription(
	ctx context.Context, req *v1.CancelSubscriptionRequest,
) (*v1.CancelSubscriptionResponse, error) {
	sub, err := s.setStatus(ctx, req, credit.Cancelled)
	if err != nil {
		return nil, err
	}
	return &v1.CancelSubscriptionResponse{Subscription: sub}, nil
}

// statusRequest is a request that changes the status of a subscription.
type statusRequest interface {
	GetSubscriptionId() string
	GetReason() string
}

func (s *Accounts) setStatus(ctx context.Context, req statusRequest, to credit.Status) (*v1.Subscription, error) {
	sub, err := s.Service.SetSubscriptionStatus(
		ctx, request.Caller(ctx), convert.ID[tenant.SubscriptionID](req.GetSubscriptionId()), to, req.GetReason(),
	)
	if err != nil {
		return nil, err
	}
	return subscriptionMessage(sub), nil
}

// GrantCredits handles CreditService.GrantCredits.
func (s *Accounts) GrantCredits(ctx context.Context, req *v1.GrantCreditsRequest) (*v1.GrantCreditsResponse, error) {
	line, sub, err := s.Service.GrantCredits(
		ctx, request.Caller(ctx), convert.ID[tenant.SubscriptionID](req.SubscriptionId), int(req.Amount),
		req.Reason,
	)
	if err != nil {
		return nil, err
	}
	message, err := lineMessages(ctx, line)
	if err != nil {
		return nil, err
	}
	return &v1.GrantCreditsResponse{Line: message[0], Subscription: subscriptionMessage(sub)}, nil
}

// RefundCredit handles CreditService.RefundCredit.
func (s *Accounts) RefundCredit(ctx context.Context, req *v1.RefundCreditRequest) (*v1.RefundCreditResponse, error) {
	line, sub, err := s.Service.RefundCredit(
		ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.BookingId), req.Reason,
	)
	if err != nil {
		return nil, err
	}
	message, err := lineMessages(ctx, line)
	if err != nil {
		return nil, err
	}
	return &v1.RefundCreditResponse{Line: message[0], Subscription: subscriptionMessage(sub)}, nil
}

// GetBalance handles CreditService.GetBalance.
func (s *Accounts) GetBalance(ctx context.Context, req *v1.GetBalanceRequest) (*v1.GetBalanceResponse, error) {
	subs, err := s.Service.GetBalance(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.MemberId), subscriptionStatuses(req.Statuses),
	)
	if err != nil {
		return nil, err
	}
	balance, unlimited := credit.AvailableCredits(subs)
	return &v1.GetBalanceResponse{
		Subscriptions: convert.Messages(subs, subscriptionMessage), Balance: int32(balance), Unlimited: unlimited,
	}, nil
}

// ListCreditLines handles CreditService.ListCreditLines.
func (s *Accounts) ListCreditLines(
	ctx context.Context, req *v1.ListCreditLinesRequest,
) (*v1.ListCreditLinesResponse, error) {
	page, err := convert.ParsePage[int32](req)
	if err != nil {
		return nil, err
	}
	q := lineQuery(req.Filter)
	q.Limit = page.Limit()
	if page.After != nil {
		q.Before = int(*page.After)
	}
	lines, err := s.Service.ListCreditLines(
		ctx, request.Caller(ctx), convert.ID[tenant.SubscriptionID](req.SubscriptionId), q,
	)
	if err != nil {
		return nil, err
	}
	lines, next := convert.Paginate(page, lines, func(l accounts.CreditLine) int32 { return int32(l.Number) })
	messages, err := lineMessages(ctx, lines...)
	if err != nil {
		return nil, err
	}
	return &v1.ListCreditLinesResponse{Lines: messages, NextPageToken: next}, nil
}

// lineMessages converts lines of the ledger, with the names of those who caused them.
func lineMessages(ctx context.Context, lines ...accounts.CreditLine) ([]*v1.CreditLine, error) {
	actors := make([]string, len(lines))
	for i, l := range lines {
		actors[i] = l.Actor
	}
	names, err := request.ActorNames(ctx, actors...)
	if err != nil {
		return nil, err
	}
	return convert.Messages(lines, func(l accounts.CreditLine) *v1.CreditLine { return lineMessage(l, names) }), nil
}
