package bookingapi

import (
	"testing"

	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/payment"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.AddBack(&l, bookRequestValue)
	converttest.AddBack(&l, holdRequestValue)
	converttest.AddBack(&l, cancelRequestValue)
	converttest.AddBack(&l, contactValue)
	converttest.AddBack(&l, paymentValue)
	converttest.AddBack(&l, refundValue)
	converttest.Add(&l, paymentEntryMessage, func(e *payment.Line) { e.Kind = payment.Refund })
	converttest.AddBack(&l, presenceValue)
	converttest.Add(&l, displayMessage)
	converttest.Add(&l, displayLinkMessage)
	converttest.Add(&l, countsMessage)
	converttest.Add(&l, dayMessage)
	converttest.Add(&l, pointMessage)
	converttest.AddBack(&l, periodValue)
	l.Check(t, "testdata/fields.txt")
}
