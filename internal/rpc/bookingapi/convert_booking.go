package bookingapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/payment"
)

func contactValue(m *v1.Contact) booking.Contact {
	return booking.Contact{Name: m.GetName(), Email: m.GetEmail(), Phone: m.GetPhone()}
}

// paymentValue converts the facts of a payment. Without a status it is captured.
func paymentValue(m *v1.PaymentFacts) payment.Facts {
	f := payment.Facts{
		Kind:   convert.EnumName[payment.Kind](convert.PaymentStatusPrefix, m.Status),
		Amount: convert.MoneyValue(m.Amount), Method: m.Method, Reference: m.Reference,
	}
	if f.Kind == "" {
		f.Kind = payment.Capture
	}
	return f
}

func paymentEntryMessage(l payment.Line) *v1.PaymentEntry {
	return &v1.PaymentEntry{
		Id: convert.IDText(l.ID), Line: int32(l.Number),
		Kind:   convert.Enum[v1.PaymentStatus](v1.PaymentStatus_value, convert.PaymentStatusPrefix, l.Kind),
		Amount: convert.MoneyMessage(l.Amount), Method: l.Method, Reference: l.Reference, Actor: l.Actor,
		CreateTime: convert.Timestamp(l.At),
	}
}
