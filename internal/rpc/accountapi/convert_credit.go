package accountapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/credit"
)

func subscriptionMessage(s credit.Subscription) *v1.Subscription {
	return &v1.Subscription{
		Id:            convert.IDText(s.ID),
		MemberId:      convert.IDText(s.Member),
		PlanId:        convert.IDText(s.Plan.ID),
		PlanName:      s.Plan.Name,
		PlanKind:      convert.Enum[v1.PlanKind](v1.PlanKind_value, convert.PlanKindPrefix, s.Plan.Kind),
		Status:        convert.Enum[v1.SubscriptionStatus](v1.SubscriptionStatus_value, "SUBSCRIPTION_STATUS_", s.Status),
		Balance:       int32(s.Balance),
		StartTime:     convert.Timestamp(s.StartsAt),
		EndTime:       convert.Timestamp(convert.OrZero(s.EndsAt)),
		PeriodEndTime: convert.Timestamp(convert.OrZero(s.PeriodEndsAt)),
		CreateTime:    convert.Timestamp(s.CreatedAt),
	}
}

// lineMessage converts a line of the ledger, with the names of actors that the caller may know.
func lineMessage(l credit.Line, names map[string]string) *v1.CreditLine {
	return &v1.CreditLine{
		Id:             convert.IDText(l.ID),
		SubscriptionId: convert.IDText(l.Subscription),
		Kind:           convert.Enum[v1.CreditLineKind](v1.CreditLineKind_value, "CREDIT_LINE_KIND_", l.Kind),
		Amount:         int32(l.Amount),
		Balance:        int32(l.Balance),
		BookingId:      convert.IDText(l.Booking),
		Actor:          convert.Actor(l.Actor, names[l.Actor]),
		Reason:         l.Reason,
		CreateTime:     convert.Timestamp(l.At),
	}
}
