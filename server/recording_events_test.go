package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Lists of events and streams of them, to those who see all and to those who see their own.
func recordEvents(s *studio) {
	class := s.class("evening", on(7, "18:00"))
	draft := s.draft("draft", on(8, "18:00"))
	mias, toms := s.book(s.mia, class), s.book(s.tom, class)
	s.silently(func() {
		made[*v1.BookResponse](s.recording, s.noah, &v1.BookRequest{SessionId: class})
		made[*v1.AdminCancelBookingResponse](s.recording, s.frida, &v1.AdminCancelBookingRequest{BookingId: toms.GetId(), Reason: "He called."})
		made[*v1.HoldBookingResponse](s.recording, s.portal, &v1.HoldBookingRequest{SessionId: s.class("other", on(9, "18:00")), Contact: &v1.Contact{Name: "Greta"}})
	})
	s.settle()
	first := ok[*v1.ListEventsResponse](s.recording, s.cora, "The coach, who may not, lists her own events", &v1.ListEventsRequest{})
	s.do(s.adam, "The admin lists events of the evening", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: class}})
	s.do(s.adam, "The admin lists events of Mia's booking", &v1.ListEventsRequest{Filter: &v1.EventFilter{BookingId: mias.GetId()}})
	s.do(s.adam, "The admin lists the last two events at the center", &v1.ListEventsRequest{
		Filter: &v1.EventFilter{LocationId: s.center}, NewestFirst: true, PageSize: 2,
	})
	page := ok[*v1.ListEventsResponse](s.recording, s.adam, "The admin lists two bookings", &v1.ListEventsRequest{
		Filter: &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_CONFIRMED}}, PageSize: 1,
	})
	s.do(s.adam, "The admin lists what came after the first", &v1.ListEventsRequest{
		Filter: &v1.EventFilter{SessionId: class}, Cursor: page.GetEvents()[0].GetCursor(),
	})
	s.do(s.mia, "Mia lists her events", &v1.ListEventsRequest{Filter: &v1.EventFilter{MemberId: s.mia.id}})
	s.do(s.mia, "Mia lists events of the evening", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: class}})
	s.do(s.mia, "Mia lists events of the draft", &v1.ListEventsRequest{Filter: &v1.EventFilter{SessionId: draft}})
	s.do(s.mia, "Mia lists Tom's events", &v1.ListEventsRequest{Filter: &v1.EventFilter{MemberId: s.tom.id}})
	s.do(s.portal, "The partner lists holds", &v1.ListEventsRequest{Filter: &v1.EventFilter{Types: []v1.EventType{v1.EventType_EVENT_TYPE_BOOKING_HELD}}})
	s.refused(s.mona, "Mona goes on from the other tenant's cursor", "INVALID_FIELD", &v1.ListEventsRequest{Cursor: first.GetEndCursor()})
	s.refused(s.adam, "The admin goes on from a cursor that is none", "INVALID_FIELD", &v1.ListEventsRequest{Cursor: "none"})
	s.refused(s.ivan, "Ivan lists events", "PERMISSION_DENIED", &v1.ListEventsRequest{})

	from := page.GetEvents()[0].GetCursor()
	s.watch(s.adam, "The admin watches from a cursor", &v1.WatchEventsRequest{Cursor: from, Filter: &v1.EventFilter{SessionId: class}}, 4, nil)
	s.watch(s.tom, "Tom watches his own from a cursor", &v1.WatchEventsRequest{Cursor: from, Filter: &v1.EventFilter{MemberId: s.tom.id}}, 2, nil)
	s.watch(s.adam, "The admin watches as Mia cancels", &v1.WatchEventsRequest{HeartbeatInterval: durationpb.New(time.Minute)}, 1, func() {
		made[*v1.CancelBookingResponse](s.recording, s.mia, &v1.CancelBookingRequest{BookingId: mias.GetId()})
	})
	s.refused(s.adam, "The admin watches from a cursor that is none", "INVALID_FIELD", &v1.WatchEventsRequest{Cursor: "none"})
	s.refused(s.ivan, "Ivan watches", "PERMISSION_DENIED", &v1.WatchEventsRequest{})
}

// watch opens a stream, does what makes events once it is open, and writes so many of them down.
func (s *studio) watch(who person, title string, request *v1.WatchEventsRequest, events int, do func()) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), sceneLength)
	defer cancel()
	method := methodsByRequest()[request.ProtoReflect().Descriptor().FullName()]
	body, err := protojson.Marshal(request)
	if err != nil {
		s.t.Fatal(err)
	}
	response := s.open(ctx, who, method, "application/connect+json", enveloped(body), nil)
	defer response.Body.Close()
	var seen []any
	got := s.readStream(response, func(r reply) bool {
		if len(r.messages) == 1 && do != nil { // the first message says that nothing is missed from now on
			s.silently(do)
			do = nil
		}
		seen = nil
		for _, message := range r.messages {
			value, err := parseJSON(message)
			if err != nil {
				s.t.Fatal(err)
			}
			o, _ := value.(object)
			more, _ := o.get("events").([]any)
			seen = append(seen, without(more, "cursor")...)
		}
		return len(seen) >= events
	})
	fmt.Fprintf(&s.text, "--- %s\n%s → %s\n", title, who.name, shortName(method))
	s.write(body)
	if got.failure != nil {
		s.t.Fatalf("%s: %s", title, got.failure.Message)
	}
	fmt.Fprintf(&s.text, "← OK\n%s\n\n", strings.TrimSpace(render(s.names.cleaned(seen, "events", ""), "")))
}
