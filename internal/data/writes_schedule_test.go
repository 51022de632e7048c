package data

import (
	"time"

	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

//nolint:dupword // names of rows
var scheduleWrites = []write{
	{scheduledb.InsertSeries, args{session.Series{
		ID: id[tenant.SeriesID]("second"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
		},
		Rule: "FREQ=WEEKLY", Date: day, Duration: time.Hour, MaterializedUntil: day, CreatedAt: now,
	}}, "series +second {created_at=2026-03-01T12:00:00+00:00 duration_seconds=3600 " +
		"location_id=location materialized_until=2026-03-02 rule=FREQ=WEEKLY service_id=service " +
		"start_date=2026-03-02 start_time=00:00:00 title=Row updated_at=0001-01-01T00:00:00+00:00}"},
	{scheduledb.InsertSessions, args{[]session.Session{{
		ID: id[tenant.SessionID]("account"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
			Capacity: new(9), WaitlistCapacity: 7,
		},
		StartsAt: start, EndsAt: start.Add(time.Hour), LocalDate: day, State: catalog.Published, CreatedAt: now,
	}}}, "sessions +account {capacity=9 created_at=2026-03-01T12:00:00+00:00 " +
		"ends_at=2026-03-02T09:00:00+00:00 local_date=2026-03-02 location_id=location " +
		"service_id=service starts_at=2026-03-02T08:00:00+00:00 state=PUBLISHED title=Row " +
		"updated_at=0001-01-01T00:00:00+00:00 waitlist_capacity=7}"},
	{scheduledb.InsertWorkout, args{session.Workout{
		ID: id[tenant.WorkoutID]("second"), Name: "Swim", Body: "1 km", CreatedAt: now,
	}}, "workouts +second {body=1 km created_at=2026-03-01T12:00:00+00:00 name=Swim " +
		"updated_at=0001-01-01T00:00:00+00:00}"},
	{scheduledb.UpdateSeries, args{session.Series{
		ID: id[tenant.SeriesID]("series"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
		},
		Rule: "FREQ=WEEKLY", Date: day, Duration: time.Hour, MaterializedUntil: day, Version: 2, UpdatedAt: start,
	}}, "series series {rule=FREQ=WEEKLY start_time=00:00:00 title=Row " +
		"updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{scheduledb.UpdateSessions, args{[]session.Session{{
		ID: id[tenant.SessionID]("session"), Details: session.Details{
			Service: id[tenant.ServiceID]("service"), Location: id[tenant.LocationID]("location"), Title: "Row",
			Capacity: new(9), WaitlistCapacity: 7,
		},
		StartsAt: start, EndsAt: start.Add(time.Hour), LocalDate: day, State: catalog.Published, Version: 2, UpdatedAt: start,
	}}}, "sessions session {capacity=9 coach_id=null occurs_at=null occurs_on=null resource_id=null " +
		"series_id=null title=Row updated_at=2026-03-02T08:00:00+00:00 version=2 waitlist_capacity=7}"},
	{scheduledb.InsertSessions, args{[]session.Session(nil)}, ""},
	{scheduledb.UpdateSessions, args{[]session.Session(nil)}, ""},
	{scheduledb.UpdateWorkout, args{session.Workout{
		ID: id[tenant.WorkoutID]("workout"), Name: "Rest", Body: "None", Version: 2, UpdatedAt: start,
	}}, "workouts workout {body=None name=Rest updated_at=2026-03-02T08:00:00+00:00 version=2}"},
	{
		scheduledb.DeleteSessions, args{"session", "batch", now},
		"sessions session {batch_id=batch deleted_at=2026-03-01T12:00:00+00:00 version=2}",
	},
	{scheduledb.AttachWorkouts, args{"other", "workout"}, `
session_workouts +other 1 {position=1 session_id=other workout_id=workout}
session_workouts -other 0
sessions other {has_workouts=true}
workouts -third`},
	{scheduledb.AttachWorkouts, args{"other", "third other"}, `
session_workouts +other 1 {position=1 session_id=other workout_id=third}
session_workouts +other 2 {position=2 session_id=other workout_id=other}
session_workouts -other 0
sessions other {has_workouts=true}`},
	{scheduledb.AttachWorkouts, args{"session", ""}, `
session_workouts -session 0
session_workouts -session 1
sessions session {has_workouts=false}`},
}
