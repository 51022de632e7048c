package session_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestEdit_ChangesOnlyNamedFields(t *testing.T) {
	t.Parallel()
	before := expect.Value(session.New(anID, session.Input{
		Service: service, Location: location, Resource: mat, Coach: coach, StartsAt: noon.Add(24 * time.Hour),
	}, yoga(t), noon))(t)
	before.SeatsTaken, before.Waiting = 4, 2
	later := noon.Add(time.Minute)

	for name, tt := range map[string]struct {
		in     session.Input
		fields session.Fields
		at     func(*session.References)
		want   func(*session.Session)
		reason fault.Reason
	}{
		"nothing named":  {in: session.Input{Title: "Other"}},
		"the same again": {in: session.Input{Title: "Vinyasa"}, fields: session.TitleField},
		"title": {
			in: session.Input{Title: "Flow"}, fields: session.TitleField,
			want: func(s *session.Session) { s.Title = "Flow" },
		},
		"title removed": {fields: session.TitleField},
		"a start alone moves the end too": {
			in: session.Input{StartsAt: before.StartsAt.Add(time.Hour)}, fields: session.StartField,
			want: func(s *session.Session) {
				s.StartsAt, s.EndsAt = s.StartsAt.Add(time.Hour), s.EndsAt.Add(time.Hour)
			},
		},
		"an end alone": {
			in: session.Input{EndsAt: before.EndsAt.Add(time.Hour)}, fields: session.EndField,
			want: func(s *session.Session) { s.EndsAt = s.EndsAt.Add(time.Hour) },
		},
		"the end by default": {fields: session.EndField},
		"another local day": {
			in: session.Input{StartsAt: before.StartsAt.Add(11 * time.Hour)}, fields: session.StartField,
			want: func(s *session.Session) {
				s.StartsAt, s.EndsAt = s.StartsAt.Add(11*time.Hour), s.EndsAt.Add(11*time.Hour)
				s.LocalDate = s.LocalDate.AddDays(1)
			},
		},
		"another location moves the day": {
			in: session.Input{Location: other}, fields: session.LocationField | session.ResourceField,
			at: func(at *session.References) {
				at.Location.TimeZone, at.Location.Zone = "Pacific/Auckland", zone(t, "Pacific/Auckland")
			},
			want: func(s *session.Session) {
				s.Location, s.Resource, s.TimeZone = other, tenant.ResourceID{}, "Pacific/Auckland"
				s.LocalDate = s.LocalDate.AddDays(1)
			},
		},
		"another location without its resource": {
			in: session.Input{Location: other}, fields: session.LocationField, reason: fault.ResourceNotFound,
		},
		"capacity raised": {
			in: session.Input{Capacity: new(20)}, fields: session.CapacityField,
			want: func(s *session.Session) { s.Capacity = new(20) },
		},
		"capacity lowered to what is taken": {
			in: session.Input{Capacity: new(4)}, fields: session.CapacityField,
			want: func(s *session.Session) { s.Capacity = new(4) },
		},
		"capacity below what is taken": {
			in: session.Input{Capacity: new(3)}, fields: session.CapacityField, reason: fault.CapacityBelowTaken,
		},
		"unlimited": {
			in: session.Input{Unlimited: true}, fields: session.CapacityField,
			want: func(s *session.Session) { s.Capacity = nil },
		},
		"capacity by default": {fields: session.CapacityField},
		"waitlist for those who wait": {
			in: session.Input{WaitlistCapacity: new(2)}, fields: session.WaitlistField,
			want: func(s *session.Session) { s.WaitlistCapacity = 2 },
		},
		"waitlist below those who wait": {
			in: session.Input{WaitlistCapacity: new(1)}, fields: session.WaitlistField,
			reason: fault.CapacityBelowTaken,
		},
		"references that were deactivated do not block other edits": {
			in: session.Input{Title: "Flow"}, fields: session.TitleField,
			at: func(at *session.References) {
				at.Service.Active, at.Location.Active, at.Resource.Active, at.Coach.CanLead = false, false, false, false
			},
			want: func(s *session.Session) { s.Title = "Flow" },
		},
		"coach removed":   {fields: session.CoachField, want: func(s *session.Session) { s.Coach = tenant.MemberID{} }},
		"start removed":   {fields: session.StartField, reason: fault.InvalidField},
		"service removed": {fields: session.ServiceField, reason: fault.InvalidField},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := yoga(t)
			if tt.at != nil {
				tt.at(&at)
			}
			got, err := before.Edit(tt.in, tt.fields, at, later)
			wantReason(t, err, tt.reason)
			want := before
			if tt.want != nil {
				tt.want(&want)
				want.Version, want.UpdatedAt = 2, later
			}
			test.Eq(t, want, got)
		})
	}
}

func TestEdit_RejectsCancelledSession(t *testing.T) {
	t.Parallel()
	_, err := session.Session{State: catalog.Cancelled}.Edit(session.Input{Title: "x"}, session.TitleField, yoga(t), noon)
	wantReason(t, err, fault.SessionState)
}

func TestCapacityRaised_ReportsHigherCapacity(t *testing.T) {
	t.Parallel()
	with := func(capacity *int) session.Session {
		return session.Session{Details: session.Details{Capacity: capacity}}
	}
	for _, tt := range []struct {
		before, after *int
		want          bool
	}{
		{new(1), new(2), true}, {new(2), new(1), false}, {new(1), new(1), false}, {new(1), nil, true},
		{nil, nil, false}, {nil, new(9), false},
	} {
		test.EqOp(t, tt.want, with(tt.after).CapacityRaised(with(tt.before)), test.Sprintf("%v to %v", tt.before, tt.after))
	}
}
