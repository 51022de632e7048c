package main

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Booking, cancelling, moving and absences, of sessions that cost nothing.
func recordBooking(s *studio) {
	recordPlaces(s)
	recordRefusedBookings(s)
	recordMoves(s)
	recordLateness(s)
}

func recordPlaces(s *studio) {
	evening := s.class("evening", on(7, "18:00"))
	booked := ok[*v1.BookResponse](s.recording, s.mia, "Mia books", &v1.BookRequest{SessionId: evening, Note: "Near the window, please."}).GetBooking()
	s.do(s.mia, "Mia reads her booking", &v1.GetBookingRequest{BookingId: booked.GetId()})
	s.do(s.cora, "The coach reads Mia's booking", &v1.GetBookingRequest{BookingId: booked.GetId()})
	s.refused(s.tom, "Tom reads Mia's booking", "BOOKING_NOT_FOUND", &v1.GetBookingRequest{BookingId: booked.GetId()})
	s.refused(s.portal, "The partner reads Mia's booking", "BOOKING_NOT_FOUND", &v1.GetBookingRequest{BookingId: booked.GetId()})
	s.refused(s.mia, "Mia books twice", "ALREADY_BOOKED", &v1.BookRequest{SessionId: evening})

	s.refused(s.frida, "The front desk books by phone", "CHANNEL_CLOSED",
		&v1.BookRequest{SessionId: evening, MemberId: s.tom.id, Channel: v1.Channel_CHANNEL_PHONE})
	forTom := &v1.BookRequest{SessionId: evening, MemberId: s.tom.id, ExternalRef: "desk-17", Note: "Asked at the desk."}
	toms := ok[*v1.BookResponse](s.recording, s.frida, "The front desk books for Tom", forTom).GetBooking()
	s.do(s.frida, "The front desk books for Tom again", forTom)
	forTom.Note = "Asked twice."
	s.refused(s.frida, "The front desk uses the reference for something else", "EXTERNAL_REF_CONFLICT", forTom)
	s.refused(s.mia, "Mia books for Tom", "PERMISSION_DENIED", &v1.BookRequest{SessionId: evening, MemberId: s.tom.id})

	s.refused(s.noah, "Noah does not want to wait", "SESSION_FULL", &v1.BookRequest{SessionId: evening, NoWaitlist: true})
	s.do(s.noah, "Noah waits", &v1.BookRequest{SessionId: evening})
	lenas := ok[*v1.BookResponse](s.recording, s.lena, "Lena waits", &v1.BookRequest{SessionId: evening}).GetEntry()
	s.refused(s.zoe, "Zoe finds the waitlist full", "SESSION_FULL", &v1.BookRequest{SessionId: evening})
	s.refused(s.noah, "Noah waits twice", "ALREADY_BOOKED", &v1.BookRequest{SessionId: evening})
	s.do(s.mia, "Mia sees the evening", &v1.GetSessionRequest{SessionId: evening})
	s.do(s.noah, "Noah lists his bookings", &v1.ListMyBookingsRequest{})
	s.do(s.cora, "The coach lists Tom's bookings", &v1.ListMyBookingsRequest{MemberId: s.tom.id, StartsWithin: week()})
	s.refused(s.noah, "Noah lists Tom's bookings", "MEMBER_NOT_FOUND", &v1.ListMyBookingsRequest{MemberId: s.tom.id})
	s.do(s.cora, "The coach reads the roster", &v1.ListRosterRequest{SessionId: evening})
	s.refused(s.mia, "Mia reads the roster", "PERMISSION_DENIED", &v1.ListRosterRequest{SessionId: evening})

	s.do(s.mia, "Mia cancels", &v1.CancelBookingRequest{BookingId: booked.GetId(), Reason: "Something came up."})
	s.do(s.mia, "Mia cancels again", &v1.CancelBookingRequest{BookingId: booked.GetId()})
	s.refused(s.tom, "Tom cancels Mia's booking", "BOOKING_NOT_FOUND", &v1.CancelBookingRequest{BookingId: booked.GetId()})
	s.do(s.noah, "Noah lists his bookings after the promotion", &v1.ListMyBookingsRequest{})
	s.do(s.lena, "Lena gives up waiting", &v1.CancelBookingRequest{BookingId: lenas.GetId()})
	s.refused(s.mia, "Mia cancels for Tom", "PERMISSION_DENIED", &v1.AdminCancelBookingRequest{BookingId: toms.GetId()})
	s.do(s.frida, "The front desk cancels for Tom", &v1.AdminCancelBookingRequest{BookingId: toms.GetId(), Reason: "He is ill.", Notify: new(false)})
	s.do(s.frida, "The front desk cancels for Tom again", &v1.AdminCancelBookingRequest{BookingId: toms.GetId()})
	s.do(s.cora, "The coach reads the whole roster", &v1.ListRosterRequest{SessionId: evening, IncludeInactive: true})
	s.do(s.mia, "Mia lists all her bookings", &v1.ListMyBookingsRequest{StartsWithin: week(), Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CANCELLED}})
}

func recordRefusedBookings(s *studio) {
	s.at(on(5, "10:10"))
	open := s.class("open", on(8, "10:00"))
	draft, far := s.draft("draft", on(8, "12:00")), s.class("far", on(40, "12:00"))
	blocked, cancelled := s.class("blocked", on(8, "14:00")), s.class("cancelled", on(8, "16:00"))
	inThePark := s.class("inThePark", on(8, "18:00"), func(in *v1.SessionInput) { in.LocationId = s.park })
	s.silently(func() {
		made[*v1.BlockSessionResponse](s.recording, s.olga, &v1.BlockSessionRequest{SessionId: blocked, Reason: "The floor is wet."})
		made[*v1.CancelSessionResponse](s.recording, s.olga, &v1.CancelSessionRequest{SessionId: cancelled})
		made[*v1.SetChannelsResponse](s.recording, s.olga, &v1.SetChannelsRequest{LocationId: s.park, Channels: []v1.Channel{v1.Channel_CHANNEL_PHONE}})
	})
	for _, test := range []struct {
		title, reason string
		request       *v1.BookRequest
	}{
		{"Mia books what is not there", "SESSION_NOT_FOUND", &v1.BookRequest{SessionId: nobodysID}},
		{"Mia books a draft", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: draft}},
		{"Mia books a blocked session", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: blocked}},
		{"Mia books a cancelled session", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: cancelled}},
		{"Mia books too early", "ADVANCE_WINDOW", &v1.BookRequest{SessionId: far}},
		{"Mia books online where that is off", "CHANNEL_CLOSED", &v1.BookRequest{SessionId: inThePark}},
		{"Mia walks in by herself", "CHANNEL_CLOSED", &v1.BookRequest{SessionId: open, Channel: v1.Channel_CHANNEL_WALK_IN}},
		{"Mia brings too many", "PARTY_SIZE", &v1.BookRequest{SessionId: open, PartySize: 4}},
		{"Mia pays with another's plan", "SUBSCRIPTION_NOT_FOUND", &v1.BookRequest{SessionId: open, SubscriptionId: nobodysID}},
		{"Mia brings a negative party", "INVALID_FIELD", &v1.BookRequest{SessionId: open, PartySize: -1}},
	} {
		s.refused(s.mia, test.title, test.reason, test.request)
	}
	s.refused(s.adam, "The admin books for nobody", "MEMBER_NOT_FOUND", &v1.BookRequest{SessionId: open, MemberId: nobodysID})
	s.refused(s.portal, "The partner books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: open})
	s.refused(s.ivan, "Ivan, who is inactive, books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: open})
	s.refused(s.kim, "Kim, who is no member, books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: open})
	s.refused(s.mona, "Mona of the other tenant books", "SESSION_NOT_FOUND", &v1.BookRequest{SessionId: open})
	s.refused(anonymous, "Somebody without a token books", "UNAUTHENTICATED", &v1.BookRequest{SessionId: open})
	s.do(s.cora, "The coach's header wins over the channel", &v1.BookRequest{SessionId: inThePark, MemberId: s.tom.id}, "X-Booking-Channel", "phone")
	s.refused(s.tom, "Tom's header names no channel", "INVALID_FIELD", &v1.BookRequest{SessionId: open}, "X-Booking-Channel", "fax")
	s.do(s.cora, "Zoe walks in with a friend", &v1.BookRequest{SessionId: open, MemberId: s.zoe.id, PartySize: 2, Channel: v1.Channel_CHANNEL_WALK_IN})
	s.refused(s.adam, "The admin reads a booking that is not there", "BOOKING_NOT_FOUND", &v1.GetBookingRequest{BookingId: nobodysID})
	s.refused(s.adam, "The admin reads a roster that is not there", "SESSION_NOT_FOUND", &v1.ListRosterRequest{SessionId: nobodysID})
}

func recordMoves(s *studio) {
	s.at(on(5, "10:20"))
	first, second, full := s.class("first", on(10, "10:00")), s.class("second", on(11, "10:00")), s.class("full", on(12, "10:00"), capacity(1))
	outside := s.class("outside", on(13, "10:00"), func(in *v1.SessionInput) { in.LocationId = s.park })
	draft := s.draft("unpublished", on(13, "12:00"))
	b := s.book(s.mia, first)
	s.book(s.noah, full)
	move := func(to string) *v1.RescheduleBookingRequest {
		return &v1.RescheduleBookingRequest{BookingId: b.GetId(), SessionId: to}
	}
	s.do(s.mia, "Mia moves her booking", move(second))
	s.do(s.mia, "Mia moves it to where it is", move(second))
	s.refused(s.mia, "Mia moves to a full session", "RESCHEDULE_TARGET", move(full))
	s.refused(s.mia, "Mia moves to another location", "RESCHEDULE_TARGET", move(outside))
	s.refused(s.mia, "Mia moves to a draft", "RESCHEDULE_TARGET", move(draft))
	s.refused(s.mia, "Mia moves to nothing", "SESSION_NOT_FOUND", move(nobodysID))
	s.refused(s.tom, "Tom moves Mia's booking", "BOOKING_NOT_FOUND", move(first))
	s.do(s.adam, "The admin moves Mia's booking back", move(first))
	s.do(s.mia, "Mia cancels what was moved", &v1.CancelBookingRequest{BookingId: b.GetId()})
	s.refused(s.mia, "Mia moves a cancelled booking", "BOOKING_STATE", move(second))
}

func recordLateness(s *studio) {
	s.at(on(5, "10:30"))
	late, soon, later := s.class("late", on(6, "09:00")), s.class("soon", on(6, "10:00")), s.class("later", on(20, "18:00"))
	mias, toms, noahs := s.book(s.mia, late), s.book(s.tom, late), s.book(s.noah, soon)
	laters := s.book(s.mia, later)
	s.at(on(5, "16:00"))
	s.refused(s.mia, "Mia cancels too late", "CANCELLATION_WINDOW", &v1.CancelBookingRequest{BookingId: mias.GetId()})
	s.refused(s.mia, "Mia moves too late", "CANCELLATION_WINDOW", &v1.RescheduleBookingRequest{BookingId: mias.GetId(), SessionId: later})
	s.do(s.adam, "The admin cancels late", &v1.AdminCancelBookingRequest{BookingId: toms.GetId(), Reason: "Late."})
	s.silently(func() {
		made[*v1.UpdatePolicyResponse](s.recording, s.olga, &v1.UpdatePolicyRequest{
			Layer:      &v1.PolicyLayer{Level: v1.PolicyLevel_POLICY_LEVEL_TENANT, Policy: &v1.Policy{AllowLateCancellation: new(true), AllowReschedule: new(true)}},
			UpdateMask: paths("allow_late_cancellation", "allow_reschedule"),
		})
	})
	s.do(s.noah, "Noah cancels late, which is allowed now", &v1.CancelBookingRequest{BookingId: noahs.GetId()})

	s.at(on(6, "10:30"))
	s.refused(s.lena, "Lena books a session that has started", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: soon})
	s.refused(s.mia, "Mia marks herself absent", "PERMISSION_DENIED", &v1.MarkNoShowRequest{BookingId: mias.GetId()})
	s.do(s.cora, "The coach undoes an absence that is none", &v1.UndoNoShowRequest{BookingId: mias.GetId()})
	s.refused(s.cora, "The coach undoes an absence of a cancelled booking", "BOOKING_STATE", &v1.UndoNoShowRequest{BookingId: toms.GetId()})
	s.do(s.cora, "The coach marks Mia absent", &v1.MarkNoShowRequest{BookingId: mias.GetId()})
	s.do(s.cora, "The coach marks Mia absent again", &v1.MarkNoShowRequest{BookingId: mias.GetId()})
	s.refused(s.mia, "Mia cancels what she missed", "BOOKING_STATE", &v1.CancelBookingRequest{BookingId: mias.GetId()})
	s.do(s.cora, "The coach undoes Mia's absence", &v1.UndoNoShowRequest{BookingId: mias.GetId()})
	s.refused(s.cora, "The coach marks an absence too early", "SESSION_NOT_OPEN", &v1.MarkNoShowRequest{BookingId: laters.GetId()})
	s.refused(s.cora, "The coach marks a cancelled booking absent", "BOOKING_STATE", &v1.MarkNoShowRequest{BookingId: toms.GetId()})
	s.refused(s.cora, "The coach marks nothing absent", "BOOKING_NOT_FOUND", &v1.MarkNoShowRequest{BookingId: nobodysID})
}
