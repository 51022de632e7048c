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

func paymentEntryMessage(e payment.Entry) *v1.PaymentEntry {
	return &v1.PaymentEntry{
		Id: convert.IDText(e.ID), Line: int32(e.Line),
		Kind:   convert.Enum[v1.PaymentStatus](v1.PaymentStatus_value, convert.PaymentStatusPrefix, e.Kind),
		Amount: convert.MoneyMessage(e.Amount), Method: e.Method, Reference: e.Reference, Actor: e.Actor,
		CreateTime: convert.Timestamp(e.At),
	}
}
