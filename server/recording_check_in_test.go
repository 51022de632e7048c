package main

import (
	"time"

	"google.golang.org/genproto/googleapis/type/latlng"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Check-in by staff, QR code and GPS, and the display.
func checkInScript() script {
	here, there := &latlng.LatLng{Latitude: 52.5201, Longitude: 13.4051}, &latlng.LatLng{Latitude: 52.6, Longitude: 13.4}
	byQR := func(session, token string) *v1.SelfCheckInRequest {
		return &v1.SelfCheckInRequest{SessionId: session, Proof: &v1.SelfCheckInRequest_QrToken{QrToken: token}}
	}
	byGPS := func(session string, at *latlng.LatLng) *v1.SelfCheckInRequest {
		return &v1.SelfCheckInRequest{SessionId: session, Proof: &v1.SelfCheckInRequest_Position{Position: at}}
	}
	policy := func(in *v1.Policy, field string) exchange {
		return olga.silently(&v1.UpdatePolicyRequest{
			Level: v1.SettingLevel_SETTING_LEVEL_TENANT, Policy: in, UpdateMask: paths(field),
		})
	}
	return script{
		olga.silently(&v1.CreateServiceRequest{
			Service: &v1.ServiceInput{
				Name:     "Online",
				Duration: durationpb.New(time.Hour),
				Delivery: v1.DeliveryMode_DELIVERY_MODE_FEED,
			},
		}).named("feed"),
		class("class", on(5, "11:30"), capacity(6), &v1.SessionInput{CoachId: "$cora"}),
		class("other", on(5, "11:30"), capacity(6)),
		class("later", on(7, "18:00"), capacity(6)),
		class("online", on(5, "11:30"), &v1.SessionInput{ServiceId: "$feed"}),
		class("cancelled", on(5, "12:00")),
		mia.books("$class").as("mias"),
		tom.books("$class").as("toms"),
		lena.books("$class").as("lenas"),
		mia.books("$later").as("laters"),
		mia.books("$other"),
		noah.books("$class"),
		mia.books("$online"),
		tom.books("$later").as("left"),
		tom.silently(&v1.CancelBookingRequest{BookingId: "$left.booking.id"}),
		olga.silently(&v1.CancelSessionRequest{SessionId: "$cancelled"}),
		mia.refused("Mia checks in too early", "CHECK_IN_WINDOW", byGPS("$class", here)),
		cora.calls("The coach opens the display early", &v1.CreateDisplayLinkRequest{SessionId: "$class"}).as("early"),
		anonymous.calls("The wall shows nothing to scan yet", &v1.GetCheckInDisplayRequest{Token: "$early.token"}),
		clock(on(5, "11:00")),
		anonymous.refused("The wall's link has run out", "LINK_INVALID", &v1.GetCheckInDisplayRequest{Token: "$early.token"}),
		cora.calls("The coach shows a code", &v1.GetQrTokenRequest{SessionId: "$class"}).as("qr"),
		mia.refused("Mia asks for a code", "PERMISSION_DENIED", &v1.GetQrTokenRequest{SessionId: "$class"}),
		cora.refused("The coach shows a code of nothing", "SESSION_NOT_FOUND", &v1.GetQrTokenRequest{SessionId: absentID}),
		cora.refused("The coach shows a code of a cancelled session", "SESSION_STATE",
			&v1.GetQrTokenRequest{SessionId: "$cancelled"}),
		cora.refused("The coach opens the display of a cancelled session", "SESSION_STATE",
			&v1.CreateDisplayLinkRequest{SessionId: "$cancelled"}),
		mia.refused("Mia scans a forged code", "QR_INVALID", byQR("$class", "forged")),
		mia.refused("Mia scans another session's code", "QR_INVALID", byQR("$other", "$qr.token")),
		mia.calls("Mia scans the code", byQR("$class", "$qr.token")),
		mia.calls("Mia scans the code again", byQR("$class", "$qr.token")),
		zoe.refused("Zoe scans without a booking", "NOT_BOOKED", byQR("$class", "$qr.token")),
		tom.refused("Tom is too far away", "GPS_TOO_FAR", byGPS("$class", there)),
		tom.refused("Tom's phone knows the city only", "GPS_IMPRECISE",
			with(byGPS("$class", here), &v1.SelfCheckInRequest{AccuracyMeters: new(3000.0)})),
		tom.refused("Tom was here three minutes ago", "GPS_OUTDATED",
			with(byGPS("$class", here), &v1.SelfCheckInRequest{PositionAge: durationpb.New(3 * time.Minute)})),
		policy(&v1.Policy{CheckInRequiresQr: new(true)}, "check_in_requires_qr"),
		tom.refused("Tom is near where the code is needed", "QR_REQUIRED", byGPS("$class", here)),
		policy(&v1.Policy{CheckInRequiresQr: new(false)}, "check_in_requires_qr"),
		tom.calls("Tom is near", byGPS("$class", here)),
		mia.refused("Mia is near an online session", "GPS_NOT_AVAILABLE", byGPS("$online", here)),
		mia.refused("Mia is nowhere", "INVALID_FIELD", byGPS("$other", &latlng.LatLng{Latitude: 91})),
		mia.refused("Mia proves nothing", "INVALID_FIELD", &v1.SelfCheckInRequest{SessionId: "$other"}),
		mia.refused("Mia checks in to nothing", "SESSION_NOT_FOUND", byGPS(absentID, here)),
		cora.calls("The coach checks Lena in", &v1.CheckInRequest{BookingId: "$lenas.booking.id"}),
		frida.calls("The front desk checks Lena in again", &v1.CheckInRequest{BookingId: "$lenas.booking.id"}),
		mia.refused("Mia checks Lena in", "PERMISSION_DENIED", &v1.CheckInRequest{BookingId: "$lenas.booking.id"}),
		cora.refused("The coach checks Mia in two days early", "CHECK_IN_WINDOW",
			&v1.CheckInRequest{BookingId: "$laters.booking.id"}),
		cora.refused("The coach checks in what Tom cancelled", "BOOKING_CANCELLED",
			&v1.CheckInRequest{BookingId: "$left.booking.id"}),
		cora.refused("The coach checks in an unknown booking", "BOOKING_NOT_FOUND",
			&v1.CheckInRequest{BookingId: absentID}),
		cora.calls("The coach undoes Tom's check-in", &v1.UndoCheckInRequest{BookingId: "$toms.booking.id"}),
		cora.calls("The coach undoes it again", &v1.UndoCheckInRequest{BookingId: "$toms.booking.id"}),
		mia.refused("Mia cancels what she attends", "BOOKING_STATE",
			&v1.CancelBookingRequest{BookingId: "$mias.booking.id"}),
		cora.calls("The coach opens the display", &v1.CreateDisplayLinkRequest{SessionId: "$class"}).as("link"),
		anonymous.calls("The wall shows who came", &v1.GetCheckInDisplayRequest{Token: "$link.token"}).as("shown"),
		tom.calls("Tom scans the wall", byQR("$class", "$shown.qrToken")),
		anonymous.calls("The wall goes on", &v1.GetCheckInDisplayRequest{Token: "$shown.nextToken"}),
		anonymous.refused("The wall's link is forged", "LINK_INVALID", &v1.GetCheckInDisplayRequest{Token: "forged"}),
		cora.calls("The coach looks at the links", &v1.ListDisplayLinksRequest{SessionId: "$class"}),
		mia.refused("Mia looks at the links", "PERMISSION_DENIED", &v1.ListDisplayLinksRequest{SessionId: "$class"}),
		cora.calls("The coach ends the display", &v1.RevokeDisplayLinkRequest{DisplayLinkId: "$link.displayLink.id"}),
		cora.refused("The coach ends an unknown display", "DISPLAY_LINK_NOT_FOUND",
			&v1.RevokeDisplayLinkRequest{DisplayLinkId: absentID}),
		anonymous.refused(
			"The wall goes on after that",
			"LINK_INVALID",
			&v1.GetCheckInDisplayRequest{Token: "$shown.nextToken"},
		),
		policy(&v1.Policy{AutoNoShow: new(true)}, "auto_no_show"),
		clock(on(5, "14:00")),
		occurred("booking.no_show", 3),
		noah.refused("Noah checks in too late", "NOT_CONFIRMED", byGPS("$class", here)),
		cora.calls("The coach lists Noah's attendance", &v1.ListAttendanceRequest{MemberId: "$noah"}),
		cora.calls("The coach lists one attendance of Mia's",
			&v1.ListAttendanceRequest{MemberId: "$mia", PageSize: 1}).as("page"),
		cora.calls("The coach lists the next of Mia's",
			&v1.ListAttendanceRequest{MemberId: "$mia", PageSize: 1, PageToken: "$page.nextPageToken"}),
		cora.calls("The coach lists Mia's no-shows of two weeks", &v1.ListAttendanceRequest{
			MemberId: "$mia", Filter: &v1.AttendanceFilter{
				StartsWithin: week(), Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_NO_SHOW},
			},
		}),
		cora.refused("The coach lists holds", "INVALID_FIELD", &v1.ListAttendanceRequest{
			MemberId: "$mia", Filter: &v1.AttendanceFilter{
				Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_PENDING},
			},
		}),
		cora.refused("The coach lists the attendance of an unknown member", "MEMBER_NOT_FOUND",
			&v1.ListAttendanceRequest{MemberId: absentID}),
		mia.refused("Mia lists her attendance", "PERMISSION_DENIED", &v1.ListAttendanceRequest{MemberId: "$mia"}),
	}
}
