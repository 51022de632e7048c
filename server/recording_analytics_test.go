package main

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Analytics of some days with attendance, no-shows and cancellations.
func analyticsScript() script {
	days := &v1.AnalyticsFilter{StartDate: june(4), EndDate: june(8)}
	atCenter := &v1.AnalyticsFilter{
		StartDate: june(1), EndDate: june(30), LocationIds: []string{"$center"}, ServiceIds: []string{"$yoga"},
	}
	by := func(group v1.UtilizationGroup) *v1.GetUtilizationRequest {
		return &v1.GetUtilizationRequest{Filter: atCenter, GroupBy: group}
	}
	return script{
		promotes(),
		class("today", on(5, "12:00"), capacity(3), &v1.SessionInput{ResourceId: "$room"}),
		class("outside", on(6, "12:00"), &v1.SessionInput{LocationId: "$park"}),
		class("endless", on(6, "14:00"), &v1.SessionInput{Unlimited: true}),
		class("gone", on(6, "16:00")),
		class("full", on(7, "12:00"), capacity(1)),
		mia.books("$today").as("came"),
		tom.books("$today").as("stayed"),
		noah.books("$outside"),
		lena.books("$endless"),
		zoe.books("$gone"),
		mia.books("$full").as("first"),
		lena.books("$outside").as("late"),
		cora.silently(
			&v1.BookRequest{SessionId: "$today", MemberId: "$noah", Channel: v1.BookingChannel_BOOKING_CHANNEL_PHONE},
		),
		tom.silently(&v1.BookRequest{SessionId: "$full"}),
		mia.silently(&v1.CancelBookingRequest{BookingId: "$first.booking.id"}),
		olga.silently(&v1.CancelSessionRequest{SessionId: "$gone"}),
		clock(on(6, "10:00")),
		olga.silently(&v1.CancelBookingRequest{BookingId: "$late.booking.id", OverrideWindow: true}),
		cora.silently(&v1.CheckInRequest{BookingId: "$came.booking.id"}),
		cora.silently(&v1.MarkNoShowRequest{BookingId: "$stayed.booking.id"}),
		class("next", on(14, "12:00")),
		mia.books("$next"),
		adam.calls("The admin reads the summary", &v1.GetAttendanceSummaryRequest{Filter: days}),
		adam.calls("The admin reads the summary of the center", &v1.GetAttendanceSummaryRequest{Filter: atCenter}),
		adam.calls("The admin reads the days", &v1.ListAttendanceDailyRequest{Filter: days}),
		adam.calls("The admin reads two days", &v1.ListAttendanceDailyRequest{Filter: days, PageSize: 2}).as("page"),
		adam.calls("The admin reads the next two days",
			&v1.ListAttendanceDailyRequest{Filter: days, PageSize: 2, PageToken: "$page.nextPageToken"}),
		adam.calls("The admin reads the trend", &v1.GetBookingTrendRequest{Filter: days}),
		adam.calls("The admin reads the trend by week",
			&v1.GetBookingTrendRequest{Filter: atCenter, Bucket: v1.TrendBucket_TREND_BUCKET_WEEK}),
		adam.calls("The admin reads utilization by service", by(v1.UtilizationGroup_UTILIZATION_GROUP_SERVICE)),
		adam.calls("The admin reads utilization by location", by(v1.UtilizationGroup_UTILIZATION_GROUP_LOCATION)),
		adam.calls("The admin reads utilization by resource", by(v1.UtilizationGroup_UTILIZATION_GROUP_RESOURCE)),
		adam.calls("The admin reads utilization by weekday and hour",
			by(v1.UtilizationGroup_UTILIZATION_GROUP_WEEKDAY_HOUR)),
		adam.refused("The admin counts backwards", "INVALID_FIELD",
			&v1.GetAttendanceSummaryRequest{Filter: &v1.AnalyticsFilter{StartDate: june(8), EndDate: june(4)}}),
		adam.refused("The admin counts a day that is none", "INVALID_FIELD",
			&v1.GetAttendanceSummaryRequest{Filter: &v1.AnalyticsFilter{StartDate: june(8), EndDate: june(31)}}),
		cora.refused("The coach counts", "PERMISSION_DENIED", &v1.GetAttendanceSummaryRequest{Filter: days}),
		otto.calls("The other tenant counts nothing", &v1.GetAttendanceSummaryRequest{Filter: atCenter}),
	}
}
