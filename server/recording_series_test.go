package main

import (
	"time"

	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// Recurring schedules.
func seriesScript() script {
	create := func(rule string, first *date.Date) *v1.CreateSeriesRequest {
		return &v1.CreateSeriesRequest{
			Series: &v1.SeriesInput{
				ServiceId: "$yoga", LocationId: "$center", ResourceId: "$room", CoachId: "$cora", Title: "Series",
				Rule: rule, StartDate: first, StartTimeOfDay: timeOfDay(18, 0),
			},
			Publish: true,
		}
	}
	weekly := with(
		create("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=6", june(10)),
		&v1.CreateSeriesRequest{Series: &v1.SeriesInput{ExcludedDates: []*date.Date{june(17)}}},
	)
	edit := func(
		scope v1.SeriesEditScope, session string, in *v1.SeriesInput, names ...string,
	) *v1.UpdateSeriesRequest {
		return &v1.UpdateSeriesRequest{
			SeriesId: "$created.series.id", Scope: scope, SessionId: session, Series: in,
			UpdateMask: paths(names...),
		}
	}
	const (
		one       = v1.SeriesEditScope_SERIES_EDIT_SCOPE_ONE
		following = v1.SeriesEditScope_SERIES_EDIT_SCOPE_FOLLOWING
		all       = v1.SeriesEditScope_SERIES_EDIT_SCOPE_ALL
	)
	later := edit(all, "", &v1.SeriesInput{StartTimeOfDay: timeOfDay(19, 0)}, "start_time_of_day")
	endless := create("FREQ=MONTHLY;BYMONTHDAY=1", june(20))
	endless.Series.Unlimited = true
	return script{
		adam.calls("The admin creates a series", weekly).as("created"),
		adam.refused("The admin creates it again", "RESOURCE_BUSY", weekly),
		cora.refused("The coach creates a series", "PERMISSION_DENIED", weekly),
		adam.refused("The admin's rule cannot be read", "RECURRENCE_INVALID", create("FREQ=SOMETIMES", june(10))),
		adam.refused("The admin's rule yields nothing", "RECURRENCE_INVALID",
			create("FREQ=DAILY;UNTIL=20240609", june(10))),
		adam.refused("The admin's rule yields too much", "RECURRENCE_INVALID",
			create("FREQ=MINUTELY;COUNT=6000", june(10))),
		adam.refused("The admin's day is none", "RECURRENCE_INVALID", create("FREQ=DAILY;COUNT=2", june(31))),
		adam.calls("The admin reads the series", &v1.GetSeriesRequest{SeriesId: "$created.series.id"}),
		adam.refused("The admin reads no series", "SERIES_NOT_FOUND", &v1.GetSeriesRequest{SeriesId: absentID}),
		listSeries("The coach lists its sessions", "$created.series.id"),
		mia.books("$created.sessionIds.1").as("b"),
		tom.books("$created.sessionIds.4"),
		adam.calls("The admin edits one session", edit(one, "$created.sessionIds.0",
			&v1.SeriesInput{Title: "The first", Capacity: new(int32(5))}, "title", "capacity")),
		adam.calls("The admin moves all sessions", later),
		mia.calls("Mia reads her booking that moved", &v1.GetBookingRequest{BookingId: "$b.booking.id"}),
		adam.refused("The admin edits a series that has changed", "ETAG_MISMATCH",
			with(later, &v1.UpdateSeriesRequest{Etag: "v1"})),
		adam.refused("The admin gives one session a rule", "INVALID_FIELD",
			edit(one, "$created.sessionIds.2", &v1.SeriesInput{Rule: "FREQ=DAILY;COUNT=2"}, "rule")),
		adam.refused("The admin edits one session without naming it", "INVALID_FIELD", edit(one, "",
			&v1.SeriesInput{}, "title")),
		adam.refused("The admin edits no session", "SESSION_NOT_FOUND", edit(one, absentID, &v1.SeriesInput{}, "title")),
		clock(on(5, "10:10")),
		adam.calls("The admin changes the series from the fourth on", edit(
			following, "$created.sessionIds.3", &v1.SeriesInput{
				ResourceId: "$annex", Rule: "FREQ=WEEKLY;BYDAY=TH;COUNT=3", Duration: durationpb.New(30 * time.Minute),
			}, "rule", "resource_id", "duration",
		)).as("changed"),
		listSeries("The coach lists the old series", "$created.series.id"),
		listSeries("The coach lists the new series", "$changed.series.id"),
		tom.calls("Tom lists what became of his booking",
			&v1.ListBookingsRequest{Filter: &v1.BookingFilter{
				StartsWithin: between(on(3, "00:00"), on(60, "00:00")),
			}}),
		adam.calls("The admin creates a series over the end of summer time", &v1.CreateSeriesRequest{
			Series: &v1.SeriesInput{
				ServiceId: "$yoga", LocationId: "$center", Title: "Series",
				Rule: "FREQ=DAILY;COUNT=3", StartDate: &date.Date{Year: 2024, Month: 10, Day: 26},
				StartTimeOfDay: timeOfDay(2, 30),
			},
			Publish: true,
		}).as("over"),
		listSeries("The coach lists sessions over the end of summer time", "$over.series.id"),
		adam.calls("The admin lists the series that go on", &v1.ListSeriesRequest{Filter: &v1.SeriesFilter{
			ServiceIds: []string{"$yoga"}, Statuses: []v1.SeriesStatus{v1.SeriesStatus_SERIES_STATUS_ACTIVE},
		}}),
		adam.calls("The admin ends the series over the end of summer time", &v1.EndSeriesRequest{
			SeriesId: "$over.series.id", EndDate: &date.Date{Year: 2024, Month: 10, Day: 27}, Reason: "Few came.",
		}),
		adam.calls("The admin ends it again", &v1.EndSeriesRequest{
			SeriesId: "$over.series.id", EndDate: &date.Date{Year: 2024, Month: 10, Day: 27},
		}),
		cora.refused("The coach ends a series", "PERMISSION_DENIED", &v1.EndSeriesRequest{
			SeriesId: "$over.series.id", EndDate: &date.Date{Year: 2024, Month: 10, Day: 27},
		}),
		adam.calls("The admin creates a series without an end", endless).as("open"),
		clock(on(13, "10:00")), // reminders come first, and the endless series grows later
		clock(time.Date(2024, time.August, 5, 10, 0, 0, 0, berlin())),
		occurred("session.created", 2),
		adam.calls("The admin reads the endless series two months later",
			&v1.GetSeriesRequest{SeriesId: "$open.series.id"}),
	}
}

func listSeries(title, series string) exchange {
	return cora.calls(title, &v1.ListSessionsRequest{Filter: &v1.SessionFilter{
		SeriesId: series, StartsWithin: between(on(1, "00:00"), on(300, "00:00")),
	}})
}
