package main

import (
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Analytics of some days with attendance, no-shows and cancellations.
func recordAnalytics(s *studio) {
	today := s.class("today", on(5, "12:00"), capacity(3), func(in *v1.SessionInput) { in.ResourceId = s.room })
	outside := s.class("outside", on(6, "12:00"), func(in *v1.SessionInput) { in.LocationId = s.park })
	endless := s.class("endless", on(6, "14:00"), func(in *v1.SessionInput) { in.Unlimited = true })
	cancelled, full := s.class("gone", on(6, "16:00")), s.class("full", on(7, "12:00"), capacity(1))
	came, stayed := s.book(s.mia, today), s.book(s.tom, today)
	s.book(s.noah, outside)
	s.book(s.lena, endless)
	s.book(s.zoe, cancelled)
	first := s.book(s.mia, full)
	late := s.book(s.lena, outside)
	s.silently(func() {
		mustCall[*v1.BookResponse](
			s.recording, s.cora, &v1.BookRequest{SessionId: today, MemberId: s.noah.id, Channel: v1.Channel_CHANNEL_PHONE},
		)
		mustCall[*v1.BookResponse](s.recording, s.tom, &v1.BookRequest{SessionId: full})
		mustCall[*v1.CancelBookingResponse](s.recording, s.mia, &v1.CancelBookingRequest{BookingId: first.GetId()})
		mustCall[*v1.CancelSessionResponse](s.recording, s.olga, &v1.CancelSessionRequest{SessionId: cancelled})
	})
	s.startAt(on(6, "10:00"))
	s.silently(func() {
		mustCall[*v1.AdminCancelBookingResponse](s.recording, s.olga, &v1.AdminCancelBookingRequest{BookingId: late.GetId()})
		mustCall[*v1.CheckInResponse](s.recording, s.cora, &v1.CheckInRequest{BookingId: came.GetId()})
		mustCall[*v1.MarkNoShowResponse](s.recording, s.cora, &v1.MarkNoShowRequest{BookingId: stayed.GetId()})
		mustCall[*v1.BookResponse](s.recording, s.mia, &v1.BookRequest{SessionId: s.class("next", on(14, "12:00"))})
	})
	days := &v1.AnalyticsFilter{StartDate: june(4), EndDate: june(8)}
	atCenter := &v1.AnalyticsFilter{
		StartDate: june(1), EndDate: june(30), LocationIds: []string{s.center}, ServiceIds: []string{s.yoga},
	}
	s.record(s.adam, "The admin reads the summary", &v1.GetAttendanceSummaryRequest{Filter: days})
	s.record(s.adam, "The admin reads the summary of the center", &v1.GetAttendanceSummaryRequest{Filter: atCenter})
	s.record(s.adam, "The admin reads the days", &v1.ListAttendanceDailyRequest{Filter: days})
	page := recordResponse[*v1.ListAttendanceDailyResponse](
		s.recording, s.adam, "The admin reads two days", &v1.ListAttendanceDailyRequest{Filter: days, PageSize: 2},
	)
	s.record(
		s.adam, "The admin reads the next two days",
		&v1.ListAttendanceDailyRequest{Filter: days, PageSize: 2, PageToken: page.GetNextPageToken()},
	)
	s.record(s.adam, "The admin reads the trend", &v1.GetBookingTrendRequest{Filter: days})
	s.record(
		s.adam, "The admin reads the trend by week",
		&v1.GetBookingTrendRequest{Filter: atCenter, Bucket: v1.TrendBucket_TREND_BUCKET_WEEK},
	)
	for _, by := range []struct {
		title string
		group v1.UtilizationGroup
	}{
		{"service", v1.UtilizationGroup_UTILIZATION_GROUP_SERVICE},
		{"location", v1.UtilizationGroup_UTILIZATION_GROUP_LOCATION},
		{"resource", v1.UtilizationGroup_UTILIZATION_GROUP_RESOURCE},
		{"weekday and hour", v1.UtilizationGroup_UTILIZATION_GROUP_WEEKDAY_HOUR},
	} {
		s.record(
			s.adam, "The admin reads utilization by "+by.title, &v1.GetUtilizationRequest{Filter: atCenter, GroupBy: by.group},
		)
	}
	s.recordError(s.adam, "The admin counts backwards", "INVALID_FIELD",
		&v1.GetAttendanceSummaryRequest{Filter: &v1.AnalyticsFilter{StartDate: june(8), EndDate: june(4)}})
	s.recordError(s.adam, "The admin counts a day that is none", "INVALID_FIELD",
		&v1.GetAttendanceSummaryRequest{Filter: &v1.AnalyticsFilter{StartDate: june(8), EndDate: june(31)}})
	s.recordError(s.cora, "The coach counts", "PERMISSION_DENIED", &v1.GetAttendanceSummaryRequest{Filter: days})
	s.record(s.otto, "The other tenant counts nothing", &v1.GetAttendanceSummaryRequest{Filter: atCenter})
}
