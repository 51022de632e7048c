package rpc

import (
	"time"

	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rules/credit"
)

const planKindPrefix = "PLAN_KIND_"

func planMessage(p credit.Plan) *v1.Plan {
	return &v1.Plan{
		Id: idText(p.ID),
		Plan: &v1.PlanInput{
			Name:         p.Name,
			Description:  p.Description,
			Kind:         enum[v1.PlanKind](v1.PlanKind_value, planKindPrefix, p.Kind),
			Credits:      int32(p.Credits),
			Period:       optionalDuration(p.Period),
			Term:         optionalDuration(p.Term),
			DailyLimit:   optionalInt(p.DailyLimit),
			WeeklyLimit:  optionalInt(p.WeeklyLimit),
			AllowOverlap: p.AllowOverlap,
			Price:        moneyMessage(p.Price),
			Active:       p.Active,
		},
		Etag:       etag(p.Version),
		CreateTime: timestamp(p.CreatedAt),
		UpdateTime: timestamp(p.UpdatedAt),
	}
}

func planValue(m *v1.PlanInput) credit.Plan {
	return credit.Plan{
		Name:         m.GetName(),
		Description:  m.GetDescription(),
		Kind:         word[credit.PlanKind](planKindPrefix, m.GetKind()),
		Credits:      int(m.GetCredits()),
		Period:       optionalSpan(m.GetPeriod()),
		Term:         optionalSpan(m.GetTerm()),
		DailyLimit:   intPointer(m.DailyLimit),
		WeeklyLimit:  intPointer(m.WeeklyLimit),
		AllowOverlap: m.GetAllowOverlap(),
		Price:        moneyValue(m.GetPrice()),
		Active:       m.GetActive(),
	}
}

func moneyValue(m *money.Money) credit.Money {
	return credit.Money{Currency: m.GetCurrencyCode(), Units: m.GetUnits(), Nanos: m.GetNanos()}
}

func moneyMessage(m credit.Money) *money.Money {
	if m == (credit.Money{}) {
		return nil
	}
	return &money.Money{CurrencyCode: m.Currency, Units: m.Units, Nanos: m.Nanos}
}

func subscriptionMessage(s credit.Subscription) *v1.Subscription {
	return &v1.Subscription{
		Id:            idText(s.ID),
		MemberId:      idText(s.Member),
		PlanId:        idText(s.Plan.ID),
		PlanName:      s.Plan.Name,
		PlanKind:      enum[v1.PlanKind](v1.PlanKind_value, planKindPrefix, s.Plan.Kind),
		Status:        enum[v1.SubscriptionStatus](v1.SubscriptionStatus_value, "SUBSCRIPTION_STATUS_", s.Status),
		Balance:       int32(s.Balance),
		StartTime:     timestamp(s.StartsAt),
		EndTime:       timestamp(orZero(s.EndsAt)),
		PeriodEndTime: timestamp(orZero(s.PeriodEndsAt)),
		CreateTime:    timestamp(s.CreatedAt),
	}
}

func creditEntryMessage(e credit.Entry) *v1.CreditEntry {
	return &v1.CreditEntry{
		Id:             idText(e.ID),
		SubscriptionId: idText(e.Subscription),
		Kind:           enum[v1.CreditKind](v1.CreditKind_value, "CREDIT_KIND_", e.Kind),
		Amount:         int32(e.Amount),
		Balance:        int32(e.Balance),
		BookingId:      idText(e.Booking),
		Actor:          e.Actor,
		Reason:         e.Reason,
		CreateTime:     timestamp(e.At),
	}
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func optionalDuration(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

func optionalSpan(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	return new(d.AsDuration())
}

func optionalInt(n *int) *int32 {
	if n == nil {
		return nil
	}
	return new(int32(*n))
}

func intPointer(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}
