package convert

import (
	"time"

	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/berthhq/berth/internal/rules/credit"
)

// PlanKindPrefix is the prefix of the kinds of plans.
const PlanKindPrefix = "PLAN_KIND_"

// MoneyValue converts an amount of money of the contract.
func MoneyValue(m *money.Money) credit.Money {
	return credit.Money{Currency: m.GetCurrencyCode(), Units: m.GetUnits(), Nanos: m.GetNanos()}
}

// MoneyMessage converts an amount of money. The zero amount becomes nil.
func MoneyMessage(m credit.Money) *money.Money {
	if m == (credit.Money{}) {
		return nil
	}
	return &money.Money{CurrencyCode: m.Currency, Units: m.Units, Nanos: m.Nanos}
}

// OrZero returns *t, or the zero time if t is nil.
func OrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// OptionalDurationMessage converts an optional duration to the contract's type.
func OptionalDurationMessage(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

// OptionalDurationValue converts an optional duration of the contract.
func OptionalDurationValue(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	return new(d.AsDuration())
}

// OptionalInt32 converts an optional number to the contract's type.
func OptionalInt32(n *int) *int32 {
	if n == nil {
		return nil
	}
	return new(int32(*n))
}

// OptionalInt converts an optional number of the contract.
func OptionalInt(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}
