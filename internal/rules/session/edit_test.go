package session_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// booked is a session with four seats taken and two entries that wait.
func booked(t *testing.T) session.Session {
	t.Helper()
	s := expect.Value(session.New(anID, session.Input{
		Service: service, Location: location, Resource: mat, Coach: coach, StartsAt: noon.Add(24 * time.Hour),
	}, yoga(), noon))(t)
	return vary.From(s, set{"SeatsTaken": 4, "Waiting": 2})
}

func TestEdit_ChangesOnlyNamedFields(t *testing.T) {
	t.Parallel()
	before := booked(t)
	start, end, day := before.StartsAt, before.EndsAt, before.LocalDate
	taken := "CAPACITY_BELOW_TAKEN @capacity seats_taken=4 session_id=" + anID.String()
	waits := "CAPACITY_BELOW_TAKEN @waitlist_capacity session_id=" + anID.String() + " waiting=2"
	for name, tt := range map[string]struct {
		in     session.Input
		fields session.Fields
		at     set
		want   set // nil: nothing changes
		err    string
	}{
		"nothing named":  {in: session.Input{Title: "Other"}},
		"the same again": {in: session.Input{Title: "Vinyasa"}, fields: session.TitleField},
		"title":          {in: session.Input{Title: "Flow"}, fields: session.TitleField, want: set{"Title": "Flow"}},
		"title removed":  {fields: session.TitleField},
		"a start alone moves the end too": {
			in: session.Input{StartsAt: start.Add(time.Hour)}, fields: session.StartField,
			want: set{"StartsAt": start.Add(time.Hour), "EndsAt": end.Add(time.Hour)},
		},
		"an end alone": {
			in: session.Input{EndsAt: end.Add(time.Hour)}, fields: session.EndField, want: set{"EndsAt": end.Add(time.Hour)},
		},
		"the end by default": {fields: session.EndField},
		"another local day": {
			in: session.Input{StartsAt: start.Add(11 * time.Hour)}, fields: session.StartField,
			want: set{"StartsAt": start.Add(11 * time.Hour), "EndsAt": end.Add(11 * time.Hour), "LocalDate": day.AddDays(1)},
		},
		"another location moves the day": {
			in: session.Input{Location: other}, fields: session.LocationField | session.ResourceField,
			at:   set{"Location.TimeZone": "Pacific/Auckland", "Location.Zone": zone("Pacific/Auckland")},
			want: set{"Location": other, "Resource": nil, "TimeZone": "Pacific/Auckland", "LocalDate": day.AddDays(1)},
		},
		"another location without its resource": {
			in: session.Input{Location: other}, fields: session.LocationField, err: "RESOURCE_NOT_FOUND @resource_id",
		},
		"capacity raised": {
			in: session.Input{Capacity: new(20)}, fields: session.CapacityField, want: set{"Capacity": 20},
		},
		"capacity lowered to what is taken": {
			in: session.Input{Capacity: new(4)}, fields: session.CapacityField, want: set{"Capacity": 4},
		},
		"capacity below what is taken": {in: session.Input{Capacity: new(3)}, fields: session.CapacityField, err: taken},
		"unlimited": {
			in: session.Input{Unlimited: true}, fields: session.CapacityField, want: set{"Capacity": nil},
		},
		"capacity by default": {fields: session.CapacityField},
		"waitlist for those who wait": {
			in: session.Input{WaitlistCapacity: new(2)}, fields: session.WaitlistField, want: set{"WaitlistCapacity": 2},
		},
		"waitlist below those who wait": {
			in: session.Input{WaitlistCapacity: new(1)}, fields: session.WaitlistField, err: waits,
		},
		"references that were deactivated do not block other edits": {
			in: session.Input{Title: "Flow"}, fields: session.TitleField, at: set{
				"Service.Active": false, "Location.Active": false, "Resource.Active": false, "Coach.CanLead": false,
			}, want: set{"Title": "Flow"},
		},
		"coach removed":   {fields: session.CoachField, want: set{"Coach": nil}},
		"start removed":   {fields: session.StartField, err: "INVALID_FIELD @start_time"},
		"service removed": {fields: session.ServiceField, err: "INVALID_FIELD @service_id"},
	} {
		want := vary.From(before, tt.want)
		if tt.want != nil {
			want.Version, want.UpdatedAt = 2, noon.Add(time.Minute)
		}
		got, err := before.Edit(tt.in, tt.fields, vary.From(yoga(), tt.at), noon.Add(time.Minute))
		test.EqOp(t, tt.err, faulttest.Text(err), test.Sprint(name))
		test.Eq(t, want, got, test.Sprint(name))
	}
	gone := session.Session{State: catalog.Cancelled}
	expect.Fault(t, "SESSION_STATE state=CANCELLED")(
		gone.Edit(session.Input{Title: "x"}, session.TitleField, yoga(), noon),
	)
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
