package data

import (
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

var scheduleReads = []read{

	// Sessions.
	{scheduledb.FindSession, args{"session"}, "session [workout other]"},
	{scheduledb.FindSession, args{"fourth"}, "none"},
	{
		scheduledb.ListSessions, args{scheduledb.SessionQuery{Limit: 9}},
		"second [] third [] session [workout other] fifth [] sixth [] waiting [] device [] audit [] " +
			"seventh []",
	},
	{
		scheduledb.ListSessions, args{scheduledb.SessionQuery{Limit: 20}},
		"second [] third [] session [workout other] fifth [] sixth [] waiting [] device [] audit [] " +
			"seventh [] code [] other [third] transfer []",
	},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{Limit: 2}}, "second [] third []"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Unbooked: true, Limit: 9,
	}}, "code [] transfer []"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		AfterStart: start, AfterID: id[tenant.SessionID]("session"), Limit: 9,
	}}, "fifth [] sixth [] waiting [] device [] audit [] seventh [] code [] other [third] transfer []"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{From: start}, Limit: 9,
	}}, "session [workout other] fifth [] sixth [] waiting [] device [] audit [] seventh [] code [] " +
		"other [third]"},
	{
		scheduledb.ListSessions, args{scheduledb.SessionQuery{Filter: session.Filter{Until: start}, Limit: 9}},
		"second [] third []",
	},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Locations: []tenant.LocationID{id[tenant.LocationID]("other")}}, Limit: 9,
	}}, "third [] waiting [] device [] audit [] transfer []"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Services: []tenant.ServiceID{id[tenant.ServiceID]("other")}}, Limit: 9,
	}}, "third []"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Resources: []tenant.ResourceID{id[tenant.ResourceID]("resource")}}, Limit: 9,
	}}, "session [workout other]"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Coaches: []tenant.MemberID{id[tenant.MemberID]("member")}}, Limit: 9,
	}}, "third [] session [workout other]"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{States: []catalog.SessionState{catalog.Draft}}, Limit: 9,
	}}, "other [third]"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Series: id[tenant.SeriesID]("series")}, Limit: 9,
	}}, "session [workout other] waiting []"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Sessions: []tenant.SessionID{
			id[tenant.SessionID]("other"), id[tenant.SessionID]("fourth"),
		}}, Limit: 9,
	}}, "other [third]"},
	{
		scheduledb.ListSchedule, args{scheduledb.SessionQuery{Limit: 20}},
		"second []; third []; session [workout other]; fifth []; sixth []; waiting []; device []; audit []; " +
			"seventh []; code []; other []; transfer []",
	},
	{scheduledb.ListSchedule, args{scheduledb.SessionQuery{Limit: 2}}, "second []; third []"},
	{scheduledb.ListSchedule, args{scheduledb.SessionQuery{
		AfterStart: start, AfterID: id[tenant.SessionID]("session"), Limit: 9,
	}}, "fifth []; sixth []; waiting []; device []; audit []; seventh []; code []; other []; transfer " +
		"[]"},
	{scheduledb.FindSession, args{"other"}, "other [third]"},
	{
		scheduledb.ListBusySpans, args{"", "member", civil.Span{Start: start.Add(-30 * time.Minute), End: start}},
		"{Coach=member Span={Start=02T07:00 End=02T08:00}}",
	},
	{scheduledb.FindLeader, args{"receiver"}, "{Name=CY}"},
	{scheduledb.PreviewSessions, args{scheduledb.SessionQuery{Limit: 2}},
		"{Matched=12 Booked=10 Bookings=13 Samples=second third}"},
	{scheduledb.PreviewSessions, args{scheduledb.SessionQuery{
		Unbooked: true, Limit: 9,
	}}, "{Matched=2 Booked=10 Samples=code transfer}"},
	{scheduledb.ListBusySpans, args{
		"resource", "member", civil.Span{Start: start, End: start.Add(time.Hour)},
	}, "{Resource=resource Coach=member Span={Start=02T08:00 End=02T09:00}}"},
	{scheduledb.ListBusySpans, args{
		"resource", "third", civil.Span{Start: start.Add(-time.Hour), End: start.Add(time.Second)},
	}, "{Resource=resource Coach=member Span={Start=02T08:00 End=02T09:00}}"},
	{
		scheduledb.ListBusySpans, args{"third", "third", civil.Span{Start: start, End: start.Add(9 * time.Hour)}},
		"{Coach=third Span={Start=02T10:00 End=02T11:00}} {Resource=third Span={Start=02T11:00 End=02T12:00}} " +
			"{Coach=third Span={Start=02T11:00 End=02T12:00}}",
	},
	{scheduledb.ListBusySpans, args{"resource", "third", civil.Span{Start: start.Add(-time.Hour), End: start}}, ""},
	{scheduledb.ListBusySpans, args{"", "third", civil.Span{Start: start.Add(-time.Hour), End: start}}, ""},
	{scheduledb.FindLeader, args{"member"}, "{CanLead=true Name=Ana}"},
	{scheduledb.FindLeader, args{"third"}, "{CanLead=true Name=Cy}"},
	{scheduledb.FindLeader, args{"other"}, "{}"},
	{scheduledb.ListLeaders, args{"third", 9}, "{Member=member Name=Ana}"},
	{scheduledb.ListLeaders, args{"", 1}, "{Member=member Name=Ana}"},
	{scheduledb.FindLed, args{"member", civil.Span{Start: start}, tenant.Permissions{}}, "{Count=1 Sessions=session}"},
	{scheduledb.FindLed, args{
		"member", civil.Span{Start: start}, tenant.Permissions{session.ReadDrafts: true},
	}, "{Count=1 Sessions=session}"},
	{scheduledb.FindLed, args{
		"third", civil.Span{Start: start, End: start.Add(2 * time.Hour)}, tenant.Permissions{session.ReadDrafts: true},
	}, "{}"},
	{scheduledb.FindSeries, args{"series"}, "series"},
	{scheduledb.FindSeries, args{"other"}, "other"},
	{scheduledb.ListSeriesToExtend, args{civil.Date{Year: 2026, Month: 3, Day: 10}}, "other"},
	{scheduledb.ListSeriesToExtend, args{civil.Date{Year: 2026, Month: 3, Day: 11}}, "other fifth third"},
	{scheduledb.ListSeriesSessions, args{"series", day}, "session [workout other] waiting []"},
	{scheduledb.ListSeriesSessions, args{"series", civil.Date{Year: 2026, Month: 3, Day: 3}}, ""},
	{scheduledb.FindWorkout, args{"workout"}, "workout"},
	{scheduledb.FindWorkout, args{"other"}, "other"},
	{scheduledb.FindWorkouts, args{"third"}, "third"},
	{scheduledb.ListWorkouts, args{"", "", 9}, "entry other workout fifth"},
	{scheduledb.ListWorkouts, args{"", "", 1}, "entry"},
	{scheduledb.ListWorkouts, args{"Rest", "other", 9}, "workout fifth"},
	{scheduledb.ListSessionWorkouts, args{"session"}, "workout other"},
	{scheduledb.ListNamedServices, args{[]string{"ROWING", "x"}}, "service"},
	{scheduledb.ListNamedLocations, args{[]string{"PIER", "x"}}, "location"},
	{scheduledb.ListNamedResources, args{[]string{"PIER", "PIER"}, []string{"BAY", "alley"}}, "other"},
	{scheduledb.ListNamedCoaches, args{[]string{"ANA@example.com", "", "x"}}, "member [true]"},
	{scheduledb.ListNamedCoaches, args{[]string{"bo@EXAMPLE.com", ""}}, "other [false]"},
	{scheduledb.ListNamedCoaches, args{[]string{"zed@example.com"}}, "receiver [false]"},
	{
		scheduledb.PreviewSessions, args{scheduledb.SessionQuery{Limit: 9}},
		"{Matched=12 Booked=10 Bookings=13 Samples=second third session fifth sixth waiting device audit " +
			"seventh}",
	},
	{scheduledb.PreviewSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Series: id[tenant.SeriesID]("third")}, Limit: 9,
	}}, "{Samples=}"},
	{scheduledb.PreviewSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Series: id[tenant.SeriesID]("third")}, Unbooked: true, Limit: 9,
	}}, "{Samples=}"},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Series: id[tenant.SeriesID]("third")}, Limit: 9,
	}}, ""},
	{scheduledb.ListSessions, args{scheduledb.SessionQuery{
		Filter: session.Filter{Sessions: []tenant.SessionID{id[tenant.SessionID]("other"), id[tenant.SessionID]("fourth")}},
		Limit:  9,
	}}, "other [third]"},
}
