package session_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// The audit log has the editable fields by the names of the contract.
func TestAuditFields_NameTheFieldsOfTheContract(t *testing.T) {
	t.Parallel()
	workout := tenant.New[tenant.WorkoutID](noon)
	d := session.Details{
		Service: service, Location: location, Resource: mat, Coach: coach, Title: "Flow", Description: "Calm",
		Capacity: new(8), WaitlistCapacity: 3,
	}
	details := func(more catalog.AuditFields) catalog.AuditFields {
		maps.Copy(more, catalog.AuditFields{
			"service_id": service.String(), "location_id": location.String(), "resource_id": mat.String(),
			"coach_id": coach.String(), "title": "Flow", "description": "Calm", "capacity": 8, "waitlist_capacity": 3,
		})
		return more
	}
	s := session.Session{
		Details: d, StartsAt: noon, EndsAt: noon.Add(time.Hour), State: catalog.Published, Blocked: true,
		StateReason: "leak", Workouts: []tenant.WorkoutID{workout},
	}
	test.Eq(t, details(catalog.AuditFields{
		"start_time": "2026-03-16T12:00:00Z", "end_time": "2026-03-16T13:00:00Z", "state": "PUBLISHED", "blocked": true,
		"state_reason": "leak", "workout_ids": []string{workout.String()},
	}), s.AuditFields())
	series := session.Series{
		Details: d, Rule: "FREQ=DAILY", Date: civiltest.Date("2026-03-16"), Time: civiltest.TimeOfDay("18:00"),
		Duration: 90*time.Second + time.Second/2, Excluded: []civil.Date{civiltest.Date("2026-03-17")},
	}
	test.Eq(t, details(catalog.AuditFields{
		"rule": "FREQ=DAILY", "start_date": "2026-03-16", "start_time_of_day": "18:00", "duration": "90.5s",
		"excluded_dates": []string{"2026-03-17"},
	}), series.AuditFields())
	test.Eq(t, catalog.AuditFields{
		"service_id": service.String(), "location_id": location.String(), "resource_id": nil, "coach_id": nil,
		"title": "", "description": "", "capacity": nil, "waitlist_capacity": 0,
	}, session.Details{Service: service, Location: location}.AuditFields())
	test.Eq(
		t, catalog.AuditFields{"name": "Squats", "body": "5x5"}, session.Workout{Name: "Squats", Body: "5x5"}.AuditFields(),
	)
}

func TestErrors_NameFieldsAndLimits(t *testing.T) {
	t.Parallel()
	full := session.Session{Workouts: make([]tenant.WorkoutID, 50)}
	_, tooMany := full.AddWorkout(session.Workout{}, noon)
	absent := tenant.New[tenant.WorkoutID](noon)
	_, _, unknown := full.SetWorkouts([]tenant.WorkoutID{absent}, nil, noon)
	for want, err := range map[string]error{
		"RESOURCE_BUSY @resource_id":                      session.ResourceBusy(),
		"STAFF_BUSY @coach_id":                            session.CoachBusy(),
		"INVALID_FIELD @session_id limit=50":              tooMany,
		"WORKOUT_NOT_FOUND workout_id=" + absent.String(): unknown,
	} {
		expect.Fault(t, want)(err)
	}
	added := session.Session{Workouts: []tenant.WorkoutID{{}}}
	added = expect.Value(added.AddWorkout(session.Workout{ID: absent}, noon))(t)
	test.Eq(t, []tenant.WorkoutID{{}, absent}, added.Workouts)
}

func TestSession_CountsOpenSeatsAndHidesDrafts(t *testing.T) {
	t.Parallel()
	test.Nil(t, session.Session{SeatsTaken: 3}.SeatsOpen())
	for taken, open := range map[int]int{3: 7, 10: 0, 12: 0} {
		s := session.Session{Details: session.Details{Capacity: new(10)}, SeatsTaken: taken}
		test.Eq(t, new(open), s.SeatsOpen())
	}
	for state, visible := range map[catalog.SessionState]bool{
		catalog.Draft: false, catalog.Published: true, catalog.Cancelled: true,
	} {
		test.EqOp(t, visible, session.Session{State: state}.VisibleTo(nil))
		test.True(t, session.Session{State: state}.VisibleTo(readsDrafts))
	}
}

func TestBounds_ReachFromTheFirstStartToTheLastEnd(t *testing.T) {
	t.Parallel()
	at := func(start, end int) session.Session {
		return session.Session{
			StartsAt: noon.Add(time.Duration(start) * time.Hour), EndsAt: noon.Add(time.Duration(end) * time.Hour),
		}
	}
	test.Eq(t, civil.Span{}, session.Bounds(nil))
	for _, order := range [][]session.Session{
		{at(1, 2), at(0, 9), at(3, 4)}, {at(0, 9), at(1, 2)}, {at(5, 9), at(0, 1)}, {at(0, 1), at(5, 9)},
	} {
		test.Eq(t, at(0, 9).Span(), session.Bounds(order))
	}
}

func TestZoneOf_LoadsTheZoneOfALocation(t *testing.T) {
	t.Parallel()
	got := expect.Value(session.ZoneOf(catalog.Location{TimeZone: "Europe/Berlin", Active: true}))(t)
	test.EqOp(t, "Europe/Berlin", got.Zone.String())
	test.True(t, got.Active)
	test.ErrorContains(
		t, expect.Error(session.ZoneOf(catalog.Location{TimeZone: "Europe/Atlantis"})), "time zone of location",
	)
}

func TestNewSession_IsADraftUnlessTheSeriesPublishes(t *testing.T) {
	t.Parallel()
	for publish, state := range map[bool]catalog.SessionState{false: catalog.Draft, true: catalog.Published} {
		s := session.Series{Publish: publish}
		got := s.NewSession(anID, session.Occurrence{Span: civil.Span{Start: noon, End: noon.Add(time.Hour)}}, yoga(), noon)
		test.EqOp(t, state, got.State)
		test.EqOp(t, 1, got.Version)
	}
}

// On a day, as many sessions as possible keep an occurrence, in order, and they move as little as possible.
func TestAssign_MovesSessionsOfADayAsLittleAsPossible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []int {
			return rapid.SliceOfNDistinct(rapid.IntRange(0, 23), 0, 5, rapid.ID[int]).Draw(t, name)
		}
		before, after, was := draw("sessions"), draw("occurrences"), make(map[tenant.SessionID]time.Time)
		var sessions []session.Session
		for _, hour := range before {
			o := on(17, fmt.Sprintf("%02d:00", hour))
			sessions = append(sessions, vary.From(sessionOf(o), set{"State": catalog.Draft}))
			was[sessions[len(sessions)-1].ID] = o.Start
		}
		var occurrences []session.Occurrence
		for _, hour := range after {
			occurrences = append(occurrences, on(17, fmt.Sprintf("%02d:00", hour)))
		}
		got := session.Assign(sessions, occurrences, noon.Add(-time.Hour))
		kept := min(len(before), len(after))
		must.Len(t, kept, got.Assigned)
		must.Len(t, len(before)-kept, got.Dropped)
		must.Len(t, len(after)-kept, got.Unassigned)
		var moved time.Duration
		for i, s := range got.Assigned {
			must.EqOp(t, got.Occurrences[i].Start, s.OccursAt)
			moved += s.OccursAt.Sub(was[s.ID]).Abs()
			if i > 0 {
				must.True(t, was[got.Assigned[i-1].ID].Before(was[s.ID]))
				must.True(t, got.Assigned[i-1].OccursAt.Before(s.OccursAt))
			}
		}
		slices.Sort(before)
		slices.Sort(after)
		must.EqOp(t, time.Duration(leastMoved(before, after))*time.Hour, moved)
	})
}

// leastMoved returns the least sum of the distances between times in order, if each of the shorter list has a partner.
func leastMoved(a, b []int) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	best := max(a[0]-b[0], b[0]-a[0]) + leastMoved(a[1:], b[1:])
	switch cmp.Compare(len(a), len(b)) {
	case -1:
		best = min(best, leastMoved(a, b[1:]))
	case 1:
		best = min(best, leastMoved(a[1:], b))
	}
	return best
}

func TestParseImport_ChecksTheBoundsOfCells(t *testing.T) {
	t.Parallel()
	const header = "service,location,resource,coach_email,date,start,duration_minutes,capacity\n"
	long := strings.Repeat
	for row, want := range map[string]string{
		"a,b,c,a@b.com,2026-03-29,18:00,1,0": "", "a,b,,,2026-03-29,3PM,10080,100000": "",
		long(long("é", 200)+",", 3) + long("a", 248) + "@b.com,2026-03-29,18:00,60,": "",
		long("é", 201) + ",b,,,2026-03-29,18:00,60,":                                 "service",
		"a," + long("é", 201) + ",,,2026-03-29,18:00,60,":                            "location",
		"a,b," + long("é", 201) + ",,2026-03-29,18:00,60,":                           "resource",
		"a,b,," + long("a", 249) + "@b.com,2026-03-29,18:00,60,":                     "coach_email",
		"=a,b,,,2026-03-29,18:00,60,":                                                "service",
		"a,=b,,,2026-03-29,18:00,60,":                                                "location",
		"a,b,=c,,2026-03-29,18:00,60,":                                               "resource",
		"a,b,,=a@b.com,2026-03-29,18:00,60,":                                         "coach_email",
		"a,b,,,2026-03-29,18:00,0,":                                                  "duration_minutes",
		"a,b,,,2026-03-29,18:00,10081,":                                              "duration_minutes",
		"a,b,,,2026-03-29,18:00,+60,":                                                "duration_minutes",
		"a,b,,,2026-03-29,18:00,60,100001":                                           "capacity",
		"a,b,,,2026-03-29,18:00,,5":                                                  "end",
	} {
		test.Eq(t, strings.Fields(want), columns(parseImport(t, header+row+"\n").Rows[0].Problems), test.Sprint(row))
	}
}

func TestNewDetails_AreThoseOfANewSession(t *testing.T) {
	t.Parallel()
	in := session.Input{
		Service: service, Location: location, Resource: mat, Coach: coach, Title: "Flow", Description: "Calm",
		StartsAt: noon.Add(24*time.Hour + time.Microsecond),
	}
	s := expect.Value(session.New(anID, in, yoga(), noon))(t)
	test.EqOp(t, in.StartsAt, s.StartsAt)
	test.Eq(t, s.Details, expect.Value(session.NewDetails(in, yoga()))(t))
}
