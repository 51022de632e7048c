package main

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Requests that are repeated with an idempotency key.
func recordIdempotency(s *studio) {
	class, other := s.class("evening", on(7, "18:00"), capacity(5)), s.class("other", on(8, "18:00"), capacity(1))
	key := func(text string) []string { return []string{"Idempotency-Key", text} }
	const refusal = "IDEMPOTENCY_CONFLICT"

	book := &v1.BookRequest{SessionId: class}
	s.record(s.mia, "Mia books under a key", book, key("k-1")...)
	s.record(s.mia, "Mia books under the key again", book, key("k-1")...)
	s.recordError(
		s.mia, "Mia asks for something else under the key", refusal, &v1.BookRequest{SessionId: other}, key("k-1")...,
	)
	s.recordError(
		s.mia, "Mia asks by another channel under the key", refusal, book, "Idempotency-Key", "k-1", "X-Booking-Channel",
		"phone",
	)
	s.record(s.tom, "Tom books under the same key", book, key("k-1")...)
	s.recordError(s.mia, "Mia books again without a key", "ALREADY_BOOKED", book)
	s.recordError(s.mia, "Mia's key is none", "INVALID_FIELD", book, key("with a space")...)
	s.recordError(s.mia, "Mia's key is too long", "INVALID_FIELD", book, key(strings.Repeat("k", 201))...)
	s.record(s.mia, "Mia reads under a key", &v1.GetMeRequest{}, key("k-1")...)
	full := &v1.BookRequest{SessionId: other, NoWaitlist: true}
	seat := s.book(s.zoe, other)
	s.recordError(s.mia, "Mia is refused under a key", "SESSION_FULL", full, key("k-2")...)
	s.silently(func() {
		mustCall[*v1.CancelBookingResponse](s.recording, s.zoe, &v1.CancelBookingRequest{BookingId: seat.GetId()})
	})
	s.record(s.mia, "Mia tries again under the key", full, key("k-2")...)
	s.record(s.mia, "Mia tries once more under the key", full, key("k-2")...)

	recordEveryMutationTwice(s, class)

	s.startAt(on(5, "10:05"))
	s.record(s.mia, "Mia books under her key after a restart", book, key("k-1")...)
	s.startAt(on(6, "10:30"))
	s.waitForEvents("booking.expired", 1) // Lena's hold
	s.recordError(s.mia, "Mia books under her key a day later", "ALREADY_BOOKED", book, key("k-1")...)
}

// recordEveryMutationTwice sends one request of each mutation twice.
func recordEveryMutationTwice(s *studio, class string) {
	in := &v1.SessionInput{ServiceId: s.yoga, LocationId: s.center, StartTime: timestamppb.New(on(10, "10:00"))}
	busy, _ := s.fullSession("busy", 11, "10:00")
	device := &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_WEB, Token: "browser"}
	for i, tt := range []struct {
		title   string
		who     person
		request proto.Message
	}{
		{"create a session", s.adam, &v1.CreateSessionRequest{Session: in, Publish: true}},
		{"create a series", s.adam, &v1.CreateSeriesRequest{
			Template: &v1.SessionInput{ServiceId: s.yoga, LocationId: s.center}, Rule: "FREQ=DAILY;COUNT=2", StartDate: june(12),
			StartTimeOfDay: timeOfDay(8, 0),
		}},
		{
			"edit a session", s.adam,
			&v1.UpdateSessionRequest{SessionId: class, Session: &v1.SessionInput{Title: "Later"}, UpdateMask: paths("title")},
		},
		{
			"import sessions", s.adam,
			&v1.ImportSessionsRequest{Csv: []byte("service,location,date,start,end\nYoga,Center,2024-06-13,08:00,09:00\n")},
		},
		{"import members", s.adam, &v1.ImportMembersRequest{Csv: []byte("name\nCarl\n")}},
		{"create a member", s.adam, &v1.CreateMemberRequest{Member: &v1.Member{Name: "Dora"}}},
		{"create an account", s.adam, &v1.CreateServiceAccountRequest{Name: "Kiosk", Roles: []string{"partner"}}},
		{
			"create a plan", s.adam,
			&v1.CreatePlanRequest{
				Plan: &v1.PlanInput{Name: "Pack", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 2, Active: true},
			},
		},
		{"set a policy", s.adam, &v1.UpdatePolicyRequest{
			Layer: &v1.PolicyLayer{
				Level: v1.PolicyLevel_POLICY_LEVEL_TENANT, Policy: &v1.Policy{AllowReschedule: new(true)},
			},
			UpdateMask: paths("allow_reschedule"),
		}},
		{
			"set rules", s.adam,
			&v1.UpdateRulesRequest{Rules: &v1.WaitlistRules{BaseScore: new(int32(50))}, UpdateMask: paths("base_score")},
		},
		{
			"send a test", s.olga, &v1.SendTestRequest{Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER, Channel: byMail},
		},
		{
			"cancel sessions", s.adam,
			&v1.BulkCancelRequest{Filter: &v1.SessionFilter{StartsWithin: between(on(12, "00:00"), on(13, "00:00"))}},
		},
		{"hold", s.lena, &v1.HoldBookingRequest{SessionId: class}},
		{"wait", s.lena, joinRequest(busy)},
		{"open a calendar feed", s.mia, &v1.CreateCalendarFeedRequest{}},
		{"register a device", s.mia, device},
	} {
		for _, turn := range []string{"first", "second"} {
			s.record(
				tt.who, "The "+turn+" request to "+tt.title, tt.request, "Idempotency-Key", "all-"+string(rune('a'+i)),
			)
		}
	}
}
