package convert_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/testing/protocmp"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/payment"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	message := func(b booking.Booking) *v1.Booking { return convert.BookingMessage(b, time.Time{}) }
	converttest.Add(&l, message, func(b *booking.Booking) {
		b.Status, b.Channel, b.Payment.Status = booking.Pending, catalog.Phone, payment.Authorized
		b.Items[0].Status, b.CheckInMethod, b.CreatedBy = booking.ItemConfirmed, "GPS", someID
	})
	converttest.Add(&l, convert.EntryMessage, func(e *waitlist.Entry) {
		e.Status, e.Mode, e.Offer.Status, e.Scoring.Sum = waitlist.Offered, waitlist.AutoPromote, waitlist.Accepted, true
		e.PassedOver, e.Offer.Cause = waitlist.NoTime, waitlist.TooSlow
	})
	converttest.Add(&l, convert.OfferMessage, func(o *waitlist.Offer) {
		o.Status, o.Cause = waitlist.Withdrawn, waitlist.TooSlow
	})
	converttest.Add(&l, convert.BrandMessage)
	converttest.AddBack(&l, convert.BrandValue)
	l.Check(t, "testdata/fields.txt")
}

func TestMoney_RoundTrips(t *testing.T) {
	t.Parallel()
	for _, amount := range []credit.Money{{Currency: "CHF", Units: 12, Nanos: 500_000_000}, {}} {
		test.EqOp(t, amount, convert.MoneyValue(convert.MoneyMessage(amount)))
	}
}

// An entry says which session or sessions it is for.
func TestEntryMessage_NamesItsSessions(t *testing.T) {
	t.Parallel()
	one := catalog.SessionSummary{ID: tenant.SessionID{UUID: tenant.UUID{1}}, Title: "Yoga", TimeZone: "Europe/Berlin"}
	other := catalog.SessionSummary{ID: tenant.SessionID{UUID: tenant.UUID{2}}, Title: "Pilates"}
	alone := convert.EntryMessage(waitlist.Entry{Session: one.ID, Sessions: []catalog.SessionSummary{one}})
	test.Eq(t, convert.SessionSummaryMessage(one), alone.GetSession(), test.Cmp(protocmp.Transform()))
	test.Nil(t, alone.Position)
	either := convert.EntryMessage(waitlist.Entry{
		AnyOf: []tenant.SessionID{other.ID, one.ID}, Sessions: []catalog.SessionSummary{other, one},
	})
	test.Eq(t, []*v1.SessionSummary{
		convert.SessionSummaryMessage(other), convert.SessionSummaryMessage(one),
	}, either.GetAnyOf().GetSessions(), test.Cmp(protocmp.Transform()))
}
