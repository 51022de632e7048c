package schedules_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestCreateSession_CreatesADraftUnlessPublished(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	room := h.AddResource(catalog.Resource{Name: "Studio"})
	in := h.SessionInput(testkit.Evening)
	in.Resource, in.Coach, in.Description = room, h.Coach.Member, "Bring a mat."

	draft := h.CreateSession(in, false)
	want := session.Session{
		ID: draft.ID,
		Details: session.Details{
			Service: h.Service, Location: h.Location, Resource: room, Coach: h.Coach.Member, Title: "Vinyasa",
			Description: "Bring a mat.",
			Capacity:    new(10), WaitlistCapacity: 5,
		},
		StartsAt: testkit.Evening, EndsAt: testkit.Evening.Add(time.Hour), TimeZone: "Europe/Berlin",
		LocalDate: draft.LocalDate,
		State:     catalog.Draft, Delivery: catalog.InPerson, Version: 1, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon,
		CoachName: "Carla Coach",
	}
	if diff := cmp.Diff(want, draft); diff != "" || draft.LocalDate.String() != "2026-03-17" {
		t.Errorf("made on %s (-want +got)\n%s", draft.LocalDate, diff)
	}
	want.Workouts = []tenant.WorkoutID{}
	if diff := cmp.Diff(want, h.GetSession(draft.ID)); diff != "" {
		t.Errorf("read back (-want +got)\n%s", diff)
	}
	if after := h.LastAudit("session.created")["after"].(map[string]any); after["title"] != "Vinyasa" ||
		after["state"] != "DRAFT" {
		t.Errorf("audit %v", after)
	}
	published := h.CreateSession(h.SessionInput(testkit.Evening), true)
	if published.State != catalog.Published {
		t.Errorf("state %s", published.State)
	}
	if got := h.SessionEvents(draft.ID); got != "session.created" {
		t.Errorf("events %q", got)
	}
}

func TestCreateSession_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	there := h.OtherTenant()
	room, shut, elsewhere := h.AddResource(catalog.Resource{
		Name: "Studio",
	}), h.AddResource(catalog.Resource{Name: "Cellar"}), there.AddResource(catalog.Resource{Name: "Studio"})
	h.SetResourceActive(shut, false)
	idle := h.AddService(catalog.Service{Name: "Sauna"})
	h.EditService(idle, func(s *catalog.Service) { s.Active = false })
	closed := h.AddLocation(catalog.Location{Name: "Pier 2"})
	h.EditLocation(closed, func(l *catalog.Location) { l.Active = false })
	left, partner := h.AddPerson("Lena", tenant.RoleCoach), h.AddPerson("Paul", tenant.RolePartner)
	h.Deactivate(left)
	taken := h.SessionInput(testkit.Evening)
	taken.Resource, taken.Coach = room, h.Coach.Member
	h.CreateSession(taken, false)

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
			func(in *session.Input) { in.Resource = elsewhere }, fault.ResourceNotFound, "session.resource_id",
		},
		"inactive resource": {
			func(in *session.Input) { in.Resource = shut }, fault.ResourceNotFound, "session.resource_id",
		},
		"a member cannot lead": {
			func(in *session.Input) { in.Coach = h.AddMember("Mia").Member }, fault.CoachInvalid, "session.coach_id",
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
		"nobody can lead": {
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
			func(in *session.Input) { in.Coach = h.Coach.Member }, fault.StaffBusy, "session.coach_id",
		},
		"eleven years ahead": {
			func(in *session.Input) { in.StartsAt = testkit.Noon.AddDate(11, 0, 0) }, fault.InvalidField, "session.start_time",
		},
		"ends before it starts": {
			func(in *session.Input) { in.EndsAt = testkit.Evening.Add(-time.Hour) }, fault.InvalidField, "session.end_time",
		},
		"a coach may lead": {
			func(in *session.Input) { in.StartsAt, in.Coach = testkit.Evening.AddDate(0, 0, 1), h.Coach.Member }, "", "",
		},
		"an owner may lead": {
			func(in *session.Input) { in.StartsAt, in.Coach = testkit.Evening.AddDate(0, 0, 1), h.Owner.Member }, "", "",
		},
		"an admin may lead": {
			func(in *session.Input) { in.Coach = h.AddPerson("Ada", tenant.RoleAdmin).Member }, "", "",
		},
		"right after the other": {
			func(in *session.Input) { in.Resource, in.StartsAt = room, testkit.Evening.Add(time.Hour) }, "", "",
		},
		"in the past, for the record": {func(in *session.Input) { in.StartsAt = testkit.Noon.AddDate(0, -1, 0) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := h.SessionInput(testkit.Evening)
			tt.change(&in)
			made, err := h.App.Schedules.CreateSession(context.Background(), h.Owner, in, true)
			testkit.WantReason(t, err, tt.reason)
			if err == nil {
				return
			}
			if got := testkit.FaultOf(err).Field; got != tt.field {
				t.Errorf("field %q, want %q", got, tt.field)
			}
			if n := h.Count(`select count(*) from sessions where id = $1`, made.ID); n != 0 {
				t.Error("it was made all the same")
			}
		})
	}
}

// Two that want the same room at the same time: one gets it.
func TestCreateSession_ConcurrentCallsTakeARoomOnce(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.SessionInput(testkit.Evening)
	in.Resource = h.AddResource(catalog.Resource{Name: "Studio"})
	var both sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		both.Go(func() { _, errs[i] = h.App.Schedules.CreateSession(context.Background(), h.Owner, in, true) })
	}
	both.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else {
			testkit.WantReason(t, err, fault.ResourceBusy)
		}
	}
	if made != 1 {
		t.Errorf("%d were made", made)
	}
}

// The resource of a session that was called off or deleted is free again.
func TestCreateSession_IgnoresCancelledSessions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.SessionInput(testkit.Evening)
	in.Resource, in.Coach = h.AddResource(catalog.Resource{Name: "Studio"}), h.Coach.Member
	first := h.CreateSession(in, true)
	if _, err := h.App.Schedules.CancelSession(context.Background(), h.Owner, first.ID, "", true); err != nil {
		t.Fatal(err)
	}
	second := h.CreateSession(in, true)
	if _, err := h.App.Schedules.BulkDelete(
		context.Background(), h.Owner, schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{second.ID}}},
	); err != nil {
		t.Fatal(err)
	}
	h.CreateSession(in, true)
}
