package main

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Booking, cancelling, rescheduling and no-shows, in sessions that cost no credits.
func recordBooking(s *studio) {
	recordBookAndCancel(s)
	recordBookingErrors(s)
	recordReschedules(s)
	recordNoShows(s)
}

func recordBookAndCancel(s *studio) {
	evening := s.class("evening", on(7, "18:00"))
	booked := recordResponse[*v1.BookResponse](
		s.recording, s.mia, "Mia books", &v1.BookRequest{SessionId: evening, Note: "Near the window, please."},
	).GetBooking()
	s.record(s.mia, "Mia reads her booking", &v1.GetBookingRequest{BookingId: booked.GetId()})
	s.record(s.cora, "The coach reads Mia's booking", &v1.GetBookingRequest{BookingId: booked.GetId()})
	s.recordError(s.tom, "Tom reads Mia's booking", "BOOKING_NOT_FOUND", &v1.GetBookingRequest{BookingId: booked.GetId()})
	s.recordError(
		s.portal, "The partner reads Mia's booking", "BOOKING_NOT_FOUND", &v1.GetBookingRequest{BookingId: booked.GetId()},
	)
	s.recordError(s.mia, "Mia books twice", "ALREADY_BOOKED", &v1.BookRequest{SessionId: evening})

	s.recordError(s.frida, "The front desk books by phone", "CHANNEL_CLOSED",
		&v1.BookRequest{SessionId: evening, MemberId: s.tom.id, Channel: v1.Channel_CHANNEL_PHONE})
	forTom := &v1.BookRequest{SessionId: evening, MemberId: s.tom.id, ExternalRef: "desk-17", Note: "Asked at the desk."}
	toms := recordResponse[*v1.BookResponse](s.recording, s.frida, "The front desk books for Tom", forTom).GetBooking()
	s.record(s.frida, "The front desk books for Tom again", forTom)
	forTom.Note = "Asked twice."
	s.recordError(s.frida, "The front desk uses the reference for something else", "EXTERNAL_REF_CONFLICT", forTom)
	s.recordError(s.mia, "Mia books for Tom", "PERMISSION_DENIED", &v1.BookRequest{SessionId: evening, MemberId: s.tom.id})

	s.recordError(
		s.noah, "Noah does not want to wait", "SESSION_FULL", &v1.BookRequest{SessionId: evening, NoWaitlist: true},
	)
	s.record(s.noah, "Noah waits", &v1.BookRequest{SessionId: evening})
	lenas := recordResponse[*v1.BookResponse](
		s.recording, s.lena, "Lena waits", &v1.BookRequest{SessionId: evening},
	).GetEntry()
	s.recordError(s.zoe, "Zoe finds the waitlist full", "SESSION_FULL", &v1.BookRequest{SessionId: evening})
	s.recordError(s.noah, "Noah waits twice", "ALREADY_BOOKED", &v1.BookRequest{SessionId: evening})
	s.record(s.mia, "Mia sees the evening", &v1.GetSessionRequest{SessionId: evening})
	s.record(s.noah, "Noah lists his bookings", &v1.ListMyBookingsRequest{})
	s.record(s.cora, "The coach lists Tom's bookings", &v1.ListMyBookingsRequest{MemberId: s.tom.id, StartsWithin: week()})
	s.recordError(s.noah, "Noah lists Tom's bookings", "MEMBER_NOT_FOUND", &v1.ListMyBookingsRequest{MemberId: s.tom.id})
	s.record(s.cora, "The coach reads the roster", &v1.ListRosterRequest{SessionId: evening})
	s.recordError(s.mia, "Mia reads the roster", "PERMISSION_DENIED", &v1.ListRosterRequest{SessionId: evening})

	s.record(s.mia, "Mia cancels", &v1.CancelBookingRequest{BookingId: booked.GetId(), Reason: "Something came up."})
	s.record(s.mia, "Mia cancels again", &v1.CancelBookingRequest{BookingId: booked.GetId()})
	s.recordError(
		s.tom, "Tom cancels Mia's booking", "BOOKING_NOT_FOUND", &v1.CancelBookingRequest{BookingId: booked.GetId()},
	)
	s.record(s.noah, "Noah lists his bookings after the promotion", &v1.ListMyBookingsRequest{})
	s.record(s.lena, "Lena gives up waiting", &v1.CancelBookingRequest{BookingId: lenas.GetId()})
	s.recordError(
		s.mia, "Mia cancels for Tom", "PERMISSION_DENIED", &v1.AdminCancelBookingRequest{BookingId: toms.GetId()},
	)
	s.record(
		s.frida, "The front desk cancels for Tom",
		&v1.AdminCancelBookingRequest{BookingId: toms.GetId(), Reason: "He is ill.", Notify: new(false)},
	)
	s.record(s.frida, "The front desk cancels for Tom again", &v1.AdminCancelBookingRequest{BookingId: toms.GetId()})
	s.record(s.cora, "The coach reads the whole roster", &v1.ListRosterRequest{SessionId: evening, IncludeInactive: true})
	s.record(
		s.mia, "Mia lists all her bookings",
		&v1.ListMyBookingsRequest{
			StartsWithin: week(), Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CANCELLED},
		},
	)
}

func recordBookingErrors(s *studio) {
	s.startAt(on(5, "10:10"))
	open := s.class("open", on(8, "10:00"))
	draft, far := s.draft("draft", on(8, "12:00")), s.class("far", on(40, "12:00"))
	blocked, cancelled := s.class("blocked", on(8, "14:00")), s.class("cancelled", on(8, "16:00"))
	inThePark := s.class("inThePark", on(8, "18:00"), func(in *v1.SessionInput) { in.LocationId = s.park })
	s.silently(func() {
		mustCall[*v1.BlockSessionResponse](
			s.recording, s.olga, &v1.BlockSessionRequest{SessionId: blocked, Reason: "The floor is wet."},
		)
		mustCall[*v1.CancelSessionResponse](s.recording, s.olga, &v1.CancelSessionRequest{SessionId: cancelled})
		mustCall[*v1.SetChannelsResponse](
			s.recording, s.olga, &v1.SetChannelsRequest{LocationId: s.park, Channels: []v1.Channel{v1.Channel_CHANNEL_PHONE}},
		)
	})
	for _, tt := range []struct {
		title, reason string
		request       *v1.BookRequest
	}{
		{"Mia books what is not there", "SESSION_NOT_FOUND", &v1.BookRequest{SessionId: absentID}},
		{"Mia books a draft", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: draft}},
		{"Mia books a blocked session", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: blocked}},
		{"Mia books a cancelled session", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: cancelled}},
		{"Mia books too early", "ADVANCE_WINDOW", &v1.BookRequest{SessionId: far}},
		{"Mia books online where that is off", "CHANNEL_CLOSED", &v1.BookRequest{SessionId: inThePark}},
		{"Mia walks in by herself", "CHANNEL_CLOSED", &v1.BookRequest{SessionId: open, Channel: v1.Channel_CHANNEL_WALK_IN}},
		{"Mia brings too many", "PARTY_SIZE", &v1.BookRequest{SessionId: open, PartySize: 4}},
		{
			"Mia pays with another's plan", "SUBSCRIPTION_NOT_FOUND", &v1.BookRequest{SessionId: open, SubscriptionId: absentID},
		},
		{"Mia brings a negative party", "INVALID_FIELD", &v1.BookRequest{SessionId: open, PartySize: -1}},
	} {
		s.recordError(s.mia, tt.title, tt.reason, tt.request)
	}
	s.recordError(
		s.adam, "The admin books for an unknown member", "MEMBER_NOT_FOUND",
		&v1.BookRequest{SessionId: open, MemberId: absentID},
	)
	s.recordError(s.portal, "The partner books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: open})
	s.recordError(s.ivan, "Ivan, who is inactive, books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: open})
	s.recordError(s.kim, "Kim, who is no member, books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: open})
	s.recordError(s.mona, "Mona of the other tenant books", "SESSION_NOT_FOUND", &v1.BookRequest{SessionId: open})
	s.recordError(anonymous, "A stranger without a token books", "UNAUTHENTICATED", &v1.BookRequest{SessionId: open})
	s.record(
		s.cora, "The coach's header wins over the channel", &v1.BookRequest{SessionId: inThePark, MemberId: s.tom.id},
		"X-Booking-Channel", "phone",
	)
	s.recordError(
		s.tom, "Tom's header names no channel", "INVALID_FIELD", &v1.BookRequest{SessionId: open}, "X-Booking-Channel", "fax",
	)
	s.record(
		s.cora, "Zoe walks in with a friend",
		&v1.BookRequest{SessionId: open, MemberId: s.zoe.id, PartySize: 2, Channel: v1.Channel_CHANNEL_WALK_IN},
	)
	s.recordError(
		s.adam, "The admin reads a booking that is not there", "BOOKING_NOT_FOUND",
		&v1.GetBookingRequest{BookingId: absentID},
	)
	s.recordError(
		s.adam, "The admin reads a roster that is not there", "SESSION_NOT_FOUND", &v1.ListRosterRequest{SessionId: absentID},
	)
}

func recordReschedules(s *studio) {
	s.startAt(on(5, "10:20"))
	first, second, full := s.class("first", on(10, "10:00")), s.class("second", on(11, "10:00")), s.class(
		"full", on(12, "10:00"), capacity(1),
	)
	outside := s.class("outside", on(13, "10:00"), func(in *v1.SessionInput) { in.LocationId = s.park })
	draft := s.draft("unpublished", on(13, "12:00"))
	b := s.book(s.mia, first)
	s.book(s.noah, full)
	move := func(to string) *v1.RescheduleBookingRequest {
		return &v1.RescheduleBookingRequest{BookingId: b.GetId(), SessionId: to}
	}
	s.record(s.mia, "Mia moves her booking", move(second))
	s.record(s.mia, "Mia moves it to where it is", move(second))
	s.recordError(s.mia, "Mia moves to a full session", "RESCHEDULE_TARGET", move(full))
	s.recordError(s.mia, "Mia moves to another location", "RESCHEDULE_TARGET", move(outside))
	s.recordError(s.mia, "Mia moves to a draft", "RESCHEDULE_TARGET", move(draft))
	s.recordError(s.mia, "Mia moves to nothing", "SESSION_NOT_FOUND", move(absentID))
	s.recordError(s.tom, "Tom moves Mia's booking", "BOOKING_NOT_FOUND", move(first))
	s.record(s.adam, "The admin moves Mia's booking back", move(first))
	s.record(s.mia, "Mia cancels what was moved", &v1.CancelBookingRequest{BookingId: b.GetId()})
	s.recordError(s.mia, "Mia moves a cancelled booking", "BOOKING_STATE", move(second))
}

func recordNoShows(s *studio) {
	s.startAt(on(5, "10:30"))
	late, soon, later := s.class("late", on(6, "09:00")), s.class("soon", on(6, "10:00")), s.class(
		"later", on(20, "18:00"),
	)
	mias, toms, noahs := s.book(s.mia, late), s.book(s.tom, late), s.book(s.noah, soon)
	laters := s.book(s.mia, later)
	s.startAt(on(5, "16:00"))
	s.recordError(s.mia, "Mia cancels too late", "CANCELLATION_WINDOW", &v1.CancelBookingRequest{BookingId: mias.GetId()})
	s.recordError(
		s.mia, "Mia moves too late", "CANCELLATION_WINDOW",
		&v1.RescheduleBookingRequest{BookingId: mias.GetId(), SessionId: later},
	)
	s.record(s.adam, "The admin cancels late", &v1.AdminCancelBookingRequest{BookingId: toms.GetId(), Reason: "Late."})
	s.silently(func() {
		mustCall[*v1.UpdatePolicyResponse](s.recording, s.olga, &v1.UpdatePolicyRequest{
			Layer: &v1.PolicyLayer{
				Level:  v1.PolicyLevel_POLICY_LEVEL_TENANT,
				Policy: &v1.Policy{AllowLateCancellation: new(true), AllowReschedule: new(true)},
			},
			UpdateMask: paths("allow_late_cancellation", "allow_reschedule"),
		})
	})
	s.record(s.noah, "Noah cancels late, which is allowed now", &v1.CancelBookingRequest{BookingId: noahs.GetId()})

	s.startAt(on(6, "10:30"))
	s.recordError(s.lena, "Lena books a session that has started", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: soon})
	s.recordError(s.mia, "Mia marks herself absent", "PERMISSION_DENIED", &v1.MarkNoShowRequest{BookingId: mias.GetId()})
	s.record(s.cora, "The coach undoes an absence that is none", &v1.UndoNoShowRequest{BookingId: mias.GetId()})
	s.recordError(
		s.cora, "The coach undoes an absence of a cancelled booking", "BOOKING_STATE",
		&v1.UndoNoShowRequest{BookingId: toms.GetId()},
	)
	s.record(s.cora, "The coach marks Mia absent", &v1.MarkNoShowRequest{BookingId: mias.GetId()})
	s.record(s.cora, "The coach marks Mia absent again", &v1.MarkNoShowRequest{BookingId: mias.GetId()})
	s.recordError(s.mia, "Mia cancels what she missed", "BOOKING_STATE", &v1.CancelBookingRequest{BookingId: mias.GetId()})
	s.record(s.cora, "The coach undoes Mia's absence", &v1.UndoNoShowRequest{BookingId: mias.GetId()})
	s.recordError(
		s.cora, "The coach marks an absence too early", "SESSION_NOT_OPEN", &v1.MarkNoShowRequest{BookingId: laters.GetId()},
	)
	s.recordError(
		s.cora, "The coach marks a cancelled booking absent", "BOOKING_STATE", &v1.MarkNoShowRequest{BookingId: toms.GetId()},
	)
	s.recordError(
		s.cora, "The coach marks nothing absent", "BOOKING_NOT_FOUND", &v1.MarkNoShowRequest{BookingId: absentID},
	)
}
