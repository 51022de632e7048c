package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Lists and streams of events, for callers who see all and for callers who see only their own.
func recordEvents(s *studio) {
	class := s.class("evening", on(7, "18:00"))
	draft := s.draft("draft", on(8, "18:00"))
	mias, toms := s.book(s.mia, class), s.book(s.tom, class)
	s.silently(func() {
		mustCall[*v1.BookResponse](s.recording, s.noah, &v1.BookRequest{SessionId: class})
		mustCall[*v1.AdminCancelBookingResponse](
			s.recording, s.frida, &v1.AdminCancelBookingRequest{BookingId: toms.GetId(), Reason: "He called."},
		)
		mustCall[*v1.HoldBookingResponse](
			s.recording, s.portal,
			&v1.HoldBookingRequest{SessionId: s.class("other", on(9, "18:00")), Contact: &v1.Contact{Name: "Greta"}},
		)
	})
	s.settle()
	first := recordResponse[*v1.ListEventsResponse](
		s.recording, s.cora, "The coach, who may not, lists her own events", &v1.ListEventsRequest{},
	)
	s.record(
		s.adam, "The admin lists events of the evening", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: class}},
	)
	s.record(
		s.adam, "The admin lists events of Mia's booking",
		&v1.ListEventsRequest{Filter: &v1.EventFilter{BookingId: mias.GetId()}},
	)
	s.record(s.adam, "The admin lists the last two events at the center", &v1.ListEventsRequest{
		Filter: &v1.EventFilter{LocationId: s.center}, NewestFirst: true, PageSize: 2,
	})
	page := recordResponse[*v1.ListEventsResponse](s.recording, s.adam, "The admin lists two bookings",
		&v1.ListEventsRequest{
			Filter: &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED}}, PageSize: 1,
		})
	s.record(s.adam, "The admin lists what came after the first", &v1.ListEventsRequest{
		Filter: &v1.EventFilter{SessionId: class}, Cursor: page.GetEvents()[0].GetCursor(),
	})
	s.record(s.mia, "Mia lists her events", &v1.ListEventsRequest{Filter: &v1.EventFilter{MemberId: s.mia.id}})
	s.record(s.mia, "Mia lists events of the evening", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: class}})
	s.record(s.mia, "Mia lists events of the draft", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: draft}})
	s.record(s.mia, "Mia lists Tom's events", &v1.ListEventsRequest{Filter: &v1.EventFilter{MemberId: s.tom.id}})
	s.record(
		s.portal, "The partner lists holds",
		&v1.ListEventsRequest{Filter: &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_HELD}}},
	)
	s.recordError(
		s.mona, "Mona goes on from the other tenant's cursor", "INVALID_FIELD",
		&v1.ListEventsRequest{Cursor: first.GetEndCursor()},
	)
	s.recordError(
		s.adam, "The admin goes on from a cursor that is none", "INVALID_FIELD", &v1.ListEventsRequest{Cursor: "none"},
	)
	s.recordError(s.ivan, "Ivan lists events", "PERMISSION_DENIED", &v1.ListEventsRequest{})

	from := page.GetEvents()[0].GetCursor()
	s.watch(
		s.adam, "The admin watches from a cursor",
		&v1.WatchEventsRequest{Cursor: from, Filter: &v1.EventFilter{SessionId: class}}, 4, nil,
	)
	s.watch(
		s.tom, "Tom watches his own from a cursor",
		&v1.WatchEventsRequest{Cursor: from, Filter: &v1.EventFilter{MemberId: s.tom.id}}, 2, nil,
	)
	s.watch(s.adam, "The admin watches as Mia cancels",
		&v1.WatchEventsRequest{HeartbeatInterval: durationpb.New(time.Minute)}, 1, func() {
			mustCall[*v1.CancelBookingResponse](s.recording, s.mia, &v1.CancelBookingRequest{BookingId: mias.GetId()})
		})
	s.recordError(
		s.adam, "The admin watches from a cursor that is none", "INVALID_FIELD", &v1.WatchEventsRequest{Cursor: "none"},
	)
	s.recordError(s.ivan, "Ivan watches", "PERMISSION_DENIED", &v1.WatchEventsRequest{})
}

// watch opens a stream, calls do to cause events once it is open, and records the given number of them.
func (s *studio) watch(caller person, title string, request *v1.WatchEventsRequest, events int, do func()) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), sceneLength)
	defer cancel()
	method := methodsByRequest()[request.ProtoReflect().Descriptor().FullName()]
	body := expect.Value(protojson.Marshal(request))(s.t)
	response := s.open(ctx, caller, method, "application/connect+json", envelope(body), nil)
	defer response.Body.Close()
	var seen []any
	got := s.readStream(response, func(r callResult) bool {
		if len(r.messages) == 1 && do != nil { // after the first message, the stream misses no events
			s.silently(do)
			do = nil
		}
		seen = nil
		for _, message := range r.messages {
			value := expect.Value(parseJSON(message))(s.t)
			o, _ := value.(object)
			more, _ := o.get("events").([]any)
			seen = append(seen, withoutFields(more, "cursor")...)
		}
		return len(seen) >= events
	})
	fmt.Fprintf(&s.text, "--- %s\n%s → %s\n", title, caller.name, shortName(method))
	s.writeJSON(body)
	must.Nil(s.t, got.err, must.Sprintf("%s: %+v", title, got.err))
	fmt.Fprintf(&s.text, "← OK\n%s\n\n", strings.TrimSpace(render(s.names.normalize(seen, "events", ""), "")))
}
