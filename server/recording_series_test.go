package main

import (
	"time"

	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Recurring schedules.
func recordSeries(s *studio) {
	create := func(rule string, first *date.Date) *v1.CreateSeriesRequest {
		return &v1.CreateSeriesRequest{
			Template: &v1.SessionInput{
				ServiceId: s.yoga, LocationId: s.center, ResourceId: s.room, CoachId: s.cora.id, Title: "Series",
			},
			Rule: rule, StartDate: first, StartTimeOfDay: timeOfDay(18, 0), Publish: true,
		}
	}
	weekly := create("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=6", june(10))
	weekly.ExcludedDates = []*date.Date{june(17)}
	created := recordResponse[*v1.CreateSeriesResponse](s.recording, s.adam, "The admin creates a series", weekly)
	s.recordError(s.adam, "The admin creates it again", "RESOURCE_BUSY", weekly)
	s.recordError(s.cora, "The coach creates a series", "PERMISSION_DENIED", weekly)
	s.recordError(s.adam, "The admin's rule cannot be read", "RECURRENCE_INVALID", create("FREQ=SOMETIMES", june(10)))
	s.recordError(
		s.adam, "The admin's rule yields nothing", "RECURRENCE_INVALID", create("FREQ=DAILY;UNTIL=20240609", june(10)),
	)
	s.recordError(
		s.adam, "The admin's rule yields too much", "RECURRENCE_INVALID", create("FREQ=MINUTELY;COUNT=6000", june(10)),
	)
	s.recordError(s.adam, "The admin's day is none", "RECURRENCE_INVALID", create("FREQ=DAILY;COUNT=2", june(31)))
	s.record(s.adam, "The admin reads the series", &v1.GetSeriesRequest{SeriesId: created.GetSeries().GetId()})
	s.recordError(s.adam, "The admin reads no series", "SERIES_NOT_FOUND", &v1.GetSeriesRequest{SeriesId: absentID})
	s.listSeries("The coach lists its sessions", created.GetSeries())

	ids := created.GetSessionIds()
	b := s.book(s.mia, ids[1])
	s.book(s.tom, ids[4])
	edit := func(
		scope v1.SeriesEditScope, session string, template *v1.SessionInput, names ...string,
	) *v1.UpdateSeriesRequest {
		return &v1.UpdateSeriesRequest{
			SeriesId: created.GetSeries().GetId(), Scope: scope, SessionId: session, Template: template,
			UpdateMask: paths(names...),
		}
	}
	const (
		one       = v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE
		following = v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING
		all       = v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL
	)
	s.record(
		s.adam, "The admin edits one session",
		edit(one, ids[0], &v1.SessionInput{Title: "The first", Capacity: new(int32(5))}, "title", "capacity"),
	)
	later := edit(all, "", nil, "start_time_of_day")
	later.StartTimeOfDay = timeOfDay(19, 0)
	s.record(s.adam, "The admin moves all sessions", later)
	s.record(s.mia, "Mia reads her booking that moved", &v1.GetBookingRequest{BookingId: b.GetId()})
	later.Etag = "v1"
	s.recordError(s.adam, "The admin edits a series that has changed", "ETAG_MISMATCH", later)
	rule := edit(one, ids[2], nil, "rule")
	rule.Rule = "FREQ=DAILY;COUNT=2"
	s.recordError(s.adam, "The admin gives one session a rule", "INVALID_FIELD", rule)
	s.recordError(
		s.adam, "The admin edits one session without naming it", "INVALID_FIELD", edit(one, "", &v1.SessionInput{}, "title"),
	)
	s.recordError(
		s.adam, "The admin edits no session", "SESSION_NOT_FOUND", edit(one, absentID, &v1.SessionInput{}, "title"),
	)

	s.startAt(on(5, "10:10"))
	split := edit(following, ids[3], &v1.SessionInput{ResourceId: s.annex}, "rule", "resource_id", "duration")
	split.Rule, split.Duration = "FREQ=WEEKLY;BYDAY=TH;COUNT=3", durationpb.New(30*time.Minute)
	changed := recordResponse[*v1.UpdateSeriesResponse](
		s.recording, s.adam, "The admin changes the series from the fourth on", split,
	)
	s.listSeries("The coach lists the old series", created.GetSeries())
	s.listSeries("The coach lists the new series", changed.GetSeries())
	s.record(
		s.tom, "Tom lists what became of his booking",
		&v1.ListMyBookingsRequest{StartsWithin: between(on(3, "00:00"), on(60, "00:00"))},
	)

	// Wall clocks stay the same when summer time ends, on 27 October.
	autumn := create("FREQ=DAILY;COUNT=3", &date.Date{Year: 2024, Month: 10, Day: 26})
	autumn.Template.ResourceId, autumn.Template.CoachId, autumn.StartTimeOfDay = "", "", timeOfDay(2, 30)
	over := recordResponse[*v1.CreateSeriesResponse](
		s.recording, s.adam, "The admin creates a series over the end of summer time", autumn,
	)
	s.listSeries("The coach lists sessions over the end of summer time", over.GetSeries())
	endless := create("FREQ=MONTHLY;BYMONTHDAY=1", june(20))
	endless.Template.Unlimited = true
	open := recordResponse[*v1.CreateSeriesResponse](
		s.recording, s.adam, "The admin creates a series without an end", endless,
	)
	s.startAt(time.Date(2024, time.August, 5, 10, 0, 0, 0, berlin()))
	s.waitForEvents("session.created", 2)
	s.record(
		s.adam, "The admin reads the endless series two months later",
		&v1.GetSeriesRequest{SeriesId: open.GetSeries().GetId()},
	)
}

func (s *studio) listSeries(title string, series *v1.Series) {
	s.t.Helper()
	s.record(s.cora, title, &v1.ListSessionsRequest{Filter: &v1.SessionFilter{
		SeriesId: series.GetId(), StartsWithin: between(on(1, "00:00"), on(300, "00:00")),
	}})
}
