package eventapi

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.Add(&l, func(e *events.EventRecord) *v1.Event {
		e.Data = event.BookingConfirmed{}
		return eventMessage(tenant.TenantID{}, e)
	}, func(e **events.EventRecord) { (*e).Actor = "0190a000-0000-7000-8000-00000000000a" })
	converttest.AddBack(&l, eventFilterValue)
	l.Check(t, "testdata/fields.txt")
}

// A message of a stream stays below 1 MiB in protobuf and in JSON, also with the largest events, and none is lost.
func TestCut_KeepsMessagesBelowOneMiB(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("\u00e9", 10_000)
	var large []*v1.Event
	for i := range 300 {
		e := &events.EventRecord{}
		e.Session = tenant.New[tenant.SessionID](time.Unix(int64(i), 0))
		e.Data = event.SessionUpdated{
			Before: event.SessionFields{Description: event.Changed(&longest)},
			After:  event.SessionFields{Description: event.Changed(&longest)},
		}
		large = append(large, eventMessage(tenant.TenantID{}, e))
	}
	for name, all := range map[string][]*v1.Event{"large": large, "one": large[:1], "none": nil} {
		var got []*v1.Event
		for _, part := range cut(all, maxWatched) {
			message := &v1.WatchEventsResponse{Events: part, Cursor: "x"}
			test.Less(t, 1<<20, proto.Size(message), test.Sprint(name))
			test.Less(t, 1<<20, len(expect.Value(protojson.Marshal(message))(t)), test.Sprint(name))
			test.True(t, len(part) > 0 || len(all) == 0, test.Sprint(name))
			got = append(got, part...)
		}
		test.EqOp(t, len(all), len(got), test.Sprint(name))
		for i := range got {
			test.True(t, all[i] == got[i], test.Sprint(name))
		}
	}
	test.EqOp(t, 1, len(cut(nil, maxWatched)))
}
