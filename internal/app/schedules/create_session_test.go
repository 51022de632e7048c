package schedules_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestCreateSession_CreatesADraftUnlessPublished(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	room, in := studio.AddResource(catalog.Resource{Name: "Studio"}), studio.SessionInput(testkit.Evening)
	in.Resource, in.Coach, in.Description = room, studio.Coach.Member, "Bring a mat."

	draft := studio.CreateSession(in, false)
	want := session.Session{
		ID: draft.ID,
		Details: session.Details{
			Service: studio.Service, Location: studio.Location, Resource: room, Coach: studio.Coach.Member, Title: "Vinyasa",
			Description: "Bring a mat.",
			Capacity:    new(10), WaitlistCapacity: 5,
		},
		StartsAt: testkit.Evening, EndsAt: testkit.Evening.Add(time.Hour), TimeZone: "Europe/Berlin",
		LocalDate: civiltest.Date("2026-03-17"),
		State:     catalog.Draft, Delivery: catalog.InPerson, Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
		CoachName: "Carla Coach",
	}
	test.Eq(t, want, draft)
	want.Workouts = []tenant.WorkoutID{}
	test.Eq(t, want, studio.GetSession(draft.ID), test.Sprint("read back"))
	after := studio.LastAudit("session.created")["after"].(map[string]any)
	test.True(t, after["title"] == "Vinyasa", test.Sprintf("audit %v", after))
	test.True(t, after["state"] == "DRAFT", test.Sprintf("audit %v", after))
	test.EqOp(t, catalog.Published, studio.CreateSession(studio.SessionInput(testkit.Evening), true).State)
	test.EqOp(t, "session.created", studio.SessionEvents(draft.ID), test.Sprint("events"))
}

func TestCreateSession_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	there := studio.OtherTenant()
	room, shut, distant := studio.AddResource(catalog.Resource{
		Name: "Studio",
	}), studio.AddResource(catalog.Resource{Name: "Cellar"}), there.AddResource(catalog.Resource{Name: "Studio"})
	studio.SetResourceActive(shut, false)
	idle := studio.AddService(catalog.Service{Name: "Sauna"})
	studio.EditService(idle, func(s *catalog.Service) { s.Active = false })
	closed := studio.AddLocation(catalog.Location{Name: "Pier 2"})
	studio.EditLocation(closed, func(l *catalog.Location) { l.Active = false })
	left, partner := studio.AddPerson("Lena", tenant.RoleCoach), studio.AddPerson("Paul", tenant.RolePartner)
	studio.Deactivate(left)
	taken := studio.SessionInput(testkit.Evening)
	taken.Resource, taken.Coach = room, studio.Coach.Member
	studio.CreateSession(taken, false)

	for name, tt := range map[string]struct {
		change func(*session.Input)
		reason fault.Reason
		field  string
	}{
		"no such service": {
			func(in *session.Input) { in.Service = testkit.NewID[tenant.ServiceID]() }, fault.ServiceNotFound,
			"session.service_id",
		},
		"another tenant's service": {
			func(in *session.Input) { in.Service = there.Service }, fault.ServiceNotFound, "session.service_id",
		},
		"inactive service": {
			func(in *session.Input) { in.Service = idle }, fault.ServiceNotFound, "session.service_id",
		},
		"no such location": {
			func(in *session.Input) { in.Location = testkit.NewID[tenant.LocationID]() }, fault.LocationNotFound,
			"session.location_id",
		},
		"another tenant's location": {
			func(in *session.Input) { in.Location = there.Location }, fault.LocationNotFound, "session.location_id",
		},
		"inactive location": {
			func(in *session.Input) { in.Location = closed }, fault.LocationNotFound, "session.location_id",
		},
		"another tenant's resource": {
			func(in *session.Input) { in.Resource = distant }, fault.ResourceNotFound, "session.resource_id",
		},
		"inactive resource": {
			func(in *session.Input) { in.Resource = shut }, fault.ResourceNotFound, "session.resource_id",
		},
		"a member cannot lead": {
			func(in *session.Input) { in.Coach = studio.AddMember("Mia").Member }, fault.CoachInvalid, "session.coach_id",
		},
		"a partner cannot lead": {
			func(in *session.Input) { in.Coach = partner.Member }, fault.CoachInvalid, "session.coach_id",
		},
		"an inactive coach cannot lead": {
			func(in *session.Input) { in.Coach = left.Member }, fault.CoachInvalid, "session.coach_id",
		},
		"another tenant's coach": {
			func(in *session.Input) { in.Coach = there.Coach.Member }, fault.CoachInvalid, "session.coach_id",
		},
		"no one can lead": {
			func(in *session.Input) { in.Coach = testkit.NewID[tenant.MemberID]() }, fault.CoachInvalid, "session.coach_id",
		},
		"the resource is taken": {
			func(in *session.Input) { in.Resource = room }, fault.ResourceBusy, "session.resource_id",
		},
		"the resource is taken partly": {
			func(in *session.Input) { in.Resource, in.StartsAt = room, testkit.Evening.Add(59*time.Minute) }, fault.ResourceBusy,
			"session.resource_id",
		},
		"the staff member is taken": {
			func(in *session.Input) { in.Coach = studio.Coach.Member }, fault.StaffBusy, "session.coach_id",
		},
		"eleven years ahead": {
			func(in *session.Input) { in.StartsAt = testkit.Noon.AddDate(11, 0, 0) }, fault.InvalidField, "session.start_time",
		},
		"ends before it starts": {
			func(in *session.Input) { in.EndsAt = testkit.Evening.Add(-time.Hour) }, fault.InvalidField, "session.end_time",
		},
		"a coach may lead": {
			func(in *session.Input) { in.StartsAt, in.Coach = testkit.Evening.AddDate(0, 0, 1), studio.Coach.Member }, "", "",
		},
		"an owner may lead": {
			func(in *session.Input) { in.StartsAt, in.Coach = testkit.Evening.AddDate(0, 0, 1), studio.Owner.Member }, "", "",
		},
		"an admin may lead": {
			func(in *session.Input) { in.Coach = studio.AddPerson("Ada", tenant.RoleAdmin).Member }, "", "",
		},
		"right after the other": {
			func(in *session.Input) { in.Resource, in.StartsAt = room, testkit.Evening.Add(time.Hour) }, "", "",
		},
		"in the past, for the record": {func(in *session.Input) { in.StartsAt = testkit.Noon.AddDate(0, -1, 0) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := studio.SessionInput(testkit.Evening)
			tt.change(&in)
			test.EqOp(t, tt.field, expect.Reason(t, tt.reason)(
				studio.App.Schedules.CreateSession(t.Context(), studio.Owner, in, true)).Field)
		})
	}
}

// Two that want the same room at the same time: one gets it.
func TestCreateSession_ConcurrentCallsTakeARoomOnce(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SessionInput(testkit.Evening)
	in.Resource = studio.AddResource(catalog.Resource{Name: "Studio"})
	errs := testkit.ParallelErrors(4, func(int) error {
		return expect.Error(studio.App.Schedules.CreateSession(t.Context(), studio.Owner, in, true))
	})
	test.Eq(t, map[fault.Reason]int{"": 1, fault.ResourceBusy: 3}, testkit.CountReasons(errs))
}

// The resource of a session that was called off or deleted is free again.
func TestCreateSession_IgnoresCancelledSessions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SessionInput(testkit.Evening)
	in.Resource, in.Coach = studio.AddResource(catalog.Resource{Name: "Studio"}), studio.Coach.Member
	expect.OK(t)(studio.App.Schedules.CancelSession(
		context.Background(), studio.Owner, studio.CreateSession(in, true).ID, schedules.Removal{Notify: true},
	))
	expect.OK(t)(studio.App.Schedules.BulkDeleteSessions(
		context.Background(), studio.Owner, schedules.BulkRequest{
			Filter: session.Filter{Sessions: []tenant.SessionID{studio.CreateSession(in, true).ID}},
		},
	))
	studio.CreateSession(in, true)
}
