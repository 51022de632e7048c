package convert

import (
	"time"

	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/berthhq/berth/internal/rules/credit"
)

func MoneyValue(m *money.Money) credit.Money {
	return credit.Money{Currency: m.GetCurrencyCode(), Units: m.GetUnits(), Nanos: m.GetNanos()}
}

func MoneyMessage(m credit.Money) *money.Money {
	if m == (credit.Money{}) {
		return nil
	}
	return &money.Money{CurrencyCode: m.Currency, Units: m.Units, Nanos: m.Nanos}
}

func OrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func OptionalDuration(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

func OptionalSpan(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	return new(d.AsDuration())
}

func OptionalInt(n *int) *int32 {
	if n == nil {
		return nil
	}
	return new(int32(*n))
}

func IntPointer(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

const PlanKindPrefix = "PLAN_KIND_"
