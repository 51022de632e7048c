package main

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Requests that are repeated with an idempotency key.
func idempotencyScript() script {
	const key, refusal = "Idempotency-Key", "IDEMPOTENCY_CONFLICT"
	book := &v1.BookRequest{SessionId: "$evening"}
	full := &v1.BookRequest{SessionId: "$other", WhenFull: v1.WhenFull_WHEN_FULL_REFUSE}
	return script{
		class("evening", on(7, "18:00"), capacity(5)),
		class("other", on(8, "18:00"), capacity(1)),
		mia.calls("Mia books under a key", book, key, "k-1"),
		mia.calls("Mia books under the key again", book, key, "k-1"),
		mia.refused("Mia asks for something else under the key", refusal, &v1.BookRequest{SessionId: "$other"}, key, "k-1"),
		mia.refused("Mia asks by another channel under the key", refusal,
			book, key, "k-1", "X-Booking-Channel", "phone"),
		tom.calls("Tom books under the same key", book, key, "k-1"),
		mia.refused("Mia books again without a key", "ALREADY_BOOKED", book),
		mia.refused("Mia's key is none", "INVALID_FIELD", book, key, "with a space"),
		mia.refused("Mia's key is too long", "INVALID_FIELD", book, key, strings.Repeat("k", 201)),
		mia.calls("Mia reads under a key", &v1.GetMeRequest{}, key, "k-1"),
		zoe.books("$other").as("seat"),
		mia.refused("Mia is refused under a key", "SESSION_FULL", full, key, "k-2"),
		zoe.silently(&v1.CancelBookingRequest{BookingId: "$seat.booking.id"}),
		mia.calls("Mia tries again under the key", full, key, "k-2"),
		mia.calls("Mia tries once more under the key", full, key, "k-2"),
		everyMutationTwiceScript(),
		clock(on(5, "10:05")),
		mia.calls("Mia books under her key after a restart", book, key, "k-1"),
		clock(on(6, "10:30")),
		occurred("booking.expired", 1),
		mia.refused("Mia books under her key a day later", "ALREADY_BOOKED", book, key, "k-1"),
	}
}

// everyMutationTwiceScript sends one request of each mutation twice.
func everyMutationTwiceScript() script {
	in := &v1.SessionInput{ServiceId: "$yoga", LocationId: "$center", StartTime: timestamppb.New(on(10, "10:00"))}
	return script{
		fullSession("busy", 11, "10:00"),
		adam.callsTwice("a", "create a session", &v1.CreateSessionRequest{Session: in, Publish: true}),
		adam.callsTwice("b", "create a series", &v1.CreateSeriesRequest{
			Series: &v1.SeriesInput{
				ServiceId: "$yoga", LocationId: "$center", Rule: "FREQ=DAILY;COUNT=2", StartDate: june(12),
				StartTimeOfDay: timeOfDay(8, 0),
			},
		}),
		adam.callsTwice("c", "edit a session",
			&v1.UpdateSessionRequest{
				SessionId: "$evening", Session: &v1.SessionInput{Title: "Later"}, UpdateMask: paths("title"),
			}),
		adam.callsTwice("d", "import sessions",
			&v1.ImportSessionsRequest{Csv: []byte("service,location,date,start,end\nYoga,Center,2024-06-13,08:00,09:00\n")}),
		adam.callsTwice("e", "import members", &v1.ImportMembersRequest{Csv: []byte("name\nCarl\n")}),
		adam.callsTwice("e2", "import plans", &v1.ImportSubscriptionsRequest{Csv: []byte("name,plan\nCarl,Flat\n")}),
		adam.callsTwice("e3", "import bookings",
			&v1.ImportBookingsRequest{Csv: []byte("name,service,date,start\nCarl,Yoga,2024-06-13,08:00\n")}),
		adam.callsTwice("f", "create a member", &v1.CreateMemberRequest{Member: &v1.MemberInput{Name: "Dora"}}),
		adam.callsTwice("g", "create an account",
			&v1.CreateServiceAccountRequest{
				ServiceAccount: &v1.ServiceAccountInput{Name: "Kiosk", Roles: []string{"partner"}},
			}),
		adam.callsTwice("h", "create a plan", &v1.CreatePlanRequest{
			Plan: &v1.PlanInput{Name: "Pack", Kind: v1.PlanKind_PLAN_KIND_CREDITS, Credits: 2},
		}),
		adam.callsTwice("i", "set a policy", &v1.UpdatePolicyRequest{
			Level:      v1.SettingLevel_SETTING_LEVEL_TENANT,
			Policy:     &v1.Policy{AllowReschedule: new(true)},
			UpdateMask: paths("allow_reschedule"),
		}),
		adam.callsTwice(
			"j",
			"set rules",
			&v1.UpdateWaitlistRulesRequest{
				Rules:      &v1.WaitlistRules{BaseScore: new(int32(50))},
				UpdateMask: paths("base_score"),
			},
		),
		olga.callsTwice("k", "send a test",
			&v1.SendTestNotificationRequest{Topic: v1.NotificationTopic_NOTIFICATION_TOPIC_REMINDER, Channel: byMail}),
		adam.callsTwice("l", "cancel sessions",
			&v1.BulkCancelSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: between(on(12, "00:00"), on(13, "00:00"))}}),
		lena.callsTwice("m", "hold", &v1.HoldBookingRequest{SessionId: "$evening"}),
		lena.callsTwice("n", "wait", joinRequest("$busy")),
		mia.callsTwice("o", "open a calendar feed", &v1.CreateCalendarFeedRequest{}),
		mia.callsTwice("p", "register a device",
			&v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_WEB, Token: "browser"}),
	}
}

func (c caller) callsTwice(key, what string, request proto.Message) script {
	return script{
		c.calls("The first request to "+what, request, "Idempotency-Key", "all-"+key),
		c.calls("The second request to "+what, request, "Idempotency-Key", "all-"+key),
	}
}
