package app_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

func TestASessionIsADraftUnlessItIsPublished(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	room := h.newResource("Studio")
	in := h.sessionInput(evening)
	in.Resource, in.Coach, in.Description = room, h.Coach.Member, "Bring a mat."

	draft := h.createSession(in, false)
	want := session.Session{
		ID: draft.ID,
		Details: session.Details{
			Service: h.Service, Location: h.Location, Resource: room, Coach: h.Coach.Member, Title: "Vinyasa", Description: "Bring a mat.",
			Capacity: new(10), WaitlistCapacity: 5,
		},
		StartsAt: evening, EndsAt: evening.Add(time.Hour), TimeZone: "Europe/Berlin", LocalDate: draft.LocalDate,
		State: catalog.Draft, Delivery: catalog.InPerson, Version: 1, CreatedAt: noon, UpdatedAt: noon, CoachName: "Carla Coach",
	}
	if diff := cmp.Diff(want, draft); diff != "" || draft.LocalDate.String() != "2026-03-17" {
		t.Errorf("made on %s (-want +got)\n%s", draft.LocalDate, diff)
	}
	want.Workouts = []tenant.WorkoutID{}
	if diff := cmp.Diff(want, h.getSession(draft.ID)); diff != "" {
		t.Errorf("read back (-want +got)\n%s", diff)
	}
	if after := h.lastAudit("session.created")["after"].(map[string]any); after["title"] != "Vinyasa" || after["state"] != "DRAFT" {
		t.Errorf("audit %v", after)
	}
	published := h.createSession(h.sessionInput(evening), true)
	if published.State != catalog.Published {
		t.Errorf("state %s", published.State)
	}
	if got := h.sessionEvents(draft.ID); got != "session.created" {
		t.Errorf("events %q", got)
	}
}

func TestCreateSessionRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	there := h.another()
	room, shut, elsewhere := h.newResource("Studio"), h.newResource("Cellar"), there.newResource("Studio")
	h.exec(`update resources set active = false where id = $1`, shut)
	idle, closed := newID[tenant.ServiceID](), newID[tenant.LocationID]()
	h.exec(`insert into services (tenant_id, id, name, duration_seconds, active, created_at, updated_at) values ($1, $2, 'Sauna', 60, false, $3, $3)`, h.Tenant, idle, noon)
	h.exec(`insert into locations (tenant_id, id, name, time_zone, active, created_at, updated_at) values ($1, $2, 'Pier 2', 'UTC', false, $3, $3)`, h.Tenant, closed, noon)
	left, partner := h.person("Lena", tenant.RoleCoach), h.person("Paul", tenant.RolePartner)
	h.exec(`update members set status = 'INACTIVE' where id = $1`, left.Member)
	taken := h.sessionInput(evening)
	taken.Resource, taken.Coach = room, h.Coach.Member
	h.createSession(taken, false)

	for name, tt := range map[string]struct {
		change func(*session.Input)
		reason fault.Reason
		field  string
	}{
		"no such service":               {func(in *session.Input) { in.Service = newID[tenant.ServiceID]() }, fault.ServiceNotFound, "session.service_id"},
		"another tenant's service":      {func(in *session.Input) { in.Service = there.Service }, fault.ServiceNotFound, "session.service_id"},
		"inactive service":              {func(in *session.Input) { in.Service = idle }, fault.ServiceNotFound, "session.service_id"},
		"no such location":              {func(in *session.Input) { in.Location = newID[tenant.LocationID]() }, fault.LocationNotFound, "session.location_id"},
		"another tenant's location":     {func(in *session.Input) { in.Location = there.Location }, fault.LocationNotFound, "session.location_id"},
		"inactive location":             {func(in *session.Input) { in.Location = closed }, fault.LocationNotFound, "session.location_id"},
		"another tenant's resource":     {func(in *session.Input) { in.Resource = elsewhere }, fault.ResourceNotFound, "session.resource_id"},
		"inactive resource":             {func(in *session.Input) { in.Resource = shut }, fault.ResourceNotFound, "session.resource_id"},
		"a member cannot lead":          {func(in *session.Input) { in.Coach = h.member("Mia").Member }, fault.CoachInvalid, "session.coach_id"},
		"a partner cannot lead":         {func(in *session.Input) { in.Coach = partner.Member }, fault.CoachInvalid, "session.coach_id"},
		"an inactive coach cannot lead": {func(in *session.Input) { in.Coach = left.Member }, fault.CoachInvalid, "session.coach_id"},
		"another tenant's coach":        {func(in *session.Input) { in.Coach = there.Coach.Member }, fault.CoachInvalid, "session.coach_id"},
		"nobody can lead":               {func(in *session.Input) { in.Coach = newID[tenant.MemberID]() }, fault.CoachInvalid, "session.coach_id"},
		"the resource is taken":         {func(in *session.Input) { in.Resource = room }, fault.ResourceBusy, "session.resource_id"},
		"the resource is taken partly":  {func(in *session.Input) { in.Resource, in.StartsAt = room, evening.Add(59*time.Minute) }, fault.ResourceBusy, "session.resource_id"},
		"the staff member is taken":     {func(in *session.Input) { in.Coach = h.Coach.Member }, fault.StaffBusy, "session.coach_id"},
		"eleven years ahead":            {func(in *session.Input) { in.StartsAt = noon.AddDate(11, 0, 0) }, fault.InvalidField, "session.start_time"},
		"ends before it starts":         {func(in *session.Input) { in.EndsAt = evening.Add(-time.Hour) }, fault.InvalidField, "session.end_time"},
		"a coach may lead":              {func(in *session.Input) { in.StartsAt, in.Coach = evening.AddDate(0, 0, 1), h.Coach.Member }, "", ""},
		"an owner may lead":             {func(in *session.Input) { in.StartsAt, in.Coach = evening.AddDate(0, 0, 1), h.Owner.Member }, "", ""},
		"an admin may lead":             {func(in *session.Input) { in.Coach = h.person("Ada", tenant.RoleAdmin).Member }, "", ""},
		"right after the other":         {func(in *session.Input) { in.Resource, in.StartsAt = room, evening.Add(time.Hour) }, "", ""},
		"in the past, for the record":   {func(in *session.Input) { in.StartsAt = noon.AddDate(0, -1, 0) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := h.sessionInput(evening)
			tt.change(&in)
			made, err := h.app.CreateSession(context.Background(), h.Owner, in, true)
			wantReason(t, err, tt.reason)
			if err == nil {
				return
			}
			if got := faultOf(err).Field; got != tt.field {
				t.Errorf("field %q, want %q", got, tt.field)
			}
			if n := h.count(`select count(*) from sessions where id = $1`, made.ID); n != 0 {
				t.Error("it was made all the same")
			}
		})
	}
}

// Two that want the same room at the same time: one gets it.
func TestOneRoomForTwo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in := h.sessionInput(evening)
	in.Resource = h.newResource("Studio")
	var both sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		both.Go(func() { _, errs[i] = h.app.CreateSession(context.Background(), h.Owner, in, true) })
	}
	both.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else {
			wantReason(t, err, fault.ResourceBusy)
		}
	}
	if made != 1 {
		t.Errorf("%d were made", made)
	}
}

// The resource of a session that was called off or deleted is free again.
func TestWhatIsCalledOffTakesNobodysPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in := h.sessionInput(evening)
	in.Resource, in.Coach = h.newResource("Studio"), h.Coach.Member
	first := h.createSession(in, true)
	if _, err := h.app.CancelSession(context.Background(), h.Owner, first.ID, "", true); err != nil {
		t.Fatal(err)
	}
	second := h.createSession(in, true)
	if _, err := h.app.BulkDelete(context.Background(), h.Owner, app.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{second.ID}}}); err != nil {
		t.Fatal(err)
	}
	h.createSession(in, true)
}
