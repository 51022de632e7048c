package bookingapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/booking"
)

func contactValue(m *v1.Contact) booking.Contact {
	return booking.Contact{Name: m.GetName(), Email: m.GetEmail(), Phone: m.GetPhone()}
}

// paymentValue converts the facts of a payment. It rejects invalid amounts.
func paymentValue(m *v1.PaymentFacts) (booking.Payment, error) {
	p := booking.Payment{
		Status: convert.EnumName[booking.PaymentStatus](convert.PaymentStatusPrefix, m.Status),
		Amount: convert.MoneyValue(m.Amount), Method: m.Method,
	}
	if p.Status == "" {
		p.Status = booking.Captured
	}
	return p, p.Validate()
}
