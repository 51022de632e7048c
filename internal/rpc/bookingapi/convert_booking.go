package bookingapi

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/tenant"
)

// partyValue is the number of seats of a request. Absent, it is one.
func partyValue(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func contactValue(m *v1.BookingContact) booking.Contact {
	return booking.Contact{Name: m.GetName(), Email: m.GetEmail(), Phone: m.GetPhone()}
}

const paymentLineKindPrefix = "PAYMENT_LINE_KIND_"

// paymentValue converts the facts of a payment. Without a kind it is a capture.
func paymentValue(m *v1.PaymentFacts) payment.Facts {
	f := payment.Facts{
		Kind:   convert.EnumName[payment.Kind](paymentLineKindPrefix, m.Kind),
		Amount: convert.MoneyValue(m.Amount), Method: m.Method, Reference: m.Reference,
	}
	if f.Kind == "" {
		f.Kind = payment.Capture
	}
	return f
}

func editBooking(m *v1.BookingInput, paths []string) func(*booking.Details) {
	return func(d *booking.Details) {
		convert.Fields{
			"note":    convert.Field(&d.Note, m.GetNote()),
			"contact": convert.Field(&d.Contact, contactValue(m.GetContact())),
		}.Set(paths)
	}
}

// filterValue converts the conditions of a list.
func filterValue(m *v1.BookingFilter) bookings.BookingFilter {
	f := bookings.BookingFilter{
		Session: convert.ID[tenant.SessionID](m.GetSessionId()), Service: convert.ID[tenant.ServiceID](m.GetServiceId()),
		Location: convert.ID[tenant.LocationID](m.GetLocationId()), Member: convert.ID[tenant.MemberID](m.GetMemberId()),
		CreatedBy: m.GetCreatedById(), Statuses: statusValues(m.GetStatuses()),
	}
	if within := m.GetStartsWithin(); within != nil {
		f.From, f.Until = convert.Time(within.Start), convert.Time(within.End)
	}
	return f
}

func statusValues(statuses []v1.BookingStatus) []booking.Status {
	var values []booking.Status
	for _, s := range statuses {
		values = append(values, convert.EnumName[booking.Status](convert.BookingStatusPrefix, s))
	}
	return values
}

// paymentLineMessage converts a line of a payment, with the names of actors that the caller may know.
func paymentLineMessage(l payment.Line, names map[string]string) *v1.PaymentLine {
	return &v1.PaymentLine{
		Id: convert.IDText(l.ID), Number: int32(l.Number),
		Kind:   convert.Enum[v1.PaymentLineKind](v1.PaymentLineKind_value, paymentLineKindPrefix, l.Kind),
		Amount: convert.MoneyMessage(l.Amount), Method: l.Method, Reference: l.Reference,
		Actor: convert.Actor(l.Actor, names[l.Actor]), CreateTime: convert.Timestamp(l.At),
	}
}

// bookRequestValue converts a request without its channel, which a header can override.
func bookRequestValue(req *v1.BookRequest) bookings.BookRequest {
	return bookings.BookRequest{
		Session: convert.ID[tenant.SessionID](req.SessionId), Member: convert.ID[tenant.MemberID](req.MemberId),
		Party:        partyValue(req.PartySize),
		Subscription: convert.ID[tenant.SubscriptionID](req.SubscriptionId),
		ExternalRef:  req.ExternalRef, Note: req.Note, RefuseFull: req.WhenFull == v1.WhenFull_WHEN_FULL_REFUSE,
		Raise: req.RaiseCapacity,
	}
}

func cancelRequestValue(req *v1.CancelBookingRequest) bookings.CancelRequest {
	return bookings.CancelRequest{
		ID: convert.ID[tenant.BookingID](req.BookingId), Reason: req.Reason, OverrideWindow: req.OverrideWindow,
		Notify: convert.TrueUnlessSet(req.Notify),
	}
}

// holdRequestValue converts a request without its channel, which a header can override.
func holdRequestValue(req *v1.HoldBookingRequest) bookings.BookRequest {
	hold := bookings.BookRequest{
		Session: convert.ID[tenant.SessionID](req.SessionId), Member: convert.ID[tenant.MemberID](req.MemberId),
		Party: partyValue(req.PartySize), ExternalRef: req.ExternalRef, Note: req.Note, Hold: true,
		Contact: contactValue(req.Contact), GuestTier: req.GuestTier,
	}
	for _, c := range req.Items {
		hold.Items = append(
			hold.Items, booking.ItemChoice{Item: convert.ID[tenant.ItemID](c.ItemId), Quantity: int(c.Quantity)},
		)
	}
	return hold
}
