package eventapi

import (
	"testing"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/tenant"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.Add(&l, func(e *events.EventRecord) *v1.Event {
		e.Type = "booking.confirmed"
		return eventMessage(tenant.TenantID{}, e)
	})
	converttest.AddBack(&l, eventFilterValue)
	l.Check(t, "testdata/fields.txt")
}
