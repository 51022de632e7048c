package main

import (
	"time"

	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Check-in by staff, QR code and GPS, and the display.
func recordCheckIn(s *studio) {
	var feed string
	s.silently(func() {
		feed = s.service(
			"feed", &v1.Service{Name: "Online", Duration: durationpb.New(time.Hour), Delivery: v1.Delivery_DELIVERY_FEED},
		)
	})
	class := s.class("class", on(5, "11:30"), capacity(6), func(in *v1.SessionInput) { in.CoachId = s.cora.id })
	other, later := s.class("other", on(5, "11:30"), capacity(6)), s.class("later", on(7, "18:00"), capacity(6))
	online := s.class("online", on(5, "11:30"), func(in *v1.SessionInput) { in.ServiceId = feed })
	cancelled := s.class("cancelled", on(5, "12:00"))
	mias, toms, lenas, laters := s.book(s.mia, class), s.book(s.tom, class), s.book(s.lena, class), s.book(s.mia, later)
	s.book(s.mia, other)
	s.book(s.noah, class)
	s.book(s.mia, online)
	s.silently(func() {
		mustCall[*v1.CancelSessionResponse](s.recording, s.olga, &v1.CancelSessionRequest{SessionId: cancelled})
	})
	here, there := &latlng.LatLng{Latitude: 52.5201, Longitude: 13.4051}, &latlng.LatLng{Latitude: 52.6, Longitude: 13.4}
	byQR := func(session, token string) *v1.SelfCheckInRequest {
		return &v1.SelfCheckInRequest{SessionId: session, Proof: &v1.SelfCheckInRequest_QrToken{QrToken: token}}
	}
	byGPS := func(session string, at *latlng.LatLng) *v1.SelfCheckInRequest {
		return &v1.SelfCheckInRequest{SessionId: session, Proof: &v1.SelfCheckInRequest_Position{Position: at}}
	}
	s.recordError(s.mia, "Mia checks in too early", "CHECKIN_WINDOW", byGPS(class, here))
	early := recordResponse[*v1.CreateDisplayUrlResponse](
		s.recording, s.cora, "The coach opens the display early", &v1.CreateDisplayUrlRequest{SessionId: class},
	)
	s.record(anonymous, "The wall shows nothing to scan yet", &v1.GetDisplayRequest{Token: early.GetToken()})

	s.startAt(on(5, "11:00"))
	s.recordError(anonymous, "The wall's link has run out", "LINK_INVALID", &v1.GetDisplayRequest{Token: early.GetToken()})
	qr := recordResponse[*v1.GetQrTokenResponse](
		s.recording, s.cora, "The coach shows a code", &v1.GetQrTokenRequest{SessionId: class},
	).GetToken()
	s.recordError(s.mia, "Mia asks for a code", "PERMISSION_DENIED", &v1.GetQrTokenRequest{SessionId: class})
	s.recordError(
		s.cora, "The coach shows a code of nothing", "SESSION_NOT_FOUND", &v1.GetQrTokenRequest{SessionId: absentID},
	)
	s.recordError(
		s.cora, "The coach shows a code of a cancelled session", "SESSION_STATE", &v1.GetQrTokenRequest{SessionId: cancelled},
	)
	s.recordError(
		s.cora, "The coach opens the display of a cancelled session", "SESSION_STATE",
		&v1.CreateDisplayUrlRequest{SessionId: cancelled},
	)
	s.recordError(s.mia, "Mia scans a forged code", "QR_INVALID", byQR(class, "forged"))
	s.recordError(s.mia, "Mia scans another session's code", "QR_INVALID", byQR(other, qr))
	s.record(s.mia, "Mia scans the code", byQR(class, qr))
	s.record(s.mia, "Mia scans the code again", byQR(class, qr))
	s.recordError(s.zoe, "Zoe scans without a booking", "NOT_CONFIRMED", byQR(class, qr))
	s.recordError(s.tom, "Tom is too far away", "GPS_TOO_FAR", byGPS(class, there))
	vague := byGPS(class, here)
	vague.AccuracyMeters = 3000
	s.recordError(s.tom, "Tom's phone knows the city only", "GPS_IMPRECISE", vague)
	old := byGPS(class, here)
	old.PositionAge = durationpb.New(3 * time.Minute)
	s.recordError(s.tom, "Tom was here three minutes ago", "GPS_OUTDATED", old)
	requireQR := func(required bool) {
		s.silently(func() {
			mustCall[*v1.UpdatePolicyResponse](s.recording, s.olga, &v1.UpdatePolicyRequest{
				Layer: &v1.PolicyLayer{
					Level: v1.PolicyLevel_POLICY_LEVEL_TENANT, Policy: &v1.Policy{CheckinRequiresQr: &required},
				},
				UpdateMask: paths("checkin_requires_qr"),
			})
		})
	}
	requireQR(true)
	s.recordError(s.tom, "Tom is near where the code is needed", "QR_REQUIRED", byGPS(class, here))
	requireQR(false)
	s.record(s.tom, "Tom is near", byGPS(class, here))
	s.recordError(s.mia, "Mia is near an online session", "GPS_NOT_AVAILABLE", byGPS(online, here))
	s.recordError(s.mia, "Mia is nowhere", "INVALID_FIELD", byGPS(other, &latlng.LatLng{Latitude: 91}))
	s.recordError(s.mia, "Mia checks in to nothing", "SESSION_NOT_FOUND", byGPS(absentID, here))
	s.record(s.cora, "The coach checks Lena in", &v1.CheckInRequest{BookingId: lenas.GetId()})
	s.record(s.frida, "The front desk checks Lena in again", &v1.CheckInRequest{BookingId: lenas.GetId()})
	s.recordError(s.mia, "Mia checks Lena in", "PERMISSION_DENIED", &v1.CheckInRequest{BookingId: lenas.GetId()})
	s.recordError(
		s.cora, "The coach checks Mia in two days early", "CHECKIN_WINDOW", &v1.CheckInRequest{BookingId: laters.GetId()},
	)
	s.recordError(
		s.cora, "The coach checks in an unknown booking", "BOOKING_NOT_FOUND",
		&v1.CheckInRequest{BookingId: absentID},
	)
	s.record(s.cora, "The coach undoes Tom's check-in", &v1.UndoCheckInRequest{BookingId: toms.GetId()})
	s.record(s.cora, "The coach undoes it again", &v1.UndoCheckInRequest{BookingId: toms.GetId()})
	s.recordError(
		s.mia, "Mia cancels what she attends", "BOOKING_STATE", &v1.CancelBookingRequest{BookingId: mias.GetId()},
	)
	link := recordResponse[*v1.CreateDisplayUrlResponse](
		s.recording, s.cora, "The coach opens the display", &v1.CreateDisplayUrlRequest{SessionId: class},
	)
	shown := recordResponse[*v1.GetDisplayResponse](
		s.recording, anonymous, "The wall shows who came", &v1.GetDisplayRequest{Token: link.GetToken()},
	)
	s.record(s.tom, "Tom scans the wall", byQR(class, shown.GetQrToken()))
	s.record(anonymous, "The wall goes on", &v1.GetDisplayRequest{Token: shown.GetNextToken()})
	s.recordError(anonymous, "The wall's link is forged", "LINK_INVALID", &v1.GetDisplayRequest{Token: "forged"})
	s.record(s.cora, "The coach looks at the links", &v1.ListDisplayLinksRequest{SessionId: class})
	s.recordError(
		s.mia, "Mia looks at the links", "PERMISSION_DENIED", &v1.ListDisplayLinksRequest{SessionId: class},
	)
	s.record(s.cora, "The coach ends the display", &v1.RevokeDisplayLinkRequest{DisplayLinkId: link.GetDisplayLinkId()})
	s.recordError(
		s.cora, "The coach ends an unknown display", "DISPLAY_LINK_NOT_FOUND",
		&v1.RevokeDisplayLinkRequest{DisplayLinkId: absentID},
	)
	s.recordError(
		anonymous, "The wall goes on after that", "LINK_INVALID", &v1.GetDisplayRequest{Token: shown.GetNextToken()},
	)

	s.silently(func() {
		mustCall[*v1.UpdatePolicyResponse](s.recording, s.olga, &v1.UpdatePolicyRequest{
			Layer:      &v1.PolicyLayer{Level: v1.PolicyLevel_POLICY_LEVEL_TENANT, Policy: &v1.Policy{AutoNoShow: new(true)}},
			UpdateMask: paths("auto_no_show"),
		})
	})
	s.startAt(on(5, "14:00"))
	s.waitForEvents("booking.no_show", 3)
	s.recordError(s.noah, "Noah checks in too late", "NOT_CONFIRMED", byGPS(class, here))
	s.record(s.cora, "The coach lists Noah's attendance", &v1.ListAttendanceRequest{MemberId: s.noah.id})
	page := recordResponse[*v1.ListAttendanceResponse](
		s.recording, s.cora, "The coach lists one attendance of Mia's",
		&v1.ListAttendanceRequest{MemberId: s.mia.id, PageSize: 1},
	)
	s.record(
		s.cora, "The coach lists the next of Mia's",
		&v1.ListAttendanceRequest{MemberId: s.mia.id, PageSize: 1, PageToken: page.GetNextPageToken()},
	)
	s.recordError(
		s.cora, "The coach lists the attendance of an unknown member", "MEMBER_NOT_FOUND",
		&v1.ListAttendanceRequest{MemberId: absentID},
	)
	s.recordError(s.mia, "Mia lists her attendance", "PERMISSION_DENIED", &v1.ListAttendanceRequest{MemberId: s.mia.id})
}
