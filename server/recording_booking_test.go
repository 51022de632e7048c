package main

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Booking, cancelling, rescheduling and no-shows, in sessions that cost no credits.
func bookingScript() script {
	return script{
		promotes(),
		bookAndCancelScript(),
		bookingErrorsScript(),
		reschedulesScript(),
		noShowsScript(),
		bookingImportsScript(),
	}
}

// bookingImportsScript imports the future bookings of another program.
func bookingImportsScript() script {
	file := func(rows string) *v1.ImportBookingsRequest {
		return &v1.ImportBookingsRequest{Csv: []byte("Class,Date,Start time,Client,Guest,Spots\n" + rows)}
	}
	good := file("Yoga,2024-06-25,18:00,Zoe Member,,1\nYoga,2024-06-25,18:00,,Gil Guest,1\n")
	return script{
		class("later", on(25, "18:00")),
		adam.calls("The admin tries a file of bookings", with(good, &v1.ImportBookingsRequest{DryRun: true})).as("tried"),
		adam.calls("The admin reads how many seats it has", &v1.GetImportRequest{ImportId: "$tried.fileImport.id"}),
		adam.calls("The admin imports the bookings", good).as("imported"),
		adam.calls("The admin reads that they were imported", &v1.GetImportRequest{ImportId: "$imported.fileImport.id"}),
		adam.calls("The admin imports bookings that cannot be", file("Yoga,2024-06-25,18:00,Zoe Member,,1\n"+
			"Yoga,2024-06-25,18:00,Tom Member,,1\nYoga,2024-06-25,19:00,Tom Member,,1\n")).as("wrong"),
		adam.calls("The admin reads what is wrong with them", &v1.GetImportRequest{ImportId: "$wrong.fileImport.id"}),
		cora.refused("The coach imports bookings", "PERMISSION_DENIED", good),
	}
}

func bookAndCancelScript() script {
	forTom := &v1.BookRequest{SessionId: "$evening", MemberId: "$tom", ExternalRef: "desk-17", Note: "Asked at the desk."}
	return script{
		class("evening", on(7, "18:00")),
		mia.calls("Mia books", &v1.BookRequest{SessionId: "$evening", Note: "Near the window, please."}).as("booked"),
		mia.calls("Mia reads her booking", &v1.GetBookingRequest{BookingId: "$booked.booking.id"}),
		cora.calls("The coach reads Mia's booking", &v1.GetBookingRequest{BookingId: "$booked.booking.id"}),
		tom.refused("Tom reads Mia's booking", "BOOKING_NOT_FOUND", &v1.GetBookingRequest{BookingId: "$booked.booking.id"}),
		portal.refused("The partner reads Mia's booking", "BOOKING_NOT_FOUND",
			&v1.GetBookingRequest{BookingId: "$booked.booking.id"}),
		mia.refused("Mia books twice", "ALREADY_BOOKED", &v1.BookRequest{SessionId: "$evening"}),
		tom.refused("Tom books as if he had called", "PERMISSION_DENIED",
			&v1.BookRequest{SessionId: "$evening", Channel: v1.BookingChannel_BOOKING_CHANNEL_PHONE}),
		frida.calls("The front desk books for Tom", forTom).as("toms"),
		frida.calls("The front desk books for Tom again", forTom),
		frida.refused("The front desk uses the reference for something else", "EXTERNAL_REF_CONFLICT",
			with(forTom, &v1.BookRequest{Note: "Asked twice."})),
		mia.refused("Mia books for Tom", "PERMISSION_DENIED", &v1.BookRequest{SessionId: "$evening", MemberId: "$tom"}),
		noah.refused("Noah does not want to wait", "SESSION_FULL",
			&v1.BookRequest{SessionId: "$evening", WhenFull: v1.WhenFull_WHEN_FULL_REFUSE}),
		noah.calls("Noah waits", &v1.BookRequest{SessionId: "$evening"}),
		lena.calls("Lena waits", &v1.BookRequest{SessionId: "$evening"}).as("lenas"),
		zoe.refused("Zoe finds the waitlist full", "SESSION_FULL", &v1.BookRequest{SessionId: "$evening"}),
		noah.refused("Noah waits twice", "ALREADY_BOOKED", &v1.BookRequest{SessionId: "$evening"}),
		mia.calls("Mia sees the evening", &v1.GetSessionRequest{SessionId: "$evening"}),
		noah.calls("Noah lists his bookings", &v1.ListBookingsRequest{}),
		cora.calls("The coach lists Tom's bookings", &v1.ListBookingsRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.BookingFilter{MemberId: "$tom", StartsWithin: week()},
		}),
		cora.calls("The coach lists what members booked this week", &v1.ListBookingsRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, PageSize: 1,
			Filter: &v1.BookingFilter{StartsWithin: week(), ServiceId: "$yoga", CreatedById: "$mia"},
		}),
		cora.refused("The coach lists the bookings of all times", "INVALID_FIELD",
			&v1.ListBookingsRequest{Scope: v1.ListScope_LIST_SCOPE_ALL}),
		noah.refused("Noah lists Tom's bookings", "PERMISSION_DENIED", &v1.ListBookingsRequest{
			Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: &v1.BookingFilter{MemberId: "$tom"},
		}),
		noah.calls("Noah lists those of his bookings that are Tom's",
			&v1.ListBookingsRequest{Filter: &v1.BookingFilter{MemberId: "$tom"}}),
		mia.calls("Mia reads her booking and Tom's", &v1.BatchGetBookingsRequest{
			BookingIds: []string{"$toms.booking.id", "$booked.booking.id"},
		}),
		mia.calls("Mia leaves a note", &v1.UpdateBookingRequest{
			BookingId: "$booked.booking.id", Booking: &v1.BookingInput{Note: "By the window."},
			UpdateMask: paths("note"), Etag: "$booked.booking.etag",
		}),
		mia.refused("Mia leaves another, from what she read before", "ETAG_MISMATCH", &v1.UpdateBookingRequest{
			BookingId: "$booked.booking.id", Booking: &v1.BookingInput{Note: "By the door."},
			UpdateMask: paths("note"), Etag: "$booked.booking.etag",
		}),
		tom.refused("Tom changes Mia's note", "BOOKING_NOT_FOUND", &v1.UpdateBookingRequest{
			BookingId: "$booked.booking.id", Booking: &v1.BookingInput{}, UpdateMask: paths("note"),
		}),
		frida.calls("The front desk adds how to reach Mia", &v1.UpdateBookingRequest{
			BookingId: "$booked.booking.id", UpdateMask: paths("contact"),
			Booking: &v1.BookingInput{Contact: &v1.BookingContact{Name: "Mia", Phone: "+49 151 12345678"}},
		}),
		cora.silently(&v1.RecordPaymentRequest{
			BookingId: "$booked.booking.id", Payment: &v1.PaymentFacts{
				Amount: euros(20), Kind: v1.PaymentLineKind_PAYMENT_LINE_KIND_WRITE_OFF,
			},
		}),
		cora.refused("The coach records money that was written off", "NOTHING_DUE", &v1.RecordPaymentRequest{
			BookingId: "$booked.booking.id", Payment: &v1.PaymentFacts{
				Amount: euros(20), Method: "cash", Kind: v1.PaymentLineKind_PAYMENT_LINE_KIND_CAPTURE,
			},
		}),
		cora.calls("The coach reads the roster", &v1.GetSessionRosterRequest{SessionId: "$evening"}),
		mia.refused("Mia reads the roster", "PERMISSION_DENIED", &v1.GetSessionRosterRequest{SessionId: "$evening"}),
		mia.calls("Mia cancels", &v1.CancelBookingRequest{BookingId: "$booked.booking.id", Reason: "Something came up."}),
		mia.calls("Mia cancels again", &v1.CancelBookingRequest{BookingId: "$booked.booking.id"}),
		tom.refused("Tom cancels Mia's booking", "BOOKING_NOT_FOUND",
			&v1.CancelBookingRequest{BookingId: "$booked.booking.id"}),
		noah.calls("Noah lists his bookings after the promotion", &v1.ListBookingsRequest{}),
		lena.calls("Lena gives up waiting", &v1.LeaveWaitlistRequest{EntryId: "$lenas.entry.id"}),
		mia.refused("Mia cancels for Tom", "BOOKING_NOT_FOUND", &v1.CancelBookingRequest{BookingId: "$toms.booking.id"}),
		tom.refused("Tom cancels past the window", "PERMISSION_DENIED",
			&v1.CancelBookingRequest{BookingId: "$toms.booking.id", OverrideWindow: true}),
		tom.refused("Tom cancels without a message", "PERMISSION_DENIED",
			&v1.CancelBookingRequest{BookingId: "$toms.booking.id", Notify: new(false)}),
		frida.calls("The front desk cancels for Tom",
			&v1.CancelBookingRequest{BookingId: "$toms.booking.id", Reason: "He is ill.", Notify: new(false)}),
		frida.calls("The front desk cancels for Tom again", &v1.CancelBookingRequest{BookingId: "$toms.booking.id"}),
		cora.calls(
			"The coach reads the whole roster",
			&v1.GetSessionRosterRequest{SessionId: "$evening", Statuses: allStatuses},
		),
		mia.calls("Mia lists all her bookings", &v1.ListBookingsRequest{Filter: &v1.BookingFilter{
			StartsWithin: week(), Statuses: []v1.BookingStatus{v1.BookingStatus_BOOKING_STATUS_CANCELLED},
		}}),
	}
}

func bookingErrorsScript() script {
	return script{
		clock(on(5, "10:10")),
		class("open", on(8, "10:00")),
		draft("draft", on(8, "12:00")),
		class("far", on(40, "12:00")),
		class("blocked", on(8, "14:00")),
		class("cancelled", on(8, "16:00")),
		class("inThePark", on(8, "18:00"), &v1.SessionInput{LocationId: "$park"}),
		olga.silently(&v1.BlockSessionRequest{SessionId: "$blocked", Reason: "The floor is wet."}),
		olga.silently(&v1.CancelSessionRequest{SessionId: "$cancelled"}),
		olga.silently(
			&v1.UpdateLocationRequest{
				LocationId: "$park",
				Location: &v1.LocationInput{
					Channels: []v1.BookingChannel{v1.BookingChannel_BOOKING_CHANNEL_PHONE},
				},
				UpdateMask: paths("channels"),
			},
		),
		mia.refused("Mia books what is not there", "SESSION_NOT_FOUND", &v1.BookRequest{SessionId: absentID}),
		mia.refused("Mia books a draft", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: "$draft"}),
		mia.refused("Mia books a blocked session", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: "$blocked"}),
		mia.refused("Mia books a cancelled session", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: "$cancelled"}),
		mia.refused("Mia books too early", "ADVANCE_WINDOW", &v1.BookRequest{SessionId: "$far"}),
		mia.refused("Mia books online where that is off", "CHANNEL_CLOSED", &v1.BookRequest{SessionId: "$inThePark"}),
		mia.refused("Mia walks in by herself", "PERMISSION_DENIED",
			&v1.BookRequest{SessionId: "$open", Channel: v1.BookingChannel_BOOKING_CHANNEL_WALK_IN}),
		mia.refused("Mia brings too many", "PARTY_SIZE", &v1.BookRequest{SessionId: "$open", PartySize: new(int32(4))}),
		mia.refused("Mia pays with another's plan", "SUBSCRIPTION_NOT_FOUND",
			&v1.BookRequest{SessionId: "$open", SubscriptionId: absentID}),
		mia.refused(
			"Mia brings a negative party",
			"INVALID_FIELD",
			&v1.BookRequest{SessionId: "$open", PartySize: new(int32(-1))},
		),
		adam.refused("The admin books for an unknown member", "MEMBER_NOT_FOUND",
			&v1.BookRequest{SessionId: "$open", MemberId: absentID}),
		portal.refused("The partner books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: "$open"}),
		ivan.refused("Ivan, who is inactive, books", "MEMBER_INACTIVE", &v1.BookRequest{SessionId: "$open"}),
		kim.refused("Kim, who is no member, books", "PERMISSION_DENIED", &v1.BookRequest{SessionId: "$open"}),
		mona.refused("Mona of the other tenant books", "SESSION_NOT_FOUND", &v1.BookRequest{SessionId: "$open"}),
		anonymous.refused("A stranger without a token books", "UNAUTHENTICATED", &v1.BookRequest{SessionId: "$open"}),
		cora.calls("The coach's header wins over the channel",
			&v1.BookRequest{SessionId: "$inThePark", MemberId: "$tom"}, "X-Booking-Channel", "phone"),
		tom.refused("Tom's header names no channel", "INVALID_FIELD",
			&v1.BookRequest{SessionId: "$open"}, "X-Booking-Channel", "fax"),
		cora.calls(
			"Zoe walks in with a friend",
			&v1.BookRequest{
				SessionId: "$open",
				MemberId:  "$zoe",
				PartySize: new(int32(2)),
				Channel:   v1.BookingChannel_BOOKING_CHANNEL_WALK_IN,
			},
		),
		adam.refused("The admin reads a booking that is not there", "BOOKING_NOT_FOUND",
			&v1.GetBookingRequest{BookingId: absentID}),
		adam.refused("The admin reads a roster that is not there", "SESSION_NOT_FOUND",
			&v1.GetSessionRosterRequest{SessionId: absentID}),
	}
}

func reschedulesScript() script {
	move := func(to string) *v1.RescheduleBookingRequest {
		return &v1.RescheduleBookingRequest{BookingId: "$b.booking.id", SessionId: to}
	}
	return script{
		clock(on(5, "10:20")),
		class("first", on(10, "10:00")),
		class("second", on(11, "10:00")),
		class("full", on(12, "10:00"), capacity(1)),
		class("outside", on(13, "10:00"), &v1.SessionInput{LocationId: "$park"}),
		draft("unpublished", on(13, "12:00")),
		mia.books("$first").as("b"),
		noah.books("$full"),
		mia.calls("Mia moves her booking", move("$second")),
		mia.calls("Mia moves it to where it is", move("$second")),
		mia.refused("Mia moves to a full session", "RESCHEDULE_TARGET", move("$full")),
		mia.refused("Mia moves to another location", "RESCHEDULE_TARGET", move("$outside")),
		mia.refused("Mia moves to a draft", "RESCHEDULE_TARGET", move("$unpublished")),
		mia.refused("Mia moves to nothing", "SESSION_NOT_FOUND", move(absentID)),
		tom.refused("Tom moves Mia's booking", "BOOKING_NOT_FOUND", move("$first")),
		adam.calls("The admin moves Mia's booking back", move("$first")),
		mia.calls("Mia cancels what was moved", &v1.CancelBookingRequest{BookingId: "$b.booking.id"}),
		mia.refused("Mia moves a cancelled booking", "BOOKING_STATE", move("$second")),
	}
}

func noShowsScript() script {
	return script{
		clock(on(5, "10:30")),
		class("late", on(6, "09:00")),
		class("soon", on(6, "10:00")),
		class("later", on(20, "18:00")),
		mia.books("$late").as("mias"),
		tom.books("$late").as("toms"),
		noah.books("$soon").as("noahs"),
		mia.books("$later").as("laters"),
		clock(on(5, "16:00")),
		mia.refused("Mia cancels too late", "CANCELLATION_WINDOW", &v1.CancelBookingRequest{BookingId: "$mias.booking.id"}),
		mia.refused("Mia moves too late", "CANCELLATION_WINDOW",
			&v1.RescheduleBookingRequest{BookingId: "$mias.booking.id", SessionId: "$later"}),
		adam.refused("The admin cancels late", "CANCELLATION_WINDOW",
			&v1.CancelBookingRequest{BookingId: "$toms.booking.id", Reason: "Late."}),
		adam.calls("The admin cancels past the window",
			&v1.CancelBookingRequest{BookingId: "$toms.booking.id", Reason: "Late.", OverrideWindow: true}),
		olga.silently(&v1.UpdatePolicyRequest{
			Level:      v1.SettingLevel_SETTING_LEVEL_TENANT,
			Policy:     &v1.Policy{AllowLateCancellation: new(true), AllowReschedule: new(true)},
			UpdateMask: paths("allow_late_cancellation", "allow_reschedule"),
		}),
		noah.calls("Noah cancels late, which is allowed now", &v1.CancelBookingRequest{BookingId: "$noahs.booking.id"}),
		clock(on(6, "10:30")),
		lena.refused("Lena books a session that has started", "SESSION_NOT_OPEN", &v1.BookRequest{SessionId: "$soon"}),
		mia.refused("Mia marks herself absent", "PERMISSION_DENIED", &v1.MarkNoShowRequest{BookingId: "$mias.booking.id"}),
		cora.calls("The coach undoes an absence that is none", &v1.UndoNoShowRequest{BookingId: "$mias.booking.id"}),
		cora.refused("The coach undoes an absence of a cancelled booking", "BOOKING_STATE",
			&v1.UndoNoShowRequest{BookingId: "$toms.booking.id"}),
		cora.calls("The coach marks Mia absent", &v1.MarkNoShowRequest{BookingId: "$mias.booking.id"}),
		cora.calls("The coach marks Mia absent again", &v1.MarkNoShowRequest{BookingId: "$mias.booking.id"}),
		mia.refused("Mia cancels what she missed", "BOOKING_STATE",
			&v1.CancelBookingRequest{BookingId: "$mias.booking.id"}),
		cora.calls("The coach undoes Mia's absence", &v1.UndoNoShowRequest{BookingId: "$mias.booking.id"}),
		cora.refused("The coach marks an absence too early", "SESSION_NOT_OPEN",
			&v1.MarkNoShowRequest{BookingId: "$laters.booking.id"}),
		cora.refused("The coach marks a cancelled booking absent", "BOOKING_STATE",
			&v1.MarkNoShowRequest{BookingId: "$toms.booking.id"}),
		cora.refused("The coach marks nothing absent", "BOOKING_NOT_FOUND", &v1.MarkNoShowRequest{BookingId: absentID}),
	}
}

// allStatuses are those of all bookings, whatever became of them.
var allStatuses = []v1.BookingStatus{
	v1.BookingStatus_BOOKING_STATUS_PENDING, v1.BookingStatus_BOOKING_STATUS_CONFIRMED,
	v1.BookingStatus_BOOKING_STATUS_ATTENDED, v1.BookingStatus_BOOKING_STATUS_NO_SHOW,
	v1.BookingStatus_BOOKING_STATUS_CANCELLED, v1.BookingStatus_BOOKING_STATUS_EXPIRED,
}
