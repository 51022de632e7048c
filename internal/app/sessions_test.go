package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/booking"
	"github.com/berthhq/berth/internal/catalog"
	"github.com/berthhq/berth/internal/credit"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/session"
	"github.com/berthhq/berth/internal/tenant"
)

// tomorrow at six in the evening, in Berlin.
var evening = time.Date(2026, 3, 17, 17, 0, 0, 0, time.UTC)

// sessionInput is what it takes to make an ordinary session.
func (h *house) sessionInput(starts time.Time) session.Input {
	return session.Input{Service: h.Service, Location: h.Location, StartsAt: starts}
}

// createSession makes a session through the front door.
func (h *house) createSession(in session.Input, publish bool) session.Session {
	h.t.Helper()
	s, err := h.app.CreateSession(context.Background(), h.Owner, in, publish)
	if err != nil {
		h.t.Fatalf("create session: %v", err)
	}
	return s
}

// getSession reads a session as the owner.
func (h *house) getSession(id tenant.SessionID) session.Session {
	h.t.Helper()
	s, err := h.app.GetSession(context.Background(), h.Owner, id)
	if err != nil {
		h.t.Fatalf("get session: %v", err)
	}
	return s.Session
}

// newResource makes a room.
func (h *house) newResource(name string) tenant.ResourceID {
	h.t.Helper()
	id := newID[tenant.ResourceID]()
	h.exec(`insert into resources (tenant_id, id, location_id, name, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)`,
		h.Tenant, id, h.Location, name, noon)
	return id
}

// sessionEvents lists the types of a session's events in order.
func (h *house) sessionEvents(id tenant.SessionID) string {
	h.t.Helper()
	return h.queryText(`select coalesce(string_agg(type, ' ' order by xid, id), '') from events where tenant_id = $1 and session_id = $2`, h.Tenant, id)
}

func (h *house) queryText(sql string, args ...any) string {
	h.t.Helper()
	var text string
	if err := h.db.Owner.QueryRow(context.Background(), sql, args...).Scan(&text); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return text
}

// lastAudit gives the changes of the last audit entry of an action.
func (h *house) lastAudit(action string) map[string]any {
	h.t.Helper()
	var changes map[string]any
	text := h.queryText(`select changes::text from audit_entries where tenant_id = $1 and action = $2 order by id desc limit 1`, h.Tenant, action)
	if err := json.Unmarshal([]byte(text), &changes); err != nil {
		h.t.Fatal(err)
	}
	return changes
}

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
		State: catalog.Draft, Delivery: catalog.InPerson, Version: 1, CreatedAt: noon, UpdatedAt: noon,
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

func faultOf(err error) *fault.Error {
	f, _ := err.(*fault.Error)
	return f
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

func TestUpdateSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.createSession(h.sessionInput(evening), true)

	after, _, err := h.app.UpdateSession(context.Background(), h.Owner, s.ID, new(1), session.Input{Title: "Flow", Capacity: new(12)}, session.TitleField|session.CapacityField)
	if err != nil {
		t.Fatal(err)
	}
	if after.Title != "Flow" || *after.Capacity != 12 || after.Version != 2 {
		t.Errorf("%+v", after)
	}
	want := map[string]any{
		"before": map[string]any{"title": "Vinyasa", "capacity": 10.0}, "after": map[string]any{"title": "Flow", "capacity": 12.0},
	}
	if diff := cmp.Diff(want, h.lastAudit("session.updated")); diff != "" {
		t.Errorf("audit (-want +got)\n%s", diff)
	}

	// Again: nothing is left to do, and nobody is told.
	again, _, err := h.app.UpdateSession(context.Background(), h.Owner, s.ID, nil, session.Input{Title: "Flow"}, session.TitleField)
	if err != nil || again.Version != 2 || h.sessionEvents(s.ID) != "session.created session.updated" {
		t.Errorf("version %d, events %q (%v)", again.Version, h.sessionEvents(s.ID), err)
	}
	_, _, err = h.app.UpdateSession(context.Background(), h.Owner, s.ID, new(1), session.Input{Title: "Old"}, session.TitleField)
	wantReason(t, err, fault.ETagMismatch)
}

func TestBookingsAreNoEdits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.createSession(h.sessionInput(evening), true)
	h.mustBook(h.member("Mia"), s.ID)
	if got := h.getSession(s.ID); got.Version != s.Version || got.SeatsTaken != 1 || !got.UpdatedAt.Equal(s.UpdatedAt) {
		t.Errorf("%+v", got)
	}
}

func TestUpdateSessionRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	there := h.another()
	theirs := there.createSession(there.sessionInput(evening), true)
	off := h.session(slot{State: catalog.Cancelled})
	full := h.session(slot{Capacity: 2, Waitlist: 3})
	for _, name := range []string{"Mia", "Noa"} {
		h.mustBook(h.member(name), full)
	}
	for _, name := range []string{"Ole", "Pia"} {
		h.mustWait(h.member(name), full)
	}
	room := h.newResource("Studio")
	busy, other := h.sessionInput(evening), h.sessionInput(evening)
	busy.Resource, busy.Coach = room, h.Coach.Member
	h.createSession(busy, true)
	free := h.createSession(other, true)

	for name, tt := range map[string]struct {
		id     tenant.SessionID
		in     session.Input
		fields session.Fields
		reason fault.Reason
		meta   [2]string
	}{
		"no such session":           {newID[tenant.SessionID](), session.Input{}, session.TitleField, fault.SessionNotFound, [2]string{}},
		"another tenant's session":  {theirs.ID, session.Input{}, session.TitleField, fault.SessionNotFound, [2]string{}},
		"cancelled":                 {off, session.Input{Title: "x"}, session.TitleField, fault.SessionState, [2]string{"state", "CANCELLED"}},
		"capacity below taken":      {full, session.Input{Capacity: new(1)}, session.CapacityField, fault.CapacityBelowTaken, [2]string{"seats_taken", "2"}},
		"waitlist below waiting":    {full, session.Input{WaitlistCapacity: new(1)}, session.WaitlistField, fault.CapacityBelowTaken, [2]string{"waiting", "2"}},
		"the resource is taken":     {free.ID, session.Input{Resource: room}, session.ResourceField, fault.ResourceBusy, [2]string{}},
		"the staff member is taken": {free.ID, session.Input{Coach: h.Coach.Member}, session.CoachField, fault.StaffBusy, [2]string{}},
		"another tenant's service":  {free.ID, session.Input{Service: there.Service}, session.ServiceField, fault.ServiceNotFound, [2]string{}},
		"a member cannot lead":      {free.ID, session.Input{Coach: h.member("Mia").Member}, session.CoachField, fault.CoachInvalid, [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := h.app.UpdateSession(context.Background(), h.Owner, tt.id, nil, tt.in, tt.fields)
			wantReason(t, err, tt.reason)
			if tt.meta[0] != "" && meta(t, err, tt.meta[0]) != tt.meta[1] {
				t.Errorf("metadata %v", faultOf(err).Metadata)
			}
		})
	}
}

func TestRaisingTheCapacityPromotesFromTheWaitlist(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]session.Input{"by one": {Capacity: new(2)}, "without limit": {Unlimited: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			class := h.session(slot{Capacity: 1, Waitlist: 5})
			h.mustBook(h.member("Mia"), class)
			noa, ole := h.member("Noa"), h.member("Ole")
			h.mustWait(noa, class)
			h.mustWait(ole, class)

			after, promoted, err := h.app.UpdateSession(context.Background(), h.Owner, class, nil, in, session.CapacityField)
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			if in.Unlimited {
				want = 2
			}
			if promoted != want || after.SeatsTaken != 1+want || after.Waiting != 2-want {
				t.Errorf("promoted %d, %d taken, %d waiting", promoted, after.SeatsTaken, after.Waiting)
			}
			if n := h.count(`select count(*) from bookings where member_id = $1 and promoted and status = 'CONFIRMED'`, noa.Member); n != 1 {
				t.Error("the first in the queue was not promoted")
			}
			h.wantSound()
		})
	}
}

func TestABlockedSessionPromotesNobodyUntilItIsUnblocked(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	class := h.session(slot{Capacity: 1, Waitlist: 5})
	mia := h.mustBook(h.member("Mia"), class)
	noa := h.member("Noa")
	h.mustWait(noa, class)

	s, err := h.app.BlockSession(context.Background(), h.Owner, class, "burst pipe")
	if err != nil || !s.Blocked || s.StateReason != "burst pipe" || s.SeatsTaken != 1 || h.status(mia) != "CONFIRMED" {
		t.Fatalf("%+v (%v)", s, err)
	}
	if s, err = h.app.BlockSession(context.Background(), h.Owner, class, "burst pipe"); err != nil || s.Version != 2 {
		t.Errorf("blocked again: %+v (%v)", s, err)
	}
	_, err = h.book(h.member("Ole"), class)
	wantReason(t, err, fault.SessionNotOpen)
	if _, promoted, err := h.app.UpdateSession(context.Background(), h.Owner, class, nil, session.Input{Capacity: new(2)}, session.CapacityField); err != nil || promoted != 0 {
		t.Errorf("promoted %d into a blocked session (%v)", promoted, err)
	}

	s, promoted, err := h.app.UnblockSession(context.Background(), h.Owner, class)
	if err != nil || promoted != 1 || s.Blocked || s.StateReason != "" || s.SeatsTaken != 2 || s.Waiting != 0 {
		t.Errorf("promoted %d, %+v (%v)", promoted, s, err)
	}
	if s, promoted, err = h.app.UnblockSession(context.Background(), h.Owner, class); err != nil || promoted != 0 || s.Version != 4 {
		t.Errorf("unblocked again: promoted %d, %+v (%v)", promoted, s, err)
	}
	if got := h.sessionEvents(class); !strings.Contains(got, "session.blocked") || strings.Count(got, "session.unblocked") != 1 {
		t.Errorf("events %q", got)
	}
	h.wantSound()
}

func TestDraftToPublishedToDraft(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	s := h.createSession(h.sessionInput(evening), false)
	_, err := h.book(h.member("Mia"), s.ID)
	wantReason(t, err, fault.SessionNotOpen) // a draft cannot be booked
	if meta(t, err, "state") != "draft" {
		t.Errorf("metadata %v", faultOf(err).Metadata)
	}

	published, err := h.app.PublishSession(ctx, h.Owner, s.ID, new(1))
	if err != nil || published.State != catalog.Published || published.Version != 2 {
		t.Fatalf("%+v (%v)", published, err)
	}
	if again, err := h.app.PublishSession(ctx, h.Owner, s.ID, nil); err != nil || again.Version != 2 {
		t.Errorf("published again: %+v (%v)", again, err)
	}
	_, err = h.app.PublishSession(ctx, h.Owner, s.ID, new(1))
	wantReason(t, err, fault.ETagMismatch)

	draft, err := h.app.UnpublishSession(ctx, h.Owner, s.ID, new(2))
	if err != nil || draft.State != catalog.Draft {
		t.Fatalf("%+v (%v)", draft, err)
	}
	if again, err := h.app.UnpublishSession(ctx, h.Owner, s.ID, nil); err != nil || again.Version != 3 {
		t.Errorf("unpublished again: %+v (%v)", again, err)
	}
	if got := h.sessionEvents(s.ID); got != "session.created session.published session.unpublished" {
		t.Errorf("events %q", got)
	}
}

func TestUnpublishingRequiresNoActiveBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia := h.member("Mia")
	class := h.session(slot{})
	id := h.mustBook(mia, class)
	_, err := h.app.UnpublishSession(ctx, h.Owner, class, nil)
	wantReason(t, err, fault.ActiveBookings)
	if h.getSession(class).State != catalog.Published {
		t.Error("it was unpublished all the same")
	}
	if _, err := h.cancel(mia, id); err != nil {
		t.Fatal(err)
	}
	if _, err := h.app.UnpublishSession(ctx, h.Owner, class, nil); err != nil {
		t.Errorf("with nothing but a cancelled booking: %v", err)
	}

	none := h.session(slot{Starts: evening, Capacity: 1, Waitlist: 1})
	h.mustBook(mia, none)
	h.mustWait(h.member("Noa"), none)
	h.exec(`update bookings set status = 'CANCELLED' where session_id = $1`, none)
	h.exec(`update sessions set seats_taken = 0 where id = $1`, none)
	_, err = h.app.UnpublishSession(ctx, h.Owner, none, nil)
	wantReason(t, err, fault.ActiveBookings) // somebody waits
}

func TestACancelledSessionStaysCancelled(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	id := h.session(slot{State: catalog.Cancelled})
	_, err := h.app.PublishSession(ctx, h.Owner, id, nil)
	wantReason(t, err, fault.SessionState)
	_, err = h.app.UnpublishSession(ctx, h.Owner, id, nil)
	wantReason(t, err, fault.SessionState)
	_, err = h.app.BlockSession(ctx, h.Owner, id, "")
	wantReason(t, err, fault.SessionState)
	_, _, err = h.app.UnblockSession(ctx, h.Owner, id)
	wantReason(t, err, fault.SessionState)
	c, err := h.app.CancelSession(ctx, h.Owner, id, "again", true)
	if err != nil || c.Session.Version != 1 || c.Bookings != 0 || h.sessionEvents(id) != "" {
		t.Errorf("cancelling again: %+v, events %q (%v)", c, h.sessionEvents(id), err)
	}
}

func TestCancellingASessionCancelsAllItsBookings(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]catalog.SessionState{"published": catalog.Published, "draft": catalog.Draft} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			ctx := context.Background()
			class := h.session(slot{Capacity: 2, Waitlist: 3, Starts: noon.Add(time.Hour)}) // long past the window for cancelling
			pack := h.plan(credit.Plan{Kind: credit.Credits, Credits: 5})
			mia, noa, ole := h.member("Mia"), h.member("Noa"), h.member("Ole")
			sub := h.subscribe(mia, pack)
			first, second := h.mustBook(mia, class), h.mustBook(noa, class)
			h.mustWait(ole, class)
			h.exec(`update sessions set state = $2 where id = $1`, class, state)

			c, err := h.app.CancelSession(ctx, h.Owner, class, "coach is ill", false)
			if err != nil {
				t.Fatal(err)
			}
			if c.Bookings != 2 || c.Entries != 1 || c.Credits != 1 {
				t.Errorf("%+v", c)
			}
			got := h.getSession(class)
			if got.State != catalog.Cancelled || got.StateReason != "coach is ill" || got.SeatsTaken != 0 || got.Waiting != 0 {
				t.Errorf("%+v", got)
			}
			if h.status(first) != string(booking.Cancelled) || h.status(second) != string(booking.Cancelled) || h.balance(sub) != 5 {
				t.Errorf("%s, %s, balance %d", h.status(first), h.status(second), h.balance(sub))
			}
			if n := h.count(`select count(*) from waitlist_entries where session_id = $1 and status = 'CANCELLED'`, class); n != 1 {
				t.Errorf("%d entries were cancelled", n)
			}
			// Nobody is to be told, and whoever tells people can read that.
			if n := h.count(`select count(*) from events where session_id = $1 and type in ('session.cancelled', 'booking.cancelled', 'waitlist.left') and data->>'notify' = 'false'`, class); n != 4 {
				t.Errorf("%d events say that nobody is told", n)
			}
			if again, err := h.app.CancelSession(ctx, h.Owner, class, "again", true); err != nil || again.Bookings != 0 || again.Session.StateReason != "coach is ill" {
				t.Errorf("again: %+v (%v)", again, err)
			}
			h.wantSound()
		})
	}
}

func TestTheScheduleIsItsTenantsOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	there := h.another()
	ctx := context.Background()
	id := there.createSession(there.sessionInput(evening), true).ID
	for name, try := range map[string]func() error{
		"get": func() error { _, err := h.app.GetSession(ctx, h.Owner, id); return err },
		"update": func() error {
			_, _, err := h.app.UpdateSession(ctx, h.Owner, id, nil, session.Input{Title: "x"}, session.TitleField)
			return err
		},
		"publish":   func() error { _, err := h.app.PublishSession(ctx, h.Owner, id, nil); return err },
		"unpublish": func() error { _, err := h.app.UnpublishSession(ctx, h.Owner, id, nil); return err },
		"cancel":    func() error { _, err := h.app.CancelSession(ctx, h.Owner, id, "", true); return err },
		"block":     func() error { _, err := h.app.BlockSession(ctx, h.Owner, id, ""); return err },
		"unblock":   func() error { _, _, err := h.app.UnblockSession(ctx, h.Owner, id); return err },
		"workouts":  func() error { _, err := h.app.SetWorkouts(ctx, h.Owner, id, nil); return err },
		"inline":    func() error { _, err := h.app.AddInlineWorkout(ctx, h.Owner, id, "x", ""); return err },
		"their workouts": func() error {
			_, err := h.app.ListSessionWorkouts(ctx, h.Owner, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantReason(t, try(), fault.SessionNotFound)
		})
	}
}

func TestMovingASessionMovesItsBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	limited := h.plan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), WeeklyLimit: new(1)})
	mia := h.member("Mia")
	sub := h.subscribe(mia, limited)
	class := h.session(slot{Starts: evening})
	id := h.mustBook(mia, class)
	_, err := h.book(mia, h.session(slot{Starts: evening.Add(2 * time.Hour)}))
	wantReason(t, err, fault.DailyLimit)

	later := evening.AddDate(0, 0, 7)
	if _, _, err := h.app.UpdateSession(ctx, h.Owner, class, nil, session.Input{StartsAt: later}, session.StartField); err != nil {
		t.Fatal(err)
	}
	b, err := h.app.GetBooking(ctx, own(mia), id)
	if err != nil || !b.StartsAt.Equal(later) || !b.EndsAt.Equal(later.Add(time.Hour)) || b.LocalDate.String() != "2026-03-24" {
		t.Errorf("booking is %s to %s on %s (%v)", b.StartsAt, b.EndsAt, b.LocalDate, err)
	}
	h.wantSound() // the quotas count other days now

	h.mustBook(mia, h.session(slot{Starts: evening.Add(4 * time.Hour)})) // this week is free again
	_, err = h.book(mia, h.session(slot{Starts: later.Add(24 * time.Hour)}))
	wantReason(t, err, fault.WeeklyLimit)
	if n := h.count(`select sum(used) from usage where subscription_id = $1 and span = 'DAY'`, sub.ID); n != 2 {
		t.Errorf("%d used", n)
	}
	h.wantSound()
}

func TestMovingASessionOntoAMembersOtherBookingIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia := h.member("Mia")
	h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Unlimited}))
	one, two := h.session(slot{Starts: evening}), h.session(slot{Starts: evening.Add(3 * time.Hour)})
	h.mustBook(mia, one)
	id := h.mustBook(mia, two)

	_, _, err := h.app.UpdateSession(ctx, h.Owner, two, nil, session.Input{StartsAt: evening.Add(30 * time.Minute)}, session.StartField)
	wantReason(t, err, fault.Overlap)
	for _, private := range []string{"Mia", mia.Member.String(), id.String(), one.String()} {
		if strings.Contains(faultOf(err).Message, private) || strings.Contains(fmt.Sprint(faultOf(err).Metadata), private) {
			t.Errorf("the refusal tells %q", private)
		}
	}
	if !h.getSession(two).StartsAt.Equal(evening.Add(3 * time.Hour)) {
		t.Error("it was moved all the same")
	}
	if _, _, err := h.app.UpdateSession(ctx, h.Owner, two, nil, session.Input{StartsAt: evening.Add(time.Hour)}, session.StartField); err != nil {
		t.Errorf("right after the other: %v", err)
	}
	if n := h.count(`select count(*) from bookings where member_id = $1 and exclusive`, mia.Member); n != 2 {
		t.Errorf("%d bookings tolerate no overlap, want 2", n)
	}
}

func TestPublishAgainstCancel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	for range 10 {
		s := h.createSession(h.sessionInput(evening), false)
		var published, cancelled error
		var both sync.WaitGroup
		both.Go(func() { _, published = h.app.PublishSession(ctx, h.Owner, s.ID, nil) })
		both.Go(func() { _, cancelled = h.app.CancelSession(ctx, h.Owner, s.ID, "", true) })
		both.Wait()
		if cancelled != nil {
			t.Fatal(cancelled)
		}
		if published != nil {
			wantReason(t, published, fault.SessionState)
		}
		if got := h.getSession(s.ID); got.State != catalog.Cancelled {
			t.Fatalf("state %s after %v", got.State, published)
		}
	}
}

// Whoever raises, lowers or books at the same moment, nothing is oversold and no seat stays empty while
// somebody waits.
func TestCapacityAgainstBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	class := h.session(slot{Capacity: 1, Waitlist: 20})
	h.mustBook(h.member("Mia"), class)
	for i := range 6 {
		h.mustWait(h.member(fmt.Sprintf("Waiting %d", i)), class)
	}
	var all sync.WaitGroup
	for i := range 6 {
		who := h.member(fmt.Sprintf("Late %d", i))
		all.Go(func() {
			_, err := h.app.Book(ctx, who, app.BookRequest{Session: class, Party: 1, Channel: catalog.Online, NoWaitlist: true})
			if reason := fault.ReasonOf(err); err != nil && reason != fault.SessionFull && reason != fault.Contention {
				t.Error(err)
			}
		})
	}
	for _, capacity := range []int{4, 3, 6, 5} {
		all.Go(func() {
			_, _, err := h.app.UpdateSession(ctx, h.Owner, class, nil, session.Input{Capacity: &capacity}, session.CapacityField)
			if reason := fault.ReasonOf(err); err != nil && reason != fault.CapacityBelowTaken && reason != fault.Contention {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.wantSound()
	if got := h.getSession(class); got.Waiting > 0 && *got.Capacity > got.SeatsTaken {
		t.Errorf("%d of %d seats are taken while %d wait", got.SeatsTaken, *got.Capacity, got.Waiting)
	}
	if n := h.count(`select count(*) from bookings where session_id = $1 and not promoted`, class); n != 1 {
		t.Errorf("%d pushed in front of the queue", n-1)
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
