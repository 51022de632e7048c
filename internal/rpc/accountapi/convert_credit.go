package accountapi

import (
	"time"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

func subscriptionMessage(s credit.Subscription) *v1.Subscription {
	return &v1.Subscription{
		Id:            convert.IDText(s.ID),
		MemberId:      convert.IDText(s.Member),
		PlanId:        convert.IDText(s.Plan.ID),
		PlanName:      s.Plan.Name,
		PlanKind:      convert.Enum[v1.PlanKind](v1.PlanKind_value, convert.PlanKindPrefix, s.Plan.Kind),
		Status:        convert.Enum[v1.SubscriptionStatus](v1.SubscriptionStatus_value, subscriptionStatusPrefix, s.Status),
		Balance:       int32(s.Balance),
		StartTime:     convert.Timestamp(s.StartsAt),
		EndTime:       convert.Timestamp(convert.OrZero(s.EndsAt)),
		PeriodEndTime: convert.Timestamp(convert.OrZero(s.PeriodEndsAt)),
		Etag:          convert.Etag(s.Version),
		CreateTime:    convert.Timestamp(s.CreatedAt),
		UpdateTime:    convert.Timestamp(s.UpdatedAt),
	}
}

func editSubscription(m *v1.SubscriptionInput, paths []string) func(*credit.Subscription) {
	return func(s *credit.Subscription) {
		convert.Fields{"end_time": convert.Field(&s.EndsAt, subscriptionEnd(m))}.Set(paths)
	}
}

// subscriptionEnd returns the end that is asked for; nil if none is.
func subscriptionEnd(m *v1.SubscriptionInput) *time.Time {
	if m.GetEndTime() == nil {
		return nil
	}
	return new(convert.Time(m.GetEndTime()))
}

const subscriptionStatusPrefix = "SUBSCRIPTION_STATUS_"

func subscriptionStatuses(statuses []v1.SubscriptionStatus) []credit.Status {
	return convert.EnumNames[credit.Status](subscriptionStatusPrefix, statuses)
}

func subscriptionQuery(f *v1.SubscriptionFilter) accounts.SubscriptionQuery {
	return accounts.SubscriptionQuery{
		Member: convert.ID[tenant.MemberID](f.GetMemberId()), Plan: convert.ID[tenant.PlanID](f.GetPlanId()),
		Statuses:  subscriptionStatuses(f.GetStatuses()),
		EndsFrom:  convert.Time(f.GetEndsWithin().GetStart()),
		EndsUntil: convert.Time(f.GetEndsWithin().GetEnd()),
	}
}

func lineQuery(f *v1.CreditLineFilter) accounts.LineQuery {
	return accounts.LineQuery{
		Kinds: convert.EnumNames[credit.LineKind](lineKindPrefix, f.GetKinds()),
		From:  convert.Time(f.GetCreatedWithin().GetStart()), Until: convert.Time(f.GetCreatedWithin().GetEnd()),
	}
}

const lineKindPrefix = "CREDIT_LINE_KIND_"

// lineMessage converts a line of the ledger, with the names of actors that the caller may know.
func lineMessage(l accounts.CreditLine, names map[string]string) *v1.CreditLine {
	m := &v1.CreditLine{
		Id:             convert.IDText(l.ID),
		SubscriptionId: convert.IDText(l.Subscription),
		Kind:           convert.Enum[v1.CreditLineKind](v1.CreditLineKind_value, lineKindPrefix, l.Kind),
		Amount:         int32(l.Amount),
		Balance:        int32(l.Balance),
		BookingId:      convert.IDText(l.Booking),
		Actor:          convert.Actor(l.Actor, names[l.Actor]),
		Reason:         l.Reason,
		CreateTime:     convert.Timestamp(l.At),
	}
	if !l.Session.ID.IsZero() {
		m.Session = convert.SessionSummaryMessage(l.Session)
	}
	return m
}
