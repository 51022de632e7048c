package bookingapi

import (
	"testing"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/payment"
)

// Members, as actors.
const (
	someActor  = "0190a000-0000-7000-8000-00000000000a"
	otherActor = "0190a000-0000-7000-8000-00000000000b"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.AddBack(&l, bookRequestValue)
	converttest.AddBack(&l, holdRequestValue)
	converttest.AddBack(&l, cancelRequestValue)
	converttest.AddBack(&l, contactValue)
	converttest.AddBack(&l, filterValue)
	converttest.AddBack(&l, paymentValue)
	converttest.AddBack(&l, refundValue)
	converttest.Add(&l, func(line payment.Line) *v1.PaymentLine {
		return paymentLineMessage(line, nil)
	}, func(e *payment.Line) { e.Kind, e.Actor = payment.Refund, someActor })
	converttest.AddBack(&l, presenceValue)
	converttest.Add(&l, displayMessage)
	converttest.Add(&l, func(d checkin.DisplayLink) *v1.DisplayLink {
		return displayLinkMessage(d, nil)
	}, func(d *checkin.DisplayLink) { d.CreatedBy, d.RevokedBy = someActor, otherActor })
	converttest.Add(&l, countsMessage)
	converttest.Add(&l, dayMessage)
	converttest.Add(&l, pointMessage)
	converttest.AddBack(&l, attendanceQueryValue)
	converttest.AddBack(&l, periodValue)
	l.Check(t, "testdata/fields.txt")
}

// Midnight is an hour; a row of a service has none.
func TestUtilization_HasAnHourIfGroupedByIt(t *testing.T) {
	t.Parallel()
	test.Eq(t, new(int32(0)), utilizationMessage(bookings.UseByWeekdayHour, bookings.Utilization{Weekday: 1}).Hour)
	test.Nil(t, utilizationMessage(bookings.UseByService, bookings.Utilization{}).Hour)
}
