package eventapi

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/protobuf/encoding/protojson"

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
		return expect.Value(eventMessage(tenant.TenantID{}, e))(t)
	}, func(e **events.EventRecord) { (*e).Actor = "0190a000-0000-7000-8000-00000000000a" })
	converttest.AddBack(&l, eventFilterValue)
	l.Check(t, "testdata/fields.txt")
}

// The details are the data in JSON, as far as the view shows them.
func TestDetails_AreWhatTheViewShows(t *testing.T) {
	t.Parallel()
	left := event.WaitlistLeft{Status: "EXPIRED", Reason: "late", Notify: true}
	for _, tt := range []struct {
		data event.Data
		view event.View
		want string
	}{
		{left, event.Whole, `{"status":"EXPIRED","reason":"late","notify":true}`},
		{left, event.Own, `{"status":"EXPIRED","reason":"late"}`},
		{left, event.Public, ""},
		{event.BookingHeld{}, event.Whole, ""},
		{event.SessionSeatsChanged{SeatsOpen: 0}, event.Whole, `{"seats_open":0}`},
		{
			event.SessionUpdated{After: event.SessionFields{Capacity: event.Changed[int](nil)}}, event.Whole,
			`{"after":{"capacity":null}}`,
		},
	} {
		e := &events.EventRecord{View: tt.view}
		e.Data = tt.view.Of(tt.data)
		got := expect.Value(eventMessage(tenant.TenantID{}, e))(t).GetDetails()
		if tt.want == "" {
			test.Nil(t, got)
			continue
		}
		text := expect.Value(protojson.Marshal(got))(t)
		test.EqJSON(t, tt.want, string(text))
	}
}

// What cannot be shown is an error, for all who share the message.
func TestDetails_AreRefusedIfTheyCannotBeShown(t *testing.T) {
	t.Parallel()
	e := &events.EventRecord{}
	e.Data = event.OfferExtended{Expires: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}
	for range 2 {
		refused := expect.Error(eventMessages(tenant.TenantID{}, []*events.EventRecord{e}))
		test.ErrorContains(t, refused, "year outside of range")
	}
}
