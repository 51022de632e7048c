package accountapi

import (
	"context"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// Subscribe handles CreditService.Subscribe.
func (s *Accounts) Subscribe(
	ctx context.Context, req *connect.Request[v1.SubscribeRequest],
) (*connect.Response[v1.SubscribeResponse], error) {
	sub, err := s.Service.Subscribe(ctx, request.Caller(ctx), accounts.SubscribeRequest{
		Member: convert.ID[tenant.MemberID](req.Msg.MemberId), Plan: convert.ID[tenant.PlanID](req.Msg.PlanId),
		Starts: convert.Time(req.Msg.StartTime), Reason: req.Msg.Reason,
	})
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.SubscribeResponse{Subscription: subscriptionMessage(sub)})
}

// PauseSubscription handles CreditService.PauseSubscription.
func (s *Accounts) PauseSubscription(
	ctx context.Context, req *connect.Request[v1.PauseSubscriptionRequest],
) (*connect.Response[v1.PauseSubscriptionResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Paused)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.PauseSubscriptionResponse{Subscription: sub})
}

// ResumeSubscription handles CreditService.ResumeSubscription.
func (s *Accounts) ResumeSubscription(
	ctx context.Context, req *connect.Request[v1.ResumeSubscriptionRequest],
) (*connect.Response[v1.ResumeSubscriptionResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Active)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ResumeSubscriptionResponse{Subscription: sub})
}

// MarkDebt handles CreditService.MarkDebt.
func (s *Accounts) MarkDebt(
	ctx context.Context, req *connect.Request[v1.MarkDebtRequest],
) (*connect.Response[v1.MarkDebtResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Debt)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.MarkDebtResponse{Subscription: sub})
}

// CancelSubscription handles CreditService.CancelSubscription.
func (s *Accounts) CancelSubscription(
	ctx context.Context, req *connect.Request[v1.CancelSubscriptionRequest],
) (*connect.Response[v1.CancelSubscriptionResponse], error) {
	sub, err := s.setStatus(ctx, req.Msg, credit.Cancelled)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.CancelSubscriptionResponse{Subscription: sub})
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
func (s *Accounts) GrantCredits(
	ctx context.Context, req *connect.Request[v1.GrantCreditsRequest],
) (*connect.Response[v1.GrantCreditsResponse], error) {
	line, sub, err := s.Service.GrantCredits(
		ctx, request.Caller(ctx), convert.ID[tenant.SubscriptionID](req.Msg.SubscriptionId), int(req.Msg.Amount),
		req.Msg.Reason,
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.GrantCreditsResponse{
		Entry: creditEntryMessage(line), Subscription: subscriptionMessage(sub),
	})
}

// RefundCredit handles CreditService.RefundCredit.
func (s *Accounts) RefundCredit(
	ctx context.Context, req *connect.Request[v1.RefundCreditRequest],
) (*connect.Response[v1.RefundCreditResponse], error) {
	line, sub, err := s.Service.RefundCredit(
		ctx, request.Caller(ctx), convert.ID[tenant.BookingID](req.Msg.BookingId), req.Msg.Reason,
	)
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.RefundCreditResponse{
		Entry: creditEntryMessage(line), Subscription: subscriptionMessage(sub),
	})
}

// GetBalance handles CreditService.GetBalance.
func (s *Accounts) GetBalance(
	ctx context.Context, req *connect.Request[v1.GetBalanceRequest],
) (*connect.Response[v1.GetBalanceResponse], error) {
	subs, err := s.Service.GetBalance(
		ctx, request.Caller(ctx), convert.ID[tenant.MemberID](req.Msg.MemberId), req.Msg.IncludeEnded,
	)
	if err != nil {
		return nil, err
	}
	balance, unlimited := credit.AvailableCredits(subs)
	return convert.Response(&v1.GetBalanceResponse{
		Subscriptions: convert.Messages(subs, subscriptionMessage), Balance: int32(balance), Unlimited: unlimited,
	})
}

// ListLedger handles CreditService.ListLedger.
func (s *Accounts) ListLedger(
	ctx context.Context, req *connect.Request[v1.ListLedgerRequest],
) (*connect.Response[v1.ListLedgerResponse], error) {
	page, err := convert.ParsePage[int32](req.Msg)
	if err != nil {
		return nil, err
	}
	var before int
	if page.After != nil {
		before = int(*page.After)
	}
	lines, err := s.Service.ListLedger(
		ctx, request.Caller(ctx), convert.ID[tenant.SubscriptionID](req.Msg.SubscriptionId), before, page.Size+1,
	)
	if err != nil {
		return nil, err
	}
	lines, next, err := convert.Paginate(page, lines, func(e credit.Entry) int32 { return int32(e.Line) })
	if err != nil {
		return nil, err
	}
	return convert.Response(&v1.ListLedgerResponse{
		Entries: convert.Messages(lines, creditEntryMessage), NextPageToken: next,
	})
}
