package main

import (
	"context"
	"strings"
	"time"

	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Lists and streams of events, for callers who see all and for callers who see only their own.
func eventsScript() script {
	const from = "$page.events.0.cursor"
	return script{
		promotes(),
		class("evening", on(7, "18:00")),
		draft("draft", on(8, "18:00")),
		mia.books("$evening").as("mias"),
		tom.books("$evening").as("toms"),
		noah.silently(&v1.BookRequest{SessionId: "$evening"}),
		frida.silently(&v1.CancelBookingRequest{BookingId: "$toms.booking.id", Reason: "He called."}),
		class("other", on(9, "18:00")),
		portal.silently(&v1.HoldBookingRequest{SessionId: "$other", Contact: &v1.BookingContact{Name: "Greta"}}),
		cora.calls("The coach, who may not, lists her own events", &v1.ListEventsRequest{}).as("first"),
		adam.calls("The admin lists events of the evening",
			&v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: "$evening"}}),
		adam.calls("The admin lists events of Mia's booking",
			&v1.ListEventsRequest{Filter: &v1.EventFilter{BookingId: "$mias.booking.id"}}),
		adam.calls("The admin lists the last two events at the center", &v1.ListEventsRequest{
			Filter: &v1.EventFilter{LocationId: "$center"}, NewestFirst: true, PageSize: 2,
		}),
		adam.calls("The admin lists two bookings", &v1.ListEventsRequest{
			Filter: &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED}}, PageSize: 1,
		}).as("page"),
		adam.calls("The admin lists what came after the first", &v1.ListEventsRequest{
			Filter: &v1.EventFilter{SessionId: "$evening"}, Cursor: "$page.events.0.cursor",
		}),
		mia.calls("Mia lists her events", &v1.ListEventsRequest{Filter: &v1.EventFilter{MemberId: "$mia"}}),
		mia.calls("Mia lists events of the evening", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: "$evening"}}),
		mia.calls("Mia lists events of the draft", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: "$draft"}}),
		mia.calls("Mia lists Tom's events", &v1.ListEventsRequest{Filter: &v1.EventFilter{MemberId: "$tom"}}),
		portal.calls("The partner lists holds",
			&v1.ListEventsRequest{Filter: &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_HELD}}}),
		mona.refused("Mona goes on from the other tenant's cursor", "INVALID_FIELD",
			&v1.ListEventsRequest{Cursor: "$first.endCursor"}),
		adam.refused("The admin goes on from a cursor that is none", "INVALID_FIELD",
			&v1.ListEventsRequest{Cursor: "none"}),
		ivan.refused("Ivan lists events", "MEMBER_INACTIVE", &v1.ListEventsRequest{}),
		adam.watches("The admin watches from a cursor",
			&v1.WatchEventsRequest{Cursor: from, Filter: &v1.EventFilter{SessionId: "$evening"}}, 4, nil),
		tom.watches("Tom watches his own from a cursor",
			&v1.WatchEventsRequest{Cursor: from, Filter: &v1.EventFilter{MemberId: "$tom"}}, 2, nil),
		adam.watches("The admin watches as Mia cancels",
			&v1.WatchEventsRequest{HeartbeatInterval: durationpb.New(time.Minute)}, 1,
			script{mia.silently(&v1.CancelBookingRequest{BookingId: "$mias.booking.id"})}),
		adam.refused("The admin watches from a cursor that is none", "INVALID_FIELD",
			&v1.WatchEventsRequest{Cursor: "none"}),
		ivan.refused("Ivan watches", "MEMBER_INACTIVE", &v1.WatchEventsRequest{}),
	}
}

// watches opens a stream, plays a script to cause events once it is open, and records the given number of them.
func (c caller) watches(title string, request *v1.WatchEventsRequest, events int, during script) do {
	return func(r *recording) {
		r.t.Helper()
		ctx, cancel := context.WithTimeout(r.t.Context(), sceneLength)
		defer cancel()
		body := r.bodyOf(request)
		response := r.open(ctx, c, methodOf(request), "application/connect+json", envelope(body), nil)
		defer response.Body.Close()
		var seen []any
		got := r.readStream(response, func(so callResult) bool {
			if len(so.messages) == 1 { // after the first message, the stream misses no events
				during.play(r)
			}
			seen = nil
			for _, message := range so.messages {
				o, _ := expect.Value(parseJSON(message))(r.t).(object)
				more, _ := o.get("events").([]any)
				seen = append(seen, withoutFields(more, "cursor")...)
			}
			return len(seen) >= events
		})
		must.Nil(r.t, got.err, must.Sprintf("%s: %+v", title, got.err))
		r.writeCall(title, c, methodOf(request), "", body)
		r.printf("← OK\n%s\n\n", strings.TrimSpace(render(r.names.normalize(seen, "events", ""), "")))
	}
}
